/// Key-value coding: reading and setting properties by name.
///
/// Reading a key searches the methods `get<Key>`, `<key>`, `is<Key>`, `_<key>`; then the collection accessors of
/// kvo_collection.h (of an ordered set, an array, a set), which give a proxy; then the ivars `_<key>`, `_is<Key>`,
/// `<key>`, `is<Key>`. Setting a key searches `set<Key>:`, `_set<Key>:`, then the same ivars. The result of a search
/// is cached per class and key until a method or ivar is added.
///
/// A key path is a sequence of keys with dots between them. Each key is read from the value of the one before it; nil
/// on the way gives nil. A key read on a collection is read from each element: an array gives an array, a set a set.
/// `self` is the value itself, also as a key. An operator works on the collection that the path before it leads to;
/// the path after it is read from each element:
///
/// | operator | gives |
/// |---|---|
/// | `@count` | the number of elements; the path after it is ignored |
/// | `@sum` | an `int64_t` for integers, a `double` for other numbers or beyond `int64_t`; nil counts as 0; 0 for no elements |
/// | `@avg` | a `double`; nil counts as 0; 0 for no elements |
/// | `@min`, `@max` | the least or greatest of values of one kind: numbers (NaN is the least), strings by their bytes, objects whose class has a method `compare:` of encoding "i@:@"; nil is ignored; nil for no elements |
/// | `@unionOfObjects`, `@distinctUnionOfObjects` | an array; the distinct union of a set's elements is a set; nil is an error |
/// | `@unionOfArrays`, `@distinctUnionOfArrays` | an array of the elements of arrays; nil is an error |
/// | `@unionOfSets`, `@distinctUnionOfSets` | a set of the elements of sets; nil is an error |
///
/// Hooks that a class may add or override (signature KVO_HOOK), with the C types of their methods. In the root class,
/// the first two do the search, the next three answer with an error, and the one for validation calls the key's own
/// validator. An override calls the inherited one by `kvo_class_imp(superclass, _cmd)`. A value that a hook returns
/// with KVO_OK is the caller's to destroy. The error that a hook receives is never NULL.
///
/// | selector | type |
/// |---|---|
/// | `valueForKey:` | `kvo_status (kvo_object *, const kvo_method *, const char *key, kvo_value *out, kvo_error *)` |
/// | `setValue:forKey:` | `kvo_status (kvo_object *, const kvo_method *, const kvo_value *, const char *key, kvo_error *)` |
/// | `setNilValueForKey:` | `kvo_status (kvo_object *, const kvo_method *, const char *key, kvo_error *)` |
/// | `valueForUndefinedKey:` | as `valueForKey:` |
/// | `setValue:forUndefinedKey:` | as `setValue:forKey:` |
/// | `validateValue:forKey:error:` | `kvo_status (kvo_object *, const kvo_method *, kvo_value *, const char *key, kvo_error *)` |
/// | `validate<Key>:error:` | `kvo_status (kvo_object *, const kvo_method *, kvo_value *, kvo_error *)`, see `kvo_validate_value` |
/// | `dealloc` | `void (kvo_object *, const kvo_method *)`, called for each class from the subclass up |
/// | `accessInstanceVariablesDirectly` (class method) | `bool (const kvo_class *)` |
///
/// Objects of a language binding have the keys that the binding describes, and are set as it says.
#ifndef KVO_CODING_H
#define KVO_CODING_H

