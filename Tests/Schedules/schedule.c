// The threads, and the choice of which one runs.
//
// Each thread of a schedule waits at a semaphore of its own until it is resumed. The thread that resumes another then
// waits itself. So only one thread runs at a time, and all data here belongs to it.
#include "schedule.h"

#include "failure.h"
#include "interpose.h"
#include "trace.h"

#undef pthread_mutex_unlock
#undef pthread_once

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>

// Bounds on the points of a schedule; one that reaches the last does not end. From the first bound on threads take
// turns, so that none waits for ever for one of lower priority.
enum { TURNS_FROM = 20000, TURN = 500, ENDLESS = 1000000 };

typedef enum { ABSENT, READY, BLOCKED } condition;

typedef struct {
  condition condition;
  pthread_mutex_t *awaited;
  int32_t priority;
  sem_t turn;
  pthread_t thread;
  bool is_made;
  int rounds_left;                 // rounds of destructors at its end
  uint32_t locks;                  // how many it holds
  uint64_t went_on[SCHEDULE_LAST]; // when it went on after its last points
  uint32_t passed;                 // how many points it has passed
} actor;

static actor actors[SCHEDULE_THREADS];
static uint32_t actor_count;
static schedule plan;
static void (*body)(uint32_t thread);
static bool come_and_go, is_held;
static uint64_t random_numbers, now, digest;
static uint32_t points;
schedule_place *schedule_places;
static int32_t lowest;
static sem_t all_have_ended;
static pthread_key_t end_key;
static _Thread_local int self = -1;

int schedule_thread(void) { return is_held ? -1 : self; }
uint64_t schedule_now(void) { return ++now; }
uint32_t schedule_locks(void) { return schedule_thread() < 0 ? 0 : actors[self].locks; }
uint32_t schedule_points(void) { return points; }
uint64_t schedule_went_on(uint32_t back) {
  if (schedule_thread() < 0) return now;
  const actor *actor = &actors[self];
  return actor->passed > back ? actor->went_on[(actor->passed - 1 - back) % SCHEDULE_LAST] : 0;
}
uint64_t schedule_digest(void) { return digest; }

static void wait_for(sem_t *semaphore) {
  while (sem_wait(semaphore) && errno == EINTR) {}
}

static void note(uint64_t number) { digest = (digest ^ number) * 0x100000001B3u; }

// MARK: Choosing

static bool is_ready(uint32_t thread) { return actors[thread].condition == READY; }

static int highest(void) {
  int best = -1;
  for (uint32_t i = 0; i < actor_count; i++)
    if (is_ready(i) && (best < 0 || actors[i].priority > actors[best].priority)) best = (int)i;
  return best;
}

static int any(void) {
  int chosen = -1;
  uint32_t met = 0;
  for (uint32_t i = 0; i < actor_count; i++)
    if (is_ready(i) && random_below(&random_numbers, ++met) == 0) chosen = (int)i;
  return chosen;
}

static int next_in_turn(int from) {
  for (uint32_t i = 1; i <= actor_count; i++)
    if (is_ready(((uint32_t)from + i) % actor_count))
      return (int)(((uint32_t)from + i) % actor_count);
  return -1;
}

// Which thread runs when the current one can't; -1 if none can.
static int choose(void) {
  switch (plan.way) {
  case BY_PRIORITY: return highest();
  case BY_CHANCE: return any();
  case BY_LIST: return next_in_turn((int)actor_count - 1);
  }
  return -1;
}

static const schedule_switch *switch_here(void) {
  for (uint32_t i = 0; i < plan.count; i++)
    if (plan.switches[i].at == points) return &plan.switches[i];
  return NULL;
}

static bool is_end_of_turn(void) { return points > TURNS_FROM && points % TURN == 0; }

static int lowered(void) {
  actors[self].priority = --lowest;
  return highest();
}

