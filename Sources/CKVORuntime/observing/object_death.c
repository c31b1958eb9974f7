// Ends everything that belongs to an object that is being destroyed: its open changes, its registrations and those
// that it made (C4), then its associated values (P2).
#include "base/kvo_forward.h"
#include "observing/kvo_open_manual_changes.h"
#include "tables/kvo_registration.h"
#include "threads/kvo_thread.h"

void kvo_object_will_die(kvo_object *object) {
  if (kvo_this_thread) kvo_thread_abandon_open(kvo_this_thread, object);
  if (!__atomic_load_n(&object->observations, __ATOMIC_ACQUIRE)) return;
  kvo_registrations_end_with(object);
  kvo_registrations_end_by(object);
  kvo_manual_changes_end_with(object);
  kvo_associations_end_with(object);
}
