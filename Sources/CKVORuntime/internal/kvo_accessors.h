/// What key-value coding found for a key of a class: how it is read, set, and observed.
#ifndef KVO_ACCESSORS_H
#define KVO_ACCESSORS_H

#include "kvo_class_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef enum kvo_access {
  KVO_ACCESS_NONE,
  KVO_ACCESS_METHOD,
  KVO_ACCESS_STORED,   ///< an ivar, or a binding's storage, at `offset`
  KVO_ACCESS_COMPUTED, ///< a binding's `get`
} kvo_access;

/// Immutable once published, but for `automatic`. Lives for ever, also after the class has changed
/// and newer accessors have replaced it.
typedef struct kvo_accessors {
  const char *key; ///< interned
  const kvo_class *cls;
  uint32_t generation; ///< of the class, when the search was made
  kvo_access getter;
  kvo_access setter;
  /// Under which the object's observation table keeps the key: the offset of a binding's storage,
  /// by which the uniform lane finds it, else the address of the interned key.
  uintptr_t id;
  const kvo_method *KVO_NULLABLE get_method;
  const kvo_method *KVO_NULLABLE set_method;
  const kvo_type *KVO_NULLABLE type;     ///< of what is read
  const kvo_type *KVO_NULLABLE set_type; ///< of what is set
  ptrdiff_t offset;
  const kvo_property_description *KVO_NULLABLE property; ///< a binding's
  const struct kvo_accessors
      *KVO_NULLABLE previous; ///< what this replaced, which may still be in use
  int8_t automatic;           ///< 1 or 0 once the class has been asked, -1 before; atomic
} kvo_accessors;

/// The accessors of a key; NULL with KVO_UNDEFINED_KEY if there are none, or KVO_NO_MEMORY. O(1)
/// after the first call for class and key. Any thread; takes the class lock at first.
const kvo_accessors *KVO_NULLABLE kvo_class_accessors(const kvo_class *cls, const char *key,
    kvo_error *KVO_NULLABLE error);
/// What is known of an interned key already, or NULL: then one of the others finds out. O(1), no
/// lock.
KVO_INLINE const kvo_accessors *KVO_NULLABLE kvo_class_known_accessors(const kvo_class *cls,
    const char *interned_key) {
  const kvo_accessors *known = kvo_map_get(&cls->accessors, interned_key);
  bool fresh = known && known->generation == __atomic_load_n(&cls->generation, __ATOMIC_ACQUIRE);
  return fresh ? known : NULL;
}
/// Accessors that read and set nothing, for a key that only `valueForUndefinedKey:` answers, or
/// that is changed by hand. NULL if memory is out.
const kvo_accessors *KVO_NULLABLE kvo_class_undefined_accessors(const kvo_class *cls,
    const char *interned_key);

/// The id under which tables keep a key of the class; 0 if nothing can be registered under it yet.
uintptr_t kvo_class_key_id(const kvo_class *cls, const char *KVO_NULLABLE interned_key);

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
/// `valueForUndefinedKey:` is asked; nil if that has no answer, or if memory is out.
void kvo_accessors_read(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
