/// Collections of C: arrays, sets, ordered sets of values. They are objects, so a property of
/// encoding `@` may hold one, and key-value coding takes and gives them.
///
/// A collection is stored, and then never changes, or it is a proxy, which shows what an object's
/// accessors answer now. Reading a proxy calls those accessors on the calling thread; it may be
/// done on any thread on which they may be called. Stored collections may be read on any thread.
///
/// A class offers a to-many key by these methods, declared with `KVO_ENCODED`; T is any type, which
/// the runtime boxes and converts, an index any integer type:
///
/// | selector | type |
/// |---|---|
/// | `countOf<Key>` | `size_t (self, _cmd)` |
/// | `objectIn<Key>AtIndex:` | `T (self, _cmd, size_t)` |
/// | `<key>AtIndexes:` | `kvo_collection * (self, _cmd, const kvo_index_set *)`, owned by the caller: "@@:^v" |
/// | `get<Key>:range:` | `void (self, _cmd, T *buffer, size_t location, size_t length)`, T as `objectIn<Key>AtIndex:` has it, elements borrowed: "v@:^vQQ" |
/// | `indexIn<Key>OfObject:` | `size_t (self, _cmd, T)`, KVO_NOT_FOUND if there is none |
/// | `enumeratorOf<Key>` | `kvo_collection * (self, _cmd)`, owned by the caller: "@@:" |
/// | `memberOf<Key>:` | `T (self, _cmd, T)`, the equal member, or `bool (self, _cmd, T)` |
///
/// `countOf` and `objectIn` or `AtIndexes` make an array, with `indexIn` an ordered set; `countOf`,
/// `enumeratorOf` and `memberOf` make a set. The methods that change a key are in kvo_mutable.h.
#ifndef KVO_COLLECTION_H
#define KVO_COLLECTION_H

#include "kvo_class.h"
#include "kvo_index_set.h"
#include "kvo_value.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A collection; an object of a class below `kvo_collection_class()`, retained and released as one.
typedef struct kvo_collection kvo_collection;

/// The abstract class of all collections. It can't be observed and is not for subclassing or for
/// instances of its own. Static; any thread.
const kvo_class *kvo_collection_class(void);

/// A stored collection of copies of the elements, with one reference owned by the caller, who gives it back by
/// `kvo_object_release((kvo_object *)collection)`. A set of either kind keeps the first of equal elements.
/// - kind: what it is to be.
/// - elements: `count` values, which stay the caller's. They may be nil. NULL for an empty collection.
/// - error: filled in where NULL is returned, with KVO_NO_MEMORY. May be NULL.
///
/// O(count); for sets of elements of which a binding has no hash, O(count²). Any thread.
kvo_collection *KVO_NULLABLE kvo_collection_create(kvo_collection_kind kind,
    const kvo_value *KVO_NULLABLE elements, size_t count, kvo_error *KVO_NULLABLE error);

/// A stored collection with the elements that the collection has now, with one reference owned by
/// the caller: for going through a proxy, whose bulk accessors are used. NULL with KVO_NO_MEMORY or
/// what reading an element came to.
kvo_collection *KVO_NULLABLE kvo_collection_snapshot(kvo_collection *collection,
    kvo_error *KVO_NULLABLE error);

/// Whether it is stored, and so never changes, or a proxy. Any thread.
bool kvo_collection_is_stored(const kvo_collection *collection);
/// What the collection is. Never changes.
kvo_collection_kind kvo_collection_get_kind(const kvo_collection *collection);
/// How many elements there are. O(1) if it is stored; calls the accessor of a proxy. This and the
/// searches below have no error to give: where memory is out for reading a proxy, that is reported
/// as a misuse is, and the answer may be wrong.
size_t kvo_collection_count(kvo_collection *collection);
/// One element; a set's stand in some order, the same as long as the set does not change. On KVO_OK
/// `*element`, which need not be initialised, is the caller's to destroy; else it is nil.
/// KVO_INDEX_OUT_OF_BOUNDS, KVO_NO_MEMORY. O(1) but for proxies of sets: take a snapshot of those.
kvo_status kvo_collection_get(kvo_collection *collection, size_t index, kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// The last element, as `kvo_collection_get`; counts but once. KVO_INDEX_OUT_OF_BOUNDS if there is
/// none.
kvo_status kvo_collection_last(kvo_collection *collection, kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// The index of the first element that is equal (`kvo_value_equal`), KVO_NOT_FOUND if there is none.
/// O(1) in stored sets whose elements have a hash, else O(count) or the accessor of a proxy.
size_t kvo_collection_index_of(kvo_collection *collection, const kvo_value *element);
/// Whether there is an equal element. Costs as `kvo_collection_index_of`.
bool kvo_collection_contains(kvo_collection *collection, const kvo_value *element);

/// The collection that a value holds as an object, borrowed; NULL if it holds none. A binding's
/// collection is not one of these: use the following, which take both. Any thread.
kvo_collection *KVO_NULLABLE kvo_collection_of_value(const kvo_value *value);

/// Whether a value is a collection, an object or of a binding's collection type.
/// - kind: where it is put which kind of collection it is. NULL: it is not wanted.
bool kvo_value_is_collection(const kvo_value *value, kvo_collection_kind *KVO_NULLABLE kind);
/// How many elements it has; 0 for what is no collection.
size_t kvo_value_count(const kvo_value *value);
/// One element, as `kvo_collection_get`. KVO_TYPE_MISMATCH for what is no collection.
kvo_status kvo_value_element(const kvo_value *value, size_t index, kvo_value *element);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
