/// The searches of key-value coding, and reading by what they have found.
#ifndef KVO_ACCESSOR_SEARCH_H
#define KVO_ACCESSOR_SEARCH_H

#include "classes/kvo_accessors.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

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
/// The cached accessors of a key, if they have a getter or a setter; NULL if the key has to be searched for. Calls no user
/// code, unlike `kvo_class_accessors`. O(1), no lock.
const kvo_accessors *KVO_NULLABLE kvo_class_found_accessors(const kvo_class *cls, const char *key);
/// Accessors that read and set nothing, for a key that only `valueForUndefinedKey:` answers, or
/// that is changed by hand. NULL if memory is out.
const kvo_accessors *KVO_NULLABLE kvo_class_undefined_accessors(const kvo_class *cls,
    const char *interned_key);

/// The id under which tables keep a key of the class; 0 if nothing can be registered under it yet.
uintptr_t kvo_class_key_id(const kvo_class *cls, const char *KVO_NULLABLE interned_key);

/// The accessors of a key that is ready, by its name, which may be a path or anything else; else NULL. O(1),
/// no lock.
const kvo_accessors *KVO_NULLABLE kvo_class_ready_accessors(const kvo_class *cls, const char *name);

/// Its two halves: by where the name is in memory, as far as it was asked for from there lately; and by the key.
const kvo_accessors *KVO_NULLABLE kvo_class_recent_accessors(const kvo_class *cls,
    const char *name);
const kvo_accessors *KVO_NULLABLE kvo_class_ready_key(const kvo_class *cls,
    const char *interned_key, const char *name);

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

/// What is asked of a class about one of its keys: a class method that is given the key, else class methods of
/// the key's own.
typedef struct kvo_class_question {
  const char *selector; ///< of the general one, interned
  void (*ask_general)(kvo_imp method, const kvo_class *cls, const char *key, void *answer);
  void (*ask_by_key)(const kvo_class *cls, const char *key, void *answer);
} kvo_class_question;
/// While a general method runs, it may ask its superclass the same: then the methods of single keys are found from
/// the class that was asked first, as `self` finds them in a class method.
void kvo_class_ask(const kvo_class_question *question, const kvo_class *cls, const char *key,
    void *answer);

bool kvo_accessors_ask_automatic(const kvo_accessors *accessors);
/// Whether the class notifies automatically for the key (enum kvo_automatic): asked once.
KVO_INLINE int8_t kvo_accessors_automatic(const kvo_accessors *accessors) {
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

/// Asks one of the class's methods that answer for a key, `valueForUndefinedKey:` or `valueForKey:`. Nil with its
/// status where it refuses; KVO_UNDEFINED_KEY without a cause where there is none, which is so with bindings.
kvo_status kvo_ask_value_hook(const kvo_class *cls, const char *selector, kvo_object *object,
    const char *key, kvo_value *value, kvo_error *cause);

/// Fails with KVO_NO_MEMORY, or KVO_UNDEFINED_KEY.
kvo_status kvo_fail_unreached(const kvo_class *cls, const char *key, kvo_error *KVO_NULLABLE error);
kvo_status kvo_fail_undefined(const kvo_class *cls, const char *key, kvo_error *KVO_NULLABLE error);
/// Hands on the error of a hook as it is; one that gives a status alone gets a sentence.
kvo_status kvo_explain_hook(kvo_status status, const kvo_error *cause, const kvo_class *cls,
    const char *key, kvo_error *KVO_NULLABLE error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
