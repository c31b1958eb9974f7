// Open addressing with linear probing, as in map.c. A slot is only a pointer to a member: the key is the member's first
// field, and the caller reads the member anyway. Growing makes a new array and keeps the old one for its readers.
#include "base/kvo_map.h"

#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"

struct kvo_key_set_slots {
  struct kvo_key_set_slots *previous;
  size_t count;
  size_t mask;
  void *members[];
};

static size_t key_set_slot_of(const void *key, size_t mask) {
  return (size_t)(kvo_hash_pointer(key) >> 32) & mask;
}

static const void *key_set_key_of(const void *member) { return *(const void *const *)member; }

void *kvo_key_set_get(const kvo_key_set *set, const void *key) {
  struct kvo_key_set_slots *slots = __atomic_load_n(&set->slots, __ATOMIC_ACQUIRE);
  for (size_t i = slots ? key_set_slot_of(key, slots->mask) : 0; slots; i = (i + 1) & slots->mask) {
    void *found = __atomic_load_n(&slots->members[i], __ATOMIC_ACQUIRE);
    if (!found || key_set_key_of(found) == key) return found;
  }
  return NULL;
}

// The slot of the member with this key, or the free slot where it would go. There is always a free slot.
static void **key_set_store_locked(struct kvo_key_set_slots *slots, const void *key) {
  size_t i = key_set_slot_of(key, slots->mask);
  while (slots->members[i] && key_set_key_of(slots->members[i]) != key) i = (i + 1) & slots->mask;
  return &slots->members[i];
}

static void key_set_put(struct kvo_key_set_slots *slots, void *member) {
  void **storage = key_set_store_locked(slots, key_set_key_of(member));
  if (!*storage) slots->count++;
  __atomic_store_n(storage, member, __ATOMIC_RELEASE);
}

static bool key_set_grow(kvo_key_set *set) {
  struct kvo_key_set_slots *old = set->slots;
  size_t capacity = old ? (old->mask + 1) * 2 : 8;
  struct kvo_key_set_slots *new = kvo_alloc_zeroed(sizeof *new + capacity * sizeof(void *));
  if (!new) return false;
  new->previous = old;
  new->mask = capacity - 1;
  for (size_t i = 0; old && i <= old->mask; i++)
    if (old->members[i]) key_set_put(new, old->members[i]);
  __atomic_store_n(&set->slots, new, __ATOMIC_RELEASE);
  return true;
}

static bool key_set_has_room(struct kvo_key_set_slots *slots, const void *key) {
  return slots &&
         ((slots->count + 1) * 4 <= (slots->mask + 1) * 3 || *key_set_store_locked(slots, key));
}

bool kvo_key_set_add_locked(kvo_key_set *set, void *member) {
  if (!key_set_has_room(set->slots, key_set_key_of(member)) && !key_set_grow(set)) return false;
  key_set_put(set->slots, member);
  return true;
}
