#include "shortage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

static graph_node *node(world *world, int i) { return (graph_node *)world->nodes[i]; }

static void must(kvo_status status) { require_ok(status, &(kvo_error){0}); }

static void watch(world *world, int i, const char *key_path, kvo_options options) {
  must(world_observe(world, i, key_path, options));
}

static kvo_status set_by_key(world *world, int i, const char *key, const kvo_value *value) {
  return kvo_set_value_for_key(world_object(world, i), key, value, &world->error);
}

static void set_name(world *world, int i, const char *name) {
  kvo_value value = kvo_value_string(name);
  must(set_by_key(world, i, "name", &value));
  kvo_value_destroy(&value);
}

// MARK: Going on

static void set_values(world *world) {
  for (int i = 0; i < SHORTAGE_NODES; i++) graph_node_setValue(node(world, i), 10 + i);
}

static void change_all(world *world) {
  set_values(world);
  for (int i = 0; i < SHORTAGE_NODES; i++) set_name(world, i, "after");
  graph_node_setNext(node(world, 1), node(world, 3));
  graph_node_setNext(node(world, 0), node(world, 3));
  graph_node_setNext(node(world, 3), node(world, 2));
  set_values(world);
  graph_node_insertItem(node(world, 0), node(world, 3), 1);
  graph_node_removeItem(node(world, 0), 0);
  graph_node_addTag(node(world, 0), node(world, 3));
  graph_node_removeTag(node(world, 0), node(world, 1));
  set_values(world);
}

static void unwatch_and_change(world *world) {
  world_release_handles(world);
  change_all(world);
}

// MARK: Registration

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

static kvo_status add_observer(world *world) {
  return kvo_add_observer(world_object(world, 0), world_object(world, 3), "value",
      KVO_NEW | KVO_INITIAL, world, &world->error);
}

static void remove_observer_and_change(world *world) {
  change_all(world);
  must(kvo_remove_observer(world_object(world, 0), world_object(world, 3), "value", NULL));
}

static void log_key(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  (void)object, (void)change;
  world_log(context, "%s ", key);
}

static void log_told(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  (void)object, (void)key, (void)change;
  world_log(context, "told ");
}

static void end_group(void *context) { ((world *)context)->ended++; }

