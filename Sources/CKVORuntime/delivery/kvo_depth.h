/// Limits on how deep changes may nest.
#ifndef KVO_DEPTH_H
#define KVO_DEPTH_H

#include "tables/kvo_table.h"
#include "threads/kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Called before each observer if the environment asks for any log. Reports, once, that the thread's stack is about
/// to end although few changes nest. That happens if a property's own code sets the property again and again.
void kvo_depth_warn_of_deep_stack(const kvo_registration *registration);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
