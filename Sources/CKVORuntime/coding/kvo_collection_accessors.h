/// The methods by which a class offers a to-many key, listed in kvo_collection.h and kvo_mutable.h.
#ifndef KVO_COLLECTION_ACCESSORS_H
#define KVO_COLLECTION_ACCESSORS_H

#include "objects/kvo_class_internal.h"
#include "types/kvo_call.h"
#include "values/kvo_collection_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The two methods for one operation on a key: for one element and for several.
typedef struct kvo_method_pair {
  const kvo_method *KVO_NULLABLE one;
  const kvo_method *KVO_NULLABLE many;
} kvo_method_pair;

/// The collection accessors of a key. A field is NULL if the class has no method of that selector and shape.
/// Immutable.
typedef struct kvo_collection_accessors {
  const char *key; ///< interned
  /// The kind of collection that the key reads as, if nothing else answers it; 0 if these methods don't suffice.
  kvo_collection_kind kind;
  bool mutates_ordered;                      ///< there is a method to insert and one to remove
  bool mutates_set;                          ///< there is a method to add and one to remove
  const kvo_type *KVO_NULLABLE element_type; ///< the type that `object` returns
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

/// Finds the collection accessors of a key. `*found`, which the caller frees with `kvo_free`, is NULL if they neither
/// read nor mutate. KVO_NO_MEMORY. Any thread.
kvo_status kvo_collection_accessors_find(const kvo_class *cls, const char *key,
    kvo_collection_accessors *KVO_NULLABLE *KVO_NONNULL found);

// Calls of the accessors that read, through the dispatch table of `owner`.

size_t kvo_collection_accessors_count(const kvo_collection_accessors *accessors, kvo_object *owner);
/// The element at an index of an ordered key. `*element` is unchanged if it fails.
kvo_status kvo_collection_accessors_get(const kvo_collection_accessors *accessors,
    kvo_object *owner, size_t index, kvo_value *element, kvo_error *KVO_NULLABLE error);
/// Appends the elements of an ordered key at the indexes, which must all exist.
kvo_status kvo_collection_accessors_pick(const kvo_collection_accessors *accessors,
    kvo_object *owner, const kvo_index_set *indexes, kvo_elements *elements,
    kvo_error *KVO_NULLABLE error);
/// Appends all elements of a key of any kind.
kvo_status kvo_collection_accessors_all(const kvo_collection_accessors *accessors,
    kvo_object *owner, kvo_elements *elements, kvo_error *KVO_NULLABLE error);
/// The index that `indexIn<Key>OfObject:` returns for the element. KVO_NOT_FOUND also if the accessor's type can't
/// express the element.
size_t kvo_collection_accessors_index(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_value *element);
/// Whether `memberOf<Key>:` finds the element, or if there is no such method, `indexIn<Key>OfObject:`. False if the
/// accessor's type can't express the element.
bool kvo_collection_accessors_has(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_value *element);

/// The type of a method's n-th argument, counted from 0 after self and _cmd.
KVO_INLINE const kvo_type *kvo_method_argument(const kvo_method *method, size_t n) {
  return method->call->arguments[n + 2];
}

/// An index as an argument of a method, whose parameter is an integer of any width.
typedef struct kvo_index_argument {
  _Alignas(8) char bytes[8];
} kvo_index_argument;
kvo_index_argument kvo_method_index(const kvo_method *method, size_t n, size_t index);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
