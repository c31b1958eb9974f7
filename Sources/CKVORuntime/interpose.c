// What every interposer does: open the changes of the keys that the setter sets, call the
// original, close them. Keys that share a setter are changed together, in the order of their
// names, and closed in the reverse order, so that they nest.
#include "kvo_interpose.h"

#include "kvo_class_internal.h"
#include "kvo_delivery.h"

void kvo_interpose_begin(kvo_interposition *interposition, kvo_object *self,
    const kvo_method *method) {
  // Not the isa's table, where the interposer sits, and not a remembered function: methods are
  // replaced.
  interposition->original = kvo_class_slot(kvo_plain_class(kvo_isa(self)), method->slot);
  // Each setter could set two keys; mostly only one of them was ever observed.
  uint32_t observed = __atomic_load_n(&method->observed, __ATOMIC_RELAXED);
  interposition->frames[0] =
      observed & 1 ? kvo_change_open(self, (uintptr_t)method->keys[0]) : NULL;
  interposition->frames[1] =
      observed & 2 ? kvo_change_open(self, (uintptr_t)method->keys[1]) : NULL;
}

void kvo_interpose_end(kvo_interposition *interposition) {
  if (interposition->frames[1]) kvo_change_close(interposition->frames[1]);
  if (interposition->frames[0]) kvo_change_close(interposition->frames[0]);
}
