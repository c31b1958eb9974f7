#include "shortage_steps.h"

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
static kvo_status take_out(world *world) {
  return kvo_collection_remove(world->proxy, &world->values[0], &world->error);
}
static void show_and_change(world *world) {
  if (world->proxy) world_log(world, "%zu\n", kvo_collection_count(world->proxy));
  change_all(world);
}

#define MUTATION(set_up, act) SCENARIO("mutation", ACT_REPORTS, set_up, act, show_and_change, NULL)

SCENARIO_TABLE(shortage_mutation, MUTATION(nothing, get_proxy), MUTATION(plain_wares, insert),
    MUTATION(plain_wares, insert_many), MUTATION(plain_wares, remove_one),
    MUTATION(plain_wares, remove_many), MUTATION(plain_wares, replace),
    MUTATION(plain_wares, replace_many), MUTATION(plain_wares, unite),
    MUTATION(plain_wares, subtract), MUTATION(plain_wares, intersect),
    MUTATION(plain_wares, set_all), MUTATION(ordered_wares, insert), MUTATION(ordered_wares, unite),
    MUTATION(ordered_wares, remove_many), MUTATION(ordered_wares, replace),
    MUTATION(ordered_wares, subtract), MUTATION(wares_set, add), MUTATION(wares_set, take_out),
    MUTATION(wares_set, unite), MUTATION(wares_set, subtract), MUTATION(wares_set, intersect),
    MUTATION(wares_set, set_all), MUTATION(item_proxy, insert), MUTATION(item_proxy, insert_many),
    MUTATION(item_proxy, remove_one), MUTATION(item_proxy, remove_many),
    MUTATION(item_proxy, replace), MUTATION(item_proxy, replace_many),
    MUTATION(item_proxy, take_out), MUTATION(item_proxy, set_all), MUTATION(tag_proxy, add),
    MUTATION(tag_proxy, take_out), MUTATION(tag_proxy, unite), MUTATION(tag_proxy, intersect),
    MUTATION(tag_proxy, set_all));
