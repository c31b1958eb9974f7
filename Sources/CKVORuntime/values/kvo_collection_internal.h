/// The internals of collections: the part that stored collections and proxies share, lists of values, and operations
/// on values that are collections, for delivery and key-value coding.
#ifndef KVO_COLLECTION_INTERNAL_H
#define KVO_COLLECTION_INTERNAL_H

#include "kvo_collection.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A growing list that owns its values. `{0}` is empty.
typedef struct kvo_elements {
  kvo_value *KVO_NULLABLE values;
  size_t count;
  size_t capacity;
} kvo_elements;

/// Makes room for `count` more. False if out of memory.
bool kvo_elements_reserve(kvo_elements *elements, size_t count);
/// Appends a value, which the list then owns; if out of memory, the value is destroyed. KVO_NO_MEMORY.
kvo_status kvo_elements_take(kvo_elements *elements, kvo_value value);
/// Appends a copy.
kvo_status kvo_elements_add(kvo_elements *elements, const kvo_value *value);
/// Destroys the values and the list, which is empty afterwards.
void kvo_elements_destroy(kvo_elements *elements);
/// Destroys the elements one by one. If an object that dies throws, the caller calls this again for the others.
void kvo_elements_empty(kvo_elements *elements);
/// The index of the first value that is equal to an element, or KVO_NOT_FOUND. Destroys the list.
size_t kvo_elements_seek(kvo_elements *elements, const kvo_value *element);

/// The index of the last element, for a read that counts the elements only once.
#define KVO_LAST_ELEMENT SIZE_MAX

/// The methods that differ between stored collections and proxies. `error` is filled in whenever a status is not
/// KVO_OK.
typedef struct kvo_collection_methods {
  size_t (*count)(kvo_collection *collection);
  /// Reads one element, at any index or KVO_LAST_ELEMENT. `*element` is unchanged if it fails.
  kvo_status (*get)(kvo_collection *collection, size_t index, kvo_value *element,
      kvo_error *KVO_NULLABLE error);
  size_t (*index_of)(kvo_collection *collection, const kvo_value *element);
  bool (*contains)(kvo_collection *collection, const kvo_value *element);
  /// Appends those elements at the indexes that exist; NULL for all. If the program's code throws, the list is
  /// destroyed.
  kvo_status (*pick)(kvo_collection *collection, const kvo_index_set *KVO_NULLABLE indexes,
      kvo_elements *elements, kvo_error *KVO_NULLABLE error);
} kvo_collection_methods;

/// The beginning of every collection.
struct kvo_collection {
  kvo_object object;
  const kvo_collection_methods *methods;
  kvo_collection_kind kind;
};

/// The depth to which nested collections are traversed, because each level takes stack; see `kvo_nesting_enter`.
enum { KVO_NESTING_LIMIT = 100 };

/// The object to which a value on a path leads, borrowed; NULL if it is not an object, or is a collection.
kvo_object *KVO_NULLABLE kvo_value_target(const kvo_value *value, bool *is_collection);

/// Makes a subclass of `kvo_collection_class()`, as `kvo_class_define` does. NULL if out of memory; the next call
/// continues.
const kvo_class *KVO_NULLABLE kvo_collection_define(const kvo_class *KVO_NULLABLE *KVO_NONNULL once,
    const char *name, size_t instance_size,
    void (*KVO_NONNULL destroy)(kvo_object *self, const kvo_method *_cmd));
/// Creates an instance. NULL with KVO_NO_MEMORY, also if the class could not be made.
kvo_collection *KVO_NULLABLE kvo_collection_make(const kvo_class *KVO_NULLABLE cls,
    const kvo_collection_methods *methods, kvo_collection_kind kind, kvo_error *KVO_NULLABLE error);
/// Creates a stored collection as `kvo_collection_create` does, but takes over the elements, even if it fails.
kvo_collection *KVO_NULLABLE kvo_collection_adopt(kvo_collection_kind kind, kvo_elements *elements,
    kvo_error *KVO_NULLABLE error);

/// The elements of a stored collection, valid and unchanged as long as the collection lives; NULL for a proxy.
const kvo_elements *KVO_NULLABLE kvo_collection_stored_elements(kvo_collection *collection);

/// Fails with KVO_INDEX_OUT_OF_BOUNDS; class and key may be NULL.
kvo_status kvo_fail_index(kvo_error *KVO_NULLABLE error, const char *KVO_NULLABLE class_name,
    const char *KVO_NULLABLE key, size_t index, size_t count);
/// Whether an index is too large for any collection, because it was negative before its conversion to a size.
KVO_INLINE bool kvo_index_is_negative(size_t index) { return index > PTRDIFF_MAX; }
/// The last of the indexes; KVO_NOT_FOUND if there are none.
KVO_INLINE size_t kvo_index_set_last(const kvo_index_set *indexes) {
  return kvo_index_set_index(indexes, kvo_index_set_count(indexes) - 1);
}
/// Fails with KVO_NO_MEMORY.
kvo_status kvo_fail_collection_memory(kvo_error *KVO_NULLABLE error);

/// A read-only proxy for a key that only collection accessors answer, with one reference owned by the caller. `key`
/// is interned. NULL if out of memory.
kvo_collection *KVO_NULLABLE kvo_lazy_collection_create(kvo_object *owner, const char *key,
    kvo_collection_kind kind);

/// Appends the elements of a value that is a `kvo_collection` or a binding's collection: all, or those at the indexes
/// that exist. Bulk accessors of a proxy are used. KVO_TYPE_MISMATCH if it is not a collection. If the program's code
/// throws, the list is destroyed.
kvo_status kvo_value_elements(const kvo_value *value, const kvo_index_set *KVO_NULLABLE indexes,
    kvo_elements *elements, kvo_error *KVO_NULLABLE error);
/// Passes the references that an array stores to `body`, in order, with the offset from an object's address to its
/// header. False, without a call, if the value is not an array that stores nothing but references to objects, or there
/// is no memory. `body` must not throw.
bool kvo_value_with_references(const kvo_value *value,
    void (*body)(void *context, const uintptr_t *references, size_t count, ptrdiff_t offset),
    void *context);
/// Initialises `*value` as a collection object of these elements, which it takes over; nil if out of memory.
kvo_status kvo_value_from_elements(kvo_value *value, kvo_collection_kind kind,
    kvo_elements *elements);
/// Replaces a proxy by a stored collection; other values stay unchanged. Nil if that fails.
kvo_status kvo_value_snapshot(kvo_value *value);
/// Makes an owned value keep what it has now, although others may change it in place.
void kvo_value_detach(kvo_value *value);
/// Initialises `*picked` as an array of those elements at the indexes that exist; an empty one if the value is not a
/// collection.
kvo_status kvo_value_pick(const kvo_value *collection, const kvo_index_set *indexes,
    kvo_value *picked);
/// Initialise `*set` as a set of the elements of `a` that are not in `b` (difference), or are in `b` (intersection).
/// A value that is not a collection counts as empty.
kvo_status kvo_value_difference(const kvo_value *a, const kvo_value *b, kvo_value *set);
kvo_status kvo_value_intersection(const kvo_value *a, const kvo_value *b, kvo_value *set);
/// Whether two values are collections of the same kind with equal elements, without order for sets. A binding's
/// collection can equal a collection object. False for other values.
bool kvo_value_collections_equal(const kvo_value *a, const kvo_value *b);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
