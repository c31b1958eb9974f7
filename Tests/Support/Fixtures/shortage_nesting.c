// Nested changes, more than fit in a thread's first block of frames, on a thread that has no other block yet.
#include "shortage_steps.h"

enum { DEPTH = 40 };

static double depth_of(world *world) { return node(world, 0)->value; }

static void watch_with(world *world, const char *key_path, kvo_options options,
    kvo_callback callback) {
  kvo_handle **handle = &world->handles[world->handle_count++];
  world->begun++;
  must(kvo_add_callback(world_object(world, 0), key_path, options, callback, world, end_group,
      handle, NULL));
}

static void go_deeper(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  world *world = context;
  (void)object, (void)key_path;
  world_log(world, "%s%g ", kvo_change_is_prior(change) ? "prior " : "", depth_of(world));
  if (depth_of(world) < DEPTH) graph_node_setValue(node(world, 0), depth_of(world) + 1);
}

static void watch_finals(world *world) {
  world_park_threads(world);
  watch_with(world, "value", KVO_NEW | KVO_OLD, go_deeper);
}

static kvo_status set_value_once(world *world) {
  graph_node_setValue(node(world, 0), 1);
  return KVO_OK;
}

// Two keys, because a change of the same key in a prior call would join.
static void go_deeper_by_hand(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  world *world = context;
  (void)key_path;
  if (!kvo_change_is_prior(change)) {
    world_log(world, "%d ", world->step--);
    return;
  }
  world_log(world, "prior %d ", ++world->step);
  if (world->step >= DEPTH) return;
  kvo_will_change(object, "extra");
  kvo_did_change(object, "extra");
}

static void watch_priors(world *world) {
  world_park_threads(world);
  watch_with(world, "extra", KVO_PRIOR | KVO_OLD, go_deeper_by_hand);
}

static kvo_status change_by_hand(world *world) {
  world->step = 0;
  kvo_will_change(world_object(world, 0), "extra");
  kvo_did_change(world_object(world, 0), "extra");
  return KVO_OK;
}

static void go_deeper_along_path(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  world *world = context;
  (void)object, (void)key_path, (void)change;
  double value = node(world, 1)->value;
  world_log(world, "%g ", value);
  if (value < DEPTH) graph_node_setValue(node(world, 1), value + 1);
}

static void watch_path(world *world) {
  world_park_threads(world);
  watch_with(world, "next.value", KVO_NEW | KVO_OLD, go_deeper_along_path);
}

static void watch_derived(world *world) {
  world_park_threads(world);
  watch_with(world, "total", KVO_NEW | KVO_OLD, go_deeper_along_path);
}

static kvo_status set_leaf(world *world) {
  graph_node_setValue(node(world, 1), 2);
  return KVO_OK;
}

// Nested registrations in initial calls. The outer ones return the results of the inner ones.
static kvo_status register_deeper(world *world, int depth);

typedef struct {
  world *world;
  int depth;
  kvo_status status;
} rung;

static void begin_deeper(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  rung *rung = context;
  (void)object, (void)key_path, (void)change;
  if (rung->depth < SHORTAGE_HANDLES - 4)
    rung->status = register_deeper(rung->world, rung->depth + 1);
}

static kvo_status register_deeper(world *world, int depth) {
  rung rung = {world, depth, KVO_OK};
  kvo_handle *handle;
  kvo_status status = kvo_add_callback(world_object(world, 0), "value", KVO_INITIAL | KVO_NEW,
      begin_deeper, &rung, NULL, &handle, &world->error);
  kvo_handle_release(handle);
  return status ? status : rung.status;
}

static kvo_status register_inside(world *world) { return register_deeper(world, 0); }

#define ON_THREAD(act) \
  static kvo_status act##_on_thread(world *world) { return world_act_on_thread(world, act); }

ON_THREAD(set_value_once)
ON_THREAD(change_by_hand)
ON_THREAD(set_leaf)
ON_THREAD(register_inside)

// Starts again, wherever memory ran out.
static void again(world *world) {
  node(world, 0)->value = node(world, 1)->value = 0;
  set_value_once(world);
  world->step = 0;
  change_by_hand(world);
  set_leaf(world);
}

#define NESTING(kind, set_up, act) SCENARIO("nesting", kind, set_up, act##_on_thread, again, NULL)

SCENARIO_TABLE_WITH_THREADS(shortage_nesting,
    NESTING(ACT_TELLS_OFTEN, watch_finals, set_value_once),
    NESTING(ACT_TELLS_OFTEN, watch_priors, change_by_hand),
    NESTING(ACT_TELLS_OFTEN, watch_path, set_leaf),
    NESTING(ACT_TELLS_OFTEN, watch_derived, set_leaf),
    NESTING(ACT_REPORTS, world_park_threads, register_inside));
