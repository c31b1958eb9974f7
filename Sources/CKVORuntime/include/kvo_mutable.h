/// Mutable proxies: an object's to-many key as a collection that can be changed. Each change is
/// made by the object's own methods and told to its observers once, as an insertion, removal or
/// replacement with what came and went.
///
/// For arrays and ordered sets, one of the first two and one of the second two of these methods
/// make the key mutable in place; for sets, one of the adding and one of the removing ones. The
/// form for several is used for more than one element. Without such a pair the whole collection is
/// replaced by `set<Key>:`, or in the ivar; a nil one springs into being at the first insertion.
/// Whatever a method is handed is borrowed. Elements are converted to T, or, where a class has the
/// method for several alone, to what `objectIn<Key>AtIndex:` returns.
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

/// A proxy for a key, an array, a set or an ordered set. It retains the object, and shows and changes what the key holds at
/// the time, also after that was replaced.
/// - key: the to-many key.
/// - proxy: where the proxy goes, with one reference owned by the caller, who gives it back by
///   `kvo_object_release((kvo_object *)proxy)`. NULL is put there if it fails.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_UNDEFINED_KEY if the object has no such key; whether it can be changed shows at the first change. Any thread.
kvo_status kvo_mutable_array(kvo_object *object, const char *key,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// A proxy for a key that is a set. As `kvo_mutable_array`.
kvo_status kvo_mutable_set(kvo_object *object, const char *key,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// A proxy for a key that is an ordered set. As `kvo_mutable_array`.
kvo_status kvo_mutable_ordered_set(kvo_object *object, const char *key,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// The same for the last key of a path, of the object that the rest leads to now.
/// KVO_INVALID_KEY_PATH also where the path is broken or leads to what is no object.
kvo_status kvo_mutable_array_key_path(kvo_object *object, const char *key_path,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// A proxy for the last key of a path, a set. As `kvo_mutable_array_key_path`.
kvo_status kvo_mutable_set_key_path(kvo_object *object, const char *key_path,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);
/// A proxy for the last key of a path, an ordered set. As `kvo_mutable_array_key_path`.
kvo_status kvo_mutable_ordered_set_key_path(kvo_object *object, const char *key_path,
    kvo_collection *KVO_NULLABLE *KVO_NONNULL proxy, kvo_error *KVO_NULLABLE error);

// All changes are made by a proxy; elements stay the caller's. On any error nothing has been changed and nobody was told. KVO_READ_ONLY for a
// stored collection or a key that can't be changed, KVO_TYPE_MISMATCH for an element that can't
// become what the accessor takes or a key that holds no such collection, KVO_NO_MEMORY. On any
// thread on which the accessors may be called.

/// Changes by index, of arrays and ordered sets (sets: KVO_INVALID_ARGUMENT): one element at an index, or as many as there are
/// indexes, in their order; appending puts an element behind the last. Elements stay the caller's. On any error nothing has
/// been changed and nobody was told.
///
/// KVO_INDEX_OUT_OF_BOUNDS; KVO_INVALID_ARGUMENT if there are not as many elements as indexes, or
/// if a replacement would put an element into an ordered set twice. Indexes of an insertion are
/// those that the elements have afterwards. Inserting what an ordered set has already is no change.
kvo_status kvo_collection_insert(kvo_collection *proxy, size_t index, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Inserts elements at several indexes, those that they have afterwards: the first one at the lowest. As
/// `kvo_collection_insert`.
kvo_status kvo_collection_insert_many(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_collection *elements, kvo_error *KVO_NULLABLE error);
/// Removes the element at an index. As `kvo_collection_insert`.
kvo_status kvo_collection_remove_at(kvo_collection *proxy, size_t index,
    kvo_error *KVO_NULLABLE error);
/// Removes the elements at several indexes. As `kvo_collection_insert`.
kvo_status kvo_collection_remove_indexes(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_error *KVO_NULLABLE error);
/// Puts an element in the place of that at an index. As `kvo_collection_insert`.
kvo_status kvo_collection_replace_at(kvo_collection *proxy, size_t index, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Puts elements in the places of those at several indexes. As `kvo_collection_insert`.
kvo_status kvo_collection_replace_indexes(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_collection *elements, kvo_error *KVO_NULLABLE error);
/// Puts an element behind the last one. As `kvo_collection_insert`.
kvo_status kvo_collection_append(kvo_collection *proxy, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);

/// Changes by element: adds or removes one, adds those of another collection (union), removes them (minus), or removes all
/// that are not in it (intersect). Of an array or ordered set, adding appends, and every equal element is
/// removed; nothing to add or remove is no change. Of a set each is one change, told also if it
/// brought nothing. Elements stay the caller's. On any error nothing has been changed and nobody was told.
kvo_status kvo_collection_add(kvo_collection *proxy, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Removes every equal element. As `kvo_collection_add`.
kvo_status kvo_collection_remove(kvo_collection *proxy, const kvo_value *element,
    kvo_error *KVO_NULLABLE error);
/// Adds the elements of another collection. As `kvo_collection_add`.
kvo_status kvo_collection_union(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *KVO_NULLABLE error);
/// Removes the elements that are in another collection. As `kvo_collection_add`.
kvo_status kvo_collection_minus(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *KVO_NULLABLE error);
/// Removes the elements that are not in another collection. As `kvo_collection_add`.
kvo_status kvo_collection_intersect(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *KVO_NULLABLE error);
/// Replaces all elements by those of another collection, which stays the caller's, by `set<Key>:` where the class has it: a setting of an array or ordered
/// set, a replacement of a set.
kvo_status kvo_collection_set(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *KVO_NULLABLE error);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
