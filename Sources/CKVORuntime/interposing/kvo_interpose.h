/// The work of an interposer, typed or closure, around the original method.
#ifndef KVO_INTERPOSE_H
#define KVO_INTERPOSE_H

#include "classes/kvo_accessor_kind.h"
#include "delivery/kvo_delivery.h"
#include "interposing/kvo_unobserved_setters.h"
#include "objects/kvo_class_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_interposition {
  kvo_imp original; ///< looked up for each call, so that a replaced method takes effect
  kvo_object *self;
  const kvo_method *method;
  uint8_t observed; ///< the keys observed when it began
  kvo_frame *KVO_NULLABLE frames[KVO_KEYS_PER_METHOD];
} kvo_interposition;

/// The plain class's implementation of the method.
KVO_INLINE kvo_imp kvo_interpose_original(kvo_object *self, const kvo_method *method) {
  // Neither the isa's table, which has the interposer, nor a cached function, because methods may be replaced.
  return kvo_class_slot(kvo_plain_class(kvo_isa_of_c(self)), kvo_slot_of(method));
}

/// Which of the method's keys have ever been observed: bit i for `keys[i]`. Read when a change begins, and compared
/// when the original has returned (`kvo_interpose_notify_late_observers`).
KVO_INLINE uint8_t kvo_interpose_observed(const kvo_method *method) {
  return __atomic_load_n(&method->observed, __ATOMIC_RELAXED);
}
/// Whether the method sets one property as a whole, and only one of its keys was ever observed. This is the common
/// case; the key is `kvo_interpose_key` then.
KVO_INLINE bool kvo_interpose_sets_one_key(uint8_t observed) { return observed < 3; }
KVO_INLINE uintptr_t kvo_interpose_key(const kvo_method *method) {
  return (uintptr_t)__atomic_load_n(&method->first_observed, __ATOMIC_RELAXED);
}
/// Call when the original has returned, before its changes are closed. Notifies observers that another thread has
/// registered for a key of the method that had never been observed before, as for setters that ran unobserved.
KVO_INLINE void kvo_interpose_notify_late_observers(kvo_object *self, const kvo_method *method,
    uint8_t observed) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint8_t now = kvo_interpose_observed(method);
  if (KVO_UNLIKELY(now != observed))
    kvo_setter_ran_partly_unobserved(self, method, now & ~observed);
}

/// Opens the changes that the method will make, and finds the original. `arguments` has a pointer to each argument;
/// the first two are self and _cmd.
kvo_interposition kvo_interpose_begin(kvo_object *self, const kvo_method *method,
    void *KVO_NULLABLE *KVO_NONNULL arguments);
/// Closes the changes and calls the observers.
void kvo_interpose_end(const kvo_interposition *interposition);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
