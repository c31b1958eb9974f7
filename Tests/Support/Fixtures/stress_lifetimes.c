// Scenarios in which objects, observers and registrations end while others use them.
#include <stdlib.h>

#include "fixture_shared_node.h"
#include "fixture_threads.h"
#include "fixture_watcher.h"
#include "stress.h"

static kvo_object *make(const kvo_class *cls) {
  kvo_object *object = kvo_object_create(cls);
  if (!object) abort();
  return object;
}

static void set(stage *stage, kvo_object *object, long value) {
  gauge_setFirst((gauge *)object, value);
  atomic_fetch_add(&stage->sets, 1);
}

// MARK: Registering and ending

static void begin_object(stage *stage) { stage->objects[0] = make(gauge_class()); }

static void step_coming(stage *stage, int thread, worker_state *worker) {
  if (thread < 2) {
    set(stage, stage->objects[0], thread);
    return;
  }
  ticket *ticket = worker_ticket(stage, thread);
  kvo_handle *handle = ticket_register(ticket, stage->objects[0], "first", KVO_PRIOR);
  for (unsigned left = worker_random(worker, 3); left; left--)
    set(stage, stage->objects[0], thread);
  kvo_handle_release(handle);
}

static void end_object(stage *stage) {
  stage_require(stage, !stage->objects[0]->observations, "something is left at the object");
  kvo_object_release(stage->objects[0]);
}

// MARK: One handle, ended by several threads

static void replace_handle(stage *stage, int index) {
  pthread_rwlock_wrlock(&stage->locks[index]);
  kvo_handle_release(stage->handles[index]);
  ticket *ticket = &stage->steady[index];
  // If a call is still in progress, `ended` has not been called, and the slot stays empty.
  bool is_free = !ticket->stage || atomic_load(&ticket->ended);
  if (is_free) ticket_begin(ticket, stage, -1);
  stage->handles[index] =
      is_free ? ticket_register(ticket, stage->objects[0], "first", KVO_NEW) : NULL;
  pthread_rwlock_unlock(&stage->locks[index]);
}

static void step_invalidation(stage *stage, int thread, worker_state *worker) {
  int index = (int)worker_random(worker, STRESS_OBJECTS);
  if (thread == 0) {
    set(stage, stage->objects[0], index);
    return;
  }
  if (!worker_random(worker, 4)) {
    replace_handle(stage, index);
    return;
  }
  pthread_rwlock_rdlock(&stage->locks[index]);
  kvo_handle *handle = stage->handles[index];
  if (handle) {
    kvo_handle_invalidate(handle);
    stage_require(stage, !kvo_handle_is_valid(handle), "a registration lives after its end");
  }
  pthread_rwlock_unlock(&stage->locks[index]);
}

static void end_handles(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++) kvo_handle_release(stage->handles[i]);
  end_object(stage);
}

// MARK: Changes that end on another thread

static void close_carried(stage *stage) {
  kvo_frame *carried = atomic_exchange(&stage->carried, NULL);
  if (!carried) return;
  kvo_stored_property_did_change(carried);
  atomic_fetch_add(&stage->sets, 1);
}

// The first thread opens changes of one object and sets another one. The second thread closes them.
static void step_carrying(stage *stage, int thread, worker_state *worker) {
  kvo_object *object = stage->objects[thread % 2];
  if (thread == 0) {
    atomic_store(&stage->carried,
        kvo_stored_property_will_change_key(object, kvo_key_intern("first")));
    while (atomic_load(&stage->carried) && !atomic_load(&stage->has_left[1]))
      set(stage, stage->objects[1], thread);
    close_carried(stage);
  } else if (thread == 1) {
    close_carried(stage);
  } else {
    ticket *ticket = worker_ticket(stage, thread);
    kvo_handle *handle = ticket_register(ticket, object, "first", KVO_NEW);
    if (worker_random(worker, 2)) set(stage, object, thread);
    kvo_handle_release(handle);
  }
}

static void begin_two_objects(stage *stage) {
  for (int i = 0; i < 2; i++) stage->objects[i] = make(gauge_class());
}

static void end_two_objects(stage *stage) {
  for (int i = 0; i < 2; i++) {
    stage_require(stage, !stage->objects[i]->observations, "something is left at the object");
    kvo_object_release(stage->objects[i]);
  }
}

// MARK: Deaths

