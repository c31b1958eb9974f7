/// A map like kvo_map, of things whose first field is a pointer to their key. It takes half the memory.
#ifndef KVO_KEY_SET_H
#define KVO_KEY_SET_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_key_set {
  struct kvo_key_set_slots *KVO_NULLABLE slots;
} kvo_key_set;

/// The thing with a key, or NULL. O(1), no lock.
void *KVO_NULLABLE kvo_key_set_get(const kvo_key_set *set, const void *key);
/// Adds a thing, replacing an earlier one with the same key. False if out of memory. Owner's lock held.
bool kvo_key_set_add_locked(kvo_key_set *set, void *thing);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
