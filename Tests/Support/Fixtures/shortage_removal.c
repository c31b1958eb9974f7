#include "shortage_steps.h"

static void unwatch_and_change(world *world) {
  world_release_handles(world);
  change_all(world);
}

static void watch_with_objects(world *world) {
  for (int i = 0; i < 20; i++) must(add_observer(world));
  watch_paths(world);
}

static kvo_status remove_observer(world *world) {
  return kvo_remove_observer(world_object(world, 0), world_object(world, 3), "value",
      &world->error);
}

static kvo_status remove_by_context(world *world) {
  return kvo_remove_observer_with_context(world_object(world, 0), world_object(world, 3), "value",
      world, &world->error);
}

static kvo_status remove_all(world *world) {
  kvo_remove_all_observers(world_object(world, 0));
  kvo_remove_all_observers(world_object(world, 1));
  return KVO_OK;
}

// Node 1 keeps its own registrations, and the path observations of others there.
static void watch_on_the_way(world *world) {
  watch_paths(world);
  watch(world, 1, "value", KVO_NEW);
  watch(world, 1, "next", KVO_NEW);
  watch(world, 1, "next.name", KVO_NEW);
}

static kvo_status remove_all_on_the_way(world *world) {
  kvo_remove_all_observers(world_object(world, 1));
  return KVO_OK;
}

static void watch_in_groups(world *world) {
  must(add_group(world));
  watch_paths(world);
  watch_items(world);
  watch_tags(world);
}

static void die(world *world, int i) {
  kvo_object *object = world_object(world, i);
  world->nodes[i] = NULL;
  kvo_object_release(object);
}

static kvo_status die_observed(world *world) {
  die(world, 0);
  return KVO_OK;
}

static kvo_status die_observer(world *world) {
  die(world, 3);
  return KVO_OK;
}

static void interposer_set_one_key(world *world) { graph_node_setValue(node(world, 0), 99); }

#define REMOVAL(set_up, act, go_on) SCENARIO("removal", ACT_MUST, set_up, act, go_on, NULL)

SCENARIO_TABLE(shortage_removal, REMOVAL(watch_with_objects, remove_observer, change_all),
    REMOVAL(watch_with_objects, remove_by_context, change_all),
    REMOVAL(watch_with_objects, remove_all, change_all),
    REMOVAL(watch_on_the_way, remove_all_on_the_way, change_all),
    REMOVAL(watch_in_groups, release_handles, unwatch_and_change),
    REMOVAL(watch_with_objects, die_observed, nothing),
    REMOVAL(watch_with_objects, die_observer, interposer_set_one_key));
