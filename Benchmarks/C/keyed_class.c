#include "keyed_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kvo_property.h"
#include "support.h"

/// An instance: its class's map, and a cell for each key.
typedef struct keyed_object {
  kvo_object object;
  const uint32_t *cell_of_slot;
  double cells[];
} keyed_object;

static double *cell(kvo_object *self, const kvo_method *method) {
  keyed_object *object = (keyed_object *)self;
  return &object->cells[object->cell_of_slot[kvo_method_slot(method)]];
}

static double shared_getter(kvo_object *self, const kvo_method *_cmd) { return *cell(self, _cmd); }

static void shared_setter(kvo_object *self, const kvo_method *_cmd, double value) {
  *cell(self, _cmd) = value;
}

/// The map from slot to cell, while it is being built.
typedef struct slot_map {
  uint32_t *cells;
  size_t capacity;
} slot_map;

static void slot_map_set(slot_map *map, const kvo_method *method, uint32_t cell) {
  size_t slot = kvo_method_slot(method);
  if (slot >= map->capacity) {
    map->capacity = slot * 2 + 16;
    map->cells = realloc(map->cells, map->capacity * sizeof *map->cells);
    bench_require(map->cells != NULL, "out of memory");
  }
  map->cells[slot] = cell;
}

static void add_property(kvo_class *cls, bench_key *key, uint32_t index, slot_map *map) {
  kvo_error error;
  const kvo_method *getter;
  char setter_selector[sizeof key->name + sizeof "set:"];
  snprintf(key->name, sizeof key->name, "k%u", (unsigned)index);
  snprintf(setter_selector, sizeof setter_selector, "setK%u:", (unsigned)index);
  kvo_status status = kvo_class_add_method(cls, key->name, (kvo_imp)shared_getter,
      KVO_GETTER(double), &getter, &error);
  bench_require_ok(status, &error);
  status = kvo_class_add_method(cls, setter_selector, (kvo_imp)shared_setter, KVO_SETTER(double),
      &key->setter, &error);
  bench_require_ok(status, &error);
  slot_map_set(map, getter, index);
  slot_map_set(map, key->setter, index);
}

static void define(bench_keyed_class *keyed, const char *name, size_t count) {
  kvo_error error;
  size_t size = sizeof(keyed_object) + count * sizeof(double);
  kvo_class *cls = kvo_class_create(name, NULL, size, &error);
  bench_require(cls != NULL, "%s", error.message);
  keyed->keys = bench_allocate(count, sizeof *keyed->keys);
  slot_map map = {NULL, 0};
  for (size_t i = 0; i < count; i++) add_property(cls, &keyed->keys[i], (uint32_t)i, &map);
  bench_require_ok(kvo_class_register(cls, &error), &error);
  keyed->cls = cls;
  keyed->count = count;
  keyed->cell_of_slot = map.cells;
}

const bench_keyed_class *bench_keyed_class_make(const char *name, size_t count) {
  static struct {
    char name[32];
    bench_keyed_class keyed;
  } made[16];
  size_t i = 0;
  while (*made[i].name && strcmp(made[i].name, name) != 0) {
    i++;
    bench_require(i < sizeof made / sizeof *made, "too many classes of keys");
  }
  if (!*made[i].name) {
    snprintf(made[i].name, sizeof made[i].name, "%s", name);
    define(&made[i].keyed, name, count);
  }
  return &made[i].keyed;
}

kvo_object *bench_keyed_object_create(const bench_keyed_class *keyed) {
  kvo_object *object = kvo_object_create(keyed->cls);
  bench_require(object != NULL, "no object of %zu keys can be made", keyed->count);
  ((keyed_object *)object)->cell_of_slot = keyed->cell_of_slot;
  return object;
}

void bench_shuffle(uint32_t *order, size_t count) {
  uint64_t random = 0x9E3779B97F4A7C15;
  for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
  for (size_t i = count; i > 1; i--) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    size_t j = random % i;
    uint32_t swapped = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swapped;
  }
}
