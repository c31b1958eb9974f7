// Reading proxies, also of a class that has got another method since.
#include "shortage_steps.h"

static kvo_object *object(world *world) { return world_object(world, 0); }

#define PROXY(name, function, key)                                          \
  static kvo_status make_##name(world *world) {                             \
    kvo_collection *made = NULL;                                            \
    kvo_status status = function(object(world), key, &made, &world->error); \
    if (!status) world_log(world, "%zu\n", kvo_collection_count(made));     \
    if (status && made) world_log(world, "a proxy in spite of an error\n"); \
    kvo_object_release((kvo_object *)made);                                 \
    return status;                                                          \
  }

PROXY(array, kvo_mutable_array, "items")
PROXY(set, kvo_mutable_set, "tags")
PROXY(wares, kvo_mutable_ordered_set, "wares")
PROXY(array_by_path, kvo_mutable_array_key_path, "next.items")
PROXY(set_by_path, kvo_mutable_set_key_path, "next.tags")

static void lazy_items(world *world) {
  must(kvo_value_for_key(object(world), "items", &world->values[0], NULL));
  world->proxy = (kvo_collection *)kvo_object_retain(kvo_value_get_object(&world->values[0]));
  world->values[1] = kvo_value_object(world_object(world, 2));
  world->indexes = kvo_index_set_create_range(0, 2);
}

static void lazy_tags(world *world) {
  must(kvo_value_for_key(object(world), "tags", &world->values[0], NULL));
  world->proxy = (kvo_collection *)kvo_object_retain(kvo_value_get_object(&world->values[0]));
  world->values[1] = kvo_value_object(world_object(world, 2));
}

static void mutable_items(world *world) {
  must(kvo_mutable_array(object(world), "items", &world->proxy, NULL));
  world->values[1] = kvo_value_object(world_object(world, 2));
}

static void mutable_wares(world *world) {
  const kvo_value numbers[] = {kvo_value_int(1), kvo_value_int(2)};
  kvo_collection *wares = kvo_collection_create(KVO_ARRAY, numbers, 2, NULL);
  graph_node_store_wares(node(world, 0), wares);
  kvo_object_release((kvo_object *)wares);
  must(kvo_mutable_array(object(world), "wares", &world->proxy, NULL));
  world->values[1] = kvo_value_int(2);
}

static const char *unused(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return "unused";
}

static void add_method(world *world) {
  must(kvo_class_add_method(world->cls, "unused", (kvo_imp)unused, KVO_GETTER(const char *), NULL,
      NULL));
}

// Makes the runtime look up the class's accessors again.
#define AFTER_NEW_METHOD(set_up)             \
  static void set_up##_later(world *world) { \
    set_up(world);                           \
    add_method(world);                       \
  }

AFTER_NEW_METHOD(lazy_items)
AFTER_NEW_METHOD(lazy_tags)
AFTER_NEW_METHOD(mutable_items)
AFTER_NEW_METHOD(mutable_wares)

static kvo_status log_element(world *world, kvo_status status, kvo_value *element) {
  kvo_object *found = kvo_value_get_object(element);
  if (!status)
    world_log(world, "%g\n", found ? ((graph_node *)found)->value : kvo_value_get_double(element));
  kvo_value_destroy(element);
  return status;
}

static kvo_status get_first(world *world) {
  kvo_value element;
  return log_element(world, kvo_collection_get(world->proxy, 0, &element, &world->error), &element);
}

static kvo_status get_last(world *world) {
  kvo_value element;
  return log_element(world, kvo_collection_last(world->proxy, &element, &world->error), &element);
}

static kvo_status snapshot(world *world) {
  kvo_collection *stored = kvo_collection_snapshot(world->proxy, &world->error);
  if (!stored) return world->error.status;
  world_log(world, "%zu\n", kvo_collection_count(stored));
  kvo_object_release((kvo_object *)stored);
  return KVO_OK;
}

static kvo_status read_elements(world *world) {
  kvo_value result;
  kvo_status status =
      kvo_value_value_for_key_path(&world->values[0], "@sum.value", &result, &world->error);
  if (!status) world_log(world, "%g\n", kvo_value_get_double(&result));
  kvo_value_destroy(&result);
  return status;
}

// None of these has an error argument.
static kvo_status count(world *world) {
  world_log(world, "%zu\n", kvo_collection_count(world->proxy));
  return KVO_OK;
}

static kvo_status has(world *world) {
  world_log(world, "%d\n", kvo_collection_contains(world->proxy, &world->values[1]));
  return KVO_OK;
}

static kvo_status find(world *world) {
  size_t index = kvo_collection_index_of(world->proxy, &world->values[1]);
  world_log(world, "%lld\n", (long long)index);
  return KVO_OK;
}

static void count_and_change(world *world) {
  if (world->proxy) count(world), has(world), find(world);
  change_all(world);
}

#define PROXIES(kind, set_up, act) SCENARIO("proxy", kind, set_up, act, count_and_change, NULL)
#define READING(set_up)                                                            \
  PROXIES(ACT_REPORTS, set_up, get_first), PROXIES(ACT_REPORTS, set_up, get_last), \
      PROXIES(ACT_REPORTS, set_up, snapshot), PROXIES(ACT_TELLS, set_up, count),   \
      PROXIES(ACT_TELLS, set_up, has), PROXIES(ACT_TELLS, set_up, find)

SCENARIO_TABLE(shortage_proxies, PROXIES(ACT_REPORTS, nothing, make_array),
    PROXIES(ACT_REPORTS, nothing, make_set), PROXIES(ACT_REPORTS, nothing, make_wares),
    PROXIES(ACT_REPORTS, nothing, make_array_by_path),
    PROXIES(ACT_REPORTS, nothing, make_set_by_path), READING(lazy_items), READING(lazy_tags),
    READING(mutable_items), READING(mutable_wares), READING(lazy_items_later),
    READING(lazy_tags_later), READING(mutable_items_later), READING(mutable_wares_later),
    PROXIES(ACT_REPORTS, lazy_items, read_elements),
    PROXIES(ACT_REPORTS, lazy_items_later, read_elements),
    PROXIES(ACT_REPORTS, lazy_tags, read_elements),
    PROXIES(ACT_REPORTS, lazy_tags_later, read_elements));
