// Values that are collections: collection objects, and values of a binding's collection types, which only the type's
// operations can read.
#include "kvo_collection.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "objects/kvo_class_internal.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"

static const kvo_collection_operations *collection_value_operations_of(const kvo_value *value) {
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
  const kvo_collection_operations *operations = collection_value_operations_of(value);
  const kvo_collection *collection = operations ? NULL : kvo_collection_of_value(value);
  if (!operations && !collection) return false;
  if (kind) *kind = operations ? operations->kind : collection->kind;
  return true;
}

kvo_object *kvo_value_target(const kvo_value *value, bool *is_collection) {
  kvo_object *object = kvo_value_get_object(value);
  *is_collection =
      object ? kvo_class_of(object)->is_collection : collection_value_operations_of(value) != NULL;
  return *is_collection ? NULL : object;
}

// MARK: Nesting

static _Thread_local uint32_t nesting;

bool kvo_nesting_enter(void) {
  bool enters = nesting < KVO_NESTING_LIMIT;
  nesting += enters;
  return enters;
}

void kvo_nesting_leave(bool entered) { nesting -= entered; }

// MARK: Elements

size_t kvo_value_count(const kvo_value *value) {
  const kvo_collection_operations *operations = collection_value_operations_of(value);
  if (operations) return operations->count(value->type, kvo_value_bytes(value));
  kvo_collection *collection = kvo_collection_of_value(value);
  return collection ? kvo_collection_count(collection) : 0;
}

static kvo_status no_collection(const kvo_value *value, kvo_error *error) {
  return kvo_fail(error, KVO_TYPE_MISMATCH, NULL, NULL, "A value of type %s is not a collection.",
      kvo_type_name(value->type));
}

kvo_status kvo_value_element(const kvo_value *value, size_t index, kvo_value *element) {
  *element = KVO_VALUE_NIL;
  const kvo_collection_operations *operations = collection_value_operations_of(value);
  if (operations) {
    const void *bytes = kvo_value_bytes(value);
    if (index >= operations->count(value->type, bytes)) return KVO_INDEX_OUT_OF_BOUNDS;
    return operations->get(value->type, bytes, index, element);
  }
  kvo_collection *collection = kvo_collection_of_value(value);
  return collection ? kvo_collection_get(collection, index, element, NULL) : KVO_TYPE_MISMATCH;
}

// MARK: Lists of elements

static kvo_status collection_value_take(void *elements, kvo_value element) {
  return kvo_elements_take(elements, element);
}

static kvo_status collection_value_add_all(const kvo_value *value, kvo_elements *elements) {
  const kvo_collection_operations *operations = collection_value_operations_of(value);
  return operations->each(value->type, kvo_value_bytes(value), collection_value_take, elements);
}

static kvo_status collection_value_add_range(const kvo_value *value, kvo_range range,
    kvo_elements *elements) {
  const kvo_collection_operations *operations = collection_value_operations_of(value);
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
  const kvo_collection_operations *operations = collection_value_operations_of(value);
  if (!operations) return no_collection(value, error);
  if (!indexes && operations->each) {
    kvo_status status = collection_value_add_all(value, elements);
    return status ? fail_elements(status, error) : KVO_OK;
  }
  size_t ranges = indexes ? kvo_index_set_range_count(indexes) : 1;
  for (size_t i = 0; i < ranges; i++) {
    kvo_range range =
        indexes ? kvo_index_set_range(indexes, i) : (kvo_range){0, kvo_value_count(value)};
    kvo_status status = collection_value_add_range(value, range, elements);
    if (status) return fail_elements(status, error);
  }
  return KVO_OK;
}

// MARK: References

// The reference that a value contains, if it is to an object that is not a collection; else NULL.
static kvo_object *plain_reference(const kvo_value *value) {
  bool is_collection;
  bool is_object = value->type && value->type->kind == KVO_KIND_OBJECT;
  return is_object ? kvo_value_target(value, &is_collection) : NULL;
}

static bool stored_references(const kvo_elements *elements, uintptr_t *references) {
  for (size_t i = 0; i < elements->count; i++) {
    references[i] = (uintptr_t)plain_reference(&elements->values[i]);
    if (!references[i]) return false;
  }
  return true;
}

bool kvo_value_with_references(const kvo_value *value,
    void (*body)(void *context, const uintptr_t *references, size_t count, ptrdiff_t offset),
    void *context) {
  const kvo_collection_operations *operations = collection_value_operations_of(value);
  if (operations) {
    if (!operations->references) return false;
    operations->references(value->type, kvo_value_bytes(value), body, context);
    return true;
  }
  kvo_collection *collection = kvo_collection_of_value(value);
  bool is_ordered = collection && collection->kind != KVO_SET;
  const kvo_elements *elements = is_ordered ? kvo_collection_stored_elements(collection) : NULL;
  if (!elements) return false;
  uintptr_t *references = kvo_alloc(elements->count * sizeof *references + 1);
  bool is_read = references && stored_references(elements, references);
  if (is_read) body(context, references, elements->count, 0);
  kvo_free(references);
  return is_read;
}

// MARK: Searching

typedef struct {
  kvo_elements *elements;
  const kvo_value *element;
  size_t index;
} search;

static void collection_value_seek(void *opaque) {
  search *search = opaque;
  const kvo_elements *elements = search->elements;
  for (size_t i = 0; search->index == KVO_NOT_FOUND && i < elements->count; i++)
    if (kvo_value_equal(&elements->values[i], search->element)) search->index = i;
}

static void end_search(void *opaque) { kvo_elements_destroy(((search *)opaque)->elements); }

