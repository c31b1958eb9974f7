/// Collections of C: arrays, sets and ordered sets of values. They are objects, so a property of encoding `@` may
/// hold one, and key-value coding accepts and returns them.
///
/// A collection is either stored, and never changes, or a proxy, which shows what an object's accessors answer at the
/// moment. Reading a proxy calls those accessors on the calling thread, so it is allowed on the threads that may call
/// them. Stored collections may be read on any thread.
///
/// A class offers a to-many key by these methods, declared with `KVO_ENCODED`. T is any type; the runtime boxes and
/// converts it. An index is any integer type:
///
/// | selector | type |
/// |---|---|
/// | `countOf<Key>` | `size_t (self, _cmd)` |
/// | `objectIn<Key>AtIndex:` | `T (self, _cmd, size_t)` |
/// | `<key>AtIndexes:` | `kvo_collection * (self, _cmd, const kvo_index_set *)`, owned by the caller: "@@:^v" |
/// | `get<Key>:range:` | `void (self, _cmd, T *buffer, size_t location, size_t length)`, T as in `objectIn<Key>AtIndex:`, elements borrowed: "v@:^vQQ" |
/// | `indexIn<Key>OfObject:` | `size_t (self, _cmd, T)`, KVO_NOT_FOUND if there is none |
/// | `enumeratorOf<Key>` | `kvo_collection * (self, _cmd)`, owned by the caller: "@@:" |
/// | `memberOf<Key>:` | `T (self, _cmd, T)`, the equal member, or `bool (self, _cmd, T)` |
///
/// `countOf` with `objectIn` or `AtIndexes` makes an array, with `indexIn` as well an ordered set; `countOf`,
/// `enumeratorOf` and `memberOf` make a set. kvo_mutable.h has the methods that change a key.
#ifndef KVO_COLLECTION_H
#define KVO_COLLECTION_H

#include "kvo_class.h"
#include "kvo_index_set.h"
#include "kvo_value.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A collection. It is an object of a subclass of `kvo_collection_class()`, and is retained and released as one.
typedef struct kvo_collection kvo_collection;

/// The abstract superclass of all collections. It can't be observed, subclassed or instantiated. Static; any thread.
const kvo_class *kvo_collection_class(void);

/// Creates a stored collection with copies of the elements. Of equal elements, a set or an ordered set keeps the
/// first. The caller owns the one reference, and releases it by `kvo_object_release((kvo_object *)collection)`.
/// - kind: the kind of the collection.
/// - elements: `count` values, which stay the caller's and may be nil. NULL for an empty collection.
/// - error: filled in if NULL is returned, with KVO_NO_MEMORY. May be NULL.
///
/// O(count). For sets with elements of a binding's type that has no hash, O(count²). Any thread.
kvo_collection *KVO_NULLABLE kvo_collection_create(kvo_collection_kind kind,
    const kvo_value *KVO_NULLABLE elements, size_t count, kvo_error *KVO_NULLABLE error);

/// Creates a stored collection with the current elements of another one, for example to iterate over a proxy; its
/// bulk accessors are used. The caller owns the one reference. Returns NULL with KVO_NO_MEMORY or the status of
/// reading an element. O(count). Any thread that may call a proxy's accessors.
kvo_collection *KVO_NULLABLE kvo_collection_snapshot(kvo_collection *collection,
    kvo_error *KVO_NULLABLE error);

/// Whether the collection is stored, and therefore never changes. False for a proxy. Any thread.
bool kvo_collection_is_stored(const kvo_collection *collection);
/// The collection's kind, which never changes. Any thread.
kvo_collection_kind kvo_collection_get_kind(const kvo_collection *collection);
/// The number of elements. O(1) for a stored collection; a proxy calls the accessor. This function,
/// `kvo_collection_index_of` and `kvo_collection_contains` return no error: if memory runs out while a proxy is read,
/// that is reported as misuse, and the result may be wrong.
size_t kvo_collection_count(kvo_collection *collection);
/// Reads one element. The order of a set's elements is arbitrary, but the same until the set changes. On KVO_OK the
/// caller must destroy `*element`, otherwise it is nil; it need not be initialised.
///
/// KVO_INDEX_OUT_OF_BOUNDS, KVO_NO_MEMORY. O(1), except for proxies of sets: take a snapshot of those
/// (`kvo_collection_snapshot`).
kvo_status kvo_collection_get(kvo_collection *collection, size_t index, kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Reads the last element. A proxy counts its elements once. On KVO_OK the caller must destroy `*element`, otherwise
/// it is nil. KVO_INDEX_OUT_OF_BOUNDS if the collection is empty, KVO_NO_MEMORY.
kvo_status kvo_collection_last(kvo_collection *collection, kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// The index of the first element that is equal by `kvo_value_equal`; KVO_NOT_FOUND if there is none. O(1) in stored
/// sets whose elements have a hash. Otherwise O(count), or a call of the proxy's accessor.
size_t kvo_collection_index_of(kvo_collection *collection, const kvo_value *element);
/// Whether the collection has an element that is equal by `kvo_value_equal`. It costs as much as
/// `kvo_collection_index_of`.
bool kvo_collection_contains(kvo_collection *collection, const kvo_value *element);

/// The `kvo_collection` that a value holds, borrowed; NULL if it holds none. A collection of a binding's type is not
/// a `kvo_collection`: for both, use `kvo_value_is_collection`, `kvo_value_count` and `kvo_value_element`. Any
/// thread.
kvo_collection *KVO_NULLABLE kvo_collection_of_value(const kvo_value *value);

/// Whether a value is a collection: a `kvo_collection` or a value of a binding's collection type. Any thread.
/// - kind: receives the collection's kind. May be NULL.
bool kvo_value_is_collection(const kvo_value *value, kvo_collection_kind *KVO_NULLABLE kind);
/// The number of elements of a value that is a collection; 0 for any other value.
size_t kvo_value_count(const kvo_value *value);
/// Reads one element of a value that is a collection. Result and statuses as `kvo_collection_get`, and
/// KVO_TYPE_MISMATCH if it is not a collection.
kvo_status kvo_value_element(const kvo_value *value, size_t index, kvo_value *element);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
