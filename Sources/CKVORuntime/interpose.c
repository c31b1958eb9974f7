// What every interposer does: open the changes of the keys that the setter sets, call the original,
// close them. Keys that share a setter are changed together, in the order of their names, and closed
// in the reverse order, so that they nest.
#include "kvo_interpose.h"

#include "kvo_class_internal.h"
#include "kvo_delivery.h"

void kvo_interpose_begin(kvo_interposition *interposition, kvo_object *self, const kvo_method *method) {
  // Not the isa's table, where the interposer sits, and not a remembered function: methods are replaced.
  interposition->original = kvo_class_slot(kvo_plain_class(kvo_isa(self)), method->slot);
  interposition->frames[0] = kvo_change_open(self, (uintptr_t)method->keys[0]);
  interposition->frames[1] =
      KVO_UNLIKELY(method->key_count > 1) ? kvo_change_open(self, (uintptr_t)method->keys[1]) : NULL;
}

void kvo_interpose_end(kvo_interposition *interposition) {
  if (KVO_UNLIKELY(interposition->frames[1] != NULL)) kvo_change_close(interposition->frames[1]);
  if (KVO_LIKELY(interposition->frames[0] != NULL)) kvo_change_close(interposition->frames[0]);
}
