// Scenarios in which the number of calls is known.
#include "fixture_shared_node.h"
#include "fixture_threads.h"
#include "stress.h"

#include <stdlib.h>

static kvo_object *make(const kvo_class *cls) {
  kvo_object *object = kvo_object_create(cls);
  if (!object) abort();
  return object;
}

static void watch_steadily(stage *stage, int index, kvo_object *object, const char *key_path) {
  ticket_begin(&stage->steady[index], stage, -1);
  stage->handles[index] = ticket_register(&stage->steady[index], object, key_path, 0);
}

/// Each steady observer was registered throughout, so it was called for every set.
static void expect_steady(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++) {
    if (!stage->handles[i]) continue;
    unsigned long long calls = atomic_load(&stage->steady[i].calls);
    stage_require(stage, calls >= stage->sets, "a set did not notify");
    stage_require(stage, calls <= stage->sets, "a set notified twice");
    kvo_handle_release(stage->handles[i]);
  }
}

static void release_objects(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++)
    if (stage->objects[i]) kvo_object_release(stage->objects[i]);
}

static kvo_options any_options(worker_state *worker) { return worker_random(worker, 16); }

static void come_and_go(stage *stage, int thread, kvo_object *object, const char *key_path) {
  ticket *ticket = worker_ticket(stage, thread);
  kvo_handle_release(ticket_register(ticket, object, key_path,
      any_options(&stage->workers[thread])));
}

// MARK: One key

static void begin_key(stage *stage) {
  stage->objects[0] = make(gauge_class());
  watch_steadily(stage, 0, stage->objects[0], "first");
}

typedef struct {
  kvo_object *object;
  long value;
} setting;

static void set_twice(void *opaque) {
  const setting *setting = opaque;
  gauge_setFirst((gauge *)setting->object, setting->value);
  gauge_setFirst((gauge *)setting->object, setting->value + 1);
}

static void set_some_way(stage *stage, worker_state *worker) {
  kvo_object *object = stage->objects[0];
  const kvo_value value = kvo_value_int(worker_random(worker, 3));
  atomic_fetch_add(&stage->sets, 1);
  switch (worker_random(worker, 5)) {
  case 0: kvo_set_value_for_key(object, "first", &value, NULL); break;
  case 1:
    kvo_will_change(object, "first");
    kvo_did_change(object, "first");
    break;
  case 2:
    kvo_coalesce(object, set_twice, &(setting){object, (long)worker_random(worker, 3)});
    break;
  default: gauge_setFirst((gauge *)object, (long)worker_random(worker, 3));
  }
}

static void step_key(stage *stage, int thread, worker_state *worker) {
  if (thread < 2) set_some_way(stage, worker);
  else come_and_go(stage, thread, stage->objects[0], worker_random(worker, 3) ? "first" : "second");
}

static void end_objects(stage *stage) {
  expect_steady(stage);
  for (int i = 0; i < STRESS_OBJECTS; i++)
    if (stage->objects[i])
      stage_require(stage, !stage->objects[i]->observations, "something is left at the object");
  release_objects(stage);
}

// MARK: Paths and derived keys

static void begin_paths(stage *stage) {
  static const char *const key_paths[] = {
      "next.next.value", "next.next.twice", "next.nextTwice", "next.next.value"};
  for (int i = 0; i < 3; i++) stage->objects[i] = make(shared_node_class());
  shared_node_set_next(stage->objects[0], stage->objects[1]);
  shared_node_set_next(stage->objects[1], stage->objects[2]);
  for (int i = 0; i < STRESS_OBJECTS; i++)
    watch_steadily(stage, i, stage->objects[0], key_paths[i]);
}

static void set_value_twice(void *opaque) {
  const setting *setting = opaque;
  shared_node_set_value(setting->object, setting->value);
  shared_node_set_value(setting->object, setting->value + 1);
}

