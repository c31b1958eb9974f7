// The schedules of a program.
//
// A child process runs them one after the other, so that a crash is a failure like others, and each program starts
// from the same process state. Each schedule of a cold program has a process of its own, in which the class, its keys
// and the threads are used for the first time.
#include "explore.h"

#include "arena.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "perform.h"
#include "tables/kvo_table.h"
#include "threads/kvo_reclaim.h"
#include "threads/kvo_thread.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// Seconds of CPU time after which a program counts as hanging outside the scheduler.
enum { MOST_CPU = 600 };

typedef struct exploration {
  const program *program;
  const effort *effort;
  uint64_t seed;
  size_t blocks;   // left by the last schedule
  uint32_t points; // of a schedule without switches
} exploration;

void prepare_exploring(void) {
  int flags = MAP_SHARED | MAP_ANONYMOUS;
  current_outcome = mmap(NULL, sizeof *current_outcome, PROT_READ | PROT_WRITE, flags, -1, 0);
  size_t size = (SCHEDULE_PLACES + 1) * sizeof *schedule_places;
  schedule_places = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (current_outcome == MAP_FAILED || schedule_places == MAP_FAILED) abort();
}

// MARK: One schedule

// Retires blocks: when KVO_BATCH items wait, the runtime frees all that it has deferred.
static void retire_blocks(uint32_t count) {
  static const kvo_object none;
  kvo_retired *chain = NULL;
  for (uint32_t i = 0; i < count; i++)
    kvo_retire_add(&chain, kvo_alloc(sizeof *chain), &none, KVO_RETIRED_MEMORY);
  kvo_retire(chain);
}

// How many blocks wait to be freed when a schedule begins. With an almost full batch, all are freed during the
// schedule: in half of the programs, and in every other random schedule.
static uint32_t blocks_that_wait(const exploration *exploration, const schedule *schedule) {
  uint64_t number = schedule->way == BY_LIST ? exploration->seed : current_outcome->schedules;
  return number % 2 ? (uint32_t)(KVO_BATCH - 1 - number / 2 % 16) : 0;
}

// Runs a schedule, and returns how many blocks are left when all deferred frees have been done.
static size_t blocks_left_by(const exploration *exploration, const schedule *schedule) {
  retire_blocks(blocks_that_wait(exploration, schedule));
  run_program(exploration->program, schedule);
  retire_blocks(KVO_BATCH);
  return arena_blocks();
}

// How many schedules are run until all has been made that is kept for ever.
enum { SETTLING = 24 };

// More than there are object locks, each of which has a table that is made when it is first needed.
enum { REPETITIONS = 2 << KVO_OBJECT_LOCK_BITS };

// A schedule that leaves more blocks than the one before is repeated: a leak grows each time, unlike a cache.
static bool leaks(exploration *exploration, const schedule *schedule) {
  for (int i = 0; i < REPETITIONS; i++) {
    size_t before = exploration->blocks;
    exploration->blocks = blocks_left_by(exploration, schedule);
    if (exploration->blocks <= before) return false;
  }
  return true;
}

static void try(exploration *exploration, const schedule *schedule) {
  size_t before = exploration->blocks;
  exploration->blocks = blocks_left_by(exploration, schedule);
  current_outcome->points += schedule_points();
  bool is_leaking = exploration->blocks > before && leaks(exploration, schedule);
  current_outcome->schedules++;
  current_outcome->digest = schedule_digest();
  if (is_leaking) fail_schedule("leak", "each run of the schedule leaves more blocks of memory");
}

// Has each object lock make its table, which it needs for its first observed object: objects have other locks in each
// schedule.
static void make_lock_tables(void) {
  static kvo_object objects[64 * KVO_OBJECT_LOCKS];
  static kvo_registration registration;
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
    registration.object = &objects[i];
    KVO_LOCKED_OBJECTS(&objects[i], NULL);
    kvo_inline_registration_insert_locked(&objects[i], &registration);
    kvo_inline_registration_remove_locked(&objects[i], &registration);
  }
}

// A class of collections is made for its first object. Only some schedules need one.
static void make_collection_classes(void) {
  for (kvo_collection_kind kind = KVO_ARRAY; kind <= KVO_ORDERED_SET; kind++)
    kvo_object_release((kvo_object *)kvo_collection_create(kind, NULL, 0, NULL));
}

static void begin_process(const program *program) {
  setrlimit(RLIMIT_CPU, &(struct rlimit){MOST_CPU, MOST_CPU});
  catch_crashes();
  schedule_prepare();
  if (program->is_cold) {
    make_lock_tables();
    make_collection_classes();
  }
  if (program->without_kernel_fences) kvo_fences_are_asymmetric = false;
}

_Noreturn static void end_well(void) {
  current_outcome->is_complete = true;
  _exit(0);
}

