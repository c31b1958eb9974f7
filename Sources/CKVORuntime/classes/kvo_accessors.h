/// Accessors: the results of key-value coding's searches for a key of a class. They say how the key is read, set and
/// observed.
#ifndef KVO_ACCESSORS_H
#define KVO_ACCESSORS_H

#include "objects/kvo_class_internal.h"
#include "types/kvo_call.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef enum kvo_access {
  KVO_ACCESS_NONE,
  KVO_ACCESS_METHOD,
  KVO_ACCESS_STORED,     ///< an ivar, or a binding's storage, at `offset`
  KVO_ACCESS_COMPUTED,   ///< a binding's `get` or `set`
  KVO_ACCESS_COLLECTION, ///< collection accessors, through a proxy
} kvo_access;

/// Whether setters of a key notify observers.
enum kvo_automatic {
  KVO_BY_HAND = 0,
  KVO_BY_SETTER,
  KVO_BY_ANNOUNCER, ///< by its setter, and methods of the class's own (announced.c)
};

/// Immutable once published, except for the atomic fields. Never freed, even after the class has changed and newer
/// accessors have replaced it. There is one for each key of a class that was ever read, set or observed, so it is
/// packed.
typedef struct kvo_accessors {
  const char *key; ///< interned; must be first, see kvo_map.h
  const kvo_class *cls;
  uint32_t generation; ///< of the class, when the search was made
  kvo_access getter : 8;
  kvo_access setter : 8;
  /// The kind of the value at `field`, if the getter only returns that: a scalar, which needs no copy. KVO_KIND_VOID:
  /// the getter has to be called.
  uint8_t field_kind;
  int8_t automatic; ///< enum kvo_automatic once the class has been asked, -1 before; atomic
  bool overrides_get_value : 1; ///< the class overrides `valueForKey:`: its hook is not the root's
  bool overrides_set_value : 1; ///< the class overrides `setValue:forKey:`
  bool is_bound : 1;            ///< a binding has described the key in `property`
  /// `field` is a binding's storage, whose values are copied to be kept: `field_kind` is KVO_KIND_VOID.
  bool field_is_copied : 1;
  bool never_settles; ///< it was reported that its getter reads other properties each time; atomic
  bool
      is_interposed; ///< its setters are interposed in the dynamic subclass, for these and all later accessors; atomic
  /// Observing the key needs no more preparation: it has a getter, depends on nothing, and its setters are
  /// interposed. Valid as long as the class has not changed; atomic.
  bool is_ready;
  uint32_t field; ///< with `field_kind` or `field_is_copied`
  /// The id of the key in observation tables: the offset of a binding's storage, by which changes announce it, or
  /// else the address of the interned key.
  uintptr_t id;
  union {
    const kvo_method *KVO_NULLABLE get_method;
    const kvo_property_description *property; ///< if it is bound
  };
  const kvo_method *KVO_NULLABLE set_method;
  const kvo_type *KVO_NULLABLE type;     ///< the type that is read
  const kvo_type *KVO_NULLABLE set_type; ///< the type that is set
  ptrdiff_t offset;
  /// The collection accessors of the key, even if something else reads it.
  const struct kvo_collection_accessors *KVO_NULLABLE collection;
  const struct kvo_accessors
      *KVO_NULLABLE previous; ///< the accessors that this replaced, which may be in use
  const struct kvo_dependencies
      *KVO_NULLABLE dependencies; ///< NULL before the class was asked; atomic
} kvo_accessors;

/// The binding's description of the key, or NULL.
KVO_INLINE const kvo_property_description *KVO_NULLABLE
kvo_accessors_property(const kvo_accessors *accessors) {
  return accessors->is_bound ? accessors->property : NULL;
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
