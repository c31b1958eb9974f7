#include "fixture_shelf.h"

#include "fixture_memory.h"
#include "require.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void note(shelf *self, const char *format, ...) {
  size_t used = strlen(self->calls);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(self->calls + used, sizeof self->calls - used, format, arguments);
  va_end(arguments);
}

static size_t place_of(const shelf *self, int item) {
  for (size_t i = 0; i < self->count; i++)
    if (self->items[i] == item) return i;
  return KVO_NOT_FOUND;
}

// KVO_NOT_FOUND, which is -1, means the end, as in GTK's lists.
static void put(shelf *self, int item, size_t index) {
  if (self->stubborn || self->count == SHELF_ROOM) return;
  if (index == KVO_NOT_FOUND) index = self->count;
  memmove(self->items + index + 1, self->items + index, (self->count - index) * sizeof item);
  self->items[index] = item;
  self->count++;
}

static void take(shelf *self, size_t index) {
  if (self->stubborn) return;
  self->count--;
  if (index == KVO_NOT_FOUND) index = self->count;
  memmove(self->items + index, self->items + index + 1, (self->count - index) * sizeof(int));
}

// The accessors' own allocations never fail, because they are not what is tested.
static int item_at(kvo_collection *items, size_t index) {
  kvo_value value;
  fixture_memory_limit limit = fixture_lift_memory_limit();
  kvo_collection_get(items, index, &value, NULL);
  fixture_restore_memory_limit(limit);
  int item = (int)kvo_value_get_int(&value);
  kvo_value_destroy(&value);
  return item;
}

static kvo_collection *collection_of(const int *items, size_t count) {
  kvo_value values[SHELF_ROOM];
  for (size_t i = 0; i < count; i++) values[i] = kvo_value_int(items[i]);
  fixture_memory_limit limit = fixture_lift_memory_limit();
  kvo_collection *made = kvo_collection_create(KVO_ARRAY, values, count, NULL);
  fixture_restore_memory_limit(limit);
  return made;
}

// MARK: Reading

static size_t count(shelf *self, const kvo_method *_cmd) {
  (void)_cmd;
  note(self, "count ");
  return self->count;
}

static int object(shelf *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  note(self, "object(%zu) ", index);
  return self->items[index];
}

static kvo_collection *objects(shelf *self, const kvo_method *_cmd, const kvo_index_set *indexes) {
  (void)_cmd;
  int found[SHELF_ROOM];
  size_t wanted = kvo_index_set_count(indexes);
  note(self, "objects(%zu) ", wanted);
  for (size_t i = 0; i < wanted; i++) found[i] = self->items[kvo_index_set_index(indexes, i)];
  return collection_of(found, self->stubborn ? 0 : wanted);
}

static void range(shelf *self, const kvo_method *_cmd, int *buffer, size_t at, size_t length) {
  (void)_cmd;
  note(self, "range(%zu,%zu) ", at, length);
  memcpy(buffer, self->items + at, length * sizeof *buffer);
}

static size_t index_of(shelf *self, const kvo_method *_cmd, int item) {
  (void)_cmd;
  note(self, "index(%d) ", item);
  return place_of(self, item);
}

static kvo_collection *enumerator(shelf *self, const kvo_method *_cmd) {
  (void)_cmd;
  note(self, "enumerator ");
  return collection_of(self->items, self->count);
}

static bool member(shelf *self, const kvo_method *_cmd, int item) {
  (void)_cmd;
  note(self, "member(%d) ", item);
  return place_of(self, item) != KVO_NOT_FOUND;
}

// MARK: Ordered mutation

static void insert(shelf *self, const kvo_method *_cmd, int item, size_t index) {
  (void)_cmd;
  note(self, "insert(%d,%zu) ", item, index);
  put(self, item, index);
}

