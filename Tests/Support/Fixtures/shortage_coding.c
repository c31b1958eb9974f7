#include <string.h>

#include "shortage_steps.h"

static kvo_status log_read(world *world, kvo_status status, kvo_value *value) {
  if (!status) {
    char text[64];
    kvo_value_describe(value, text, sizeof text);
    if (kvo_value_get_object(value)) strcpy(text, "object");
    world_log(world, "%s %zu\n", text, kvo_value_count(value));
  }
  kvo_value_destroy(value);
  return status;
}

static kvo_status read_path(world *world, const char *path) {
  kvo_value value;
  return log_read(world,
      kvo_value_for_key_path(world_object(world, 0), path, &value, &world->error), &value);
}

static kvo_status read_key(world *world, const char *key) {
  kvo_value value;
  return log_read(world, kvo_value_for_key(world_object(world, 0), key, &value, &world->error),
      &value);
}

static kvo_status get_name(world *world) { return read_key(world, "name"); }
static kvo_status get_span(world *world) { return read_key(world, "span"); }
static kvo_status get_value(world *world) { return read_key(world, "value"); }
static kvo_status get_items(world *world) { return read_key(world, "items"); }
static kvo_status get_path(world *world) { return read_path(world, "next.next.name"); }
static kvo_status get_sum(world *world) { return read_path(world, "items.@sum.value"); }
static kvo_status get_count(world *world) { return read_path(world, "tags.@count"); }
static kvo_status get_greatest(world *world) { return read_path(world, "items.@max.name"); }
static kvo_status get_names(world *world) { return read_path(world, "items.name"); }
static kvo_status get_tag_names(world *world) { return read_path(world, "tags.name"); }
static kvo_status get_distinct(world *world) {
  return read_path(world, "tags.@distinctUnionOfObjects.name");
}

static void make_string(world *world) { world->values[0] = kvo_value_string("set"); }

static void make_string_and_watch(world *world) {
  make_string(world);
  watch(world, 3, "value", KVO_NEW);
}

static kvo_status set_name_by_key(world *world) {
  return set_by_key(world, 0, "name", &world->values[0]);
}

static kvo_status set_name_by_path(world *world) {
  return kvo_set_value_for_key_path(world_object(world, 0), "next.next.name", &world->values[0],
      &world->error);
}

static kvo_status set_names(world *world) {
  return kvo_set_value_for_key_path(world_object(world, 0), "next.items.name", &world->values[0],
      &world->error);
}

static kvo_status validate(world *world) {
  return kvo_validate_value(world_object(world, 0), "next.name", &world->values[0], &world->error);
}

static kvo_status get_several(world *world) {
  static const char *const keys[] = {"name", "value", "span"};
  kvo_value values[3];
  kvo_status status = kvo_values_for_keys(world_object(world, 0), keys, 3, values, &world->error);
  for (int i = 0; i < 3; i++) log_read(world, status, &values[i]);
  return status;
}

static void make_several(world *world) {
  watch(world, 0, "value", KVO_NEW);
  world->values[0] = kvo_value_int(5);
  world->values[1] = kvo_value_string("set");
  world->values[2] = kvo_value_int(6);
}

static kvo_status interposer_set_several_keys(world *world) {
  static const char *const keys[] = {"value", "name", "extra"};
  return kvo_set_values_for_keys(world_object(world, 0), keys, 3, world->values, &world->error);
}

static void log_and_change(world *world) {
  const graph_node *first = node(world, 0);
  world_log(world, "%g %g\n", first->value, first->extra);
  change_all(world);
}

#define CODING(set_up, act, key) SCENARIO("coding", ACT_REPORTS, set_up, act, change_all, key)

SCENARIO_TABLE(shortage_coding, CODING(nothing, get_value, "value"),
    CODING(nothing, get_name, "name"), CODING(nothing, get_span, "span"),
    CODING(nothing, get_items, "items"), CODING(nothing, get_path, ""),
    CODING(nothing, get_sum, ""), CODING(nothing, get_count, ""), CODING(nothing, get_greatest, ""),
    CODING(nothing, get_names, ""), CODING(nothing, get_tag_names, ""),
    CODING(nothing, get_distinct, ""),
    SCENARIO("coding", ACT_TELLS, make_string, set_name_by_key, change_all, ""),
    SCENARIO("coding", ACT_TELLS, make_string_and_watch, set_name_by_path, change_all, ""),
    SCENARIO("coding", ACT_TELLS, make_string, set_names, change_all, ""),
    CODING(make_string, validate, ""), CODING(nothing, get_several, NULL),
    SCENARIO("coding", ACT_TELLS, make_several, interposer_set_several_keys, log_and_change, NULL));