size_t kvo_elements_seek(kvo_elements *elements, const kvo_value *element) {
  search search = {elements, element, KVO_NOT_FOUND};
  kvo_finally(collection_value_seek, end_search, &search);
  return search.index;
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

typedef struct {
  kvo_value *value;
  kvo_collection *collection, *stored;
  kvo_error error;
} snapshot;

static void take_snapshot(void *opaque) {
  snapshot *snapshot = opaque;
  snapshot->stored = kvo_collection_snapshot(snapshot->collection, &snapshot->error);
}

static void end_proxy(void *opaque) { kvo_value_destroy(((snapshot *)opaque)->value); }

kvo_status kvo_value_snapshot(kvo_value *value) {
  kvo_collection *collection = kvo_collection_of_value(value);
  if (!collection || kvo_collection_is_stored(collection)) return KVO_OK;
  snapshot snapshot = {.value = value, .collection = collection};
  kvo_finally(take_snapshot, end_proxy, &snapshot);
  if (!snapshot.stored) return snapshot.error.status;
  *value = kvo_value_object(&snapshot.stored->object);
  kvo_object_release(&snapshot.stored->object);
  return KVO_OK;
}

void kvo_value_detach(kvo_value *value) {
  const kvo_type *type = value->type;
  if (type && type->operations && type->operations->detach)
    type->operations->detach(type, (void *)(uintptr_t)kvo_value_bytes(value));
}

// The collection operations of a binding's type, for nil values too; NULL for other types.
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

// A stored set of the elements, for look-ups by hash, with one reference owned by the caller; NULL if out of memory.
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

// An operation on two sets: filtering the first by membership in the second, or comparing them. Comparing elements
// calls the program's code, which may throw.
typedef struct {
  const kvo_value *a, *b;
  kvo_collection *first, *second; // stored sets, owned; NULL if out of memory
  bool wanted;
  kvo_elements kept;
  kvo_value result; // a set of the kept elements
  kvo_status status;
  bool entered, equal;
} comparison;

static void collection_value_end_comparison(void *opaque) {
  comparison *sets = opaque;
  kvo_nesting_leave(sets->entered);
  kvo_elements_destroy(&sets->kept);
  if (sets->first) kvo_object_release(&sets->first->object);
  if (sets->second) kvo_object_release(&sets->second->object);
}

static bool take_sets(comparison *sets) {
  sets->first = set_of(sets->a);
  if (sets->first) sets->second = set_of(sets->b);
  return sets->second;
}

static void collection_value_filter(comparison *sets) {
  sets->status = take_sets(sets) ? KVO_OK : KVO_NO_MEMORY;
  if (sets->status) return;
  const kvo_elements *elements = kvo_collection_stored_elements(sets->first);
  for (size_t i = 0; !sets->status && i < elements->count; i++)
    if (kvo_collection_contains(sets->second, &elements->values[i]) == sets->wanted)
      sets->status = kvo_elements_add(&sets->kept, &elements->values[i]);
}

static void make_filtered(void *opaque) {
  comparison *sets = opaque;
  collection_value_filter(sets);
  if (!sets->status) sets->status = kvo_value_from_elements(&sets->result, KVO_SET, &sets->kept);
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
  comparison sets = {.a = a, .b = b, .wanted = wanted};
  *set = KVO_VALUE_NIL;
  kvo_finally(make_filtered, collection_value_end_comparison, &sets);
  *set = sets.result;
  return sets.status;
}

kvo_status kvo_value_difference(const kvo_value *a, const kvo_value *b, kvo_value *set) {
  return compare_sets(a, b, false, set);
}

kvo_status kvo_value_intersection(const kvo_value *a, const kvo_value *b, kvo_value *set) {
  return compare_sets(a, b, true, set);
}

// MARK: Equality

typedef struct {
  const kvo_value *a, *b;
  kvo_elements left, right;
  bool entered, equal;
} sequences;

static void compare_in_order(void *opaque) {
  sequences *both = opaque;
  both->entered = kvo_nesting_enter();
  both->equal = both->entered && !kvo_value_elements(both->a, NULL, &both->left, NULL) &&
                !kvo_value_elements(both->b, NULL, &both->right, NULL) &&
                both->left.count == both->right.count;
  for (size_t i = 0; both->equal && i < both->left.count; i++)
    both->equal = kvo_value_equal(&both->left.values[i], &both->right.values[i]);
}

static void end_sequences(void *opaque) {
  sequences *both = opaque;
  kvo_nesting_leave(both->entered);
  kvo_elements_destroy(&both->left);
  kvo_elements_destroy(&both->right);
}

static bool equal_in_order(const kvo_value *a, const kvo_value *b) {
  sequences both = {.a = a, .b = b};
  kvo_finally(compare_in_order, end_sequences, &both);
  return both.equal;
}

static void compare_as_sets(void *opaque) {
  comparison *sets = opaque;
  sets->entered = kvo_nesting_enter();
  if (!sets->entered || !take_sets(sets)) return;
  const kvo_elements *members = kvo_collection_stored_elements(sets->second);
  sets->equal = kvo_collection_count(sets->first) == members->count;
  for (size_t i = 0; sets->equal && i < members->count; i++)
    sets->equal = kvo_collection_contains(sets->first, &members->values[i]);
}

static bool equal_as_sets(const kvo_value *a, const kvo_value *b) {
  comparison sets = {.a = a, .b = b};
  kvo_finally(compare_as_sets, collection_value_end_comparison, &sets);
  return sets.equal;
}

bool kvo_value_collections_equal(const kvo_value *a, const kvo_value *b) {
  kvo_collection_kind kind, other;
  if (!kvo_value_is_collection(a, &kind) || !kvo_value_is_collection(b, &other)) return false;
  if (kind != other) return false;
  return kind == KVO_SET ? equal_as_sets(a, b) : equal_in_order(a, b);
}
