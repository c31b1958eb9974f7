/// Maps whose keys are interned pointers. Entries are added or replaced under the owner's lock, and never removed. Any
/// thread reads them without a lock.
#ifndef KVO_MAP_H
#define KVO_MAP_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A map to pointers.
typedef struct kvo_map {
  struct kvo_map_slots *KVO_NULLABLE slots;
} kvo_map;

/// The value of a key, or NULL. O(1), no lock.
void *KVO_NULLABLE kvo_map_get(const kvo_map *map, const void *key);
/// Visits all entries, in no order. Entries that are added during the visit may be visited or not. O(n), no lock.
void kvo_map_each(const kvo_map *map,
    void (*visit)(void *KVO_NULLABLE context, const void *key, void *value),
    void *KVO_NULLABLE context);
/// Stores a value for a key, replacing an earlier one. False if out of memory. Owner's lock held.
bool kvo_map_set_locked(kvo_map *map, const void *key, void *KVO_NULLABLE value);

/// A set of structs, each of which begins with a pointer to its key. It takes half the memory of a `kvo_map`.
typedef struct kvo_key_set {
  struct kvo_key_set_slots *KVO_NULLABLE slots;
} kvo_key_set;

/// The member with a key, or NULL. O(1), no lock.
void *KVO_NULLABLE kvo_key_set_get(const kvo_key_set *set, const void *key);
/// Adds a member, replacing an earlier one with the same key. False if out of memory. Owner's lock held.
bool kvo_key_set_add_locked(kvo_key_set *set, void *member);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
