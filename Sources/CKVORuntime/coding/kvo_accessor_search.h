/// The searches of key-value coding, and reading by their results.
#ifndef KVO_ACCESSOR_SEARCH_H
#define KVO_ACCESSOR_SEARCH_H

#include "classes/kvo_accessors.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The accessors of a key; NULL with KVO_UNDEFINED_KEY if there are none, or with KVO_NO_MEMORY. O(1) after the first
/// call for class and key. Any thread; the first call takes the class lock.
const kvo_accessors *KVO_NULLABLE kvo_class_accessors(const kvo_class *cls, const char *key,
    kvo_error *KVO_NULLABLE error);
/// The cached accessors of an interned key, or NULL if it has to be searched for by one of the other functions. O(1),
/// no lock.
KVO_INLINE const kvo_accessors *KVO_NULLABLE kvo_class_known_accessors(const kvo_class *cls,
    const char *interned_key) {
  const kvo_accessors *known =
      (const kvo_accessors *)kvo_key_set_get(&cls->accessors, interned_key);
  bool fresh = known && known->generation == __atomic_load_n(&cls->generation, __ATOMIC_ACQUIRE);
  return fresh ? known : NULL;
}
/// The cached accessors of a key, if they have a getter or a setter; NULL if the key has to be searched for. Unlike
/// `kvo_class_accessors`, it calls none of the program's code. O(1), no lock.
const kvo_accessors *KVO_NULLABLE kvo_class_found_accessors(const kvo_class *cls, const char *key);
/// Accessors that read and set nothing, for a key that only `valueForUndefinedKey:` answers, or that is changed
/// manually. NULL if out of memory.
const kvo_accessors *KVO_NULLABLE kvo_class_undefined_accessors(const kvo_class *cls,
    const char *interned_key);

/// The id of a key of the class in observation tables; 0 if nothing can be registered under it yet.
uintptr_t kvo_class_key_id(const kvo_class *cls, const char *KVO_NULLABLE interned_key);

/// The accessors of a key that is ready, by a name that may also be a path or anything else; NULL if it is not a
/// ready key. O(1), no lock.
const kvo_accessors *KVO_NULLABLE kvo_class_ready_accessors(const kvo_class *cls, const char *name);

/// The two halves of `kvo_class_ready_accessors`: by the address of the name, if it was looked up from there lately;
/// and by the key.
const kvo_accessors *KVO_NULLABLE kvo_class_recent_accessors(const kvo_class *cls,
    const char *name);
const kvo_accessors *KVO_NULLABLE kvo_class_ready_key(const kvo_class *cls,
    const char *interned_key, const char *name);

/// The accessors that a binding's token denotes for objects of a type, if that is known and the key is ready;
/// otherwise NULL. O(1), no lock. In token.c.
const kvo_accessors *KVO_NULLABLE kvo_token_accessors(const void *token, const void *type);

const kvo_accessors *kvo_accessors_search_again(const kvo_accessors *accessors);
/// Returns the accessors, or newer ones if the class has changed.
KVO_INLINE const kvo_accessors *kvo_accessors_current(const kvo_accessors *accessors) {
  uint32_t generation = __atomic_load_n(&accessors->cls->generation, __ATOMIC_ACQUIRE);
  return KVO_LIKELY(accessors->generation == generation) ? accessors
                                                         : kvo_accessors_search_again(accessors);
}

/// A question about a key of a class: answered by a class method that receives the key, or else by class methods of
/// the key's own.
typedef struct kvo_class_question {
  const char *selector; ///< of the general method, interned
  void (*ask_general)(kvo_imp method, const kvo_class *cls, const char *key, void *answer);
  void (*ask_by_key)(const kvo_class *cls, const char *key, void *answer);
} kvo_class_question;
/// Asks a class. A general method may ask its superclass the same question. The methods of single keys are then
/// searched for from the class that was asked first, as `self` finds them in a class method.
void kvo_class_ask(const kvo_class_question *question, const kvo_class *cls, const char *key,
    void *answer);

bool kvo_accessors_ask_automatic(const kvo_accessors *accessors);
/// Whether the class notifies automatically for the key (enum kvo_automatic). The class is asked once.
KVO_INLINE int8_t kvo_accessors_automatic(const kvo_accessors *accessors) {
  int8_t known = __atomic_load_n(&accessors->automatic, __ATOMIC_ACQUIRE);
  return KVO_LIKELY(known >= 0) ? known : kvo_accessors_ask_automatic(accessors);
}

/// Reads the property by its getter into an uninitialised value. Without a getter, `valueForUndefinedKey:` is called;
/// if the class overrides `valueForKey:`, that is called first of all. Nil if there is no answer, or if out of
/// memory.
void kvo_accessors_read(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);
/// Reads the property in a change that its own setter has opened. The setter has ended its access to the storage.
void kvo_accessors_read_own(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);
/// Reads a key on a path, as key-value coding does: unlike `kvo_accessors_read`, it also calls the `valueForKey:` of
/// a binding's class.
void kvo_accessors_read_link(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);
/// Reads by the getter that the search found. A binding's getter may fail, and then leaves nil; returns its status.
kvo_status kvo_accessors_read_found(const kvo_accessors *accessors, kvo_object *object,
    kvo_value *value, kvo_error *KVO_NULLABLE error);

/// Calls a hook of the class that answers for a key, `valueForUndefinedKey:` or `valueForKey:`. If it refuses, the
/// value is nil and its status is returned. KVO_UNDEFINED_KEY without a cause if the class has no such hook, as in
/// bindings.
kvo_status kvo_ask_value_hook(const kvo_class *cls, const char *selector, kvo_object *object,
    const char *key, kvo_value *value, kvo_error *cause);

/// Fails with KVO_NO_MEMORY, or KVO_UNDEFINED_KEY.
kvo_status kvo_fail_unreached(const kvo_class *cls, const char *key, kvo_error *KVO_NULLABLE error);
kvo_status kvo_fail_undefined(const kvo_class *cls, const char *key, kvo_error *KVO_NULLABLE error);
/// Returns the error of a hook unchanged. If the hook only gave a status, a sentence is added.
kvo_status kvo_explain_hook(kvo_status status, const kvo_error *cause, const kvo_class *cls,
    const char *key, kvo_error *KVO_NULLABLE error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