static void insert_many(shelf *self, const kvo_method *_cmd, kvo_collection *items,
    const kvo_index_set *indexes) {
  (void)_cmd;
  note(self, "insertMany(%zu) ", kvo_index_set_count(indexes));
  for (size_t i = 0; i < kvo_index_set_count(indexes); i++)
    put(self, item_at(items, i), kvo_index_set_index(indexes, i));
}

static void remove_at(shelf *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  note(self, "remove(%zu) ", index);
  take(self, index);
}

static void remove_many(shelf *self, const kvo_method *_cmd, const kvo_index_set *indexes) {
  (void)_cmd;
  size_t left = kvo_index_set_count(indexes);
  note(self, "removeMany(%zu) ", left);
  while (left) take(self, kvo_index_set_index(indexes, --left));
}

static void replace(shelf *self, const kvo_method *_cmd, size_t index, int item) {
  (void)_cmd;
  note(self, "replace(%zu,%d) ", index, item);
  if (!self->stubborn) self->items[index == KVO_NOT_FOUND ? self->count - 1 : index] = item;
}

static void replace_many(shelf *self, const kvo_method *_cmd, const kvo_index_set *indexes,
    kvo_collection *items) {
  (void)_cmd;
  note(self, "replaceMany(%zu) ", kvo_index_set_count(indexes));
  for (size_t i = 0; i < kvo_index_set_count(indexes) && !self->stubborn; i++)
    self->items[kvo_index_set_index(indexes, i)] = item_at(items, i);
}

// MARK: Unordered mutation

static void add_item(shelf *self, int item) {
  if (place_of(self, item) == KVO_NOT_FOUND) put(self, item, self->count);
}

static void drop_item(shelf *self, int item) {
  if (place_of(self, item) != KVO_NOT_FOUND) take(self, place_of(self, item));
}

static void add(shelf *self, const kvo_method *_cmd, int item) {
  (void)_cmd;
  note(self, "add(%d) ", item);
  add_item(self, item);
}

static void add_many(shelf *self, const kvo_method *_cmd, kvo_collection *items) {
  (void)_cmd;
  note(self, "addMany(%zu) ", kvo_collection_count(items));
  for (size_t i = 0; i < kvo_collection_count(items); i++) add_item(self, item_at(items, i));
}

static void drop(shelf *self, const kvo_method *_cmd, int item) {
  (void)_cmd;
  note(self, "drop(%d) ", item);
  drop_item(self, item);
}

static void drop_many(shelf *self, const kvo_method *_cmd, kvo_collection *items) {
  (void)_cmd;
  note(self, "dropMany(%zu) ", kvo_collection_count(items));
  for (size_t i = 0; i < kvo_collection_count(items); i++) drop_item(self, item_at(items, i));
}

static void intersect(shelf *self, const kvo_method *_cmd, kvo_collection *items) {
  (void)_cmd;
  note(self, "intersect(%zu) ", kvo_collection_count(items));
  for (size_t i = self->count; i > 0; i--) {
    const kvo_value item = kvo_value_int(self->items[i - 1]);
    if (!kvo_collection_contains(items, &item)) take(self, i - 1);
  }
}

// MARK: The whole value

static kvo_collection *getter(shelf *self, const kvo_method *_cmd) {
  (void)_cmd;
  note(self, "get ");
  if (self->before_get) self->before_get(self);
  return self->value;
}

// The collection that the setter stores; the caller releases it.
static kvo_collection *adjusted(const shelf *self, kvo_collection *value) {
  size_t count = kvo_collection_count(value);
  size_t kept = self->most && count > self->most ? self->most : count;
  kvo_value values[SHELF_ROOM];
  for (size_t i = 0; i < kept; i++)
    kvo_collection_get(value, self->reverses ? count - 1 - i : count - kept + i, &values[i], NULL);
  kvo_collection *made = kvo_collection_create(kvo_collection_get_kind(value), values, kept, NULL);
  for (size_t i = 0; i < kept; i++) kvo_value_destroy(&values[i]);
  return made;
}

