// Values that are collections, of either sort: objects, and values of a binding's collection types,
// which only the type's operations can read.
#include "kvo_collection.h"

#include "base/kvo_fail.h"
#include "objects/kvo_class_internal.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"

static const kvo_collection_operations *operations_of(const kvo_value *value) {
  const kvo_type_operations *operations = value->type ? value->type->operations : NULL;
  if (!operations || !operations->collection) return NULL;
  bool is_nil = operations->is_nil && operations->is_nil(value->type, kvo_value_bytes(value));
  return is_nil ? NULL : operations->collection;
}

kvo_collection *kvo_collection_of_value(const kvo_value *value) {
  kvo_object *object = kvo_value_get_object(value);
  bool is_collection = object && kvo_class_of(object)->is_collection;
  return is_collection ? (kvo_collection *)(void *)object : NULL;
}

bool kvo_value_is_collection(const kvo_value *value, kvo_collection_kind *kind) {
  const kvo_collection_operations *operations = operations_of(value);
  const kvo_collection *collection = operations ? NULL : kvo_collection_of_value(value);
  if (!operations && !collection) return false;
  if (kind) *kind = operations ? operations->kind : collection->kind;
  return true;
}

kvo_object *kvo_value_target(const kvo_value *value, bool *is_collection) {
  kvo_object *object = kvo_value_get_object(value);
  *is_collection = object ? kvo_class_of(object)->is_collection : operations_of(value) != NULL;
  return *is_collection ? NULL : object;
}

size_t kvo_value_count(const kvo_value *value) {
  const kvo_collection_operations *operations = operations_of(value);
  if (operations) return operations->count(value->type, kvo_value_bytes(value));
  kvo_collection *collection = kvo_collection_of_value(value);
  return collection ? kvo_collection_count(collection) : 0;
}

static kvo_status no_collection(const kvo_value *value, kvo_error *error) {
  return kvo_fail(error, KVO_TYPE_MISMATCH, NULL, NULL, "A value of type %s is no collection.",
      kvo_type_name(value->type));
}

kvo_status kvo_value_element(const kvo_value *value, size_t index, kvo_value *element) {
  *element = KVO_VALUE_NIL;
  const kvo_collection_operations *operations = operations_of(value);
  if (operations) {
    const void *bytes = kvo_value_bytes(value);
    if (index >= operations->count(value->type, bytes)) return KVO_INDEX_OUT_OF_BOUNDS;
    return operations->get(value->type, bytes, index, element);
  }
  kvo_collection *collection = kvo_collection_of_value(value);
  return collection ? kvo_collection_get(collection, index, element, NULL) : KVO_TYPE_MISMATCH;
}

// MARK: Lists of elements

static kvo_status take(void *elements, kvo_value element) {
  return kvo_elements_take(elements, element);
}

static kvo_status add_all(const kvo_value *value, kvo_elements *elements) {
  const kvo_collection_operations *operations = operations_of(value);
  return operations->each(value->type, kvo_value_bytes(value), take, elements);
}

static kvo_status add_range(const kvo_value *value, kvo_range range, kvo_elements *elements) {
  const kvo_collection_operations *operations = operations_of(value);
  const void *bytes = kvo_value_bytes(value);
  size_t count = operations->count(value->type, bytes), end = range.location + range.length;
  for (size_t i = range.location; i < end && i < count; i++) {
    kvo_value element;
    kvo_status status = operations->get(value->type, bytes, i, &element);
    if (!status) status = kvo_elements_take(elements, element);
    if (status) return status;
  }
  return KVO_OK;
}

static kvo_status fail_elements(kvo_status status, kvo_error *error) {
  return kvo_fail(error, status, NULL, NULL, "No memory for a collection's elements.");
}

kvo_status kvo_value_elements(const kvo_value *value, const kvo_index_set *indexes,
    kvo_elements *elements, kvo_error *error) {
  kvo_collection *collection = kvo_collection_of_value(value);
  if (collection) return collection->methods->pick(collection, indexes, elements, error);
  const kvo_collection_operations *operations = operations_of(value);
  if (!operations) return no_collection(value, error);
  if (!indexes && operations->each) {
    kvo_status status = add_all(value, elements);
    return status ? fail_elements(status, error) : KVO_OK;
  }
  size_t ranges = indexes ? kvo_index_set_range_count(indexes) : 1;
  for (size_t i = 0; i < ranges; i++) {
    kvo_range range =
        indexes ? kvo_index_set_range(indexes, i) : (kvo_range){0, kvo_value_count(value)};
    kvo_status status = add_range(value, range, elements);
    if (status) return fail_elements(status, error);
  }
  return KVO_OK;
}

size_t kvo_elements_seek(kvo_elements *elements, const kvo_value *element) {
  size_t index = 0;
  while (index < elements->count && !kvo_value_equal(&elements->values[index], element)) index++;
  bool is_there = index < elements->count;
  kvo_elements_destroy(elements);
  return is_there ? index : KVO_NOT_FOUND;
}

kvo_status kvo_value_from_elements(kvo_value *value, kvo_collection_kind kind,
    kvo_elements *elements) {
  kvo_collection *made = kvo_collection_adopt(kind, elements, NULL);
  *value = KVO_VALUE_NIL;
  if (!made) return KVO_NO_MEMORY;
  *value = kvo_value_object(&made->object);
  kvo_object_release(&made->object);
  return KVO_OK;
}

// MARK: For delivery

kvo_status kvo_value_snapshot(kvo_value *value) {
  kvo_collection *collection = kvo_collection_of_value(value);
  if (!collection || kvo_collection_is_stored(collection)) return KVO_OK;
  kvo_error error = {0};
  kvo_collection *stored = kvo_collection_snapshot(collection, &error);
  kvo_value_destroy(value);
  if (!stored) return error.status;
  *value = kvo_value_object(&stored->object);
  kvo_object_release(&stored->object);
  return KVO_OK;
}

