/// Automatic changes that a class announces by methods of its own (E5), see announced.c.
#ifndef KVO_ANNOUNCED_H
#define KVO_ANNOUNCED_H

#include "delivery/kvo_delivery.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Begins the announced change of a key, if this thread is in the class's method for it. Returns false if it is not,
/// or if the change has begun already.
bool kvo_announced_begin(kvo_object *object, uintptr_t id);
/// Finishes the announced change of a key, if this thread is in the class's method for it. Returns false if it is
/// not, or if the change has not begun.
bool kvo_announced_finish(const kvo_object *object, uintptr_t id);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
