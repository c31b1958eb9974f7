/// What key-value coding found for a key of a class: how it is read, set, and observed.
#ifndef KVO_ACCESSORS_H
#define KVO_ACCESSORS_H

#include "kvo_class_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef enum kvo_access {
  KVO_ACCESS_NONE,
  KVO_ACCESS_METHOD,
  KVO_ACCESS_STORED,     ///< an ivar, or a binding's storage, at `offset`
  KVO_ACCESS_COMPUTED,   ///< a binding's `get` or `set`
  KVO_ACCESS_COLLECTION, ///< collection accessors, through a proxy
} kvo_access;

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
  int8_t automatic; ///< 1 or 0 once the class has been asked, -1 before; atomic
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
  /// by which the uniform lane finds it, else the address of the interned key.
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

/// The accessors of a key; NULL with KVO_UNDEFINED_KEY if there are none, or KVO_NO_MEMORY. O(1)
/// after the first call for class and key. Any thread; takes the class lock at first.
const kvo_accessors *KVO_NULLABLE kvo_class_accessors(const kvo_class *cls, const char *key,
    kvo_error *KVO_NULLABLE error);
/// What is known of an interned key already, or NULL: then one of the others finds out. O(1), no
/// lock.
KVO_INLINE const kvo_accessors *KVO_NULLABLE kvo_class_known_accessors(const kvo_class *cls,
    const char *interned_key) {
  const kvo_accessors *known =
      (const kvo_accessors *)kvo_key_set_get(&cls->accessors, interned_key);
  bool fresh = known && known->generation == __atomic_load_n(&cls->generation, __ATOMIC_ACQUIRE);
  return fresh ? known : NULL;
}
/// Accessors that read and set nothing, for a key that only `valueForUndefinedKey:` answers, or
/// that is changed by hand. NULL if memory is out.
const kvo_accessors *KVO_NULLABLE kvo_class_undefined_accessors(const kvo_class *cls,
    const char *interned_key);

/// The id under which tables keep a key of the class; 0 if nothing can be registered under it yet.
uintptr_t kvo_class_key_id(const kvo_class *cls, const char *KVO_NULLABLE interned_key);

/// The accessors of a key that is ready, by its name, which may be a path or anything else; else NULL. O(1),
/// no lock.
const kvo_accessors *KVO_NULLABLE kvo_class_ready_accessors(const kvo_class *cls, const char *name);

/// Those that a binding's token names for objects of a type, where that is known and the key is ready; else NULL.
/// O(1), no lock. token.c's.
const kvo_accessors *KVO_NULLABLE kvo_token_accessors(const void *token, const void *type);

const kvo_accessors *kvo_accessors_search_again(const kvo_accessors *accessors);
/// The same accessors, or the newer ones if the class has changed since.
KVO_INLINE const kvo_accessors *kvo_accessors_current(const kvo_accessors *accessors) {
  uint32_t generation = __atomic_load_n(&accessors->cls->generation, __ATOMIC_ACQUIRE);
  return KVO_LIKELY(accessors->generation == generation) ? accessors
                                                         : kvo_accessors_search_again(accessors);
}

bool kvo_accessors_ask_automatic(const kvo_accessors *accessors);
/// Whether the class notifies automatically for the key: asked once.
KVO_INLINE bool kvo_accessors_automatic(const kvo_accessors *accessors) {
  int8_t known = __atomic_load_n(&accessors->automatic, __ATOMIC_ACQUIRE);
  return KVO_LIKELY(known >= 0) ? known : kvo_accessors_ask_automatic(accessors);
}

/// Reads the property into an uninitialised value: what the getter answers. Without a getter,
/// `valueForUndefinedKey:` is asked, and first of all the class where it reads keys in its own way;
/// nil if there is no answer, or if memory is out.
void kvo_accessors_read(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);
/// The same of a key on a path, which goes as key-value coding does: a binding's class is asked as
/// well where it reads keys in its own way.
void kvo_accessors_read_link(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);
/// The same by what the search found, which must be a getter. What that comes to: a binding's may
/// fail, and then leaves nil.
kvo_status kvo_accessors_read_found(const kvo_accessors *accessors, kvo_object *object,
    kvo_value *value, kvo_error *KVO_NULLABLE error);

/// Tells the binding, whose recorder is set, that a key was read; binding.c.
void kvo_tell_read(kvo_object *object, const char *interned_key);

/// What the root does for the hooks `valueForKey:` and `setValue:forKey:`; coding.c.
kvo_status kvo_search_value(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    const char *key, kvo_value *value, kvo_error *KVO_NULLABLE error);
kvo_status kvo_search_and_set(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    const kvo_value *KVO_NULLABLE value, const char *key, kvo_error *KVO_NULLABLE error);
kvo_status kvo_search_and_validate(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    kvo_value *value, const char *key, kvo_error *KVO_NULLABLE error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
