/// Mutable proxies: an object's to-many key as a collection that can be changed. Each change is made by the object's
/// own methods. Its observers are notified once, of an insertion, removal or replacement with the elements inserted
/// and removed.
///
/// A proxy itself is not to be stored. Setting a key to one, by key-value coding, stores a snapshot of its elements. For
/// a setter that is called directly, make one (`kvo_collection_snapshot`): a key that holds its own proxy has no
/// elements, and reading one, or changing it by the proxy, is KVO_INVALID_ARGUMENT.
///
/// A key that is an array or ordered set is mutable in place if its class has one of the first two and one of the
/// second two of these methods; a set needs one that adds and one that removes. For more than one element, the form
/// that takes several is used. Without such a pair the whole collection is replaced, by `set<Key>:` or in the ivar; a
/// nil collection is created at the first insertion. A method's arguments are borrowed. Elements are converted to T.
/// If a class only has the method for several, they are converted to the type that `objectIn<Key>AtIndex:` returns.
///
/// | selector | type |
/// |---|---|
/// | `insertObject:in<Key>AtIndex:` | `void (self, _cmd, T, size_t)` |
/// | `insert<Key>:atIndexes:` | `void (self, _cmd, kvo_collection *, const kvo_index_set *)`: "v@:@^v" |
/// | `removeObjectFrom<Key>AtIndex:` | `void (self, _cmd, size_t)` |
/// | `remove<Key>AtIndexes:` | `void (self, _cmd, const kvo_index_set *)`: "v@:^v" |
/// | `replaceObjectIn<Key>AtIndex:withObject:` | `void (self, _cmd, size_t, T)` |
/// | `replace<Key>AtIndexes:with<Key>:` | `void (self, _cmd, const kvo_index_set *, kvo_collection *)`: "v@:^v@" |
/// | `add<Key>Object:`, `remove<Key>Object:` | `void (self, _cmd, T)` |
/// | `add<Key>:`, `remove<Key>:`, `intersect<Key>:` | `void (self, _cmd, kvo_collection *)`: "v@:@" |
#ifndef KVO_MUTABLE_H
#define KVO_MUTABLE_H

