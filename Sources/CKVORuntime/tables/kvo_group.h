/// Registrations of several keys that are made and ended together (group.c), and their group keys (group_keys.c).
#ifndef KVO_GROUP_H
#define KVO_GROUP_H

#include "tables/kvo_registration.h"
#include "threads/kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A registration for one key of a group with group keys. It is freed together with the group.
typedef struct kvo_promoted_registration kvo_promoted_registration;
struct kvo_promoted_registration {
  kvo_registration registration;
  kvo_promoted_registration *KVO_NULLABLE next; ///< the one made before; immutable
  uint32_t index;                               ///< the index of its key
};

struct kvo_group {
  uint32_t count; ///< the number of keys
  uint32_t
      key_count; ///< the number of keys that had a group key; 0: each key's registration is in the block
  uint32_t unreclaimed; ///< the number of its registrations that are not reclaimed; atomic
  uint32_t
      references; ///< the number of registrations that are referenced, plus one for its maker; atomic
  bool has_ended; ///< object lock
  void (*KVO_NULLABLE ended)(void *KVO_NULLABLE context);
  void *KVO_NULLABLE context;
  size_t stride; ///< 0 without a context
  kvo_promoted_registration
      *KVO_NULLABLE promoted; ///< newest first; written under the object's lock, atomic
  kvo_counts counts;          ///< of its observer, which is one for all keys
  /// With group keys: only the head, followed by the group keys. With KVO_DISTINCT: followed by a `kvo_last` for each
  /// key.
  kvo_registration registrations[];
};

/// The head of the registration's group; NULL if the group has no group keys.
KVO_INLINE kvo_registration *KVO_NULLABLE kvo_group_head(const kvo_registration *registration) {
  if (KVO_LIKELY(!(registration->options & KVO_GROUPED))) return NULL;
  return registration->group->key_count ? registration->group->registrations : NULL;
}
/// The number of registrations in the group's block.
KVO_INLINE uint32_t kvo_group_registration_count(const kvo_group *group) {
  return group->key_count ? 1 : group->count;
}
KVO_INLINE kvo_group_key *kvo_group_keys(kvo_group *group) {
  return (kvo_group_key *)(group->registrations + 1);
}
KVO_INLINE kvo_last *kvo_group_lasts(kvo_group *group) {
  return (kvo_last *)(group->registrations + group->count);
}
KVO_INLINE kvo_promoted_registration *KVO_NULLABLE kvo_group_promoted(const kvo_group *group) {
  return __atomic_load_n(&group->promoted, __ATOMIC_ACQUIRE);
}
KVO_INLINE void *KVO_NULLABLE kvo_group_context(const kvo_group *group, uint32_t index) {
  return (char *)group->context + index * group->stride;
}

/// Releases a reference. The last one frees the group.
void kvo_group_release(kvo_group *group);
/// Makes a registration for a key of a group with group keys. It is added to the group's list, but in no table yet.
/// NULL if out of memory. Needs the object's lock, unless no other thread has the group yet.
kvo_registration *KVO_NULLABLE kvo_group_promote(kvo_group *group, uint32_t index,
    uintptr_t tagged_accessors, uint8_t state);
/// Stores a group's group keys in the object's table, or registrations for keys that other observers have already.
/// Returns false if out of memory: the group must then be ended, and its head is live only if some group keys were
/// stored. No lock held.
bool kvo_group_insert_keys(kvo_group *group, kvo_class *dynamic,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Calls a group's callback for one of its registrations or group keys. Sets the change's key index.
void kvo_group_call_member(const kvo_registration *member, kvo_keyed_change *keyed);
void kvo_group_key_call(const kvo_group_key *group_key, const char *key, kvo_keyed_change *keyed);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
