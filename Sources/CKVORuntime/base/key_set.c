// Open addressing with linear probing, as in map.c, but an entry is only a pointer: its key is read from the thing
// itself, which the caller reads anyway. Growing makes a new array and keeps the old one for its readers.
#include "base/kvo_key_set.h"

#include "base/kvo_memory.h"

struct kvo_key_set_slots {
  struct kvo_key_set_slots *previous;
  size_t count;
  size_t mask;
  void *things[];
};

static size_t home(const void *key, size_t mask) {
  return (size_t)(((uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u) >> 32) & mask;
}

static const void *key_of(const void *thing) { return *(const void *const *)thing; }

void *kvo_key_set_get(const kvo_key_set *set, const void *key) {
  struct kvo_key_set_slots *slots = __atomic_load_n(&set->slots, __ATOMIC_ACQUIRE);
  for (size_t i = slots ? home(key, slots->mask) : 0; slots; i = (i + 1) & slots->mask) {
    void *found = __atomic_load_n(&slots->things[i], __ATOMIC_ACQUIRE);
    if (!found || key_of(found) == key) return found;
  }
  return NULL;
}

// The slot that has the key's thing, or the free one where it would go. There is always a free slot.
static void **place_locked(struct kvo_key_set_slots *slots, const void *key) {
  size_t i = home(key, slots->mask);
  while (slots->things[i] && key_of(slots->things[i]) != key) i = (i + 1) & slots->mask;
  return &slots->things[i];
}

static void put(struct kvo_key_set_slots *slots, void *thing) {
  void **place = place_locked(slots, key_of(thing));
  if (!*place) slots->count++;
  __atomic_store_n(place, thing, __ATOMIC_RELEASE);
}

static bool grow(kvo_key_set *set) {
  struct kvo_key_set_slots *old = set->slots;
  size_t capacity = old ? (old->mask + 1) * 2 : 8;
  struct kvo_key_set_slots *new = kvo_alloc_zeroed(sizeof *new + capacity * sizeof(void *));
  if (!new) return false;
  new->previous = old;
  new->mask = capacity - 1;
  for (size_t i = 0; old && i <= old->mask; i++)
    if (old->things[i]) put(new, old->things[i]);
  __atomic_store_n(&set->slots, new, __ATOMIC_RELEASE);
  return true;
}

static bool has_room(struct kvo_key_set_slots *slots, const void *key) {
  return slots && ((slots->count + 1) * 4 <= (slots->mask + 1) * 3 || *place_locked(slots, key));
}

bool kvo_key_set_add_locked(kvo_key_set *set, void *thing) {
  if (!has_room(set->slots, key_of(thing)) && !grow(set)) return false;
  put(set->slots, thing);
  return true;
}
