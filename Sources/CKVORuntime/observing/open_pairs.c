// The open manual changes of an object (D6).
//
// The object's table has a list of them, the newest first. A closing call looks for the newest pair of its key and
// thread. A few pairs are searched in the list, which is short if changes nest. Many pairs, which may be closed in
// any order, have an index: a hash table of chains, each with the newest pair first. It is made when there are many,
// and freed with the last pair. If there is no memory for it, the list is used. All of this is under the object's
// lock.
#include "observing/kvo_open_pairs.h"

#include "base/kvo_memory.h"

struct kvo_pair_index {
  uint32_t mask; // the number of buckets, a power of two, less one
  kvo_open_pair *buckets[];
};

static kvo_open_pair **bucket(struct kvo_pair_index *index, uintptr_t id, uint32_t thread) {
  uint64_t hash = ((uint64_t)id ^ (uint64_t)thread << 32) * 0x9E3779B97F4A7C15u;
  return &index->buckets[(hash >> 32) & index->mask];
}

static void enter(struct kvo_pair_index *index, kvo_open_pair *pair) {
  kvo_open_pair **first = bucket(index, pair->id, pair->thread);
  pair->next_in_bucket = *first;
  *first = pair;
}

static struct kvo_pair_index *make_index(const kvo_table *table) {
  size_t buckets = KVO_FEW_PAIRS * 4;
  while (buckets < (size_t)table->open_count * 2) buckets *= 2;
  struct kvo_pair_index *index = kvo_alloc_zeroed(sizeof *index + buckets * sizeof *index->buckets);
  if (!index) return NULL;
  index->mask = (uint32_t)(buckets - 1);
  kvo_open_pair *oldest = table->open_pairs;
  while (oldest->next) oldest = oldest->next;
  for (kvo_open_pair *pair = oldest; pair; pair = pair->newer) enter(index, pair);
  return index;
}

// If there is no memory for a larger index, the one that is too small stays in use.
void kvo_open_pairs_index_newest_locked(kvo_table *table) {
  struct kvo_pair_index *index = table->pair_index;
  bool is_large = index && table->open_count <= index->mask;
  struct kvo_pair_index *larger = is_large ? NULL : make_index(table);
  if (larger) {
    kvo_free(index);
    table->pair_index = larger;
  } else if (index) {
    enter(index, table->open_pairs);
  }
}

kvo_open_pair *kvo_open_pairs_search_locked(kvo_table *table, uintptr_t id, uint32_t thread) {
  struct kvo_pair_index *index = table->pair_index;
  kvo_open_pair *pair = index ? *bucket(index, id, thread) : table->open_pairs;
  while (pair && (pair->id != id || pair->thread != thread))
    pair = index ? pair->next_in_bucket : pair->next;
  return pair;
}

void kvo_open_pairs_leave_index_locked(kvo_table *table, kvo_open_pair *pair) {
  kvo_open_pair **link = bucket(table->pair_index, pair->id, pair->thread);
  while (*link != pair) link = &(*link)->next_in_bucket;
  *link = pair->next_in_bucket;
  if (table->open_count > 1) return;
  kvo_free(table->pair_index);
  table->pair_index = NULL;
}

kvo_open_pair *kvo_open_pairs_take_all_locked(kvo_table *table) {
  kvo_open_pair *pairs = table->open_pairs;
  kvo_free(table->pair_index);
  table->pair_index = NULL;
  table->open_pairs = NULL;
  table->open_count = 0;
  return pairs;
}
