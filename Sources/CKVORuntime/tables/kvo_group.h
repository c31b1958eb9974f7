/// Registrations of several keys that are made and ended together (group.c), and their seats (seats.c).
#ifndef KVO_GROUP_H
#define KVO_GROUP_H

#include "tables/kvo_registration.h"
#include "threads/kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A registration for one key of a group with seats. Its memory goes with the group's.
typedef struct kvo_full_member kvo_full_member;
struct kvo_full_member {
  kvo_registration registration;
  kvo_full_member *KVO_NULLABLE next; ///< the one made before; immutable
  uint32_t index;                     ///< of its key
};

struct kvo_group {
  uint32_t count;       ///< of keys
  uint32_t seats;       ///< of those that had a seat; 0: each key's registration lies in the block
  uint32_t unreclaimed; ///< of its registrations; atomic
  uint32_t references;  ///< registrations that something holds, and its maker; atomic
  bool has_ended;       ///< object lock
  void (*KVO_NULLABLE ended)(void *KVO_NULLABLE context);
  void *KVO_NULLABLE context;
  size_t stride;                      ///< 0 without a context
  kvo_full_member *KVO_NULLABLE full; ///< newest first; written under the object's lock, atomic
  kvo_counts counts;                  ///< of its observer
  kvo_registration registrations[];   ///< with seats a head, behind which they lie
};

/// The head of its group; NULL if that has no seats.
KVO_INLINE kvo_registration *KVO_NULLABLE kvo_group_head(const kvo_registration *registration) {
  if (KVO_LIKELY(!(registration->options & KVO_GROUPED))) return NULL;
  return registration->group->seats ? registration->group->registrations : NULL;
}
/// Of registrations in its block.
KVO_INLINE uint32_t kvo_group_registration_count(const kvo_group *group) {
  return group->seats ? 1 : group->count;
}
KVO_INLINE kvo_seat *kvo_group_seats(kvo_group *group) {
  return (kvo_seat *)(group->registrations + 1);
}
KVO_INLINE kvo_full_member *KVO_NULLABLE kvo_group_full(const kvo_group *group) {
  return __atomic_load_n(&group->full, __ATOMIC_ACQUIRE);
}
KVO_INLINE void *KVO_NULLABLE kvo_group_context(const kvo_group *group, uint32_t index) {
  return (char *)group->context + index * group->stride;
}

/// Gives a reference back; frees it with the last.
void kvo_group_let_go(kvo_group *group);
/// Makes a registration for a key of a group with seats; it is chained, and in no table. NULL if memory is
/// out. The object's lock, or nobody else has the group yet.
kvo_registration *KVO_NULLABLE kvo_group_make_full(kvo_group *group, uint32_t index,
    uintptr_t reading, uint8_t state);
/// Puts a group's seats in place, with registrations where others observe the key already. False if memory is
/// out: it has to be ended, and has a live head only if some are in place. No lock held.
bool kvo_group_take_seats(kvo_group *group, kvo_class *dynamic,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Calls a group's callback for one of its registrations, or from a seat. Sets the change's index.
void kvo_group_call_member(const kvo_registration *member, kvo_keyed_change *keyed);
void kvo_seat_call(const kvo_seat *seat, const char *key, kvo_keyed_change *keyed);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
