#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture_watchdog.h"
#include "shortage_steps.h"

// Threads that hold pooled records, so that the next thread must allocate its own.

enum { MOST_PARKED = 1024 };

static pthread_t parked[MOST_PARKED];
static size_t parked_count;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t has_record;

static void start(pthread_t *thread, void *(*body)(void *), void *context) {
  if (!pthread_create(thread, NULL, body, context)) return;
  fprintf(stderr, "fixture: no thread to be had\n");
  abort();
}

static void *park(void *object) {
  kvo_will_change(object, "extra");
  kvo_did_change(object, "extra");
  pthread_barrier_wait(&has_record);
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return NULL;
}

// One more record suffices: acting threads run one after the other and share it.
void world_park_threads(world *world) {
  if (parked_count == MOST_PARKED) abort();
  if (!parked_count) pthread_mutex_lock(&gate);
  pthread_barrier_init(&has_record, NULL, 2);
  start(&parked[parked_count++], park, world_object(world, 0));
  int wait = fixture_wait_begin(__FILE__, __LINE__);
  pthread_barrier_wait(&has_record);
  fixture_wait_end(wait);
  pthread_barrier_destroy(&has_record);
}

void unpark_threads(void) {
  if (parked_count) pthread_mutex_unlock(&gate);
  while (parked_count) fixture_join(parked[--parked_count]);
}

typedef struct {
  world *world;
  kvo_status (*act)(world *);
  kvo_status status;
  fixture_memory_limit limit;
} errand;

static void *run_errand(void *context) {
  errand *errand = context;
  fixture_restore_memory_limit(errand->limit);
  errand->status = errand->act(errand->world);
  errand->limit = fixture_lift_memory_limit();
  return NULL;
}

kvo_status world_act_on_thread(world *world, kvo_status (*act)(struct world *)) {
  errand errand = {.world = world, .act = act, .limit = fixture_lift_memory_limit()};
  pthread_t thread;
  start(&thread, run_errand, &errand);
  fixture_join(thread);
  fixture_restore_memory_limit(errand.limit);
  return errand.status;
}

// The first operation of a thread

static kvo_status insert(world *world) {
  graph_node_insertItem(node(world, 0), node(world, 3), 1);
  return KVO_OK;
}

static kvo_status change_by_hand(world *world) {
  kvo_will_change(world_object(world, 0), "value");
  node(world, 0)->value = 8;
  kvo_did_change(world_object(world, 0), "value");
  return KVO_OK;
}

static kvo_status observe(world *world) {
  return world_observe(world, 0, "value", KVO_NEW | KVO_INITIAL);
}

static kvo_status observe_path(world *world) {
  return world_observe(world, 0, "next.value", KVO_NEW | KVO_OLD | KVO_INITIAL);
}

static kvo_status end_all(world *world) {
  world_release_handles(world);
  return KVO_OK;
}

static kvo_status remove_all(world *world) {
  kvo_remove_all_observers(world_object(world, 0));
  kvo_remove_all_observers(world_object(world, 1));
  return KVO_OK;
}

static kvo_status die(world *world) {
  kvo_object *object = world_object(world, 0);
  world->nodes[0] = NULL;
  kvo_object_release(object);
  return KVO_OK;
}

static kvo_status get_sum(world *world) {
  kvo_value sum;
  kvo_status status =
      kvo_value_for_key_path(world_object(world, 0), "items.@sum.value", &sum, &world->error);
  if (!status) world_log(world, "%g\n", kvo_value_get_double(&sum));
  kvo_value_destroy(&sum);
  return status;
}

#define ON_THREAD(act) \
  static kvo_status act##_on_thread(world *world) { return world_act_on_thread(world, act); }

ON_THREAD(set_value)
ON_THREAD(relink)
ON_THREAD(insert)
ON_THREAD(change_by_hand)
ON_THREAD(observe)
ON_THREAD(observe_path)
ON_THREAD(add_observer)
ON_THREAD(add_group)
ON_THREAD(end_all)
ON_THREAD(remove_all)
ON_THREAD(die)
ON_THREAD(get_sum)

// Preparation

static void watch_value(world *world) {
  world_park_threads(world);
  watch(world, 0, "value", KVO_NEW | KVO_OLD | KVO_PRIOR);
}

static void watch_all(world *world) {
  watch_value(world);
  watch_paths(world);
  watch_items(world);
}

static void set_and_change(world *world) {
  set_value(world);
  change_all(world);
}

static void relink_and_change(world *world) {
  graph_node_setNext(node(world, 0), node(world, 2));
  world->log[0] = 0;
  change_all(world);
}

static void insert_and_change(world *world) {
  graph_node_insertItem(node(world, 0), node(world, 0), 0);
  world->log[0] = 0;
  change_all(world);
}

static void remove_and_change(world *world) {
  change_all(world);
  must(kvo_remove_observer(world_object(world, 0), world_object(world, 3), "value", NULL));
}

#define THREAD(kind, set_up, act, go_on, key) \
  SCENARIO("thread", kind, set_up, act##_on_thread, go_on, key)

SCENARIO_TABLE_WITH_THREADS(shortage_threads,
    THREAD(ACT_TELLS, watch_value, set_value, set_and_change, NULL),
    THREAD(ACT_TELLS, watch_all, set_value, set_and_change, NULL),
    THREAD(ACT_TELLS, watch_all, relink, relink_and_change, NULL),
    THREAD(ACT_TELLS, watch_all, insert, insert_and_change, NULL),
    THREAD(ACT_TELLS, watch_value, change_by_hand, set_and_change, NULL),
    THREAD(ACT_REPORTS, world_park_threads, observe, set_and_change, "value"),
    THREAD(ACT_REPORTS, watch_value, observe, set_and_change, "value"),
    THREAD(ACT_REPORTS, world_park_threads, observe_path, set_and_change, ""),
    THREAD(ACT_REPORTS, world_park_threads, add_observer, remove_and_change, "value"),
    THREAD(ACT_REPORTS, world_park_threads, add_group, set_and_change, NULL),
    THREAD(ACT_REPORTS, world_park_threads, get_sum, set_and_change, ""),
    THREAD(ACT_MUST, watch_all, end_all, change_all, NULL),
    THREAD(ACT_MUST, watch_all, remove_all, change_all, NULL),
    THREAD(ACT_MUST, watch_all, die, nothing, NULL));
