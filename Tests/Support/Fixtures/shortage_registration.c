#include <stdlib.h>
#include <string.h>

#include "shortage_steps.h"

static kvo_status first(world *world) {
  return world_observe(world, 0, "value", KVO_NEW | KVO_OLD);
}

static kvo_status initial(world *world) {
  return world_observe(world, 0, "name", KVO_NEW | KVO_INITIAL);
}

static void watch_value_once(world *world) { watch(world, 0, "value", KVO_NEW); }

static void watch_value_often(world *world) {
  for (int i = 0; i < 4; i++) watch(world, 0, "value", KVO_NEW);
}

static void watch_three_keys(world *world) {
  watch(world, 0, "extra", KVO_NEW);
  watch(world, 0, "name", KVO_NEW);
  watch(world, 0, "manual", KVO_NEW);
}

static void remove_observer_and_change(world *world) {
  change_all(world);
  must(kvo_remove_observer(world_object(world, 0), world_object(world, 3), "value", NULL));
}

static kvo_status path(world *world) {
  return world_observe(world, 0, "next.next.value", KVO_NEW | KVO_OLD | KVO_INITIAL);
}

static kvo_status self_path(world *world) {
  return world_observe(world, 0, "self.next.name", KVO_NEW);
}

static kvo_status new_path(world *world) {
  char text[64] = "next";
  size_t count = (size_t)strtol(world->serial, NULL, 10) % 9;
  for (size_t i = 0; i < count; i++) strcat(text, ".self");
  strcat(text, ".value");
  kvo_status status = kvo_add_callback(world_object(world, 0), text, KVO_NEW, log_notified, world,
      end_group, &world->handles[world->handle_count], &world->error);
  if (!status) world->handle_count++, world->begun++;
  return status;
}

static kvo_status sum(world *world) {
  return world_observe(world, 0, "items.@sum.value", KVO_NEW | KVO_OLD);
}

static kvo_status item_count(world *world) {
  return world_observe(world, 0, "items.@count", KVO_NEW | KVO_OLD);
}

static kvo_status tag_names(world *world) {
  return world_observe(world, 0, "tags.@distinctUnionOfObjects.name", KVO_NEW | KVO_OLD);
}

static kvo_status derived(world *world) {
  return world_observe(world, 0, "total", KVO_NEW | KVO_OLD);
}

static kvo_status derived_text(world *world) {
  return world_observe(world, 0, "shout", KVO_NEW | KVO_OLD | KVO_PRIOR);
}

static kvo_status derived_far(world *world) {
  return world_observe(world, 0, "next.total", KVO_NEW | KVO_OLD);
}

static kvo_status depend(world *world) {
  return kvo_class_add_dependency(world->cls, "extra", "next.name", &world->error);
}

static void watch_extra(world *world) {
  watch(world, 0, "extra", KVO_NEW);
  watch(world, 1, "extra", KVO_NEW);
}

static void watch_total(world *world) {
  watch(world, 0, "total", KVO_NEW | KVO_OLD);
  watch(world, 0, "next.total", KVO_NEW);
}

static kvo_status depend_too(world *world) {
  return kvo_class_add_dependency(world->cls, "total", "next.next.name", &world->error);
}

static void give_back(void *value) { (void)value; }

static kvo_status keep(world *world) {
  static const char key;
  return kvo_object_associate(world_object(world, 0), &key, world, give_back, &world->error);
}

#define REGISTRATION(set_up, act, key) \
  SCENARIO("registration", ACT_REPORTS, set_up, act, change_all, key)

SCENARIO_TABLE(shortage_registration, REGISTRATION(nothing, first, "value"),
    REGISTRATION(nothing, initial, "name"), REGISTRATION(watch_value_once, first, "value"),
    REGISTRATION(watch_value_often, first, "value"), REGISTRATION(watch_three_keys, first, "value"),
    SCENARIO("registration", ACT_REPORTS, nothing, add_observer, remove_observer_and_change,
        "value"),
    REGISTRATION(nothing, add_group, NULL), REGISTRATION(nothing, path, ""),
    REGISTRATION(nothing, self_path, ""), REGISTRATION(nothing, new_path, ""),
    REGISTRATION(nothing, sum, ""), REGISTRATION(nothing, item_count, ""),
    REGISTRATION(nothing, tag_names, ""), REGISTRATION(nothing, derived, ""),
    REGISTRATION(nothing, derived_text, ""), REGISTRATION(nothing, derived_far, ""),
    REGISTRATION(watch_paths, path, ""), REGISTRATION(watch_extra, depend, ""),
    REGISTRATION(watch_total, depend_too, "total"), REGISTRATION(nothing, keep, ""),
    REGISTRATION(watch_value_once, keep, ""), REGISTRATION(watch_three_keys, keep, ""));
