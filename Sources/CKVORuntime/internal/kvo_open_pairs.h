/// Changes by hand that are still open.
#ifndef KVO_OPEN_PAIRS_H
#define KVO_OPEN_PAIRS_H

#include "kvo_table.h"
#include "kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Adds one, as the newest. Object lock held, as for the next three.
void kvo_open_pairs_add_locked(kvo_table *table, kvo_open_pair *pair);
/// The newest of a key and a thread, or NULL. O(1), in whatever order they end.
kvo_open_pair *KVO_NULLABLE kvo_open_pairs_find_locked(kvo_table *table, uintptr_t id,
    uint32_t thread);
/// Takes out one that is there.
void kvo_open_pairs_remove_locked(kvo_table *table, kvo_open_pair *pair);
/// Takes out all: the newest, by `next`.
kvo_open_pair *KVO_NULLABLE kvo_open_pairs_take_all_locked(kvo_table *table);

/// Ends those of an object that dies, and reports them.
void kvo_open_pairs_end_with(kvo_object *object);
/// Reports those of a thread that ends.
void kvo_open_pairs_end_of_thread(kvo_thread *thread);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
