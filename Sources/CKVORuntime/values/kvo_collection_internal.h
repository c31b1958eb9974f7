/// Inside collections: what stored ones and proxies have in common, lists of values, and what
/// delivery and key-value coding do with values that are collections.
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

/// Makes room for `count` more. False if memory is out.
bool kvo_elements_reserve(kvo_elements *elements, size_t count);
/// Appends a value, which becomes the list's; if memory is out, it is destroyed. KVO_NO_MEMORY.
kvo_status kvo_elements_take(kvo_elements *elements, kvo_value value);
/// Appends a copy.
kvo_status kvo_elements_add(kvo_elements *elements, const kvo_value *value);
/// Ends the values and the list, which is empty then.
void kvo_elements_destroy(kvo_elements *elements);
/// Where the first value that is equal to an element is, or KVO_NOT_FOUND; ends the list.
size_t kvo_elements_seek(kvo_elements *elements, const kvo_value *element);

/// Stands for the index of the last element, so that reading it counts once.
#define KVO_LAST_ELEMENT SIZE_MAX

/// What sorts of collections do each in its way. `error` is filled in whenever a status is not
/// KVO_OK.
typedef struct kvo_collection_methods {
  size_t (*count)(kvo_collection *collection);
  /// Any index, or KVO_LAST_ELEMENT; leaves `*element` alone where it fails.
  kvo_status (*get)(kvo_collection *collection, size_t index, kvo_value *element,
      kvo_error *KVO_NULLABLE error);
  size_t (*index_of)(kvo_collection *collection, const kvo_value *element);
  bool (*contains)(kvo_collection *collection, const kvo_value *element);
  /// Appends the elements at the indexes that there are, NULL for all. Should the user's code throw, it ends the list.
  kvo_status (*pick)(kvo_collection *collection, const kvo_index_set *KVO_NULLABLE indexes,
      kvo_elements *elements, kvo_error *KVO_NULLABLE error);
} kvo_collection_methods;

/// Every collection begins so.
struct kvo_collection {
  kvo_object object;
  const kvo_collection_methods *methods;
  kvo_collection_kind kind;
};

/// How deep collections may be nested in one another for what goes through all of them and takes stack for each.
enum { KVO_NESTING_LIMIT = 100 };
/// This thread goes into a collection, which may be an element of the one that it is in. False, and it has not, beyond
/// that depth.
bool kvo_nesting_enter(void);
/// It leaves the collection, also where an exception passes through, if `entered` says that it went in.
void kvo_nesting_leave(bool entered);

/// What a value on a path leads to: an object, borrowed, that is no collection, or NULL.
kvo_object *KVO_NULLABLE kvo_value_target(const kvo_value *value, bool *is_collection);

/// Makes the class of a sort of collections below `kvo_collection_class()`, as `kvo_class_define`.
/// NULL if memory is out; the next call goes on.
const kvo_class *KVO_NULLABLE kvo_collection_define(const kvo_class *KVO_NULLABLE *KVO_NONNULL once,
    const char *name, size_t instance_size,
    void (*KVO_NONNULL destroy)(kvo_object *self, const kvo_method *_cmd));
/// An instance. NULL with KVO_NO_MEMORY, also where that has kept the class from being made.
kvo_collection *KVO_NULLABLE kvo_collection_make(const kvo_class *KVO_NULLABLE cls,
    const kvo_collection_methods *methods, kvo_collection_kind kind, kvo_error *KVO_NULLABLE error);
/// As `kvo_collection_create`, but the elements become the collection's, also where it fails.
kvo_collection *KVO_NULLABLE kvo_collection_adopt(kvo_collection_kind kind, kvo_elements *elements,
    kvo_error *KVO_NULLABLE error);

/// The elements of a stored collection, which are there, and the same, as long as it is; NULL for another
/// one.
const kvo_elements *KVO_NULLABLE kvo_collection_stored_elements(kvo_collection *collection);

/// Fails with KVO_INDEX_OUT_OF_BOUNDS; class and key may be NULL.
kvo_status kvo_fail_index(kvo_error *KVO_NULLABLE error, const char *KVO_NULLABLE class_name,
    const char *KVO_NULLABLE key, size_t index, size_t count);
/// Whether no collection has an element there: the index was negative before it became a size.
KVO_INLINE bool kvo_index_is_negative(size_t index) { return index > PTRDIFF_MAX; }
/// The last of the indexes; KVO_NOT_FOUND if there are none.
KVO_INLINE size_t kvo_index_set_last(const kvo_index_set *indexes) {
  return kvo_index_set_index(indexes, kvo_index_set_count(indexes) - 1);
}
/// Fails with KVO_NO_MEMORY.
kvo_status kvo_fail_collection_memory(kvo_error *KVO_NULLABLE error);

/// A read-only proxy for a key that collection accessors alone answer; +1. `key` is interned. NULL
/// if memory is out.
kvo_collection *KVO_NULLABLE kvo_lazy_collection_create(kvo_object *owner, const char *key,
    kvo_collection_kind kind);

/// Appends the elements of a collection value of either sort, of a proxy by its bulk accessors:
/// all, or those at the indexes that there are. KVO_TYPE_MISMATCH if it is no collection. Should the user's code throw,
/// the list ends.
kvo_status kvo_value_elements(const kvo_value *value, const kvo_index_set *KVO_NULLABLE indexes,
    kvo_elements *elements, kvo_error *KVO_NULLABLE error);
/// Makes `*value`, uninitialised before, a collection object of these elements, which become its
/// own; nil if memory is out.
kvo_status kvo_value_from_elements(kvo_value *value, kvo_collection_kind kind,
    kvo_elements *elements);
/// Makes a proxy collection a stored one; other values stay. Nil if that fails.
kvo_status kvo_value_snapshot(kvo_value *value);
/// Makes `*picked`, uninitialised before, an array of the elements at those indexes that there are;
/// an empty one of what is no collection.
kvo_status kvo_value_pick(const kvo_value *collection, const kvo_index_set *indexes,
    kvo_value *picked);
/// Make `*set`, uninitialised before, a set of the elements of `a` that are not, or are, in `b`;
/// what is no collection counts as empty.
kvo_status kvo_value_difference(const kvo_value *a, const kvo_value *b, kvo_value *set);
kvo_status kvo_value_intersection(const kvo_value *a, const kvo_value *b, kvo_value *set);
/// Whether two values are collections of the same kind with equal elements, a binding's collection
/// and an object alike; sets without order. Others are not.
bool kvo_value_collections_equal(const kvo_value *a, const kvo_value *b);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
