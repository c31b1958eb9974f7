/// How deep changes may nest.
#ifndef KVO_DEPTH_H
#define KVO_DEPTH_H

#include "kvo_table.h"
#include "kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Called each time that a thread's frames fill a block, before a change of that object. Stops the
/// program, with a message that names class and key, if observers have gone too deep, or if the
/// thread's own stack is about to end. Returns where that stack is now.
uintptr_t kvo_depth_check(kvo_thread *thread, kvo_object *object);

/// Before an observer is called, where the environment asks for a log: reports, once, that the thread's stack
/// is about to end although few changes nest, as it is where a property's own code sets it again and again.
void kvo_depth_look(const kvo_registration *registration);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
