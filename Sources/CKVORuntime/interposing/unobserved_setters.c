// Setters that ran unobserved: they began while their property had no observer, so they have no frame that could
// notify observers registered by another thread since then (I3).
//
// Each caller of a setter checks afterwards whether anything was observed for the first time during the call: one
// number counts all first observations (kvo_class.h). Only if it has changed does the caller ask here. A hash shows
// roughly which objects and methods were concerned. The object may have died in the setter, if a callback dropped it,
// so its address is looked up among the tables of observed objects before it is touched.
//
// A setter of two keys, one of which had never been observed, ran unobserved for that key: it compares the sets of
// observed keys before and after.
#include "interposing/kvo_unobserved_setters.h"

#include "delivery/kvo_delivery.h"
#include "objects/kvo_class_internal.h"

// Whether a call of a function may have missed observers: the object has some now, and its class dispatches to another
// function by now, the interposed one. A different object may have been allocated at the address.
static bool may_have_missed_observers(const kvo_object *object, const kvo_method *method,
    kvo_imp imp) {
  const kvo_class *isa = kvo_isa(object);
  if (!isa || !isa->is_dynamic) return false;
  if (kvo_class_find_method(isa, method->selector) != method) return false;
  return kvo_class_slot(isa, kvo_slot_of(method)) != imp;
}

// State of a late delivery, whose observers may throw.
typedef struct late_notification {
  kvo_object *object; // a reference
  const kvo_method *method;
  uint32_t keys; // bit i for keys[i]
} late_notification;

static void unobserved_setter_notify(void *opaque) {
  const late_notification *late = opaque;
  for (uint32_t i = 0; i < late->method->key_count; i++)
    if (late->keys & (1u << i))
      kvo_change_notify_late_observers(late->object, (uintptr_t)late->method->keys[i], false);
}

static void unobserved_setter_end(void *opaque) {
  kvo_object_release(((late_notification *)opaque)->object);
}

// Notifies the late observers of these keys, if any, and releases the object.
static void notify_late(late_notification *late) {
  kvo_unwinding(unobserved_setter_notify, unobserved_setter_end, late);
  unobserved_setter_end(late);
}

void kvo_setter_ran_unobserved(kvo_object *address, const kvo_method *method, kvo_imp imp,
    uint64_t begun) {
  if (!kvo_first_observation_may_concern(address, begun) &&
      !kvo_first_observation_may_concern(method, begun))
    return;
  kvo_object *object = kvo_table_owner_at(address);
  if (!object) return;
  uint32_t keys = may_have_missed_observers(object, method, imp) ? UINT32_MAX : 0;
  notify_late(&(late_notification){object, method, keys});
}

void kvo_setter_ran_partly_unobserved(kvo_object *address, const kvo_method *method,
    uint32_t keys) {
  kvo_object *object = kvo_table_owner_at(address);
  if (object) notify_late(&(late_notification){object, method, keys});
}
