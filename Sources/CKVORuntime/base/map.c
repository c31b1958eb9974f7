// Open addressing with linear probing. Growing makes a new array and keeps the old one for its readers. The arrays
// form a chain whose sizes double, so the old ones together take less memory than the current one.
#include "base/kvo_map.h"

#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"

typedef struct {
  const void *key;
  void *value;
} entry;

struct kvo_map_slots {
  struct kvo_map_slots *previous;
  size_t count;
  size_t mask;
  entry entries[];
};

static size_t map_slot_of(const void *key, size_t mask) {
  return (size_t)(kvo_hash_pointer(key) >> 32) & mask;
}

// The entry of the key, or the free one where it would go. There is always a free one.
static entry *map_find_locked(struct kvo_map_slots *slots, const void *key) {
  size_t i = map_slot_of(key, slots->mask);
  while (slots->entries[i].key && slots->entries[i].key != key) i = (i + 1) & slots->mask;
  return &slots->entries[i];
}

// Stops at an entry that was free when it was read, and does not read it again, because another thread may be filling
// it.
void *kvo_map_get(const kvo_map *map, const void *key) {
  struct kvo_map_slots *slots = __atomic_load_n(&map->slots, __ATOMIC_ACQUIRE);
  for (size_t i = slots ? map_slot_of(key, slots->mask) : 0; slots; i = (i + 1) & slots->mask) {
    const void *found = __atomic_load_n(&slots->entries[i].key, __ATOMIC_ACQUIRE);
    if (found == key) return __atomic_load_n(&slots->entries[i].value, __ATOMIC_ACQUIRE);
    if (!found) return NULL;
  }
  return NULL;
}

void kvo_map_each(const kvo_map *map, void (*visit)(void *context, const void *key, void *value),
    void *context) {
  const struct kvo_map_slots *slots = __atomic_load_n(&map->slots, __ATOMIC_ACQUIRE);
  for (size_t i = 0; slots && i <= slots->mask; i++) {
    const void *key = __atomic_load_n(&slots->entries[i].key, __ATOMIC_ACQUIRE);
    if (key) visit(context, key, __atomic_load_n(&slots->entries[i].value, __ATOMIC_ACQUIRE));
  }
}

static void map_put(struct kvo_map_slots *slots, const void *key, void *value) {
  entry *entry = map_find_locked(slots, key);
  if (!entry->key) slots->count++;
  __atomic_store_n(&entry->value, value, __ATOMIC_RELEASE);
  __atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
}

static bool map_grow(kvo_map *map) {
  struct kvo_map_slots *old = map->slots;
  size_t capacity = old ? (old->mask + 1) * 2 : 8;
  struct kvo_map_slots *new = kvo_alloc_zeroed(sizeof *new + capacity * sizeof(entry));
  if (!new) return false;
  new->previous = old;
  new->mask = capacity - 1;
  for (size_t i = 0; old && i <= old->mask; i++)
    if (old->entries[i].key) map_put(new, old->entries[i].key, old->entries[i].value);
  __atomic_store_n(&map->slots, new, __ATOMIC_RELEASE);
  return true;
}

bool kvo_map_set_locked(kvo_map *map, const void *key, void *value) {
  struct kvo_map_slots *slots = map->slots;
  bool full = !slots ||
              ((slots->count + 1) * 4 > (slots->mask + 1) * 3 && !map_find_locked(slots, key)->key);
  if (full && !map_grow(map)) return false;
  map_put(map->slots, key, value);
  return true;
}
