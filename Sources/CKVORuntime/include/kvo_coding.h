/// Key-value coding: properties by name.
///
/// Reading searches `get<Key>`, `<key>`, `is<Key>`, `_<key>`, then the ivars `_<key>`,
/// `_is<Key>`, `<key>`, `is<Key>`; setting searches `set<Key>:`, `_set<Key>:`, then the same
/// ivars. What is found is kept per class and key until a method or ivar is added.
///
/// Hooks that a class may add or override (signature KVO_HOOK), with the C types of their methods.
/// The root answers the first three with an error; `kvo_class_imp(superclass, _cmd)` calls on:
///
/// | selector | type |
/// |---|---|
/// | `setNilValueForKey:` | `kvo_status (kvo_object *, const kvo_method *, const char *key, kvo_error *)` |
/// | `valueForUndefinedKey:` | `kvo_status (kvo_object *, const kvo_method *, const char *key, kvo_value *out, kvo_error *)` |
/// | `setValue:forUndefinedKey:` | `kvo_status (kvo_object *, const kvo_method *, const kvo_value *, const char *key, kvo_error *)` |
/// | `dealloc` | `void (kvo_object *, const kvo_method *)`, called for each class from the subclass up |
/// | `accessInstanceVariablesDirectly` (class method) | `bool (const kvo_class *)` |
#ifndef KVO_CODING_H
#define KVO_CODING_H

#include "kvo_class.h"
#include "kvo_value.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Reads a key. On KVO_OK `*value`, which need not be initialised, is the caller's to destroy;
/// else it is nil. KVO_UNDEFINED_KEY unless the class's hook answers. Any thread that may call
/// the accessor.
kvo_status kvo_value_for_key(kvo_object *object, const char *key, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

/// Sets a key; the value stays the caller's. A key without setter is written to its ivar and its
/// observers are told. NULL or nil for a scalar or struct goes to `setNilValueForKey:`.
/// KVO_UNDEFINED_KEY, KVO_NIL_VALUE, KVO_TYPE_MISMATCH, KVO_READ_ONLY.
kvo_status kvo_set_value_for_key(kvo_object *object, const char *key,
    const kvo_value *KVO_NULLABLE value, kvo_error *KVO_NULLABLE error);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
