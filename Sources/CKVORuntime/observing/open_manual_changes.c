// The open manual changes of an object (D6).
//
// The object's table has a list of them, the newest first. A closing call looks for the newest pair of its key and
// thread. A few pairs are searched in the list, which is short if changes nest. Many pairs, which may be closed in
// any order, have an index: a hash table of chains, each with the newest pair first. It is made when there are many,
// and freed with the last pair. If there is no memory for it, the list is used. All of this is under the object's
// lock.
#include "observing/kvo_open_manual_changes.h"

#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"

struct kvo_manual_change_index {
  uint32_t mask; // the number of buckets, a power of two, less one
  kvo_manual_change *buckets[];
};

static kvo_manual_change **manual_changes_bucket(struct kvo_manual_change_index *index,
    uintptr_t id, uint32_t thread) {
  uint64_t hash = kvo_hash_word((uint64_t)id ^ (uint64_t)thread << 32);
  return &index->buckets[(hash >> 32) & index->mask];
}

static void manual_changes_enter(struct kvo_manual_change_index *index,
    kvo_manual_change *manual_change) {
  kvo_manual_change **first =
      manual_changes_bucket(index, manual_change->id, manual_change->thread);
  manual_change->next_in_bucket = *first;
  *first = manual_change;
}

static struct kvo_manual_change_index *manual_changes_make_index(const kvo_table *table) {
  size_t buckets = KVO_FEW_MANUAL_CHANGES * 4;
  while (buckets < (size_t)table->open_count * 2) buckets *= 2;
  struct kvo_manual_change_index *index =
      kvo_alloc_zeroed(sizeof *index + buckets * sizeof *index->buckets);
  if (!index) return NULL;
  index->mask = (uint32_t)(buckets - 1);
  kvo_manual_change *oldest = table->manual_changes;
  while (oldest->next) oldest = oldest->next;
  for (kvo_manual_change *manual_change = oldest; manual_change;
      manual_change = manual_change->newer)
    manual_changes_enter(index, manual_change);
  return index;
}

// If there is no memory for a larger index, the one that is too small stays in use.
void kvo_manual_changes_index_newest_locked(kvo_table *table) {
  struct kvo_manual_change_index *index = table->manual_change_index;
  bool is_large = index && table->open_count <= index->mask;
  struct kvo_manual_change_index *larger = is_large ? NULL : manual_changes_make_index(table);
  if (larger) {
    kvo_free(index);
    table->manual_change_index = larger;
  } else if (index) {
    manual_changes_enter(index, table->manual_changes);
  }
}

kvo_manual_change *kvo_manual_changes_search_locked(kvo_table *table, uintptr_t id,
    uint32_t thread) {
  struct kvo_manual_change_index *index = table->manual_change_index;
  kvo_manual_change *manual_change =
      index ? *manual_changes_bucket(index, id, thread) : table->manual_changes;
  while (manual_change && (manual_change->id != id || manual_change->thread != thread))
    manual_change = index ? manual_change->next_in_bucket : manual_change->next;
  return manual_change;
}

void kvo_manual_changes_leave_index_locked(kvo_table *table, kvo_manual_change *manual_change) {
  kvo_manual_change **link =
      manual_changes_bucket(table->manual_change_index, manual_change->id, manual_change->thread);
  while (*link != manual_change) link = &(*link)->next_in_bucket;
  *link = manual_change->next_in_bucket;
  if (table->open_count > 1) return;
  kvo_free(table->manual_change_index);
  table->manual_change_index = NULL;
}

kvo_manual_change *kvo_manual_changes_take_all_locked(kvo_table *table) {
  kvo_manual_change *pairs = table->manual_changes;
  kvo_free(table->manual_change_index);
  table->manual_change_index = NULL;
  table->manual_changes = NULL;
  table->open_count = 0;
  return pairs;
}