// The program's code, or the runtime's, may end the process as if all were well.
static void await(pid_t child) {
  int status;
  waitpid(child, &status, 0);
  bool is_well = WIFEXITED(status) && !WEXITSTATUS(status) && current_outcome->is_complete;
  current_outcome->is_complete = false;
  if (current_outcome->has_failed || is_well) return;
  current_outcome->has_failed = true;
  snprintf(current_outcome->kind, sizeof current_outcome->kind, "stuck");
  snprintf(current_outcome->message, sizeof current_outcome->message,
      "the process ends with status %d", status);
}

static schedule any_schedule(const exploration *exploration, uint32_t number) {
  uint64_t random = random_state(exploration->seed * 1000003 + number);
  schedule schedule = {.way = number % 2 ? BY_PRIORITY : BY_CHANCE,
      .stores = (schedule_stores)(number / 2 % 3),
      .seed = next_random(&random),
      .rate = 4 + random_below(&random, 100)};
  if (schedule.way == BY_PRIORITY) schedule.count = 1 + random_below(&random, SCHEDULE_SWITCHES);
  for (uint32_t i = 0; i < schedule.count; i++)
    schedule.switches[i].at = 1 + random_below(&random, exploration->points + 1);
  return schedule;
}

// MARK: Cold programs

static schedule starting_with(uint32_t first) {
  return (schedule){.way = BY_LIST, .stores = STORES_LATE, .first = first};
}

// Runs a function in a process of its own.
static void run_cold(exploration *exploration, const schedule *schedule,
    void (*body)(struct exploration *exploration, const struct schedule *schedule)) {
  pid_t child = fork();
  if (child) {
    await(child);
    if (current_outcome->has_failed) _exit(1);
    return;
  }
  begin_process(exploration->program);
  exploration->blocks = SIZE_MAX;
  body(exploration, schedule);
  current_outcome->blocks = arena_blocks();
  end_well();
}

static void run_once(exploration *exploration, const schedule *schedule) {
  blocks_left_by(exploration, schedule);
}

static void *take_record(void *barrier) {
  kvo_thread_current();
  pthread_barrier_wait(barrier);
  return NULL;
}

static void take_own_record(uint32_t thread) {
  (void)thread;
  kvo_thread_current();
}

// Has the runtime make as many records of threads as there may be threads at once, after those that stay have one.
static void make_records(const program *program) {
  schedule schedule = starting_with(0);
  schedule_run(&schedule, program->threads, program->come_and_go, take_own_record);
  pthread_t threads[SCHEDULE_THREADS];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, SCHEDULE_THREADS);
  for (int i = 0; i < SCHEDULE_THREADS; i++)
    if (pthread_create(&threads[i], NULL, take_record, &barrier))
      fail_schedule("no thread", "the system makes no more threads");
  for (int i = 0; i < SCHEDULE_THREADS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&barrier);
}

// Runs many schedules after the first one and observes all paths, so that all is made that is kept for ever: a path may
// have to be read in few schedules only.
static void settle(exploration *exploration, const schedule *first, const schedule *last) {
  blocks_left_by(exploration, first);
  for (uint32_t i = 0; i < SETTLING; i++) {
    schedule other =
        i % 2 ? any_schedule(exploration, i) : starting_with(i / 2 % exploration->program->threads);
    blocks_left_by(exploration, &other);
  }
  observe_all_paths();
  for (uint32_t i = 0; i < exploration->program->threads; i++) blocks_left_by(exploration, last);
  make_records(exploration->program);
}

static void settle_after_it(exploration *exploration, const schedule *schedule) {
  settle(exploration, schedule, schedule);
}

static void settle_after_another(exploration *exploration, const schedule *schedule) {
  struct schedule other = starting_with(0);
  settle(exploration, &other, schedule);
}

// A cold schedule can't be repeated in its process. It leaks if, even after many others, more blocks are left than when
// a schedule without a switch was the first.
static bool leaks_when_cold(exploration *exploration, const schedule *schedule) {
  run_cold(exploration, schedule, settle_after_it);
  size_t blocks = current_outcome->blocks;
  run_cold(exploration, schedule, settle_after_another);
  return blocks > current_outcome->blocks;
}

static void try_cold(exploration *exploration, const schedule *schedule) {
  run_cold(exploration, schedule, try);
  if (!exploration->blocks) exploration->blocks = current_outcome->blocks;
  if (current_outcome->blocks <= exploration->blocks) return;
  if (!leaks_when_cold(exploration, schedule)) return;
  run_cold(exploration, schedule, run_once); // its trace is printed
  fail_schedule("leak", "the schedule leaves more blocks of memory when it is the process's first");
}

static void try_schedule(exploration *exploration, const schedule *schedule) {
  if (exploration->program->is_cold) try_cold(exploration, schedule);
  else try(exploration, schedule);
}

// MARK: Many schedules

static void try_at_random(exploration *exploration) {
  for (uint32_t i = 0; i < exploration->effort->at_random; i++) {
    schedule schedule = any_schedule(exploration, i);
    try_schedule(exploration, &schedule);
  }
}

