/// A map from interned pointers to pointers that only grows: written under a lock of the owner's,
/// read by any thread without one.
#ifndef KVO_MAP_H
#define KVO_MAP_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_map {
  struct kvo_map_slots *KVO_NULLABLE slots;
} kvo_map;

/// What is kept under the key, or NULL. O(1), no lock.
void *KVO_NULLABLE kvo_map_get(const kvo_map *map, const void *key);
/// Visits all that is there, in no order. O(n), no lock; what is added meanwhile may be visited or not.
void kvo_map_each(const kvo_map *map,
    void (*visit)(void *KVO_NULLABLE context, const void *key, void *value),
    void *KVO_NULLABLE context);
/// Keeps `value` under the key, in place of an earlier one. False if memory is out. Owner's lock
/// held.
bool kvo_map_set_locked(kvo_map *map, const void *key, void *KVO_NULLABLE value);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
