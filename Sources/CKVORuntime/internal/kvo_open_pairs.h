/// Changes by hand that are still open.
#ifndef KVO_OPEN_PAIRS_H
#define KVO_OPEN_PAIRS_H

#include "kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Ends those of an object that dies, and reports them.
void kvo_open_pairs_end_with(kvo_object *object);
/// Reports those of a thread that ends.
void kvo_open_pairs_end_of_thread(kvo_thread *thread);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
