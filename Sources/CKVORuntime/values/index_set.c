// An index set is an array of ranges and the count of their indexes. Each range stores how many indexes precede it,
// so that the n-th index is found by binary search.
//
// Invariants: the ranges ascend, none is empty, and at least one index is missing between neighbours. So equal sets
// have equal ranges. No range contains KVO_NOT_FOUND.
#include "kvo_index_set.h"

#include "base/kvo_memory.h"

#include <string.h>

typedef struct indexed_range {
  kvo_range range;
  size_t before;
} indexed_range;

struct kvo_index_set {
  size_t count;
  size_t range_count;
  size_t capacity;
  indexed_range *ranges;
};

static size_t index_set_end_of(kvo_range range) { return range.location + range.length; }

static bool index_set_fits(size_t location, size_t length) {
  return length <= KVO_NOT_FOUND - location;
}

static bool index_set_reserve(kvo_index_set *set, size_t capacity) {
  if (capacity <= set->capacity) return true;
  indexed_range *ranges =
      kvo_grow(set->ranges, set->range_count, capacity, sizeof *ranges, &set->capacity);
  if (ranges) set->ranges = ranges;
  return ranges;
}

kvo_index_set *kvo_index_set_create(void) { return kvo_alloc_zeroed(sizeof(kvo_index_set)); }

kvo_index_set *kvo_index_set_create_range(size_t location, size_t length) {
  kvo_index_set *set = kvo_index_set_create();
  if (!set || kvo_index_set_add_range(set, location, length)) return set;
  kvo_index_set_destroy(set);
  return NULL;
}

kvo_index_set *kvo_index_set_copy(const kvo_index_set *set) {
  kvo_index_set *copy = kvo_index_set_create();
  if (!copy || !index_set_reserve(copy, set->range_count)) {
    kvo_index_set_destroy(copy);
    return NULL;
  }
  if (set->range_count) memcpy(copy->ranges, set->ranges, set->range_count * sizeof *set->ranges);
  copy->count = set->count;
  copy->range_count = set->range_count;
  return copy;
}

void kvo_index_set_destroy(kvo_index_set *set) {
  if (!set) return;
  kvo_free(set->ranges);
  kvo_free(set);
}

// MARK: Adding

// The first range that ends at or after `index`, and so could contain or touch it.
static size_t first_reaching(const kvo_index_set *set, size_t index) {
  size_t low = 0, high = set->range_count;
  if (high && index_set_end_of(set->ranges[high - 1].range) < index) return high;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (index_set_end_of(set->ranges[middle].range) < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Recomputes the counts from a range on. Most indexes are added at the end.
static void count_from(kvo_index_set *set, size_t at) {
  size_t before = at ? set->ranges[at - 1].before + set->ranges[at - 1].range.length : 0;
  for (size_t i = at; i < set->range_count; i++) {
    set->ranges[i].before = before;
    before += set->ranges[i].range.length;
  }
  set->count = before;
}

// Replaces `removed` ranges from `at` on by `range`. There must be room.
static void index_set_splice(kvo_index_set *set, size_t at, size_t removed, kvo_range range) {
  size_t behind = set->range_count - at - removed;
  memmove(set->ranges + at + 1, set->ranges + at + removed, behind * sizeof *set->ranges);
  set->ranges[at].range = range;
  set->range_count += 1 - removed;
  count_from(set, at);
}

bool kvo_index_set_add_range(kvo_index_set *set, size_t location, size_t length) {
  if (!index_set_fits(location, length)) return false;
  if (!length) return true;
  if (!index_set_reserve(set, set->range_count + 1)) return false;
  size_t end = location + length, first = first_reaching(set, location), behind = first;
  while (behind < set->range_count && set->ranges[behind].range.location <= end) behind++;
  if (behind > first) {
    kvo_range low = set->ranges[first].range, high = set->ranges[behind - 1].range;
    if (low.location < location) location = low.location;
    if (index_set_end_of(high) > end) end = index_set_end_of(high);
  }
  index_set_splice(set, first, behind - first, (kvo_range){location, end - location});
  return true;
}

bool kvo_index_set_add(kvo_index_set *set, size_t index) {
  return kvo_index_set_add_range(set, index, 1);
}

// MARK: Reading

size_t kvo_index_set_count(const kvo_index_set *set) { return set ? set->count : 0; }

bool kvo_index_set_contains(const kvo_index_set *set, size_t index) {
  if (!set || index == KVO_NOT_FOUND) return false;
  size_t i = first_reaching(set, index + 1);
  return i < set->range_count && set->ranges[i].range.location <= index;
}

size_t kvo_index_set_index(const kvo_index_set *set, size_t n) {
  if (n >= kvo_index_set_count(set)) return KVO_NOT_FOUND;
  size_t low = 0, high = set->range_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (set->ranges[middle].before <= n) low = middle;
    else high = middle;
  }
  return set->ranges[low].range.location + (n - set->ranges[low].before);
}

bool kvo_index_set_equal(const kvo_index_set *a, const kvo_index_set *b) {
  if (a->count != b->count || a->range_count != b->range_count) return false;
  return !a->range_count || !memcmp(a->ranges, b->ranges, a->range_count * sizeof *a->ranges);
}

size_t kvo_index_set_range_count(const kvo_index_set *set) { return set ? set->range_count : 0; }

kvo_range kvo_index_set_range(const kvo_index_set *set, size_t i) {
  return i < kvo_index_set_range_count(set) ? set->ranges[i].range : (kvo_range){KVO_NOT_FOUND, 0};
}