// MARK: Listed switches

// Goes through the schedules that have some switches, each to another thread that may run there.
typedef struct {
  exploration *exploration;
  uint32_t switches;
  uint64_t count;        // the number of schedules so far
  uint64_t step, offset; // tries one of `step`
} listing;

// Runs a schedule and returns its number of points. Their places are in schedule_places.
static uint32_t find_places(exploration *exploration, const schedule *schedule) {
  uint64_t before = current_outcome->points;
  try_schedule(exploration, schedule);
  uint32_t points = (uint32_t)(current_outcome->points - before);
  if (points > exploration->points) exploration->points = points;
  return points < SCHEDULE_PLACES ? points : SCHEDULE_PLACES;
}

static bool may_switch(const schedule_place *place, uint32_t to) {
  return to != place->running && place->ready & 1 << to;
}

static void extend(listing *listing, const schedule *given, bool has_unseen);

static void try_or_extend(listing *listing, const schedule *schedule, bool has_unseen) {
  if (schedule->count < listing->switches) extend(listing, schedule, has_unseen);
  else if (listing->count++ % listing->step == listing->offset)
    try_schedule(listing->exploration, schedule);
}

// If a thread is left that has made stores that others do not see yet, the same schedule is another one when they see
// them at once. Otherwise it is not: a thread that can't go on, or ends, has made its stores visible.
static void add_switch(listing *listing, const schedule *given, schedule_switch added,
    bool had_unseen, bool has_unseen) {
  schedule schedule = *given;
  schedule.switches[schedule.count++] = added;
  try_or_extend(listing, &schedule, had_unseen || has_unseen);
  if (had_unseen || !has_unseen) return;
  schedule.stores = STORES_AT_ONCE;
  try_or_extend(listing, &schedule, true);
}

// Adds a switch to a schedule at each later point. The schedule itself shows which threads may run there.
static void extend(listing *listing, const schedule *given, bool had_unseen) {
  uint32_t points = find_places(listing->exploration, given);
  uint32_t from = given->count ? given->switches[given->count - 1].at + 1 : 1;
  schedule_place *places = malloc((points + 1) * sizeof *places);
  if (!places) abort();
  memcpy(places, schedule_places, (points + 1) * sizeof *places);
  for (uint32_t at = from; at <= points; at++)
    for (uint32_t to = 0; to < listing->exploration->program->threads; to++)
      if (may_switch(&places[at], to))
        add_switch(listing, given, (schedule_switch){at, to}, had_unseen, places[at].has_unseen);
  free(places);
}

// How many schedules there are with one switch, and about how many with two.
typedef struct {
  uint64_t singles, pairs;
} survey;

static void count_switches(survey *survey, uint32_t threads, uint32_t points) {
  for (uint32_t at = 1; at <= points; at++)
    for (uint32_t to = 0; to < threads; to++) {
      const schedule_place *place = &schedule_places[at];
      uint64_t schedules = may_switch(place, to) ? 1 + place->has_unseen : 0;
      survey->singles += schedules;
      survey->pairs += schedules * (points - at) * (threads - 1);
    }
}

// Starts with each thread, and switches only where it can't go on. Twice, unless each process is new: the first time
// may make what is kept.
static survey try_orders(exploration *exploration) {
  survey survey = {0};
  uint32_t threads = exploration->program->threads;
  for (uint32_t i = exploration->program->is_cold ? threads : 0; i < 2 * threads; i++) {
    schedule schedule = starting_with(i % threads);
    uint32_t points = find_places(exploration, &schedule);
    if (i >= threads) count_switches(&survey, threads, points);
  }
  return survey;
}

// Tries schedules with so many switches, of which there are about `count`.
static void try_listed(exploration *exploration, uint32_t switches, uint64_t count,
    const share *share) {
  uint64_t most = count <= share->all ? count : share->otherwise;
  if (!most) return;
  uint64_t step = (count - 1) / most + 1;
  listing listing = {exploration, switches, 0, step, exploration->seed % step};
  for (uint32_t first = 0; first < exploration->program->threads; first++) {
    schedule schedule = starting_with(first);
    extend(&listing, &schedule, false);
  }
}

static void try_all(exploration *exploration) {
  const effort *effort = exploration->effort;
  survey survey = try_orders(exploration);
  try_listed(exploration, 1, survey.singles, &effort->singles);
  try_listed(exploration, 2, survey.pairs, &effort->pairs);
  try_at_random(exploration);
}

outcome explore(const program *program, const effort *effort, uint64_t seed) {
  memset(current_outcome, 0, sizeof *current_outcome);
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    begin_process(program);
    kvo_alloc(1 +
              seed % 64 * sizeof(max_align_t)); // programs differ in the objects that share a lock
    exploration exploration = {.program = program, .effort = effort, .seed = seed};
    try_all(&exploration);
    end_well();
  }
  await(child);
  return *current_outcome;
}