static void see(void *sink_context, const char *level, const char *key_path, kvo_object *object,
    const kvo_change *change, void *context) {
  (void)level, (void)key_path, (void)object, (void)change, (void)context;
  stage *stage = sink_context;
  atomic_fetch_add(&stage->calls, 1);
}

static kvo_object *make_observer(stage *stage) {
  watcher *made = (watcher *)make(watcher_class());
  made->sink = see;
  made->sink_context = stage;
  return &made->tracked.object;
}

static void begin_deaths(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++) stage->objects[i] = make(gauge_class());
  for (int i = 0; i < STRESS_OBJECTS; i++) stage->observers[i] = make_observer(stage);
}

static kvo_object *borrow(stage *stage, kvo_object **slots, int index) {
  pthread_rwlock_rdlock(&stage->locks[index]);
  kvo_object *object = slots[index];
  kvo_object_retain(object);
  pthread_rwlock_unlock(&stage->locks[index]);
  return object;
}

static void replace(stage *stage, kvo_object **slots, int index, kvo_object *by) {
  pthread_rwlock_wrlock(&stage->locks[index]);
  kvo_object *old = slots[index];
  slots[index] = by;
  pthread_rwlock_unlock(&stage->locks[index]);
  kvo_object_release(old);
}

static void add_observer(stage *stage, kvo_object *object, kvo_object *observer, const char *key,
    void *context) {
  atomic_fetch_add(&stage->untold, 1);
  kvo_add_observer(object, observer, key, KVO_OLD, context, NULL);
}

static void use(stage *stage, int thread, worker_state *worker, kvo_object *object) {
  kvo_object *observer =
      borrow(stage, stage->observers, (int)worker_random(worker, STRESS_OBJECTS));
  switch (worker_random(worker, 12)) {
  case 0: ticket_leave(worker_ticket(stage, thread), object, "first", KVO_PRIOR); break;
  case 1: add_observer(stage, object, observer, "first", stage); break;
  case 2: add_observer(stage, object, observer, "second", NULL); break;
  case 3: kvo_remove_observer(object, observer, "first", NULL); break;
  case 4: kvo_remove_observer_with_context(object, observer, "second", NULL, NULL); break;
  case 5: kvo_remove_all_observers(object); break;
  case 6:
    kvo_will_change(object, "first");
    kvo_did_change(object, "first");
    break;
  default: set(stage, object, thread);
  }
  kvo_object_release(observer);
}

// By the time a ticket is reused, its object has died or lost all observers long ago.
static void step_deaths(stage *stage, int thread, worker_state *worker) {
  int index = (int)worker_random(worker, STRESS_OBJECTS);
  unsigned fate = worker_random(worker, 24);
  if (fate == 0) replace(stage, stage->objects, index, make(gauge_class()));
  if (fate == 1) replace(stage, stage->observers, index, make_observer(stage));
  kvo_object *object = borrow(stage, stage->objects, index);
  use(stage, thread, worker, object);
  kvo_object_release(object);
}

static void end_deaths(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++) {
    kvo_object_release(stage->observers[i]);
    kvo_object_release(stage->objects[i]);
  }
}

// MARK: One observer, each thread with contexts of its own

static void begin_contexts(stage *stage) {
  begin_object(stage);
  stage->observers[0] = make_observer(stage);
}

static void step_contexts(stage *stage, int thread, worker_state *worker) {
  kvo_object *object = stage->objects[0], *observer = stage->observers[0];
  unsigned count = 1 + worker_random(worker, 20);
  void *context = &stage->workers[thread];
  atomic_fetch_add(&stage->untold, count);
  for (unsigned i = 0; i < count; i++)
    stage_require(stage, !kvo_add_observer(object, observer, "first", KVO_NEW, context, NULL),
        "an observer was refused");
  set(stage, object, thread);
  for (unsigned i = 0; i < count; i++)
    stage_require(stage,
        !kvo_remove_observer_with_context(object, observer, "first", context, NULL),
        "a registration was removed by another context, or lost");
  stage_require(stage,
      kvo_remove_observer_with_context(object, observer, "first", context, NULL) ==
          KVO_NOT_REGISTERED,
      "more was registered than was asked for");
}

static void end_contexts(stage *stage) {
  stage_require(stage, !stage->observers[0]->observations, "something is left at the observer");
  kvo_object_release(stage->observers[0]);
  end_object(stage);
}

