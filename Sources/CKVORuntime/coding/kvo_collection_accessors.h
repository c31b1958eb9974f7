/// The methods by which a class offers a to-many key: kvo_collection.h and kvo_mutable.h list them.
#ifndef KVO_COLLECTION_ACCESSORS_H
#define KVO_COLLECTION_ACCESSORS_H

#include "objects/kvo_class_internal.h"
#include "types/kvo_call.h"
#include "values/kvo_collection_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The methods that do one thing to a key, by one element and by many.
typedef struct kvo_method_pair {
  const kvo_method *KVO_NULLABLE one;
  const kvo_method *KVO_NULLABLE many;
} kvo_method_pair;

/// What a class has for a key; NULL where it has no method of that selector and shape. Immutable.
typedef struct kvo_collection_accessors {
  const char *key; ///< interned
  /// As what the key reads if nothing else answers it; 0 if these methods don't suffice.
  kvo_collection_kind kind;
  bool mutates_ordered;                      ///< there is a method to insert and one to remove
  bool mutates_set;                          ///< there is a method to add and one to remove
  const kvo_type *KVO_NULLABLE element_type; ///< what `object` returns
  struct {
    const kvo_method *KVO_NULLABLE count;
    const kvo_method *KVO_NULLABLE object;  ///< objectIn<Key>AtIndex:
    const kvo_method *KVO_NULLABLE objects; ///< <key>AtIndexes:
    const kvo_method *KVO_NULLABLE range;   ///< get<Key>:range:
    const kvo_method *KVO_NULLABLE index;   ///< indexIn<Key>OfObject:
    const kvo_method *KVO_NULLABLE enumerator;
    const kvo_method *KVO_NULLABLE member;
  } read;
  struct {
    kvo_method_pair insert, remove, replace;
  } ordered;
  struct {
    kvo_method_pair add, remove;
    const kvo_method *KVO_NULLABLE intersect;
  } set;
} kvo_collection_accessors;

/// Finds what a class has for a key. `*found`, to be freed with `kvo_free`, is NULL if it
/// neither reads nor mutates. KVO_NO_MEMORY. Any thread.
kvo_status kvo_collection_accessors_find(const kvo_class *cls, const char *key,
    kvo_collection_accessors *KVO_NULLABLE *KVO_NONNULL found);

// Calls of the reading ones, through the dispatch table of `owner`.

size_t kvo_collection_accessors_count(const kvo_collection_accessors *accessors, kvo_object *owner);
/// The element at an index of an ordered key. Leaves `*element` alone where it fails.
kvo_status kvo_collection_accessors_get(const kvo_collection_accessors *accessors,
    kvo_object *owner, size_t index, kvo_value *element, kvo_error *KVO_NULLABLE error);
/// Appends the elements at the indexes, which must all be there; or all elements, of whatever kind.
kvo_status kvo_collection_accessors_pick(const kvo_collection_accessors *accessors,
    kvo_object *owner, const kvo_index_set *indexes, kvo_elements *elements,
    kvo_error *KVO_NULLABLE error);
kvo_status kvo_collection_accessors_all(const kvo_collection_accessors *accessors,
    kvo_object *owner, kvo_elements *elements, kvo_error *KVO_NULLABLE error);
/// Where `indexIn<Key>OfObject:` finds the element, or KVO_NOT_FOUND; whether `memberOf<Key>:`, or
/// else the other, finds it. What the accessor's type can't express is not found.
size_t kvo_collection_accessors_index(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_value *element);
bool kvo_collection_accessors_has(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_value *element);

/// The type that a method takes as its n-th argument, from 0, behind self and _cmd.
KVO_INLINE const kvo_type *kvo_method_argument(const kvo_method *method, size_t n) {
  return method->call->arguments[n + 2];
}

/// An index as a method's n-th argument, an integer of any width.
typedef struct kvo_index_argument {
  _Alignas(8) char bytes[8];
} kvo_index_argument;
kvo_index_argument kvo_method_index(const kvo_method *method, size_t n, size_t index);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