// Which thread runs after a point.
static int choose_at_point(void) {
  const schedule_switch *listed = switch_here();
  switch (plan.way) {
  case BY_PRIORITY: return listed || is_end_of_turn() ? lowered() : self;
  case BY_CHANCE: return random_below(&random_numbers, plan.rate) ? self : any();
  case BY_LIST:
    if (is_end_of_turn()) return next_in_turn(self);
    return listed && listed->to < actor_count && is_ready(listed->to) ? (int)listed->to : self;
  }
  return self;
}

// MARK: Switching

static _Noreturn void fail_without_ready_thread(void) {
  char text[200] = "";
  size_t length = 0;
  for (uint32_t i = 0; i < actor_count; i++)
    if (actors[i].condition == BLOCKED)
      length += (size_t)snprintf(text + length, sizeof text - length,
          " thread %u waits for lock %p;", i, (void *)actors[i].awaited);
  fail_schedule("deadlock", "%s", text + 1);
}

static void hand_over(int to, const char *what, void *const *frame) {
  if (to == self) return;
  int from = self;
  trace_switch(from, to, what, frame);
  note(((uint64_t)points << 8) | (uint32_t)to);
  sem_post(&actors[to].turn);
  wait_for(&actors[from].turn);
}

static void record_place(void) {
  if (points > SCHEDULE_PLACES) return;
  uint8_t ready = 0;
  for (uint32_t i = 0; i < actor_count; i++) ready |= (uint8_t)(is_ready(i) << i);
  schedule_places[points] =
      (schedule_place){(uint8_t)self, ready, buffers_hold_any((uint32_t)self)};
}

static inline __attribute__((always_inline)) void pass_point(const char *what, void *const *frame) {
  if (schedule_thread() < 0) return;
  points++;
  now++;
  record_place();
  if (points > ENDLESS) fail_schedule("livelock", "%u points", points);
  if (plan.stores == STORES_LATELY && random_below(&random_numbers, 16) == 0)
    buffers_let_one_be_seen(random_below(&random_numbers, actor_count));
  hand_over(choose_at_point(), what, frame);
  actors[self].went_on[actors[self].passed++ % SCHEDULE_LAST] = now;
}

void schedule_point(const char *what) { pass_point(what, __builtin_frame_address(0)); }

int schedule_lock(pthread_mutex_t *mutex) {
  if (schedule_thread() < 0) return (pthread_mutex_lock)(mutex);
  void *const *frame = __builtin_frame_address(0);
  pass_point("before a lock", frame);
  buffers_empty((uint32_t)self);
  int status;
  while ((status = pthread_mutex_trylock(mutex)) == EBUSY) {
    actors[self].condition = BLOCKED;
    actors[self].awaited = mutex;
    int next = choose();
    if (next < 0) trace_switch(self, NOBODY, "to wait for a lock", frame);
    if (next < 0) fail_without_ready_thread();
    hand_over(next, "to wait for a lock", frame);
  }
  if (status) fail_schedule("no lock", "a lock can't be taken: %d", status);
  actors[self].locks++;
  return status;
}

int schedule_unlock(pthread_mutex_t *mutex) {
  int status = pthread_mutex_unlock(mutex);
  if (schedule_thread() < 0) return status;
  if (status || !actors[self].locks--) fail_schedule("no lock", "one that is not held is released");
  buffers_empty((uint32_t)self);
  for (uint32_t i = 0; i < actor_count; i++)
    if (actors[i].condition == BLOCKED && actors[i].awaited == mutex) actors[i].condition = READY;
  pass_point("after an unlock", __builtin_frame_address(0));
  return status;
}

int schedule_once(pthread_once_t *once, void (*function)(void)) {
  pass_point("before a pthread_once", __builtin_frame_address(0));
  bool was_held = is_held;
  is_held = true;
  int status = pthread_once(once, function);
  is_held = was_held;
  return status;
}

long schedule_system_call(long number, ...) {
  (void)number;
  pass_point("before membarrier", __builtin_frame_address(0));
  buffers_empty_all();
  return 0;
}

void schedule_hold(void) { is_held = true; }