static void store(shelf *self, kvo_collection *value) {
  if (!value || !(self->most || self->reverses)) {
    kvo_store_retained_object(&self->value, value);
    return;
  }
  kvo_collection *made = adjusted(self, value);
  kvo_store_retained_object(&self->value, made);
  kvo_object_release((kvo_object *)made);
}

static void setter(shelf *self, const kvo_method *_cmd, kvo_collection *value) {
  (void)_cmd;
  note(self, "set ");
  if (self->stubborn) return;
  store(self, value);
  if (self->after_set) self->after_set(self);
}

static void dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_store_retained_object(&((shelf *)self)->value, NULL);
}

// MARK: Methods with results, which callers drop

typedef struct results {
  double numbers[4];
} results;

#define WITH_RESULT(name, parameters, ...)  \
  static results name##_result parameters { \
    name(self, _cmd, __VA_ARGS__);          \
    return (results){{1, 2, 3, 4}};         \
  }
WITH_RESULT(range, (shelf * self, const kvo_method *_cmd, int *buffer, size_t at, size_t length),
    buffer, at, length)
WITH_RESULT(insert, (shelf * self, const kvo_method *_cmd, int item, size_t index), item, index)
WITH_RESULT(insert_many,
    (shelf * self, const kvo_method *_cmd, kvo_collection *items, const kvo_index_set *indexes),
    items, indexes)
WITH_RESULT(remove_at, (shelf * self, const kvo_method *_cmd, size_t index), index)
WITH_RESULT(remove_many, (shelf * self, const kvo_method *_cmd, const kvo_index_set *indexes),
    indexes)
WITH_RESULT(replace, (shelf * self, const kvo_method *_cmd, size_t index, int item), index, item)
WITH_RESULT(replace_many,
    (shelf * self, const kvo_method *_cmd, const kvo_index_set *indexes, kvo_collection *items),
    indexes, items)
WITH_RESULT(add, (shelf * self, const kvo_method *_cmd, int item), item)
WITH_RESULT(add_many, (shelf * self, const kvo_method *_cmd, kvo_collection *items), items)
WITH_RESULT(drop, (shelf * self, const kvo_method *_cmd, int item), item)
WITH_RESULT(drop_many, (shelf * self, const kvo_method *_cmd, kvo_collection *items), items)
WITH_RESULT(intersect, (shelf * self, const kvo_method *_cmd, kvo_collection *items), items)

// MARK: Classes

// In bit order.
static const struct {
  const char *selector;
  kvo_imp imp;
  const char *encoding;
  kvo_imp with_result; // NULL: there is none
} methods[] = {
    {"countOfItems", (kvo_imp)count, "Q@:", NULL},
    {"objectInItemsAtIndex:", (kvo_imp)object, "i@:Q", NULL},
    {"itemsAtIndexes:", (kvo_imp)objects, "@@:^v", NULL},
    {"getItems:range:", (kvo_imp)range, "v@:^vQQ", (kvo_imp)range_result},
    {"indexInItemsOfObject:", (kvo_imp)index_of, "Q@:i", NULL},
    {"enumeratorOfItems", (kvo_imp)enumerator, "@@:", NULL},
    {"memberOfItems:", (kvo_imp)member, "B@:i", NULL},
    {"insertObject:inItemsAtIndex:", (kvo_imp)insert, "v@:iQ", (kvo_imp)insert_result},
    {"insertItems:atIndexes:", (kvo_imp)insert_many, "v@:@^v", (kvo_imp)insert_many_result},
    {"removeObjectFromItemsAtIndex:", (kvo_imp)remove_at, "v@:Q", (kvo_imp)remove_at_result},
    {"removeItemsAtIndexes:", (kvo_imp)remove_many, "v@:^v", (kvo_imp)remove_many_result},
    {"replaceObjectInItemsAtIndex:withObject:", (kvo_imp)replace, "v@:Qi", (kvo_imp)replace_result},
    {"replaceItemsAtIndexes:withItems:", (kvo_imp)replace_many, "v@:^v@",
        (kvo_imp)replace_many_result},
    {"addItemsObject:", (kvo_imp)add, "v@:i", (kvo_imp)add_result},
    {"addItems:", (kvo_imp)add_many, "v@:@", (kvo_imp)add_many_result},
    {"removeItemsObject:", (kvo_imp)drop, "v@:i", (kvo_imp)drop_result},
    {"removeItems:", (kvo_imp)drop_many, "v@:@", (kvo_imp)drop_many_result},
    {"intersectItems:", (kvo_imp)intersect, "v@:@", (kvo_imp)intersect_result},
    {"items", (kvo_imp)getter, "@@:", NULL},
    {"setItems:", (kvo_imp)setter, "v@:@", NULL},
};

