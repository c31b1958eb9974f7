#include <stdio.h>
#include <string.h>

#include "shortage_steps.h"
#include "shortage_wards.h"

// Steps after an act

static void set_levels(world *world) {
  for (int i = 0; i < WARDS; i++)
    if (world->wards[i]) ward_set_level(world_ward(world, i), 20 + i);
}

static void change_wards(world *world) {
  set_levels(world);
  ward_set_name(world_ward(world, 0), "after");
  ward_set_next(world_ward(world, 1), world_ward(world, 3));
  ward_set_next(world_ward(world, 0), world_ward(world, 3));
  set_levels(world);
  ward_append(world_ward(world, 0), 8);
  ward_add(world_ward(world, 0), 9);
}

static void change_wards_anew(world *world) {
  ward_set_next(world_ward(world, 0), world_ward(world, 2));
  world->log[0] = 0;
  change_wards(world);
}

static void reset_and_change_wards(world *world) {
  ward_set_level(world_ward(world, 0), 4);
  ward_set_name(world_ward(world, 0), "again");
  ward_append(world_ward(world, 0), 6);
  ward_add(world_ward(world, 0), 7);
  world->log[0] = 0;
  change_wards(world);
}

// Making a class

static void use_class(world *world) {
  world_make_wards(world);
  must(world_observe_object(world, &world_ward(world, 0)->header, "sum", KVO_NEW));
  change_wards(world);
}

static kvo_status intern(world *world) {
  char key[40];
  snprintf(key, sizeof key, "scarce%s", world->serial);
  const char *interned = kvo_key_intern(key);
  if (interned) return KVO_OK;
  world->error = (kvo_error){.status = KVO_NO_MEMORY, .message = "memory"};
  return KVO_NO_MEMORY;
}

// Registering

static kvo_object *header(world *world, int i) { return &world_ward(world, i)->header; }

#define OBSERVE(name, key_path, options)                                     \
  static kvo_status observe_##name(world *world) {                           \
    return world_observe_object(world, header(world, 0), key_path, options); \
  }

OBSERVE(level, "level", KVO_NEW | KVO_OLD)
OBSERVE(name, "name", KVO_NEW | KVO_OLD | KVO_INITIAL)
OBSERVE(shown, "shown", KVO_NEW | KVO_OLD)
OBSERVE(wish, "wish", KVO_NEW | KVO_INITIAL)
OBSERVE(path, "next.next.level", KVO_NEW | KVO_OLD | KVO_INITIAL)
OBSERVE(shown_path, "next.shown", KVO_NEW | KVO_OLD)
OBSERVE(list, "list", KVO_NEW | KVO_OLD | KVO_INITIAL)
OBSERVE(bag, "bag", KVO_NEW | KVO_OLD)

static kvo_status observe_by_ward(world *world) {
  return kvo_add_observer(header(world, 0), header(world, 3), "level", KVO_NEW | KVO_INITIAL, NULL,
      &world->error);
}

static kvo_status observe_node_by_ward(world *world) {
  return kvo_add_observer(world_object(world, 0), header(world, 3), "value", KVO_NEW, NULL,
      &world->error);
}

static kvo_status observe_group(world *world) {
  static const char *const keys[] = {"level", "name", "shown"};
  kvo_status status = kvo_add_callback_for_keys(header(world, 0), keys, 3, KVO_NEW, log_key, world,
      0, end_group, &world->handles[world->handle_count], &world->error);
  if (!status) world->handle_count++, world->begun++;
  return status;
}

static void unobserve_by_ward(world *world) {
  change_wards(world);
  must(kvo_remove_observer(header(world, 0), header(world, 3), "level", NULL));
}

static void unobserve_node_by_ward(world *world) {
  change_all(world);
  must(kvo_remove_observer(world_object(world, 0), header(world, 3), "value", NULL));
}

// Changing

static void watch_ward(world *world, const char *key_path, kvo_options options) {
  must(world_observe_object(world, header(world, 0), key_path, options));
}