void schedule_let_go(void) {
  is_held = false;
  hand_over(plan.way == BY_LIST ? (int)plan.first : choose(), "before its first op", NULL);
}

// MARK: Threads

static void end_of(uint32_t thread) {
  if (actors[thread].locks) fail_schedule("lock kept", "thread %u ends with a lock", thread);
  buffers_empty(thread);
  actors[thread].condition = ABSENT;
  self = -1;
  int next = choose();
  if (next >= 0) {
    trace_switch((int)thread, next, "at its end", NULL);
    note(((uint64_t)points << 8) | (uint32_t)next);
    sem_post(&actors[next].turn);
    return;
  }
  for (uint32_t i = 0; i < actor_count; i++)
    if (actors[i].condition == BLOCKED) fail_without_ready_thread();
  sem_post(&all_have_ended);
}

static void *live(void *number) {
  uint32_t thread = (uint32_t)(uintptr_t)number;
  for (;;) {
    wait_for(&actors[thread].turn);
    self = (int)thread;
    body(thread);
    end_of(thread);
  }
}

// Destructors of thread-specific values run in rounds. The thread ends for the scheduler in the last round, after the
// runtime's.
static void end_in_last_round(void *number) {
  uint32_t thread = (uint32_t)(uintptr_t)number - 1;
  if (--actors[thread].rounds_left > 0) pthread_setspecific(end_key, number);
  else end_of(thread);
}

static void *come(void *number) {
  uint32_t thread = (uint32_t)(uintptr_t)number;
  wait_for(&actors[thread].turn);
  self = (int)thread;
  actors[thread].rounds_left = PTHREAD_DESTRUCTOR_ITERATIONS;
  pthread_setspecific(end_key, (void *)(uintptr_t)(thread + 1));
  body(thread);
  return NULL;
}

_Noreturn void schedule_leave(void) { pthread_exit(NULL); }

static void make_threads(void) {
  for (uint32_t i = 0; i < actor_count; i++) {
    actor *actor = &actors[i];
    if (actor->is_made && !come_and_go) continue;
    void *number = (void *)(uintptr_t)i;
    if (pthread_create(&actor->thread, NULL, come_and_go ? come : live, number))
      fail_schedule("no thread", "the system makes no more threads");
    actor->is_made = true;
  }
}

static void shuffle_priorities(void) {
  for (uint32_t i = actor_count; i-- > 1;) {
    uint32_t other = random_below(&random_numbers, i + 1);
    int32_t priority = actors[i].priority;
    actors[i].priority = actors[other].priority;
    actors[other].priority = priority;
  }
}

// Pins all threads to one processor: one runs at a time, and resumes fastest on the processor of the last one.
static void stay_on_one_processor(void) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(sched_getcpu(), &own);
  sched_setaffinity(0, sizeof own, &own);
}

void schedule_prepare(void) {
  stay_on_one_processor();
  pthread_key_create(&end_key, end_in_last_round);
  sem_init(&all_have_ended, 0, 0);
  for (uint32_t i = 0; i < SCHEDULE_THREADS; i++) sem_init(&actors[i].turn, 0, 0);
}

void schedule_run(const schedule *schedule, uint32_t threads, bool threads_come_and_go,
    void (*function)(uint32_t thread)) {
  plan = *schedule;
  actor_count = threads;
  body = function;
  come_and_go = threads_come_and_go;
  points = 0;
  current_outcome->trace.count = 0;
  lowest = 0;
  random_numbers = random_state(plan.seed);
  buffers_begin(plan.stores);
  for (uint32_t i = 0; i < threads; i++) {
    actors[i].condition = READY;
    actors[i].locks = actors[i].passed = 0;
    actors[i].priority = (int32_t)i + 1;
  }
  shuffle_priorities();
  make_threads();
  sem_post(&actors[0].turn); // it waits here, and resumes the first thread of the schedule
  wait_for(&all_have_ended);
  if (come_and_go)
    for (uint32_t i = 0; i < threads; i++) pthread_join(actors[i].thread, NULL);
  note(points);
}
