/// What an interposer does around the original method, be it a typed one or a closure.
#ifndef KVO_INTERPOSE_H
#define KVO_INTERPOSE_H

#include "classes/kvo_accessor_kind.h"
#include "delivery/kvo_delivery.h"
#include "interposing/kvo_bare.h"
#include "objects/kvo_class_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_interposition {
  kvo_imp original; ///< looked up now, so that a replaced method takes effect
  kvo_object *self;
  const kvo_method *method;
  uint8_t observed; ///< which keys were, when it began
  kvo_frame *KVO_NULLABLE frames[KVO_KEYS_PER_METHOD];
} kvo_interposition;

/// What the plain class does for the method.
KVO_INLINE kvo_imp kvo_interpose_original(kvo_object *self, const kvo_method *method) {
  // Not the isa's table, where the interposer sits, and not a remembered function: methods are
  // replaced.
  return kvo_class_slot(kvo_plain_class(kvo_isa(self)), kvo_slot_of(method));
}

/// Which of the method's keys have ever been observed: bit i for `keys[i]`. Asked when a change
/// begins, and compared when the original has returned (`kvo_interpose_look`).
KVO_INLINE uint8_t kvo_interpose_observed(const kvo_method *method) {
  return __atomic_load_n(&method->observed, __ATOMIC_RELAXED);
}
/// Whether the method sets a property, as a whole, and only one of its keys was ever observed: so
/// mostly. It is `kvo_interpose_key` then.
KVO_INLINE bool kvo_interpose_sets_one_key(uint8_t observed) { return observed < 3; }
KVO_INLINE uintptr_t kvo_interpose_key(const kvo_method *method) {
  return (uintptr_t)__atomic_load_n(&method->first_observed, __ATOMIC_RELAXED);
}
/// When the original has returned, before its changes are closed: tells observers that another thread has
/// registered for a key of the method's that nobody had observed before, as with setters that ran bare.
KVO_INLINE void kvo_interpose_look(kvo_object *self, const kvo_method *method, uint8_t observed) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint8_t now = kvo_interpose_observed(method);
  if (KVO_UNLIKELY(now != observed)) kvo_setter_ran_partly_bare(self, method, now & ~observed);
}

/// Opens the changes that the method is going to make and finds the original. `arguments` has a
/// pointer to each argument, the first two being self and _cmd.
kvo_interposition kvo_interpose_begin(kvo_object *self, const kvo_method *method,
    void *KVO_NULLABLE *KVO_NONNULL arguments);
/// Closes them and calls the observers.
void kvo_interpose_end(const kvo_interposition *interposition);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