#include "kvo_collection.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Creates a mutable proxy for a key that is an array. The proxy retains the object. It always shows and changes the
/// current collection of the key, even after that has been replaced.
/// - key: the to-many key.
/// - proxy: receives the proxy, or NULL if it fails. The caller owns the one reference, and releases it by
///   `kvo_object_release((kvo_object *)proxy)`.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_UNDEFINED_KEY if the object has no such key, KVO_NO_MEMORY. Whether the key can be changed is found out at the
/// first change. Any thread.
kvo_status kvo_mutable_array(kvo_object *object, const char *key,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// Creates a mutable proxy for a key that is a set. Parameters, ownership, statuses and threads as
/// `kvo_mutable_array`.
kvo_status kvo_mutable_set(kvo_object *object, const char *key,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// Creates a mutable proxy for a key that is an ordered set. Parameters, ownership, statuses and threads as
/// `kvo_mutable_array`.
kvo_status kvo_mutable_ordered_set(kvo_object *object, const char *key,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// Creates a mutable proxy for the last key of a path, an array, on the object that the rest of the path leads to
/// now. Parameters and ownership as `kvo_mutable_array`. Its statuses, and KVO_INVALID_KEY_PATH also if the path
/// leads to nil or to a value that is not an object. Any thread that may call the accessors on the path.
kvo_status kvo_mutable_array_key_path(kvo_object *object, const char *key_path,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// Creates a mutable proxy for the last key of a path, a set. Otherwise as `kvo_mutable_array_key_path`.
kvo_status kvo_mutable_set_key_path(kvo_object *object, const char *key_path,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// Creates a mutable proxy for the last key of a path, an ordered set. Otherwise as `kvo_mutable_array_key_path`.
kvo_status kvo_mutable_ordered_set_key_path(kvo_object *object, const char *key_path,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);

// The functions below all change a collection through a proxy. Elements stay the caller's. On any error nothing has
// been changed and no observer was called, unless prior observers change the key themselves (D7). KVO_READ_ONLY for a
// stored collection or a key that can't be changed, KVO_TYPE_MISMATCH for an element that can't become what the accessor
// takes or a key that holds no such collection, KVO_NO_MEMORY. On any thread that may call the accessors.

/// Inserts an element at an index of an array or ordered set. Inserting an element that an ordered set already has is
/// not a change. The element stays the caller's. On any error nothing has been changed and no observer was called, unless
/// prior observers change the key themselves (D7).
///
/// KVO_INDEX_OUT_OF_BOUNDS; KVO_INVALID_ARGUMENT for a set; KVO_READ_ONLY for a stored collection or a key that can't
/// be changed; KVO_TYPE_MISMATCH for an element that the accessor does not take or a key that holds no such
/// collection; KVO_NO_MEMORY. Any thread that may call the accessors.
kvo_status kvo_collection_insert(kvo_collection *proxy, size_t index, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Inserts elements into an array or ordered set. The indexes are those that the elements have afterwards; the first
/// element goes to the lowest index. KVO_INVALID_ARGUMENT also if there are not as many elements as indexes.
/// Otherwise as `kvo_collection_insert`.
kvo_status kvo_collection_insert_many(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_collection *elements, kvo_error *KVO_NULLABLE error);
/// Removes the element at an index of an array or ordered set. Statuses and threads as `kvo_collection_insert`.
kvo_status kvo_collection_remove_at(kvo_collection *proxy, size_t index,
    kvo_error *KVO_NULLABLE error);
/// Removes the elements at several indexes of an array or ordered set. Statuses and threads as
/// `kvo_collection_insert`.
kvo_status kvo_collection_remove_indexes(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_error *KVO_NULLABLE error);
/// Replaces the element at an index of an array or ordered set. KVO_INVALID_ARGUMENT also if an ordered set would
/// then have an element twice. Otherwise as `kvo_collection_insert`.
kvo_status kvo_collection_replace_at(kvo_collection *proxy, size_t index, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Replaces the elements at several indexes of an array or ordered set, the first new element at the lowest index.
/// KVO_INVALID_ARGUMENT also if there are not as many elements as indexes, or if an ordered set would then have an
/// element twice. Otherwise as `kvo_collection_insert`.
kvo_status kvo_collection_replace_indexes(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_collection *elements, kvo_error *KVO_NULLABLE error);
/// Appends an element to an array or ordered set. Otherwise as `kvo_collection_insert`.
kvo_status kvo_collection_append(kvo_collection *proxy, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);

/// Adds an element. An array or ordered set appends it; an ordered set that already has it does not change. For a set
/// each call is one change, and notifies observers even if the set already has the element. The element stays the
/// caller's. On any error nothing has been changed and no observer was called, unless prior observers change the key
/// themselves (D7).
///
/// KVO_READ_ONLY for a stored collection or a key that can't be changed; KVO_TYPE_MISMATCH for an element that the
/// accessor does not take or a key that holds no such collection; KVO_NO_MEMORY. Any thread that may call the
/// accessors.
kvo_status kvo_collection_add(kvo_collection *proxy, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Removes every equal element. An array or ordered set without one does not change; a set notifies its observers in
/// any case. Statuses and threads as `kvo_collection_add`.
kvo_status kvo_collection_remove(kvo_collection *proxy, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Adds the elements of another collection, which stays the caller's. Notifications, statuses and threads as
/// `kvo_collection_add`.
kvo_status kvo_collection_union(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *KVO_NULLABLE error);
/// Removes the elements that are in another collection, which stays the caller's. Notifications, statuses and threads
/// as `kvo_collection_remove`.
kvo_status kvo_collection_minus(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *KVO_NULLABLE error);
/// Removes the elements that are not in another collection, which stays the caller's. Notifications, statuses and
/// threads as `kvo_collection_remove`.
kvo_status kvo_collection_intersect(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *KVO_NULLABLE error);
/// Replaces all elements by those of another collection, which stays the caller's, using `set<Key>:` if the class has
/// it. Observers receive a setting for an array or ordered set, a replacement for a set. Statuses and threads as
/// `kvo_collection_add`.
kvo_status kvo_collection_set(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *KVO_NULLABLE error);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
