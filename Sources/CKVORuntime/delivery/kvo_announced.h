/// Automatic changes that a class announces by methods of its own (E5): announced.c.
#ifndef KVO_ANNOUNCED_H
#define KVO_ANNOUNCED_H

#include "delivery/kvo_delivery.h"
#include "objects/kvo_class_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Whether the class has methods of its own for automatic changes of the key. Of keys that are marked manual.
KVO_INLINE bool kvo_announced_has(kvo_observers observers) {
  return kvo_accessors_automatic(kvo_observers_accessors(observers)) == KVO_BY_ANNOUNCER;
}

/// Opens a change of a key that is marked manual, in a frame with its `id`, by the class's methods where it has some. False:
/// the key is manual.
bool kvo_announced_open(kvo_frame *frame, kvo_observers observers,
    const kvo_mutation *KVO_NULLABLE mutation);
/// Finishes a change that is no longer counted among the open ones.
void kvo_announced_close(kvo_frame *frame);

/// Begins the change, if this thread calls the class's method because of one of that key. False: it is not.
bool kvo_announced_begin(kvo_object *object, uintptr_t id);
/// Finishes it, likewise. False also if the change has not begun.
bool kvo_announced_finish(const kvo_object *object, uintptr_t id);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
