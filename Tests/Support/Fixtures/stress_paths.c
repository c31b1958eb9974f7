// Scenarios with key paths of three and four keys, over objects that all threads share. A thread's own set right
// after it has registered a path, or set a link, must be delivered exactly once.
#include "fixture_shared_node.h"
#include "fixture_threads.h"
#include "stress.h"

#include <stdlib.h>

static kvo_object *make(void) {
  kvo_object *object = kvo_object_create(shared_node_class());
  if (!object) abort();
  return object;
}

static void lead(stage *stage, int from) {
  shared_node_set_next(stage->objects[from], stage->objects[from + 1]);
}

// A chain: each object leads to the next.
static void begin_chain(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++) stage->objects[i] = make();
  for (int i = 0; i < STRESS_OBJECTS - 1; i++) lead(stage, i);
}

// Unlinks all objects, then releases them, so that no link leads to a dead one.
static void end_chain(stage *stage) {
  for (int i = 0; i < STRESS_OBJECTS; i++) {
    shared_node_set_next(stage->objects[i], NULL);
    stage_require(stage, !stage->objects[i]->observations, "a link is left at a node");
  }
  for (int i = 0; i < STRESS_OBJECTS; i++) kvo_object_release(stage->objects[i]);
}

typedef struct long_path {
  const char *key_path;
  int leaf;
} long_path;

static long_path any_path(worker_state *worker) {
  static const long_path paths[] = {
      {"next.next.value", 2}, {"next.next.next.value", 3}, {"next.next.twice", 2}};
  return paths[worker_random(worker, 3)];
}

static void expect_own(stage *stage, ticket *ticket, unsigned calls, const char *problem) {
  atomic_fetch_add(&stage->sets, 1);
  stage_require(stage, atomic_load(&ticket->by_owner) == calls, problem);
}

// MARK: Registered, then set

// Others set the links to their current values.
static void step_registered(stage *stage, int thread, worker_state *worker) {
  if (thread < 2) {
    lead(stage, thread == 0 ? 0 : (int)worker_random(worker, STRESS_OBJECTS - 1));
    return;
  }
  long_path path = any_path(worker);
  ticket *ticket = worker_ticket(stage, thread);
  kvo_handle *handle = ticket_register(ticket, stage->objects[0], path.key_path, 0);
  shared_node_set_value(stage->objects[path.leaf], 1);
  expect_own(stage, ticket, 1, "a set right after the registration of a path did not notify once");
  kvo_handle_release(handle);
  shared_node_set_value(stage->objects[path.leaf], 2);
  expect_own(stage, ticket, 1, "a path notified after its end");
}

// MARK: Links set, then a value

// Each thread has a path for a while. All threads set the links of all paths.
static void step_led(stage *stage, int thread, worker_state *worker) {
  long_path path = any_path(worker);
  ticket *ticket = worker_ticket(stage, thread);
  kvo_handle *handle = ticket_register(ticket, stage->objects[0], path.key_path, 0);
  unsigned calls = 0;
  for (unsigned turns = 1 + worker_random(worker, 4); turns; turns--) {
    lead(stage, (int)worker_random(worker, (unsigned)path.leaf));
    expect_own(stage, ticket, ++calls, "a link that was led did not notify once");
    shared_node_set_value(stage->objects[path.leaf], turns);
    expect_own(stage, ticket, ++calls, "a set right after a link was led did not notify once");
  }
  kvo_handle_release(handle);
}

// MARK: Links cut and restored

// One thread cuts links and restores them. Whatever the others have done, each path follows its links in the end: a
// set of the leaf by any thread notifies.
static void begin_apart(stage *stage) {
  begin_chain(stage);
  for (int i = 0; i < 2; i++) {
    ticket_begin(&stage->steady[i], stage, -1);
    stage->handles[i] = ticket_register(&stage->steady[i], stage->objects[0],
        i == 0 ? "next.next.value" : "next.next.next.value", 0);
  }
}

static void step_apart(stage *stage, int thread, worker_state *worker) {
  unsigned object = worker_random(worker, STRESS_OBJECTS - 1);
  kvo_object *next = stage->objects[object + 1];
  if (thread == 0) {
    shared_node_set_next(stage->objects[object], worker_random(worker, 2) ? next : NULL);
  } else if (thread == 1) {
    long_path path = any_path(worker);
    kvo_handle_release(ticket_register(worker_ticket(stage, thread), stage->objects[0],
        path.key_path, 0));
  } else {
    shared_node_set_value(stage->objects[object + 1], thread);
    atomic_fetch_add(&stage->sets, 1);
  }
}

static void expect_whole_paths(stage *stage) {
  for (int i = 0; i < 2; i++) {
    unsigned long long calls = atomic_load(&stage->steady[i].calls);
    shared_node_set_value(stage->objects[2 + i], 3);
    stage_require(stage, atomic_load(&stage->steady[i].calls) == calls + 1,
        "a path does not stand where it leads");
  }
}

static void end_apart(stage *stage) {
  for (int i = STRESS_OBJECTS - 1; i-- > 0;) lead(stage, i);
  expect_whole_paths(stage);
  for (int i = 0; i < 2; i++) kvo_handle_release(stage->handles[i]);
  end_chain(stage);
}

const scenario stress_path_scenarios[] = {
    {"long paths, registered and set", begin_chain, step_registered, end_chain},
    {"long paths, led and set", begin_chain, step_led, end_chain},
    {"long paths, led apart and back", begin_apart, step_apart, end_apart},
    {NULL, NULL, NULL, NULL},
};