static void watch_stored(world *world) {
  world_make_wards(world);
  watch_ward(world, "level", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch_ward(world, "name", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch_ward(world, "level", KVO_NEW | KVO_DISTINCT);
}

static void watch_derived(world *world) {
  watch_stored(world);
  watch_ward(world, "shown", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch_ward(world, "next.level", KVO_NEW | KVO_OLD);
  watch_ward(world, "next.next.name", KVO_NEW | KVO_OLD);
}

static void watch_collections(world *world) {
  world_make_wards(world);
  watch_ward(world, "list", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch_ward(world, "bag", KVO_NEW | KVO_OLD | KVO_PRIOR);
}

static kvo_status set_level(world *world) {
  ward_set_level(world_ward(world, 0), 5);
  return KVO_OK;
}

static kvo_status leave_level(world *world) {
  ward_leave_level(world_ward(world, 0));
  return KVO_OK;
}

static kvo_status set_name_of_ward(world *world) {
  ward_set_name(world_ward(world, 0), "notified");
  return KVO_OK;
}

static kvo_status set_next(world *world) {
  ward_set_next(world_ward(world, 0), world_ward(world, 3));
  return KVO_OK;
}

static kvo_status append(world *world) {
  ward_append(world_ward(world, 0), 5);
  return KVO_OK;
}

static kvo_status add_to_ward(world *world) {
  ward_add(world_ward(world, 0), 5);
  return KVO_OK;
}

static kvo_status change_by_hand(world *world) {
  kvo_will_change(header(world, 0), "shown");
  kvo_did_change(header(world, 0), "shown");
  return KVO_OK;
}

static void make_members(world *world) {
  watch_collections(world);
  const kvo_value one = kvo_value_int(5);
  world->collection = kvo_collection_create(KVO_SET, &one, 1, NULL);
  world->values[0] = kvo_value_object((kvo_object *)world->collection);
}

// The bag is set to itself, so that it alone notifies.
static kvo_status change_members(world *world) {
  kvo_will_change_members(header(world, 0), KVO_UNION, &world->values[0], "bag");
  kvo_did_change_set(header(world, 0), KVO_UNION, world->collection, "bag");
  return KVO_OK;
}

// By key

static void make_string(world *world) {
  watch_derived(world);
  world->values[0] = kvo_value_string("set");
}

static kvo_status set_name_by_key(world *world) {
  return kvo_set_value_for_key(header(world, 0), "name", &world->values[0], &world->error);
}

static kvo_status set_level_by_path(world *world) {
  const kvo_value value = kvo_value_int(3);
  return kvo_set_value_for_key_path(header(world, 0), "next.level", &value, &world->error);
}

static kvo_status log_value(world *world, kvo_status status, kvo_value *value) {
  char text[64];
  kvo_value_describe(value, text, sizeof text);
  if (!status) world_log(world, "%s\n", kvo_value_get_object(value) ? "object" : text);
  kvo_value_destroy(value);
  return status;
}

static kvo_status read_path(world *world) {
  kvo_value value;
  return log_value(world,
      kvo_value_for_key_path(header(world, 0), "next.next.name", &value, &world->error), &value);
}

static kvo_status read_wish(world *world) {
  kvo_value value;
  return log_value(world, kvo_value_for_key(header(world, 0), "wish", &value, &world->error),
      &value);
}

static kvo_status read_last_key(world *world) {
  kvo_value value;
  const char *last;
  return log_value(world,
      kvo_value_with_last_key(header(world, 0), "next.next.level", &value, &last, &world->error),
      &value);
}

// Late

static kvo_status get_seven(kvo_object *object, const void *binding, kvo_value *value,
    kvo_error *error) {
  (void)object, (void)binding, (void)error;
  *value = kvo_value_int(7);
  return KVO_OK;
}

static kvo_status add_key(world *world) {
  const kvo_property_description late = {
      .key = "late", .type = kvo_type_for_encoding("q", NULL), .get = get_seven};
  return kvo_class_add_property((kvo_class *)(uintptr_t)world_ward(world, 0)->cls, &late,
      &world->error);
}

static void read_late_and_change(world *world) {
  kvo_value value;
  must(log_value(world, kvo_value_for_key(header(world, 0), "late", &value, &world->error),
      &value));
  change_wards(world);
}

// Ending

static kvo_status kill_on_the_way(world *world) {
  ward *next = world_ward(world, 1);
  world->wards[0]->next = NULL;
  kvo_object_release(&next->header);
  world_kill_ward(world, 1);
  return KVO_OK;
}

static void watch_by_ward(world *world) {
  watch_derived(world);
  must(observe_by_ward(world));
  must(observe_node_by_ward(world));
}

static kvo_status kill_observer(world *world) {
  world_kill_ward(world, 3);
  return KVO_OK;
}

static void set_first(world *world) {
  ward_set_level(world_ward(world, 0), 2);
  graph_node_setValue(node(world, 0), 2);
}

#define BINDING(kind, set_up, act, go_on, key) SCENARIO("binding", kind, set_up, act, go_on, key)
#define REGISTRATION(act, key) BINDING(ACT_REPORTS, world_make_wards, act, change_wards, key)
#define CHANGE(set_up, act, go_on) BINDING(ACT_TELLS, set_up, act, go_on, NULL)

SCENARIO_TABLE(shortage_bindings, BINDING(ACT_REPORTS, nothing, ward_make_class, use_class, NULL),
    BINDING(ACT_REPORTS, nothing, intern, change_all, NULL), REGISTRATION(observe_level, "level"),
    REGISTRATION(observe_name, "name"), REGISTRATION(observe_shown, "shown"),
    REGISTRATION(observe_wish, "wish"), REGISTRATION(observe_path, ""),
    REGISTRATION(observe_shown_path, ""), REGISTRATION(observe_list, "list"),
    REGISTRATION(observe_bag, "bag"), REGISTRATION(observe_group, NULL),
    BINDING(ACT_REPORTS, world_make_wards, observe_by_ward, unobserve_by_ward, "level"),
    BINDING(ACT_REPORTS, world_make_wards, observe_node_by_ward, unobserve_node_by_ward, "value"),
    CHANGE(watch_stored, set_level, reset_and_change_wards),
    CHANGE(watch_stored, leave_level, reset_and_change_wards),
    CHANGE(watch_stored, set_name_of_ward, reset_and_change_wards),
    CHANGE(watch_derived, set_level, reset_and_change_wards),
    CHANGE(watch_derived, leave_level, reset_and_change_wards),
    CHANGE(watch_derived, set_next, change_wards_anew),
    CHANGE(watch_derived, change_by_hand, change_wards),
    CHANGE(watch_collections, append, reset_and_change_wards),
    CHANGE(watch_collections, add_to_ward, reset_and_change_wards),
    CHANGE(make_members, change_members, reset_and_change_wards),
    CHANGE(make_string, set_name_by_key, reset_and_change_wards),
    CHANGE(watch_derived, set_level_by_path, reset_and_change_wards),
    BINDING(ACT_REPORTS, world_make_wards, read_path, change_wards, ""),
    BINDING(ACT_REPORTS, world_make_wards, read_wish, change_wards, "wish"),
    BINDING(ACT_REPORTS, world_make_wards, read_last_key, change_wards, ""),
    BINDING(ACT_REPORTS, watch_derived, add_key, read_late_and_change, "late"),
    CHANGE(watch_derived, forget, change_wards),
    BINDING(ACT_MUST, watch_derived, release_handles, change_wards, NULL),
    BINDING(ACT_MUST, watch_derived, kill_observed, nothing, NULL),
    BINDING(ACT_MUST, watch_derived, kill_on_the_way, set_levels, NULL),
    BINDING(ACT_MUST, watch_by_ward, kill_observer, set_first, NULL));
