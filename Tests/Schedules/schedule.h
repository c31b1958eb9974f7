/// A controlled scheduler: of a program's threads one runs at a time, and only at a point of interpose.h another one may
/// go on. What runs when is decided by the schedule alone, so the same schedule is the same run, on any machine.
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCHEDULE_THREADS = 4, SCHEDULE_SWITCHES = 4 };

/// How the thread that runs is chosen.
typedef enum schedule_way {
  BY_LIST, ///< the switches that are listed, each to a thread, and else only where a thread can't go on
  BY_PRIORITY, ///< the highest priority; at each listed switch the running thread gets the lowest (PCT)
  BY_CHANCE, ///< at one point in `rate`, any thread
} schedule_way;

/// When other threads see a store that is no read-modify-write and has no fence.
typedef enum schedule_stores {
  STORES_AT_ONCE,
  STORES_LATE,   ///< as late as a processor may: at the storing thread's next fence or lock
  STORES_LATELY, ///< one after the other, each after some points
} schedule_stores;

typedef struct schedule_switch {
  uint32_t at; ///< the number of a point
  uint32_t to; ///< a thread
} schedule_switch;

typedef struct schedule {
  schedule_way way;
  schedule_stores stores;
  uint64_t seed;
  uint32_t first; ///< the thread that begins, by list
  uint32_t rate;  ///< by chance
  uint32_t count; ///< of switches
  schedule_switch switches[SCHEDULE_SWITCHES];
} schedule;

/// Prepares the process, once.
void schedule_prepare(void);
/// Runs `body` on so many threads until all have returned. `come_and_go`: each thread begins and ends within the
/// schedule, what it does at its end included; else the threads wait for the next schedule.
void schedule_run(const schedule *schedule, uint32_t threads, bool come_and_go,
    void (*body)(uint32_t thread));
/// How many points the last schedule had, or the running one has had so far.
uint32_t schedule_points(void);
/// A sum over the points and switches of all schedules of this process: equal for equal runs.
uint64_t schedule_digest(void);

/// Within a schedule: the number of the running thread. Else -1.
int schedule_thread(void);
/// Counts points and calls of this function: when something happened.
uint64_t schedule_now(void);
/// In the first thread, which begins then: no switch takes place until `schedule_let_go`.
void schedule_hold(void);
void schedule_let_go(void);
/// The running thread ends here, as by pthread_exit. Threads that come and go alone.
_Noreturn void schedule_leave(void);

/// For schedule.c: empties buffers, and lets a store be seen.
void buffers_begin(schedule_stores stores);
void buffers_empty(uint32_t thread);
void buffers_empty_all(void);
void buffers_let_one_be_seen(uint32_t thread);
/// Memory that is given back or handed out has no stores pending.
void buffers_forget(const void *memory, size_t size);

/// Random numbers by xorshift; the state must not be 0.
static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state * 0x2545F4914F6CDD1Du;
}
static inline uint32_t random_below(uint64_t *state, uint32_t bound) {
  return (uint32_t)((next_random(state) >> 33) % bound);
}
/// A state of its own for each seed.
static inline uint64_t random_state(uint64_t seed) {
  uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15u | 1;
  for (int i = 0; i < 4; i++) next_random(&state);
  return state;
}

#endif