// MARK: Relinking

static void begin_relinking(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++) stage->objects[i] = make(shared_node_class());
}

static const char *any_path(worker_state *worker) {
  static const char *const paths[] = {"value", "twice", "nextTwice", "next.value", "next.twice",
      "next.next.value", "next.nextTwice", "next.next.nextTwice"};
  return paths[worker_random(worker, 8)];
}

static void live_and_die(stage *stage, int thread, worker_state *worker, kvo_object *next) {
  kvo_object *mortal = make(shared_node_class());
  shared_node_set_next(mortal, next);
  ticket_leave(worker_ticket(stage, thread), mortal, any_path(worker), KVO_PRIOR | KVO_OLD);
  shared_node_set_value(mortal, 1);
  kvo_object_release(mortal);
}

static void step_relinking(stage *stage, int thread, worker_state *worker) {
  kvo_object *node = stage->objects[worker_random(worker, STRESS_OBJECTS)];
  unsigned next = worker_random(worker, STRESS_OBJECTS + 1);
  kvo_object *target = next < STRESS_OBJECTS ? stage->objects[next] : NULL;
  switch (worker_random(worker, 8)) {
  case 0: live_and_die(stage, thread, worker, node); break;
  case 1:
  case 2:
    kvo_handle_release(ticket_register(worker_ticket(stage, thread), node, any_path(worker),
        worker_random(worker, 16)));
    break;
  case 3: shared_node_set_next(node, target); break;
  default: shared_node_set_value(node, next); atomic_fetch_add(&stage->sets, 1);
  }
}

/// After all relinking, a path follows the current objects, and nothing else.
static void expect_right_wiring(stage *stage) {
  kvo_object *const *nodes = stage->objects;
  ticket *ticket = &stage->steady[0];
  ticket_begin(ticket, stage, -1);
  shared_node_set_next(nodes[0], nodes[1]);
  shared_node_set_next(nodes[1], nodes[2]);
  kvo_handle *handle = ticket_register(ticket, nodes[0], "next.next.value", 0);
  for (int i = 0; i < STRESS_OBJECTS; i++) shared_node_set_value(nodes[i], 1);
  stage_require(stage, atomic_load(&ticket->calls) == 1, "a path leads elsewhere");
  kvo_handle_release(handle);
}

static void end_relinking(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++) shared_node_set_next(stage->objects[i], NULL);
  expect_right_wiring(stage);
  for (int i = 0; i < STRESS_OBJECTS; i++) {
    stage_require(stage, !stage->objects[i]->observations, "a link is left at a node");
    kvo_object_release(stage->objects[i]);
  }
}

// MARK: Forks

// The child has only this thread, and its own copy of the objects.
static bool live_alone(void *context) {
  stage *stage = context;
  kvo_object *mine = make(gauge_class());
  ticket first = {0}, second = {0};
  ticket_begin(&first, stage, stage_thread());
  ticket_begin(&second, stage, stage_thread());
  ticket_leave(&first, mine, "first", KVO_NEW | KVO_OLD);
  kvo_handle *handle = ticket_register(&second, stage->objects[0], "first", KVO_PRIOR);
  set(stage, mine, 1);
  set(stage, stage->objects[0], 1);
  kvo_handle_release(handle);
  kvo_object_release(mine);
  return first.calls == 1 && first.ended && second.calls == 2 && second.ended;
}

static void step_forks(stage *stage, int thread, worker_state *worker) {
  if (thread > 0) step_coming(stage, thread, worker);
  else if (fixture_can_fork() && !atomic_load(&stage->wrong) && !worker_random(worker, 64))
    stage_require(stage, fixture_fork(live_alone, stage) == 0, "a forked child went wrong");
}

const scenario stress_lifetime_scenarios[] = {
    {"coming and going", begin_object, step_coming, end_object},
    {"one handle, ended by several", begin_object, step_invalidation, end_handles},
    {"changes that end on another thread", begin_two_objects, step_carrying, end_two_objects},
    {"deaths", begin_deaths, step_deaths, end_deaths},
    {"contexts of one observer", begin_contexts, step_contexts, end_contexts},
    {"relinking", begin_relinking, step_relinking, end_relinking},
    {"forks", begin_object, step_forks, end_object},
    {NULL, NULL, NULL, NULL},
};
