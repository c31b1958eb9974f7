// Collections that are changed by any of their class's methods: wholly, or not at all.
#include <stdio.h>

#include "shortage_steps.h"

static kvo_collection *integers(kvo_collection_kind kind, int first, int count) {
  kvo_value values[8];
  for (int i = 0; i < count; i++) values[i] = kvo_value_int(first + i);
  return kvo_collection_create(kind, values, (size_t)count, NULL);
}

static void make_proxy(world *world, kvo_collection_kind kind) {
  kvo_object *object = &world->shelf->object;
  if (kind == KVO_ARRAY) must(kvo_mutable_array(object, "items", &world->proxy, NULL));
  if (kind == KVO_SET) must(kvo_mutable_set(object, "items", &world->proxy, NULL));
  if (kind == KVO_ORDERED_SET) must(kvo_mutable_ordered_set(object, "items", &world->proxy, NULL));
}

// With the items 1, 2 and 3; the operations use 3 and 4.
static void make_shelf(world *world, kvo_collection_kind kind, shelf_methods methods) {
  char name[40];
  snprintf(name, sizeof name, "CScarceShelf%s", world->serial);
  shelf *made = (shelf *)kvo_object_create(shelf_class_named(name, methods));
  for (int i = 0; i < 3; i++) made->items[made->count++] = i + 1;
  world->shelf = made;
  make_proxy(world, kind);
  world->values[0] = kvo_value_int(9);
  world->collection = integers(kind, 3, 2);
  world->indexes = kvo_index_set_create_range(0, 2);
}

enum {
  ARRAY = SHELF_COUNT | SHELF_OBJECT,
  SET = SHELF_COUNT | SHELF_ENUMERATOR | SHELF_MEMBER,
};

static void array_of_one(world *world) {
  make_shelf(world, KVO_ARRAY, (shelf_methods)(ARRAY | SHELF_INSERT | SHELF_REMOVE));
}
static void array_of_many(world *world) {
  make_shelf(world, KVO_ARRAY,
      (shelf_methods)(ARRAY | SHELF_INSERT_MANY | SHELF_REMOVE_MANY | SHELF_REPLACE_MANY));
}
static void ordered_of_one(world *world) {
  make_shelf(world, KVO_ORDERED_SET,
      (shelf_methods)(ARRAY | SHELF_INDEX | SHELF_INSERT | SHELF_REMOVE | SHELF_REPLACE));
}
static void ordered_of_many(world *world) {
  make_shelf(world, KVO_ORDERED_SET,
      (shelf_methods)(ARRAY | SHELF_OBJECTS | SHELF_INSERT_MANY | SHELF_REMOVE_MANY));
}
static void set_of_one(world *world) {
  make_shelf(world, KVO_SET, (shelf_methods)(SET | SHELF_ADD | SHELF_DROP));
}
static void set_of_many(world *world) {
  make_shelf(world, KVO_SET,
      (shelf_methods)(SET | SHELF_ADD_MANY | SHELF_DROP_MANY | SHELF_INTERSECT));
}

#define OBSERVED(set_up)                                             \
  static void observed_##set_up(world *world) {                      \
    set_up(world);                                                   \
    must(world_observe_object(world, &world->shelf->object, "items", \
        KVO_NEW | KVO_OLD | KVO_PRIOR));                             \
  }

OBSERVED(array_of_one)
OBSERVED(array_of_many)
OBSERVED(ordered_of_one)
OBSERVED(ordered_of_many)
OBSERVED(set_of_one)
OBSERVED(set_of_many)

static kvo_status insert(world *world) {
  return kvo_collection_insert(world->proxy, 1, &world->values[0], &world->error);
}
static kvo_status insert_many(world *world) {
  return kvo_collection_insert_many(world->proxy, world->indexes, world->collection, &world->error);
}
static kvo_status remove_many(world *world) {
  return kvo_collection_remove_indexes(world->proxy, world->indexes, &world->error);
}
static kvo_status replace(world *world) {
  return kvo_collection_replace_at(world->proxy, 0, &world->values[0], &world->error);
}
static void show_and_change(world *world) {
  const shelf *shelf = world->shelf;
  for (size_t i = 0; i < shelf->count; i++) world_log(world, "%d ", shelf->items[i]);
  must(add(world));
  must(subtract(world));
  for (size_t i = 0; i < shelf->count; i++) world_log(world, "%d ", shelf->items[i]);
}

#define SHELF(kind, set_up, act) SCENARIO("shelf", kind, set_up, act, show_and_change, NULL)
#define BOTH(set_up, act) SHELF(ACT_REPORTS, set_up, act), SHELF(ACT_TELLS, observed_##set_up, act)
#define ORDERED(set_up)                                                                            \
  BOTH(set_up, insert), BOTH(set_up, insert_many), BOTH(set_up, remove_many),                      \
      BOTH(set_up, replace), BOTH(set_up, unite), BOTH(set_up, subtract), BOTH(set_up, intersect), \
      BOTH(set_up, set_all)
#define UNORDERED(set_up)                                                                  \
  BOTH(set_up, add), BOTH(set_up, unite), BOTH(set_up, subtract), BOTH(set_up, intersect), \
      BOTH(set_up, set_all)

SCENARIO_TABLE(shortage_shelves, ORDERED(array_of_one), ORDERED(array_of_many),
    ORDERED(ordered_of_one), ORDERED(ordered_of_many), UNORDERED(set_of_one),
    UNORDERED(set_of_many));
