/// A controlled scheduler. One thread of a program runs at a time, and only at a point of interpose.h another one may
/// take over. The schedule alone decides which, so the same schedule gives the same run of the same build on
/// any machine.
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCHEDULE_THREADS = 4, SCHEDULE_SWITCHES = 4 };

/// How the running thread is chosen.
typedef enum schedule_way {
  BY_LIST,     ///< switches only as listed, each to a thread, and where a thread can't go on
  BY_PRIORITY, ///< the highest priority; at each listed switch the running thread gets the lowest (PCT)
  BY_CHANCE, ///< a random thread, at one point in `rate`
} schedule_way;

/// When other threads see a store that is no read-modify-write and has no fence.
typedef enum schedule_stores {
  STORES_AT_ONCE,
  STORES_LATE,   ///< as late as allowed: at the storing thread's next fence or lock
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
  uint32_t first; ///< the first thread, with a list of switches
  uint32_t rate;  ///< at random
  uint32_t count; ///< the number of switches
  schedule_switch switches[SCHEDULE_SWITCHES];
} schedule;

/// Prepares the process, once.
void schedule_prepare(void);
/// Runs `body` on `count` threads until all have returned. With `come_and_go` each thread begins and ends within the
/// schedule, including its destructors; otherwise the threads wait for the next schedule.
void schedule_run(const schedule *schedule, uint32_t threads, bool come_and_go,
    void (*body)(uint32_t thread));
/// The number of points of the last schedule, or of the running one so far.
uint32_t schedule_points(void);

/// A point as another schedule that is equal up to there would find it.
typedef struct schedule_place {
  uint8_t running; ///< the thread
  uint8_t ready;   ///< a bit for each thread that may run there
  bool has_unseen; ///< the running thread has made stores that others do not see yet
} schedule_place;
enum { SCHEDULE_PLACES = 20000 };
/// The places of the first points of the last schedule. Points are counted from 1. Forked processes share this memory.
extern schedule_place *schedule_places;
/// A checksum over the points and switches of all schedules of this process: equal for equal runs.
uint64_t schedule_digest(void);

/// Within a schedule: the number of the running thread. Otherwise -1.
int schedule_thread(void);
/// The number of locks that the running thread holds.
uint32_t schedule_locks(void);
/// The current time: a count of points and of calls of this function.
uint64_t schedule_now(void);
/// When the running thread went on after one of its last points: 0 for the last one, 1 for the one before, up to
/// SCHEDULE_LAST - 1.
enum { SCHEDULE_LAST = 4 };
uint64_t schedule_went_on(uint32_t back);
/// Called on the first thread: no switch takes place until `schedule_let_go`.
void schedule_hold(void);
void schedule_let_go(void);
/// Ends the running thread, as pthread_exit does. Only with `come_and_go`.
_Noreturn void schedule_leave(void);

/// For schedule.c: empties buffers, and makes a store visible.
void buffers_begin(schedule_stores stores);
void buffers_empty(uint32_t thread);
void buffers_empty_all(void);
void buffers_let_one_be_seen(uint32_t thread);
bool buffers_hold_any(uint32_t thread);
/// Discards pending stores to memory that is freed or allocated.
void buffers_forget(const void *memory, size_t size);

/// Random numbers by xorshift. The state must not be 0.
static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state * 0x2545F4914F6CDD1Du;
}
static inline uint32_t random_below(uint64_t *state, uint32_t bound) {
  return (uint32_t)((next_random(state) >> 33) % bound);
}
/// Different seeds give different states.
static inline uint64_t random_state(uint64_t seed) {
  uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15u | 1;
  for (int i = 0; i < 4; i++) next_random(&state);
  return state;
}

#endif