static kvo_status add_group(world *world) {
  static const char *const keys[] = {"value", "name", "total"};
  kvo_status status = kvo_add_callback_for_keys(world_object(world, 0), keys, 3, KVO_NEW, log_key,
      world, 0, end_group, &world->handles[world->handle_count], &world->error);
  if (!status) world->handle_count++, world->begun++;
  return status;
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
  kvo_status status = kvo_add_callback(world_object(world, 0), text, KVO_NEW, log_told, world,
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

// MARK: Changes

static void watch_values(world *world) {
  watch(world, 0, "value", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "value", KVO_DISTINCT);
}

static kvo_status set_value(world *world) {
  graph_node_setValue(node(world, 0), 7);
  return KVO_OK;
}

static void watch_everything(world *world) {
  watch(world, 0, "name", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "span", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "shout", KVO_NEW | KVO_OLD);
  world->values[0] = kvo_value_string("told");
}

static void call_setter(world *world, const char *selector, const void *argument) {
  kvo_object *object = world_object(world, 0);
  const kvo_method *method = kvo_class_method(world->cls, selector);
  kvo_imp imp = kvo_method_lookup(object, method);
  if (!strcmp(selector, "setSpan:"))
    ((void (*)(kvo_object *, const kvo_method *, scarce_span))imp)(object, method,
        *(const scarce_span *)argument);
  else ((void (*)(kvo_object *, const kvo_method *, const char *))imp)(object, method, argument);
}

static kvo_status call_set_name(world *world) {
  call_setter(world, "setName:", "told");
  return KVO_OK;
}

static kvo_status call_set_span(world *world) {
  call_setter(world, "setSpan:", &(scarce_span){{1, 2}, {3, 4}});
  return KVO_OK;
}

static void set_name_and_change(world *world) {
  call_set_name(world);
  world->log[0] = 0;
  change_all(world);
}

static void set_span_and_change(world *world) {
  call_set_span(world);
  change_all(world);
}

static void watch_paths(world *world) {
  watch(world, 0, "next", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "next.value", KVO_NEW | KVO_OLD);
  watch(world, 0, "next.next.name", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "total", KVO_NEW | KVO_OLD);
}

static kvo_status rewire(world *world) {
  graph_node_setNext(node(world, 0), node(world, 3));
  return KVO_OK;
}

static void rewire_and_change(world *world) {
  graph_node_setNext(node(world, 0), node(world, 2));
  world->log[0] = 0;
  change_all(world);
}

static kvo_status set_leaf(world *world) {
  graph_node_setValue(node(world, 1), 17);
  return KVO_OK;
}

static void watch_items(world *world) {
  watch(world, 0, "items", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "items.@sum.value", KVO_NEW | KVO_OLD);
  watch(world, 0, "items.@count", KVO_NEW);
}

static kvo_status insert_item(world *world) {
  graph_node_insertItem(node(world, 0), node(world, 3), 1);
  return KVO_OK;
}

static kvo_status remove_item(world *world) {
  graph_node_removeItem(node(world, 0), 0);
  return KVO_OK;
}

static kvo_status replace_item(world *world) {
  graph_node_replaceItem(node(world, 0), 0, node(world, 3));
  return KVO_OK;
}

// All links are followed anew when the list changes.
static void insert_and_change(world *world) {
  graph_node_insertItem(node(world, 0), node(world, 0), 0);
  world->log[0] = 0;
  change_all(world);
}

static void watch_tags(world *world) {
  watch(world, 0, "tags", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "tags.@sum.value", KVO_NEW | KVO_OLD);
}

static kvo_status add_tag(world *world) {
  graph_node_addTag(node(world, 0), node(world, 3));
  return KVO_OK;
}

static kvo_status remove_tag(world *world) {
  graph_node_removeTag(node(world, 0), node(world, 1));
  return KVO_OK;
}

static void add_tag_and_change(world *world) {
  graph_node_removeTag(node(world, 0), node(world, 2));
  world->log[0] = 0;
  change_all(world);
}

static kvo_status change_by_hand(world *world) {
  kvo_will_change(world_object(world, 0), "value");
  node(world, 0)->value = 8;
  kvo_did_change(world_object(world, 0), "value");
  return KVO_OK;
}

static kvo_status change_name_by_hand(world *world) {
  kvo_will_change(world_object(world, 0), "name");
  kvo_did_change(world_object(world, 0), "name");
  return KVO_OK;
}

static kvo_status change_link_by_hand(world *world) {
  kvo_will_change(world_object(world, 0), "next");
  graph_node_store_next(node(world, 0), node(world, 3));
  kvo_did_change(world_object(world, 0), "next");
  return KVO_OK;
}

static void watch_items_with_indexes(world *world) {
  watch_items(world);
  world->indexes = kvo_index_set_create_range(0, 1);
}

static kvo_status remove_by_hand(world *world) {
  kvo_object *object = world_object(world, 0);
  graph_node *rest[] = {node(world, 2)};
  kvo_will_change_indexes(object, KVO_REMOVAL, world->indexes, "items");
  graph_node_store_items(node(world, 0), rest, 1);
  kvo_did_change_indexes(object, KVO_REMOVAL, world->indexes, "items");
  return KVO_OK;
}

static void watch_tags_with_collection(world *world) {
  watch_tags(world);
  kvo_value value = kvo_value_object(world_object(world, 3));
  world->collection = kvo_collection_create(KVO_SET, &value, 1, NULL);
  kvo_value_destroy(&value);
}

static kvo_status union_by_hand(world *world) {
  kvo_object *object = world_object(world, 0);
  graph_node *all[] = {node(world, 1), node(world, 2), node(world, 3)};
  kvo_will_change_set(object, KVO_UNION, world->collection, "tags");
  graph_node_store_tags(node(world, 0), all, 3);
  kvo_did_change_set(object, KVO_UNION, world->collection, "tags");
  return KVO_OK;
}

// MARK: Coding

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

// MARK: Classes

typedef struct fresh {
  kvo_object object;
  int level;
} fresh;

static int get_level(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((fresh *)self)->level;
}

static void set_level(kvo_object *self, const kvo_method *_cmd, int level) {
  (void)_cmd;
  ((fresh *)self)->level = level;
}

static bool says_yes(const kvo_class *cls) {
  (void)cls;
  return true;
}

static const char *fresh_name(const world *world, const char *prefix, const char *suffix) {
  static char name[64];
  snprintf(name, sizeof name, "%s%s%s", prefix, world->serial, suffix);
  return name;
}

// Goes on with the step that failed.
static kvo_status add_part(world *world) {
  kvo_class *cls = world->made;
  kvo_error *error = &world->error;
  switch (world->step) {
  case 0:
    world->made =
        kvo_class_create(fresh_name(world, "CScarceFresh", ""), NULL, sizeof(fresh), error);
    return world->made ? KVO_OK : error->status;
  case 1:
    return kvo_class_add_method(cls, fresh_name(world, "level", ""), (kvo_imp)get_level,
        KVO_GETTER(int), NULL, error);
  case 2:
    return kvo_class_add_method(cls, fresh_name(world, "setLevel", ":"), (kvo_imp)set_level,
        KVO_SETTER(int), NULL, error);
  case 3:
    return kvo_class_add_ivar(cls, fresh_name(world, "_depth", ""), offsetof(fresh, level),
        (kvo_layout)KVO_TYPE(int), error);
  case 4:
    return kvo_class_add_class_method(cls,
        fresh_name(world, "automaticallyNotifiesObserversOfLevel", ""), (kvo_imp)says_yes, error);
  case 5: return kvo_class_register(cls, error);
  }
  return KVO_OK;
}

enum { PARTS = 6 };

static kvo_status make_class(world *world) {
  for (; world->step < PARTS; world->step++) {
    kvo_status status = add_part(world);
    if (status) return status;
  }
  return KVO_OK;
}

static void use_class(world *world) {
  kvo_object *object = kvo_object_create(world->made);
  kvo_handle *handle;
  const kvo_value value = kvo_value_int(4);
  char key[64];
  strcpy(key, fresh_name(world, "level", ""));
  must(kvo_add_callback(object, key, KVO_NEW, log_told, world, NULL, &handle, NULL));
  must(kvo_set_value_for_key(object, key, &value, NULL));
  must(kvo_set_value_for_key(object, fresh_name(world, "depth", ""), &value, NULL));
  kvo_handle_release(handle);
  kvo_object_release(object);
}

// MARK: Mutable proxies

static kvo_collection *integers(kvo_collection_kind kind, int first, int count) {
  kvo_value values[8];
  for (int i = 0; i < count; i++) values[i] = kvo_value_int(first + i);
  return kvo_collection_create(kind, values, (size_t)count, NULL);
}

static void make_proxy(world *world, const char *key, kvo_collection_kind kind) {
  kvo_object *object = world_object(world, 0);
  if (kind == KVO_ARRAY) must(kvo_mutable_array(object, key, &world->proxy, NULL));
  if (kind == KVO_SET) must(kvo_mutable_set(object, key, &world->proxy, NULL));
  if (kind == KVO_ORDERED_SET) must(kvo_mutable_ordered_set(object, key, &world->proxy, NULL));
}

static void make_wares(world *world, kvo_collection_kind kind) {
  kvo_collection *wares = integers(kind, 1, 3);
  graph_node_store_wares(node(world, 0), wares);
  kvo_object_release((kvo_object *)wares);
  make_proxy(world, "wares", kind);
  world->values[0] = kvo_value_int(9);
  world->collection = integers(kind, 3, 2);
  world->indexes = kvo_index_set_create_range(0, 2);
}

static void plain_wares(world *world) { make_wares(world, KVO_ARRAY); }
static void wares_set(world *world) { make_wares(world, KVO_SET); }
static void ordered_wares(world *world) { make_wares(world, KVO_ORDERED_SET); }

static void item_proxy(world *world) {
  make_proxy(world, "items", KVO_ARRAY);
  world->values[0] = kvo_value_object(world_object(world, 3));
  world->collection = kvo_collection_create(KVO_ARRAY, &world->values[0], 1, NULL);
  world->indexes = kvo_index_set_create_range(1, 1);
}

static void tag_proxy(world *world) {
  make_proxy(world, "tags", KVO_SET);
  world->values[0] = kvo_value_object(world_object(world, 3));
  world->collection = kvo_collection_create(KVO_SET, &world->values[0], 1, NULL);
}

static kvo_status get_proxy(world *world) {
  kvo_collection *proxy = NULL;
  kvo_status status =
      kvo_mutable_array_key_path(world_object(world, 0), "next.items", &proxy, &world->error);
  kvo_object_release((kvo_object *)proxy);
  return status;
}

static kvo_status insert(world *world) {
  return kvo_collection_insert(world->proxy, 1, &world->values[0], &world->error);
}
static kvo_status insert_many(world *world) {
  return kvo_collection_insert_many(world->proxy, world->indexes, world->collection, &world->error);
}
static kvo_status remove_one(world *world) {
  return kvo_collection_remove_at(world->proxy, 1, &world->error);
}
static kvo_status remove_many(world *world) {
  return kvo_collection_remove_indexes(world->proxy, world->indexes, &world->error);
}
static kvo_status replace(world *world) {
  return kvo_collection_replace_at(world->proxy, 0, &world->values[0], &world->error);
}
static kvo_status replace_many(world *world) {
  return kvo_collection_replace_indexes(world->proxy, world->indexes, world->collection,
      &world->error);
}
static kvo_status add(world *world) {
  return kvo_collection_add(world->proxy, &world->values[0], &world->error);
}
static kvo_status take_out(world *world) {
  return kvo_collection_remove(world->proxy, &world->values[0], &world->error);
}
static kvo_status unite(world *world) {
  return kvo_collection_union(world->proxy, world->collection, &world->error);
}
static kvo_status subtract(world *world) {
  return kvo_collection_minus(world->proxy, world->collection, &world->error);
}
static kvo_status intersect(world *world) {
  return kvo_collection_intersect(world->proxy, world->collection, &world->error);
}
static kvo_status set_all(world *world) {
  return kvo_collection_set(world->proxy, world->collection, &world->error);
}

static void show_and_change(world *world) {
  if (world->proxy) world_log(world, "%zu\n", kvo_collection_count(world->proxy));
  change_all(world);
}

// MARK: Removal and death

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

// Node 1 keeps its own registrations, and those that stand there for others.
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

static kvo_status release_handles(world *world) {
  world_release_handles(world);
  return KVO_OK;
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

static void nothing(world *world) { (void)world; }

static void set_one(world *world) { graph_node_setValue(node(world, 0), 99); }

#define SCENARIO(group, kind, set_up, act, go_on, key) \
  {group, #set_up " " #act, kind, set_up, act, go_on, key}
#define REGISTRATION(set_up, act, key) \
  SCENARIO("registration", ACT_REPORTS, set_up, act, change_all, key)
#define CHANGE(set_up, act, go_on) SCENARIO("change", ACT_TELLS, set_up, act, go_on, NULL)
#define CODING(set_up, act, key) SCENARIO("coding", ACT_REPORTS, set_up, act, change_all, key)
#define MUTATION(set_up, act) SCENARIO("mutation", ACT_REPORTS, set_up, act, show_and_change, NULL)
#define REMOVAL(set_up, act, go_on) SCENARIO("removal", ACT_MUST, set_up, act, go_on, NULL)

const scenario shortage_scenarios[] = {
    SCENARIO("class", ACT_REPORTS, nothing, make_class, use_class, NULL),

    REGISTRATION(nothing, first, "value"),
    REGISTRATION(nothing, initial, "name"),
    REGISTRATION(watch_value_once, first, "value"),
    REGISTRATION(watch_value_often, first, "value"),
    REGISTRATION(watch_three_keys, first, "value"),
    SCENARIO("registration", ACT_REPORTS, nothing, add_observer, remove_observer_and_change,
        "value"),
    REGISTRATION(nothing, add_group, NULL),
    REGISTRATION(nothing, path, ""),
    REGISTRATION(nothing, self_path, ""),
    REGISTRATION(nothing, new_path, ""),
    REGISTRATION(nothing, sum, ""),
    REGISTRATION(nothing, item_count, ""),
    REGISTRATION(nothing, tag_names, ""),
    REGISTRATION(nothing, derived, ""),
    REGISTRATION(nothing, derived_text, ""),
    REGISTRATION(nothing, derived_far, ""),
    REGISTRATION(watch_paths, path, ""),
    SCENARIO("registration", ACT_TELLS, watch_extra, depend, nothing, ""),

    CHANGE(watch_values, set_value, change_all),
    CHANGE(watch_everything, call_set_name, set_name_and_change),
    CHANGE(watch_everything, call_set_span, set_span_and_change),
    CHANGE(watch_paths, rewire, rewire_and_change),
    CHANGE(watch_paths, set_leaf, change_all),
    CHANGE(watch_items, insert_item, insert_and_change),
    CHANGE(watch_items, remove_item, insert_and_change),
    CHANGE(watch_items, replace_item, insert_and_change),
    CHANGE(watch_items, set_leaf, insert_and_change),
    CHANGE(watch_tags, add_tag, add_tag_and_change),
    CHANGE(watch_tags, remove_tag, add_tag_and_change),
    CHANGE(watch_values, change_by_hand, change_all),
    CHANGE(watch_everything, change_name_by_hand, change_all),
    CHANGE(watch_paths, change_link_by_hand, rewire_and_change),
    CHANGE(watch_items_with_indexes, remove_by_hand, insert_and_change),
    CHANGE(watch_tags_with_collection, union_by_hand, add_tag_and_change),

    CODING(nothing, get_value, "value"),
    CODING(nothing, get_name, "name"),
    CODING(nothing, get_span, "span"),
    CODING(nothing, get_items, "items"),
    CODING(nothing, get_path, ""),
    CODING(nothing, get_sum, ""),
    CODING(nothing, get_count, ""),
    CODING(nothing, get_greatest, ""),
    CODING(nothing, get_names, ""),
    CODING(nothing, get_tag_names, ""),
    CODING(nothing, get_distinct, ""),
    SCENARIO("coding", ACT_TELLS, make_string, set_name_by_key, change_all, ""),
    SCENARIO("coding", ACT_TELLS, make_string_and_watch, set_name_by_path, change_all, ""),
    SCENARIO("coding", ACT_TELLS, make_string, set_names, change_all, ""),
    CODING(make_string, validate, ""),
    CODING(nothing, get_several, NULL),

    MUTATION(nothing, get_proxy),
    MUTATION(plain_wares, insert),
    MUTATION(plain_wares, insert_many),
    MUTATION(plain_wares, remove_one),
    MUTATION(plain_wares, remove_many),
    MUTATION(plain_wares, replace),
    MUTATION(plain_wares, replace_many),
    MUTATION(plain_wares, unite),
    MUTATION(plain_wares, subtract),
    MUTATION(plain_wares, intersect),
    MUTATION(plain_wares, set_all),
    MUTATION(ordered_wares, insert),
    MUTATION(ordered_wares, unite),
    MUTATION(ordered_wares, remove_many),
    MUTATION(ordered_wares, replace),
    MUTATION(ordered_wares, subtract),
    MUTATION(wares_set, add),
    MUTATION(wares_set, take_out),
    MUTATION(wares_set, unite),
    MUTATION(wares_set, subtract),
    MUTATION(wares_set, intersect),
    MUTATION(wares_set, set_all),
    MUTATION(item_proxy, insert),
    MUTATION(item_proxy, insert_many),
    MUTATION(item_proxy, remove_one),
    MUTATION(item_proxy, remove_many),
    MUTATION(item_proxy, replace),
    MUTATION(item_proxy, replace_many),
    MUTATION(item_proxy, take_out),
    MUTATION(item_proxy, set_all),
    MUTATION(tag_proxy, add),
    MUTATION(tag_proxy, take_out),
    MUTATION(tag_proxy, unite),
    MUTATION(tag_proxy, intersect),
    MUTATION(tag_proxy, set_all),

    REMOVAL(watch_with_objects, remove_observer, change_all),
    REMOVAL(watch_with_objects, remove_by_context, change_all),
    REMOVAL(watch_with_objects, remove_all, change_all),
    REMOVAL(watch_on_the_way, remove_all_on_the_way, change_all),
    REMOVAL(watch_in_groups, release_handles, unwatch_and_change),
    REMOVAL(watch_with_objects, die_observed, nothing),
    REMOVAL(watch_with_objects, die_observer, set_one),
};
const size_t shortage_scenario_count = sizeof shortage_scenarios / sizeof *shortage_scenarios;
