#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shortage_steps.h"

static kvo_status say(world *world, kvo_status status) {
  world->error.status = status;
  snprintf(world->error.message, sizeof world->error.message, "memory");
  return status;
}

static void log_registration(void *context, const kvo_registration_info *info) {
  world_log(context, "%s %s %d\n", info->key_path, info->is_callback ? "callback" : info->observer,
      info->options);
}

static void log_key_path(void *context, const kvo_registration_info *info) {
  world_log(context, "%s %d\n", info->key_path, info->options);
}

static kvo_status visit(world *world) {
  return say(world, kvo_visit_registrations(world_object(world, 0), log_key_path, world));
}

static kvo_status visit_callbacks(world *world) {
  return say(world, kvo_visit_registrations(world_object(world, 0), log_registration, world));
}

// Without the first line, and only up to a class name or an address, which differ between runs.
static void log_lines(world *world, const char *text) {
  text = strchr(text, '\n') + 1;
  for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
    const char *name = strstr(text, "<CScarce"), *address = strstr(text, "0x"), *stop = end;
    if (address && address < stop) stop = address;
    if (name && name < stop) stop = name;
    world_log(world, "%.*s\n", (int)(stop - text), text);
  }
}

static kvo_status copy_dump(world *world) {
  char *text = kvo_copy_debug_dump(world_object(world, 0));
  if (!text) return say(world, KVO_NO_MEMORY);
  log_lines(world, text);
  free(text);
  return KVO_OK;
}

// Writes as much as it can.
static kvo_status dump(world *world) {
  char text[4096] = "";
  FILE *old = stderr, *caught = fmemopen(text, sizeof text, "w");
  stderr = caught;
  kvo_debug_dump(world_object(world, 0));
  stderr = old;
  fclose(caught);
  if (!strstr(text, "an open manual change")) world_log(world, "cut short\n");
  return KVO_OK;
}

static kvo_status ask(world *world) {
  world_log(world, "%d %d\n", kvo_is_observed(world_object(world, 0), "value"),
      kvo_is_observed(world_object(world, 0), "extra"));
  return KVO_OK;
}

// Values that could not be read are shown as such.
static kvo_status describe(world *world) {
  char text[64];
  kvo_value value = kvo_value_object((kvo_object *)world->collection);
  kvo_value_describe(&value, text, sizeof text);
  if (strcmp(text, "[1, 2]") && !strstr(text, "…")) world_log(world, "wrong: %s\n", text);
  kvo_value_destroy(&value);
  return KVO_OK;
}

static void watch_many(world *world) {
  for (int i = 0; i < 3; i++) must(add_observer(world));
  watch_paths(world);
  watch_items(world);
  kvo_will_change(world_object(world, 0), "manual");
}

static void watch_callbacks(world *world) {
  watch(world, 0, "value", KVO_NEW | KVO_OLD);
  watch(world, 0, "name", KVO_PRIOR);
  kvo_will_change(world_object(world, 0), "manual");
}

static void make_numbers(world *world) {
  watch_callbacks(world);
  const kvo_value numbers[] = {kvo_value_int(1), kvo_value_int(2)};
  world->collection = kvo_collection_create(KVO_ARRAY, numbers, 2, NULL);
}

static void close_and_change(world *world) {
  kvo_did_change(world_object(world, 0), "manual");
  change_all(world);
}

#define DIAGNOSTICS(kind, set_up, act) \
  SCENARIO("diagnostics", kind, set_up, act, close_and_change, NULL)

SCENARIO_TABLE(shortage_diagnostics, DIAGNOSTICS(ACT_REPORTS, watch_many, visit),
    DIAGNOSTICS(ACT_REPORTS, watch_callbacks, visit_callbacks),
    DIAGNOSTICS(ACT_REPORTS, watch_many, copy_dump),
    DIAGNOSTICS(ACT_REPORTS, watch_callbacks, copy_dump), DIAGNOSTICS(ACT_MUST, watch_many, dump),
    DIAGNOSTICS(ACT_MUST, watch_callbacks, ask), DIAGNOSTICS(ACT_MUST, make_numbers, describe));