static void step_paths(stage *stage, int thread, worker_state *worker) {
  static const char *const key_paths[] = {
      "next.next.value", "nextTwice", "next.value", "next.next.nextTwice", "twice"};
  if (thread < 2) {
    atomic_fetch_add(&stage->sets, 1);
    setting setting = {stage->objects[2], worker_random(worker, 3)};
    if (worker_random(worker, 4)) shared_node_set_value(setting.object, setting.value);
    else kvo_coalesce(setting.object, set_value_twice, &setting);
  } else {
    come_and_go(stage, thread, stage->objects[worker_random(worker, 3)],
        key_paths[worker_random(worker, 5)]);
  }
}

static void end_paths(stage *stage) {
  for (int i = 0; i < 2; i++) shared_node_set_next(stage->objects[i], NULL);
  stage->sets++; // only the first of these sets notified: it detached the objects of the second
  end_objects(stage);
}

// MARK: A thread's own registrations

static void begin_object(stage *stage) { stage->objects[0] = make(gauge_class()); }

static void set_and_expect(stage *stage, ticket *ticket, unsigned calls, const char *problem) {
  gauge_setFirst((gauge *)stage->objects[0], 1);
  atomic_fetch_add(&stage->sets, 1);
  stage_require(stage, atomic_load(&ticket->by_owner) == calls, problem);
}

static void step_own(stage *stage, int thread, worker_state *worker) {
  ticket *ticket = worker_ticket(stage, thread);
  kvo_options options = any_options(worker) & (KVO_NEW | KVO_OLD);
  kvo_handle *handle = ticket_register(ticket, stage->objects[0], "first", options);
  set_and_expect(stage, ticket, 1, "a set that began after the registration did not notify once");
  set_and_expect(stage, ticket, 2, "a second set did not notify once");
  kvo_handle_invalidate(handle);
  set_and_expect(stage, ticket, 2, "a set notified after the invalidation");
  kvo_handle_release(handle);
}

// MARK: Several keys, and manual pairs

static void expect_own(stage *stage, ticket *ticket, unsigned calls, const char *problem) {
  atomic_fetch_add(&stage->sets, 1);
  stage_require(stage, atomic_load(&ticket->by_owner) == calls, problem);
}

// Pairs of two keys that cross, with a setter in between.
static void change_by_hand(stage *stage, ticket *ticket, unsigned calls) {
  kvo_object *object = stage->objects[0];
  kvo_will_change(object, "first");
  kvo_will_change(object, "second");
  kvo_did_change(object, "first");
  expect_own(stage, ticket, calls + 1, "a pair by hand did not notify once");
  gauge_setFirst((gauge *)object, 2);
  expect_own(stage, ticket, calls + 2, "a set inside another key's pair did not notify once");
  kvo_did_change(object, "second");
  expect_own(stage, ticket, calls + 3, "a pair around others did not notify once");
}

static void step_several(stage *stage, int thread, worker_state *worker) {
  static const char *const keys[] = {"second", "first"};
  kvo_object *object = stage->objects[0];
  ticket *ticket = worker_ticket(stage, thread);
  kvo_options options = any_options(worker) & (KVO_NEW | KVO_OLD);
  kvo_handle *handle = ticket_register_keys(ticket, object, keys, 2, options);
  gauge_setSecond((gauge *)object, 1);
  expect_own(stage, ticket, 1, "a set of one of several keys did not notify once");
  change_by_hand(stage, ticket, 1);
  if (worker_random(worker, 2)) kvo_handle_invalidate(handle);
  else kvo_handle_release(handle), handle = NULL;
  gauge_setFirst((gauge *)object, 1);
  expect_own(stage, ticket, 4, "a set notified after the end of several keys");
  kvo_handle_release(handle);
}

// MARK: Newcomers

// Two threads take turns in rounds: one sets while the other registers. There is a steady observer.
static void begin_newcomers(stage *stage) {
  for (int i = 0; i < STRESS_THREADS / 2; i++) {
    stage->objects[i] = make(gauge_class());
    ticket_begin(&stage->steady[i], stage, -1);
    stage->handles[i] = ticket_register(&stage->steady[i], stage->objects[i], "first", 0);
  }
}

static void pause_for(unsigned turns) {
  for (volatile unsigned turn = 0; turn < turns; turn++) {}
}

