// Decides when a thread is delayed, and how. `KVO_SEED` seeds the random numbers of all threads, in the order in
// which they first get here. On average, one point in `KVO_CHAOS` is a delay.
#include "chaos.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RATE = 400, POINTS_PER_MOOD = 4096, LONGEST_SPIN = 3000 };
enum { SHORT_SLEEP = 60000, LONG_SLEEP = 1500000 }; // nanoseconds, at most

// Per thread. The counts are added to the totals when the thread's mood changes.
static _Thread_local struct {
  uint64_t random;
  uint32_t left; // points left in this mood
  uint32_t rate; // one point in `rate` is a delay in this mood
  uint64_t delays;
} thread;

static uint64_t threads, points, delays;

static uint64_t number_of(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  uint64_t number = text ? strtoull(text, NULL, 10) : 0;
  return number ? number : otherwise;
}

static uint64_t seed(void) { return number_of("KVO_SEED", 1); }

// An xorshift generator: the state is never 0.
static uint64_t next_random(void) {
  thread.random ^= thread.random << 13;
  thread.random ^= thread.random >> 7;
  return thread.random ^= thread.random << 17;
}

static void begin_thread(void) {
  uint64_t number = (__atomic_fetch_add)(&threads, 1, __ATOMIC_RELAXED);
  thread.random = (seed() * 0x9E3779B97F4A7C15u + number * 0xD1B54A32D192ED03u) | 1;
}

// A thread is alternately fast and slow for a while, so that fast threads meet slow ones.
static void change_mood(void) {
  static const uint32_t parts[] = {8, 2, 1, 1};
  if (!thread.random) begin_thread();
  uint64_t rate = number_of("KVO_CHAOS", RATE) * 4 / parts[next_random() % 4] / 2;
  thread.rate = rate ? (uint32_t)rate : 1;
  thread.left = POINTS_PER_MOOD;
  (__atomic_fetch_add)(&points, POINTS_PER_MOOD, __ATOMIC_RELAXED);
  (__atomic_fetch_add)(&delays, thread.delays, __ATOMIC_RELAXED);
  thread.delays = 0;
}

static void spin(uint64_t turns) {
  for (volatile uint64_t turn = 0; turn < turns; turn++) {}
}

static void delay(uint64_t choice) {
  uint64_t much = choice >> 32;
  uint64_t longest = choice % 256 ? SHORT_SLEEP : LONG_SLEEP;
  const struct timespec sleep = {0, (long)(much % longest)};
  switch (choice / 256 % 8) {
  case 0: nanosleep(&sleep, NULL); break;
  case 1:
  case 2:
  case 3: spin(much % LONGEST_SPIN); break;
  default: sched_yield();
  }
}

void chaos_point(void) {
  if (!thread.left) change_mood();
  thread.left--;
  if (next_random() % thread.rate) return;
  thread.delays++;
  delay(next_random());
}

__attribute__((destructor)) static void tell(void) {
  fprintf(stderr, "chaos: %llu delays at %llu points of %llu threads, seed %llu\n",
      (unsigned long long)delays, (unsigned long long)points, (unsigned long long)threads,
      (unsigned long long)seed());
}
