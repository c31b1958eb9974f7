#include "stress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_threads.h"
#include "require.h"

static _Thread_local int this_thread = -1;

int stage_thread(void) { return this_thread; }

void stage_fail(stage *stage, const char *problem) {
  if (atomic_fetch_add(&stage->wrong, 1) == 0)
    snprintf(stage->problem, sizeof stage->problem, "%s: %s", stage->scenario->name, problem);
}

// An xorshift generator: the state is never 0.
unsigned worker_random(worker_state *worker, unsigned bound) {
  worker->random ^= worker->random << 13;
  worker->random ^= worker->random >> 7;
  worker->random ^= worker->random << 17;
  return (unsigned)(worker->random >> 32) % bound;
}

// MARK: Tickets

void ticket_begin(ticket *ticket, stage *stage, int owner) {
  ticket->stage = stage;
  ticket->owner = owner;
  atomic_store(&ticket->calls, 0);
  atomic_store(&ticket->by_owner, 0);
  atomic_store(&ticket->ended, false);
}

static bool is_free(const ticket *ticket) { return !ticket->stage || atomic_load(&ticket->ended); }

static ticket *find_free(worker_state *worker) {
  for (int i = 0; i < STRESS_TICKETS; i++) {
    ticket *next = &worker->tickets[worker->next_ticket++ % STRESS_TICKETS];
    if (is_free(next)) return next;
  }
  return NULL;
}

// If another thread is in the middle of a call, ends are still to be reported. The thread may be suspended for long,
// but not for ever.
ticket *worker_ticket(stage *stage, int thread) {
  worker_state *worker = &stage->workers[thread];
  ticket *found;
  FIXTURE_WAIT_UNTIL((found = find_free(worker)) || atomic_load(&stage->wrong));
  if (!found) found = &worker->tickets[0];
  ticket_begin(found, stage, thread);
  return found;
}

void ticket_called(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path, (void)change;
  ticket *self = context;
  stage_require(self->stage, !atomic_load(&self->ended), "a call came after the end");
  atomic_fetch_add(&self->stage->calls, 1);
  atomic_fetch_add(&self->calls, 1);
  if (this_thread == self->owner) atomic_fetch_add(&self->by_owner, 1);
}

void ticket_ended(void *context) {
  ticket *self = context;
  stage *stage = self->stage;
  atomic_fetch_add(&stage->ends, 1);
  // After this exchange the ticket may serve another registration.
  stage_require(stage, !atomic_exchange(&self->ended, true), "an end was reported twice");
}

static void add(ticket *ticket, kvo_object *object, const char *key_path, kvo_options options,
    kvo_handle **handle) {
  kvo_error error = {0};
  kvo_status status = kvo_add_callback(object, key_path, options, ticket_called, ticket,
      ticket_ended, handle, &error);
  require_ok(status, &error);
}

kvo_handle *ticket_register(ticket *ticket, kvo_object *object, const char *key_path,
    kvo_options options) {
  kvo_handle *handle = NULL;
  atomic_fetch_add(&ticket->stage->registrations, 1);
  add(ticket, object, key_path, options, &handle);
  return handle;
}

kvo_handle *ticket_register_keys(ticket *ticket, kvo_object *object, const char *const *keys,
    size_t count, kvo_options options) {
  kvo_handle *handle = NULL;
  kvo_error error = {0};
  atomic_fetch_add(&ticket->stage->registrations, 1);
  kvo_status status = kvo_add_callback_for_keys(object, keys, count, options, ticket_called, ticket,
      0, ticket_ended, &handle, &error);
  require_ok(status, &error);
  return handle;
}

void ticket_leave(ticket *ticket, kvo_object *object, const char *key_path, kvo_options options) {
  atomic_fetch_add(&ticket->stage->registrations, 1);
  add(ticket, object, key_path, options, NULL);
}

// MARK: Running

static int count(const scenario *scenarios) {
  int count = 0;
  while (scenarios[count].name) count++;
  return count;
}

static const scenario *const groups[] = {
    stress_count_scenarios, stress_path_scenarios, stress_lifetime_scenarios};
enum { GROUPS = sizeof groups / sizeof *groups };

int stress_scenario_count(void) {
  int sum = 0;
  for (int group = 0; group < GROUPS; group++) sum += count(groups[group]);
  return sum;
}

static const scenario *find(int number) {
  int group = 0;
  for (; number >= count(groups[group]); group++) number -= count(groups[group]);
  return &groups[group][number];
}

const char *stress_scenario(int number) { return find(number)->name; }

typedef struct run {
  stage *stage;
  unsigned steps;
  atomic_int done; // threads that have done their steps
} run;

// A thread that has done its steps goes on while another has not, so that they overlap to the end.
static void work(void *context, int thread) {
  run *self = context;
  this_thread = thread;
  for (unsigned steps = 1; atomic_load(&self->done) < STRESS_THREADS; steps++) {
    self->stage->scenario->step(self->stage, thread, &self->stage->workers[thread]);
    if (steps == self->steps) atomic_fetch_add(&self->done, 1);
  }
  atomic_store(&self->stage->has_left[thread], true);
  this_thread = -1;
}

static stage *make_stage(const scenario *scenario, uint64_t seed) {
  stage *made = calloc(1, sizeof *made);
  if (!made) abort();
  made->scenario = scenario;
  for (int i = 0; i < STRESS_OBJECTS; i++) pthread_rwlock_init(&made->locks[i], NULL);
  for (int i = 0; i < STRESS_THREADS; i++)
    made->workers[i].random =
        (seed + 1) * 0x9E3779B97F4A7C15u + (uint64_t)i * 0xD1B54A32D192ED03u + 1;
  return made;
}

stress_result stress_run(int number, unsigned steps, uint64_t seed) {
  stage *stage = make_stage(find(number), seed);
  run run = {.stage = stage, .steps = steps};
  stage->scenario->begin(stage);
  fixture_run_threads(STRESS_THREADS, work, &run);
  stage->scenario->end(stage);
  stage_require(stage, stage->ends == stage->registrations, "a registration has not ended");
  stress_result result = {
      stage->sets, stage->calls, stage->registrations + stage->untold, stage->wrong, ""};
  memcpy(result.problem, stage->problem, sizeof result.problem);
  free(stage);
  return result;
}