// Waits for the other thread of the pair. False if it has left.
static bool wait_for(stage *stage, int other, atomic_uint *rounds, unsigned round) {
  FIXTURE_WAIT_UNTIL(atomic_load(rounds) == round || atomic_load(&stage->has_left[other]));
  return atomic_load(rounds) == round;
}

static void set_slowly(stage *stage, int pair, worker_state *worker) {
  kvo_object *object = stage->objects[pair];
  struct round *round = &stage->rounds[pair];
  unsigned number = atomic_load(&round->begun) + 1;
  atomic_store(&round->begun, number);
  kvo_will_change(object, "first");
  pause_for(worker_random(worker, 2000));
  __atomic_store_n(&((gauge *)object)->first, (long)number, __ATOMIC_SEQ_CST);
  pause_for(worker_random(worker, 2000));
  kvo_did_change(object, "first");
  atomic_fetch_add(&stage->sets, 1);
  atomic_store(&round->set, number);
  if (!wait_for(stage, 2 * pair + 1, &round->done, number)) return;
  stage_require(stage, atomic_load(&round->notified) == (long)number,
      "a newcomer was notified by neither its initial call nor the change under way");
}

static void see_value(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path;
  struct round *round = context;
  int64_t value = kvo_value_get_int(kvo_change_get_new(change));
  if (value > atomic_load(&round->notified)) atomic_store(&round->notified, value);
}

// The registration lasts until the set is over.
static void come_while_set(stage *stage, int pair, worker_state *worker) {
  struct round *round = &stage->rounds[pair];
  unsigned number = atomic_load(&round->done) + 1;
  if (!wait_for(stage, 2 * pair, &round->begun, number)) return;
  pause_for(worker_random(worker, 2000));
  kvo_handle *handle = NULL;
  kvo_add_callback(stage->objects[pair], "first", KVO_INITIAL | KVO_NEW, see_value, round, NULL,
      &handle, NULL);
  atomic_fetch_add(&stage->untold, 1);
  wait_for(stage, 2 * pair, &round->set, number);
  atomic_fetch_add(&stage->calls, 1); // the initial one at least
  kvo_handle_release(handle);
  atomic_store(&round->done, number);
}

static void step_newcomers(stage *stage, int thread, worker_state *worker) {
  if (thread % 2 == 0) set_slowly(stage, thread / 2, worker);
  else come_while_set(stage, thread / 2, worker);
}

// MARK: First ones

// Objects without an observer, or only with one of another key. The setter may have begun without a change.
static void begin_first(stage *stage) {
  for (int i = 0; i < STRESS_THREADS / 2; i++) stage->objects[i] = make(gauge_class());
  watch_steadily(stage, 1, stage->objects[1], "second");
}

static void set_unobserved(stage *stage, int pair, worker_state *worker) {
  struct round *round = &stage->rounds[pair];
  unsigned number = atomic_load(&round->begun) + 1;
  atomic_store(&round->begun, number);
  pause_for(worker_random(worker, 200));
  gauge_setFirst((gauge *)stage->objects[pair], (long)number);
  atomic_fetch_add(&stage->sets, 1);
  atomic_store(&round->set, number);
  if (!wait_for(stage, 2 * pair + 1, &round->done, number)) return;
  stage_require(stage, atomic_load(&round->notified) == (long)number,
      "the first observer was notified by neither its initial call nor the set under way");
}

static void step_first(stage *stage, int thread, worker_state *worker) {
  if (thread % 2 == 0) set_unobserved(stage, thread / 2, worker);
  else come_while_set(stage, thread / 2, worker);
}

static void end_newcomers(stage *stage) {
  for (int i = 0; i < STRESS_THREADS / 2; i++) kvo_handle_release(stage->handles[i]);
  release_objects(stage);
}

const scenario stress_count_scenarios[] = {
    {"one key", begin_key, step_key, end_objects},
    {"paths and derived keys", begin_paths, step_paths, end_paths},
    {"own registrations", begin_object, step_own, end_objects},
    {"several keys and pairs", begin_object, step_several, end_objects},
    {"newcomers", begin_newcomers, step_newcomers, end_newcomers},
    {"first observers", begin_first, step_first, end_newcomers},
    {NULL, NULL, NULL, NULL},
};
