/// Open manual changes of an object.
#ifndef KVO_OPEN_MANUAL_CHANGES_H
#define KVO_OPEN_MANUAL_CHANGES_H

#include "tables/kvo_table.h"
#include "threads/kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

enum { KVO_FEW_MANUAL_CHANGES = 8 };

/// The slow paths of the functions below, for many open manual changes. All functions need the object's lock.
void kvo_manual_changes_index_newest_locked(kvo_table *table);
kvo_manual_change *KVO_NULLABLE kvo_manual_changes_search_locked(kvo_table *table, uintptr_t id,
    uint32_t thread);
void kvo_manual_changes_leave_index_locked(kvo_table *table, kvo_manual_change *manual_change);

/// Adds a pair as the newest.
KVO_INLINE void kvo_manual_changes_add_locked(kvo_table *table, kvo_manual_change *manual_change) {
  manual_change->next = table->manual_changes;
  if (manual_change->next) manual_change->next->newer = manual_change;
  table->manual_changes = manual_change;
  if (KVO_UNLIKELY(++table->open_count > KVO_FEW_MANUAL_CHANGES || table->manual_change_index))
    kvo_manual_changes_index_newest_locked(table);
}
/// The newest pair of a key and a thread, or NULL. O(1), in whatever order pairs end.
KVO_INLINE kvo_manual_change *KVO_NULLABLE kvo_manual_changes_find_locked(kvo_table *table,
    uintptr_t id, uint32_t thread) {
  kvo_manual_change *newest = table->manual_changes;
  bool is_it = newest && newest->id == id && newest->thread == thread;
  return KVO_LIKELY(is_it) ? newest : kvo_manual_changes_search_locked(table, id, thread);
}
/// Removes a pair.
KVO_INLINE void kvo_manual_changes_remove_locked(kvo_table *table,
    kvo_manual_change *manual_change) {
  if (KVO_UNLIKELY(table->manual_change_index != NULL))
    kvo_manual_changes_leave_index_locked(table, manual_change);
  if (manual_change->newer) manual_change->newer->next = manual_change->next;
  else table->manual_changes = manual_change->next;
  if (manual_change->next) manual_change->next->newer = manual_change->newer;
  table->open_count--;
}
/// Removes all pairs; returns them linked by `next`, the newest first.
kvo_manual_change *KVO_NULLABLE kvo_manual_changes_take_all_locked(kvo_table *table);

/// Ends and reports the open manual changes of an object that is being destroyed.
void kvo_manual_changes_end_with(kvo_object *object);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
