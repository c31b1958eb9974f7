/// Setting by key.
#ifndef KVO_SETTING_H
#define KVO_SETTING_H

#include "coding/kvo_get_key_path.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Sets a key of each element of a collection, in order, up to the first error.
kvo_status kvo_value_set_each(const kvo_value *collection, const char *key,
    const kvo_value *KVO_NULLABLE value, kvo_error *KVO_NULLABLE error);

/// A key that is going to be set.
typedef struct kvo_setting {
  const kvo_accessors *KVO_NULLABLE accessors; ///< NULL: the class's hook sets the key
  kvo_value value;                             ///< with accessors: the value, in the key's type
} kvo_setting;

/// Checks whether setting the key would fail, as far as the class shows that; an overridden hook may still refuse.
/// Sets nothing. On KVO_OK `*setting` is ready, and its value must be destroyed or used. Statuses as
/// `kvo_set_value_for_key`.
kvo_status kvo_setting_prepare(kvo_object *object, const char *key, const kvo_value *value,
    kvo_setting *setting, kvo_error *KVO_NULLABLE error);
/// Sets a key by its accessors, which needs no memory of the runtime's. Destroys the value.
void kvo_setting_make(kvo_object *object, kvo_setting *setting);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
