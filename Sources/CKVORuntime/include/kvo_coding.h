/// Key-value coding: properties by name.
///
/// Reading a key searches the methods `get<Key>`, `<key>`, `is<Key>`, `_<key>`, then the collection
/// accessors of kvo_collection.h, which read as a proxy (those of an ordered set, an array, a set),
/// then the ivars `_<key>`, `_is<Key>`, `<key>`, `is<Key>`. Setting searches `set<Key>:`,
/// `_set<Key>:`, then the same ivars. What is found is kept per class and key until a method or
/// ivar is added.
///
/// A key path is keys with dots between them, each read from what the one before it gave; nil on
/// the way gives nil. A key of a collection is its elements' (an array gives an array, a set a
/// set). `self` is the value itself, as a key as well. An operator works on the collection that it
/// comes to, and what follows it is read from each element:
///
/// | operator | gives |
/// |---|---|
/// | `@count` | how many elements there are; it ignores what follows it |
/// | `@sum` | an `int64_t` for integers, a `double` for other numbers or past `int64_t`; nil is 0, nothing 0 |
/// | `@avg` | a `double`; nil is 0, nothing 0 |
/// | `@min`, `@max` | the least or greatest of values of one sort: numbers (NaN is the least), strings by their bytes, objects whose class has a method `compare:` of encoding "i@:@"; nil is ignored, nothing nil |
/// | `@unionOfObjects`, `@distinctUnionOfObjects` | an array, the latter a set of a set; nil is an error |
/// | `@unionOfArrays`, `@distinctUnionOfArrays` | an array of the elements of arrays; nil is an error |
/// | `@unionOfSets`, `@distinctUnionOfSets` | a set of the elements of sets; nil is an error |
///
/// Hooks that a class may add or override (signature KVO_HOOK), with the C types of their methods.
/// The root's first two do the search, its next three answer with an error, that for validation
/// asks the key's own; `kvo_class_imp(superclass, _cmd)` calls on. A hook that succeeds hands its
/// value over to the caller; a hook is always given an error to fill in.
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
/// Objects of a language binding have the keys that the binding has described, and are set as it
/// says.
#ifndef KVO_CODING_H
#define KVO_CODING_H

#include "kvo_class.h"
#include "kvo_value.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Reads a key.
/// - key: a key, not a key path.
/// - value: where the value goes. It need not be initialised. On KVO_OK it is the caller's to destroy, else it is nil.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_UNDEFINED_KEY unless the class's hook answers, KVO_NO_MEMORY, or what a hook
/// says. Any thread that may call the accessor.
kvo_status kvo_value_for_key(kvo_object *object, const char *key, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

/// Sets a key. A key without setter is written to its ivar and its
/// observers are told. NULL or nil for a scalar or struct goes to `setNilValueForKey:`. A number is
/// converted as `kvo_value_get_int` and its neighbours do: what does not fit wraps, a fraction is cut.
/// That a value is an object is checked, of which class it is not.
/// - key: a key, not a key path.
/// - value: what it is set to. It stays the caller's. NULL stands for nil.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_UNDEFINED_KEY, KVO_NIL_VALUE, KVO_TYPE_MISMATCH, KVO_READ_ONLY, KVO_NO_MEMORY. A key of a
/// collection is set in each of its elements, in their order, as far as the first error.
kvo_status kvo_set_value_for_key(kvo_object *object, const char *key,
    const kvo_value *KVO_NULLABLE value, kvo_error *KVO_NULLABLE error);

// MARK: Key paths

/// Reads a key path. As `kvo_value_for_key`, each key by the class of the object that has it:
/// KVO_UNDEFINED_KEY names that one. KVO_INVALID_KEY_PATH for an empty component or where the path
/// comes to a value that has no keys, KVO_INVALID_OPERATOR for an unknown operator, one that needs
/// a key path behind it, and one that comes to no collection; KVO_TYPE_MISMATCH and KVO_NIL_VALUE
/// where an operator can't work on an element. Paths that are read are kept parsed, up to a number (B5).
kvo_status kvo_value_for_key_path(kvo_object *object, const char *key_path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);
/// The same from any value on, `start`, which stays the caller's: collections answer keys and operators.
kvo_status kvo_value_value_for_key_path(const kvo_value *start, const char *key_path,
    kvo_value *value, kvo_error *KVO_NULLABLE error);

/// A single key of any value, `start`, which stays the caller's: a collection's elements answer it. Otherwise as
/// `kvo_value_for_key`.
kvo_status kvo_value_value_for_key(const kvo_value *start, const char *key, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

/// Sets the last key of a path. As `kvo_set_value_for_key`; nothing happens, and KVO_OK is the
/// answer, where the path comes to nil before. KVO_INVALID_OPERATOR for a path with an operator,
/// KVO_READ_ONLY for one that ends in `self`, and what reading the path can come to.
kvo_status kvo_set_value_for_key_path(kvo_object *object, const char *key_path,
    const kvo_value *KVO_NULLABLE value, kvo_error *KVO_NULLABLE error);

// MARK: Validation

/// Asks whether a value would be valid, and sets nothing: calls `validate<Key>:error:` of the last object on the path whether it takes the value, or the
/// declared validator of a language binding's object. Nothing else ever calls that. The hook may
/// put another value in the place of `*value`, having destroyed it; where it refuses, `*value` is
/// as it was, and its status and error are handed on as they are (KVO_VALIDATION_FAILED is for
/// this). No validator, or nil on the way, means valid. Statuses of reading and setting a key path
/// for what is before the last key.
kvo_status kvo_validate_value(kvo_object *object, const char *key_path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

// MARK: Several keys

/// Reads `count` keys into as many values, which need not be initialised; on KVO_OK they are the
/// caller's to destroy, else all are nil. Statuses as `kvo_value_for_key`.
kvo_status kvo_values_for_keys(kvo_object *object, const char *KVO_NONNULL const *KVO_NONNULL keys,
    size_t count, kvo_value *values, kvo_error *KVO_NULLABLE error);
/// Sets `count` keys in their order, all or none of them: an unknown or read-only key, a value of
/// the wrong type, and memory that is out are found before the first is set. But where code of the
/// class itself sets a key (an overridden `setValue:forKey:` or `setNilValueForKey:`, a binding's
/// `set`, a collection's elements), it refuses only when it is asked: then those before it in
/// `keys` are set, it and those behind it are not, and the error names it. Statuses as
/// `kvo_set_value_for_key`. What `kvo_values_for_keys` gave, nil too, can be set again so.
kvo_status kvo_set_values_for_keys(kvo_object *object,
    const char *KVO_NONNULL const *KVO_NONNULL keys, size_t count, const kvo_value *values,
    kvo_error *KVO_NULLABLE error);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