#include "kvo_class.h"
#include "kvo_value.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Reads the value of a key.
/// - key: a key, not a key path.
/// - value: receives the value. It need not be initialised. On KVO_OK the caller must destroy it, otherwise it is
///   nil.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_UNDEFINED_KEY unless the class's hook answers, KVO_NO_MEMORY, or the status that a hook returns. Any thread
/// that may call the accessor.
kvo_status kvo_value_for_key(kvo_object *object, const char *key, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

/// Sets the value of a key. If the key has no setter, its ivar is written and observers are notified. NULL or nil for
/// a scalar or struct calls `setNilValueForKey:`. A number is converted as `kvo_value_get_int` and the functions like
/// it do: a value that does not fit wraps, a fraction is cut off. For an object property the value must be an object;
/// its class is not checked. A key of a collection is set in each of its elements, in order, up to the first error.
/// - key: a key, not a key path.
/// - value: the new value. It stays the caller's. NULL means nil.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_UNDEFINED_KEY, KVO_NIL_VALUE, KVO_TYPE_MISMATCH, KVO_READ_ONLY, KVO_NO_MEMORY. Any thread that may call the
/// accessor.
kvo_status kvo_set_value_for_key(kvo_object *object, const char *key,
    const kvo_value *KVO_NULLABLE value, kvo_error *KVO_NULLABLE error);

// MARK: Key paths

/// Reads the value that a key path leads to. Each key is read as by `kvo_value_for_key`, by the class of the object
/// that has it. On KVO_OK the caller must destroy `*value`, otherwise it is nil. Parsed paths are cached, up to a
/// limit (B5).
///
/// KVO_UNDEFINED_KEY, which names the class that lacks the key. KVO_INVALID_KEY_PATH for an empty component, or if
/// the path leads through a value that has no keys. KVO_INVALID_OPERATOR for an unknown operator, one that needs a
/// key path after it, or one that does not follow a collection. KVO_TYPE_MISMATCH and KVO_NIL_VALUE if an operator
/// can't use an element. KVO_NO_MEMORY. Any thread that may call the accessors.
kvo_status kvo_value_for_key_path(kvo_object *object, const char *key_path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);
/// Reads the value that a key path leads to from `start`, which may be any value and stays the caller's. Collections
/// answer keys and operators. Result, statuses and threads as `kvo_value_for_key_path`.
kvo_status kvo_value_value_for_key_path(const kvo_value *start, const char *key_path,
    kvo_value *value, kvo_error *KVO_NULLABLE error);

/// Reads one key of `start`, which may be any value and stays the caller's. For a collection the key is read from
/// each element. Result, statuses and threads as `kvo_value_for_key`.
kvo_status kvo_value_value_for_key(const kvo_value *start, const char *key, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

/// Sets the last key of a key path, as `kvo_set_value_for_key` does on the object that the rest of the path leads to.
/// If the path leads to nil before its last key, nothing happens and KVO_OK is returned. `value` stays the caller's.
///
/// KVO_INVALID_OPERATOR for a path with an operator, KVO_READ_ONLY for one that ends in `self`, and the statuses of
/// reading the path and setting the key. Any thread that may call the accessors.
kvo_status kvo_set_value_for_key_path(kvo_object *object, const char *key_path,
    const kvo_value *KVO_NULLABLE value, kvo_error *KVO_NULLABLE error);

// MARK: Validation

/// Checks whether a value would be valid for a property, without setting it. It calls `validate<Key>:error:` of the
/// last object on the path, or the validator that a language binding declares. The runtime never validates otherwise.
/// The validator may destroy `*value` and put another value there. If it refuses, `*value` is unchanged, and its
/// status and error are returned as they are (KVO_VALIDATION_FAILED exists for this). No validator, or nil on the
/// path, means valid.
///
/// The other statuses are those of reading the path before its last key. Any thread that may call the accessors.
kvo_status kvo_validate_value(kvo_object *object, const char *key_path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

// MARK: Several keys

/// Reads several keys into as many values, which need not be initialised. On KVO_OK the caller must destroy them,
/// otherwise all of them are nil. Statuses and threads as `kvo_value_for_key`.
kvo_status kvo_values_for_keys(kvo_object *object, const char *KVO_NONNULL const *KVO_NONNULL keys,
    size_t count, kvo_value *values, kvo_error *KVO_NULLABLE error);
/// Sets several keys in order, all or none of them. An unknown or read-only key, a value of the wrong type and lack
/// of memory are found before the first key is set. The exception is a key that the class's own code sets (an
/// overridden `setValue:forKey:` or `setNilValueForKey:`, a binding's `set`, a collection's elements), which may
/// refuse only when called. Then the keys before it are set, it and those after it are not, and the error names it.
/// The values that `kvo_values_for_keys` reads, nil included, can be set again with this. They stay the caller's.
/// Statuses and threads as `kvo_set_value_for_key`.
kvo_status kvo_set_values_for_keys(kvo_object *object,
    const char *KVO_NONNULL const *KVO_NONNULL keys, size_t count, const kvo_value *values,
    kvo_error *KVO_NULLABLE error);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