// What a binding's type itself can make of its values, nil ones too; NULL for other types.
static const kvo_collection_operations *own_operations(const kvo_value *value) {
  return value->type && value->type->operations ? value->type->operations->collection : NULL;
}

static kvo_status pick_own(const kvo_value *collection, const kvo_index_set *indexes,
    kvo_value *picked) {
  const kvo_type *type = collection->type;
  void *room = kvo_value_room(picked, type);
  if (!room) return KVO_NO_MEMORY;
  kvo_status status =
      own_operations(collection)->pick(type, kvo_value_bytes(collection), indexes, room);
  if (status) kvo_value_give_up(picked);
  return status;
}

kvo_status kvo_value_pick(const kvo_value *collection, const kvo_index_set *indexes,
    kvo_value *picked) {
  const kvo_collection_operations *own = own_operations(collection);
  if (own && own->pick) return pick_own(collection, indexes, picked);
  kvo_elements elements = {0};
  kvo_status status = kvo_value_elements(collection, indexes, &elements, NULL);
  if (!status || status == KVO_TYPE_MISMATCH)
    return kvo_value_from_elements(picked, KVO_ARRAY, &elements);
  kvo_elements_destroy(&elements);
  *picked = KVO_VALUE_NIL;
  return status;
}

// A stored set of the elements, +1, in which members are found by hash; NULL if memory is out.
static kvo_collection *set_of(const kvo_value *value) {
  kvo_collection *collection = kvo_collection_of_value(value);
  if (collection && kvo_collection_is_stored(collection) && collection->kind == KVO_SET)
    return (kvo_collection *)(void *)kvo_object_retain(&collection->object);
  kvo_elements elements = {0};
  kvo_status status = kvo_value_elements(value, NULL, &elements, NULL);
  if (!status || status == KVO_TYPE_MISMATCH) return kvo_collection_adopt(KVO_SET, &elements, NULL);
  kvo_elements_destroy(&elements);
  return NULL;
}

// The elements of `a` of which `b` says what is wanted.
static kvo_status filter(kvo_collection *a, kvo_collection *b, bool wanted, kvo_value *set) {
  kvo_elements kept = {0};
  for (size_t i = 0; i < kvo_collection_count(a); i++) {
    kvo_value element;
    kvo_status status = kvo_collection_get(a, i, &element, NULL);
    if (!status && kvo_collection_contains(b, &element) != wanted) kvo_value_destroy(&element);
    else if (!status) status = kvo_elements_take(&kept, element);
    if (!status) continue;
    kvo_elements_destroy(&kept);
    return status;
  }
  return kvo_value_from_elements(set, KVO_SET, &kept);
}

static kvo_status filter_own(const kvo_value *a, const kvo_value *b, bool wanted, kvo_value *set) {
  void *room = kvo_value_room(set, a->type);
  if (!room) return KVO_NO_MEMORY;
  kvo_status status =
      own_operations(a)->filter(a->type, kvo_value_bytes(a), kvo_value_bytes(b), wanted, room);
  if (status) kvo_value_give_up(set);
  return status;
}

static kvo_status compare_sets(const kvo_value *a, const kvo_value *b, bool wanted,
    kvo_value *set) {
  const kvo_collection_operations *own = own_operations(a);
  if (own && own->filter && a->type == b->type) return filter_own(a, b, wanted, set);
  kvo_collection *first = set_of(a), *second = first ? set_of(b) : NULL;
  *set = KVO_VALUE_NIL;
  kvo_status status = second ? filter(first, second, wanted, set) : KVO_NO_MEMORY;
  if (first) kvo_object_release(&first->object);
  if (second) kvo_object_release(&second->object);
  return status;
}

kvo_status kvo_value_difference(const kvo_value *a, const kvo_value *b, kvo_value *set) {
  return compare_sets(a, b, false, set);
}

kvo_status kvo_value_intersection(const kvo_value *a, const kvo_value *b, kvo_value *set) {
  return compare_sets(a, b, true, set);
}

// MARK: Equality

static bool equal_in_order(const kvo_value *a, const kvo_value *b) {
  kvo_elements left = {0}, right = {0};
  bool equal = !kvo_value_elements(a, NULL, &left, NULL) &&
               !kvo_value_elements(b, NULL, &right, NULL) && left.count == right.count;
  for (size_t i = 0; equal && i < left.count; i++)
    equal = kvo_value_equal(&left.values[i], &right.values[i]);
  kvo_elements_destroy(&left);
  kvo_elements_destroy(&right);
  return equal;
}

static bool contains_all(kvo_collection *set, kvo_collection *members) {
  bool all = kvo_collection_count(set) == kvo_collection_count(members);
  for (size_t i = 0; all && i < kvo_collection_count(members); i++) {
    kvo_value member;
    all = !kvo_collection_get(members, i, &member, NULL) && kvo_collection_contains(set, &member);
    kvo_value_destroy(&member);
  }
  return all;
}

static bool equal_as_sets(const kvo_value *a, const kvo_value *b) {
  kvo_collection *left = set_of(a), *right = left ? set_of(b) : NULL;
  bool equal = right && contains_all(left, right);
  if (left) kvo_object_release(&left->object);
  if (right) kvo_object_release(&right->object);
  return equal;
}

bool kvo_value_collections_equal(const kvo_value *a, const kvo_value *b) {
  kvo_collection_kind kind, other;
  if (!kvo_value_is_collection(a, &kind) || !kvo_value_is_collection(b, &other)) return false;
  if (kind != other) return false;
  return kind == KVO_SET ? equal_as_sets(a, b) : equal_in_order(a, b);
}
