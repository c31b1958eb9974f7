// Ends everything that belongs to an object that is being destroyed: its open changes, its registrations and those
// that it made (C4), then its associated values (P2).
#include "base/kvo_forward.h"
#include "base/kvo_log.h"
#include "objects/kvo_class_internal.h"
#include "observing/kvo_open_manual_changes.h"
#include "tables/kvo_registration.h"
#include "threads/kvo_thread.h"

enum { MOST_ROUNDS = 100 };

static bool has_observations(const kvo_object *object) {
  return __atomic_load_n(&object->observations, __ATOMIC_ACQUIRE) != NULL;
}

// Ending a registration may call functions of the program, such as `ended`, that register with the object again.
void kvo_object_will_die(kvo_object *object) {
  if (kvo_this_thread) kvo_thread_abandon_open(kvo_this_thread, object);
  for (int round = 0; has_observations(object); round++) {
    if (round == MOST_ROUNDS) {
      kvo_misuse(
          "An object of %s is dying, and whenever its registrations end, functions of the program register "
          "with it again. They must not: what is registered now stays, although the object is freed.",
          kvo_class_of(object)->name);
      return;
    }
    kvo_registrations_end_of_observed(object);
    kvo_registrations_end_of_observer(object);
    kvo_manual_changes_end_with(object);
    kvo_associations_end_with(object);
  }
}