void shelf_class_add(const kvo_class *plain, shelf_methods chosen) {
  kvo_class *cls = (kvo_class *)(uintptr_t)plain;
  for (size_t bit = 0; bit < sizeof methods / sizeof *methods; bit++) {
    bool has_result = chosen & SHELF_RESULTS && methods[bit].with_result;
    char encoding[64];
    snprintf(encoding, sizeof encoding, "{results=[4d]}%s", methods[bit].encoding + 1);
    if (chosen & (1u << bit))
      require_method(cls, methods[bit].selector,
          has_result ? methods[bit].with_result : methods[bit].imp,
          KVO_ENCODED(has_result ? encoding : methods[bit].encoding));
  }
  if (chosen & SHELF_IVAR)
    require_ivar(cls, "_items", offsetof(shelf, value),
        (kvo_layout)KVO_STRUCT(kvo_collection *, "@"));
}

const kvo_class *shelf_class_named(const char *name, shelf_methods chosen) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create(name, NULL, sizeof(shelf), &error);
  require_ok(error.status, &error);
  require_hook(cls, "dealloc", (kvo_imp)dealloc);
  shelf_class_add(cls, chosen);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

const kvo_class *shelf_class(shelf_methods chosen) {
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  char name[32];
  snprintf(name, sizeof name, "CShelf%x", (unsigned)chosen);
  pthread_mutex_lock(&making);
  const kvo_class *cls = kvo_class_named(name);
  if (!cls) cls = shelf_class_named(name, chosen);
  pthread_mutex_unlock(&making);
  return cls;
}

// MARK: Calls

void shelf_insert(shelf *self, int item, size_t index) {
  const kvo_method *method =
      kvo_class_method(kvo_class_of(&self->object), "insertObject:inItemsAtIndex:");
  ((void (*)(shelf *, const kvo_method *, int, size_t))kvo_method_lookup(&self->object,
      method))(self, method, item, index);
}

void shelf_remove(shelf *self, size_t index) {
  const kvo_method *method =
      kvo_class_method(kvo_class_of(&self->object), "removeObjectFromItemsAtIndex:");
  ((void (*)(shelf *, const kvo_method *, size_t))kvo_method_lookup(&self->object, method))(self,
      method, index);
}

void shelf_remove_many(shelf *self, const kvo_index_set *indexes) {
  const kvo_method *method = kvo_class_method(kvo_class_of(&self->object), "removeItemsAtIndexes:");
  ((void (*)(shelf *, const kvo_method *, const kvo_index_set *))kvo_method_lookup(&self->object,
      method))(self, method, indexes);
}

void shelf_replace(shelf *self, size_t index, int item) {
  const kvo_method *method =
      kvo_class_method(kvo_class_of(&self->object), "replaceObjectInItemsAtIndex:withObject:");
  ((void (*)(shelf *, const kvo_method *, size_t, int))kvo_method_lookup(&self->object,
      method))(self, method, index, item);
}

void shelf_add_many(shelf *self, kvo_collection *items) {
  const kvo_method *method = kvo_class_method(kvo_class_of(&self->object), "addItems:");
  ((void (*)(shelf *, const kvo_method *, kvo_collection *))kvo_method_lookup(&self->object,
      method))(self, method, items);
}
