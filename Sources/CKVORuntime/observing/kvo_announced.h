/// Automatic changes that a class announces by methods of its own (E5): announced.c.
#ifndef KVO_ANNOUNCED_H
#define KVO_ANNOUNCED_H

#include "delivery/kvo_delivery.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Begins the change, if this thread calls the class's method because of one of that key. False: it is not.
bool kvo_announced_begin(kvo_object *object, uintptr_t id);
/// Finishes it, likewise. False also if the change has not begun.
bool kvo_announced_finish(const kvo_object *object, uintptr_t id);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
