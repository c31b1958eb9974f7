/// Open manual changes of an object.
#ifndef KVO_OPEN_PAIRS_H
#define KVO_OPEN_PAIRS_H

#include "tables/kvo_table.h"
#include "threads/kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

enum { KVO_FEW_PAIRS = 8 };

/// The slow paths of the functions below, for many open pairs. All functions need the object's lock.
void kvo_open_pairs_index_newest_locked(kvo_table *table);
kvo_open_pair *KVO_NULLABLE kvo_open_pairs_search_locked(kvo_table *table, uintptr_t id,
    uint32_t thread);
void kvo_open_pairs_leave_index_locked(kvo_table *table, kvo_open_pair *pair);

/// Adds a pair as the newest.
KVO_INLINE void kvo_open_pairs_add_locked(kvo_table *table, kvo_open_pair *pair) {
  pair->next = table->open_pairs;
  if (pair->next) pair->next->newer = pair;
  table->open_pairs = pair;
  if (KVO_UNLIKELY(++table->open_count > KVO_FEW_PAIRS || table->pair_index))
    kvo_open_pairs_index_newest_locked(table);
}
/// The newest pair of a key and a thread, or NULL. O(1), in whatever order pairs end.
KVO_INLINE kvo_open_pair *KVO_NULLABLE kvo_open_pairs_find_locked(kvo_table *table, uintptr_t id,
    uint32_t thread) {
  kvo_open_pair *newest = table->open_pairs;
  bool is_it = newest && newest->id == id && newest->thread == thread;
  return KVO_LIKELY(is_it) ? newest : kvo_open_pairs_search_locked(table, id, thread);
}
/// Removes a pair.
KVO_INLINE void kvo_open_pairs_remove_locked(kvo_table *table, kvo_open_pair *pair) {
  if (KVO_UNLIKELY(table->pair_index != NULL)) kvo_open_pairs_leave_index_locked(table, pair);
  if (pair->newer) pair->newer->next = pair->next;
  else table->open_pairs = pair->next;
  if (pair->next) pair->next->newer = pair->newer;
  table->open_count--;
}
/// Removes all pairs; returns them linked by `next`, the newest first.
kvo_open_pair *KVO_NULLABLE kvo_open_pairs_take_all_locked(kvo_table *table);

/// Ends and reports the open pairs of an object that is being destroyed.
void kvo_open_pairs_end_with(kvo_object *object);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
