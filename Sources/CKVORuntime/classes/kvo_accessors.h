/// What key-value coding found for a key of a class: how it is read, set, and observed.
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

/// Immutable once published, but for what is atomic. Lives for ever, also after the class has changed
/// and newer accessors have replaced it. There is one for each key of a class that was ever read, set or observed: so
/// it is packed.
typedef struct kvo_accessors {
  const char *key; ///< interned; first, as kvo_key_set has it
  const kvo_class *cls;
  uint32_t generation; ///< of the class, when the search was made
  kvo_access getter : 8;
  kvo_access setter : 8;
  /// The kind of what lies at `field`, where that is all that the getter gives: a scalar, which needs no
  /// copy. KVO_KIND_VOID: the getter has to be called.
  uint8_t field_kind;
  int8_t automatic; ///< enum kvo_automatic once the class has been asked, -1 before; atomic
  bool asks_class
      : 1; ///< the class reads keys in its own way: its hook `valueForKey:` is not the root's
  bool tells_class : 1; ///< likewise `setValue:forKey:`
  bool is_bound : 1;    ///< a binding has described the key: `property`
  bool is_restless;     ///< that it reads other properties each time has been reported; atomic
  bool
      is_interposed; ///< its setters are, in the dynamic subclass, of these and of all later ones; atomic
  /// There is nothing more to find out before the key of an object is observed: it has a getter, is derived from nothing, and
  /// its setters are interposed. As long as the class has not changed since; atomic.
  bool is_ready;
  uint32_t field; ///< with `field_kind`
  /// Under which the object's observation table keeps the key: the offset of a binding's storage,
  /// by which a bracket finds it, else the address of the interned key.
  uintptr_t id;
  union {
    const kvo_method *KVO_NULLABLE get_method;
    const kvo_property_description *property; ///< if it is bound
  };
  const kvo_method *KVO_NULLABLE set_method;
  const kvo_type *KVO_NULLABLE type;     ///< of what is read
  const kvo_type *KVO_NULLABLE set_type; ///< of what is set
  ptrdiff_t offset;
  /// The collection accessors that the key has, also where something else reads it.
  const struct kvo_collection_accessors *KVO_NULLABLE collection;
  const struct kvo_accessors
      *KVO_NULLABLE previous; ///< what this replaced, which may still be in use
  const struct kvo_dependencies
      *KVO_NULLABLE dependencies; ///< NULL before the class was asked; atomic
} kvo_accessors;

/// What a binding has described, or NULL.
KVO_INLINE const kvo_property_description *KVO_NULLABLE
kvo_accessors_property(const kvo_accessors *accessors) {
  return accessors->is_bound ? accessors->property : NULL;
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
