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
#include "threads/kvo_reclaim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// Minutes of wall time after which a program counts as hanging outside the scheduler.
enum { PATIENCE = 10 };

typedef struct {
  const program *program;
  const effort *effort;
  uint64_t seed;
  size_t blocks;   // left by the last schedule
  uint32_t points; // of a schedule without switches
} exploration;

void prepare_exploring(void) {
  int flags = MAP_SHARED | MAP_ANONYMOUS;
  current_outcome = mmap(NULL, sizeof *current_outcome, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (current_outcome == MAP_FAILED) abort();
}

// MARK: One schedule

// Retires blocks: when KVO_BATCH pieces wait, the runtime frees all that it has deferred.
static void retire_blocks(uint32_t count) {
  static const kvo_object none;
  kvo_retired *chain = NULL;
  for (uint32_t i = 0; i < count; i++)
    kvo_retire_add(&chain, kvo_alloc(sizeof *chain), &none, KVO_RETIRED_MEMORY);
  kvo_retire(chain);
}

// Runs a schedule, and returns how many blocks are left when all deferred frees have been done. Every other schedule begins
// with an almost full batch of them, so that they are done during the schedule.
static size_t blocks_left_by(const exploration *exploration, const schedule *schedule) {
  uint64_t number = current_outcome->schedules;
  if (number % 2) retire_blocks((uint32_t)(KVO_BATCH - 1 - number / 2 % 16));
  run_program(exploration->program, schedule);
  retire_blocks(KVO_BATCH);
  return arena_blocks();
}

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

static void begin_process(const program *program) {
  alarm(60 * PATIENCE);
  catch_crashes();
  schedule_prepare();
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

static void try_cold(exploration *exploration, const schedule *schedule) {
  pid_t child = fork();
  if (child) {
    await(child);
    if (current_outcome->has_failed) _exit(1);
    return;
  }
  begin_process(exploration->program);
  exploration->blocks = SIZE_MAX;
  try(exploration, schedule);
  end_well();
}

static void try_schedule(exploration *exploration, const schedule *schedule) {
  if (exploration->program->is_cold) try_cold(exploration, schedule);
  else try(exploration, schedule);
}

// MARK: Many schedules

// Starts with each thread once, and switches only where it can't go on.
static void try_orders(exploration *exploration) {
  for (uint32_t first = 0; first < exploration->program->threads; first++) {
    uint64_t before = current_outcome->points;
    try_schedule(exploration, &(schedule){.way = BY_LIST, .stores = STORES_LATE, .first = first});
    uint32_t points = (uint32_t)(current_outcome->points - before);
    if (points > exploration->points) exploration->points = points;
  }
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

static void try_at_random(exploration *exploration) {
  for (uint32_t i = 0; i < exploration->effort->at_random; i++) {
    schedule schedule = any_schedule(exploration, i);
    try_schedule(exploration, &schedule);
  }
}

// Schedules with one switch, or two of which the second goes back to the first thread: they find most faults.
// Numbered in the order of their points.
static bool listed_schedule(const exploration *exploration, uint32_t switches, uint64_t number,
    schedule *schedule) {
  uint32_t threads = exploration->program->threads;
  schedule->count = switches;
  schedule->first = (uint32_t)(number % threads);
  number /= threads;
  schedule->switches[0].to = (uint32_t)((schedule->first + 1 + number % (threads - 1)) % threads);
  schedule->switches[1].to = schedule->first;
  number /= threads - 1;
  for (uint32_t i = 0; i < switches; i++, number /= exploration->points)
    schedule->switches[i].at = 1 + (uint32_t)(number % exploration->points);
  return switches == 1 || schedule->switches[0].at < schedule->switches[1].at;
}

// All of them, or `most` evenly spread ones if there are more.
static void try_listed(exploration *exploration, schedule_stores stores, uint32_t switches,
    uint32_t most) {
  uint64_t threads = exploration->program->threads, total = threads * (threads - 1);
  for (uint32_t i = 0; i < switches; i++) total *= exploration->points;
  if (!most || !total) return;
  uint64_t stride = total / most + 1;
  while (stride > 1 && (stride % 2 == 0 || stride % 3 == 0))
    stride++; // or some threads would never be first
  for (uint64_t number = exploration->seed % stride; number < total; number += stride) {
    schedule schedule = {.way = BY_LIST, .stores = stores};
    if (listed_schedule(exploration, switches, number, &schedule))
      try_schedule(exploration, &schedule);
  }
}

static void try_all(exploration *exploration) {
  static const schedule_stores stores[] = {STORES_AT_ONCE, STORES_LATE};
  try_orders(exploration);
  for (uint32_t i = 0; i < 4; i++) {
    const effort *effort = exploration->effort;
    try_listed(exploration, stores[i % 2], 1 + i / 2,
        (i < 2 ? effort->singles : effort->pairs) / 2);
  }
  try_at_random(exploration);
}

outcome explore(const program *program, const effort *effort, uint64_t seed) {
  memset(current_outcome, 0, sizeof *current_outcome);
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    begin_process(program);
    exploration exploration = {.program = program, .effort = effort, .seed = seed};
    try_all(&exploration);
    end_well();
  }
  await(child);
  return *current_outcome;
}
