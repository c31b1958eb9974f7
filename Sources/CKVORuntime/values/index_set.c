// An index set is an array of ranges and the count of their indexes. Each range stores how many indexes precede it,
// so that the n-th index is found by binary search.
//
// Invariants: the ranges ascend, none is empty, and at least one index is missing between neighbours. So equal sets
// have equal ranges. No range contains KVO_NOT_FOUND.
#include "kvo_index_set.h"

#include "base/kvo_memory.h"

#include <string.h>

typedef struct place {
  kvo_range range;
  size_t before;
} place;

struct kvo_index_set {
  size_t count;
  size_t range_count;
  size_t capacity;
  place *places;
};

static size_t end_of(kvo_range range) { return range.location + range.length; }

static bool fits(size_t location, size_t length) { return length <= KVO_NOT_FOUND - location; }

static bool reserve(kvo_index_set *set, size_t capacity) {
  if (capacity <= set->capacity) return true;
  place *places = kvo_grow(set->places, set->range_count, capacity, sizeof *places, &set->capacity);
  if (places) set->places = places;
  return places;
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
  if (!copy || !reserve(copy, set->range_count)) {
    kvo_index_set_destroy(copy);
    return NULL;
  }
  if (set->range_count) memcpy(copy->places, set->places, set->range_count * sizeof *set->places);
  copy->count = set->count;
  copy->range_count = set->range_count;
  return copy;
}

void kvo_index_set_destroy(kvo_index_set *set) {
  if (!set) return;
  kvo_free(set->places);
  kvo_free(set);
}

// MARK: Adding

// The first range that ends at or after `index`, and so could contain or touch it.
static size_t first_reaching(const kvo_index_set *set, size_t index) {
  size_t low = 0, high = set->range_count;
  if (high && end_of(set->places[high - 1].range) < index) return high;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (end_of(set->places[middle].range) < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Recomputes the counts from a range on. Most indexes are added at the end.
static void count_from(kvo_index_set *set, size_t at) {
  size_t before = at ? set->places[at - 1].before + set->places[at - 1].range.length : 0;
  for (size_t i = at; i < set->range_count; i++) {
    set->places[i].before = before;
    before += set->places[i].range.length;
  }
  set->count = before;
}

// Replaces `removed` ranges from `at` on by `range`. There must be room.
static void splice(kvo_index_set *set, size_t at, size_t removed, kvo_range range) {
  size_t behind = set->range_count - at - removed;
  memmove(set->places + at + 1, set->places + at + removed, behind * sizeof *set->places);
  set->places[at].range = range;
  set->range_count += 1 - removed;
  count_from(set, at);
}

bool kvo_index_set_add_range(kvo_index_set *set, size_t location, size_t length) {
  if (!fits(location, length)) return false;
  if (!length) return true;
  if (!reserve(set, set->range_count + 1)) return false;
  size_t end = location + length, first = first_reaching(set, location), behind = first;
  while (behind < set->range_count && set->places[behind].range.location <= end) behind++;
  if (behind > first) {
    kvo_range low = set->places[first].range, high = set->places[behind - 1].range;
    if (low.location < location) location = low.location;
    if (end_of(high) > end) end = end_of(high);
  }
  splice(set, first, behind - first, (kvo_range){location, end - location});
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
  return i < set->range_count && set->places[i].range.location <= index;
}

size_t kvo_index_set_index(const kvo_index_set *set, size_t n) {
  if (n >= kvo_index_set_count(set)) return KVO_NOT_FOUND;
  size_t low = 0, high = set->range_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (set->places[middle].before <= n) low = middle;
    else high = middle;
  }
  return set->places[low].range.location + (n - set->places[low].before);
}

bool kvo_index_set_equal(const kvo_index_set *a, const kvo_index_set *b) {
  if (a->count != b->count || a->range_count != b->range_count) return false;
  return !a->range_count || !memcmp(a->places, b->places, a->range_count * sizeof *a->places);
}

size_t kvo_index_set_range_count(const kvo_index_set *set) { return set ? set->range_count : 0; }

kvo_range kvo_index_set_range(const kvo_index_set *set, size_t i) {
  return i < kvo_index_set_range_count(set) ? set->places[i].range : (kvo_range){KVO_NOT_FOUND, 0};
}
