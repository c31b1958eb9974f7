// The members of a group: the common part of its registrations, and how they end.
//
// A group is one observer: it is live or ended as a whole, and the calls of its members are counted together. The
// group's memory is freed with the last member that anything holds.
#include "tables/kvo_group.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"

void kvo_group_member_ended(kvo_registration *member) {
  kvo_group *group = member->group;
  if (__atomic_sub_fetch(&group->unreclaimed, 1, __ATOMIC_ACQ_REL)) return;
  if (group->ended) group->ended(group->context);
}

kvo_counts *kvo_group_counts(kvo_group *group) { return &group->counts; }

void kvo_group_release(kvo_group *group) {
  if (__atomic_sub_fetch(&group->references, 1, __ATOMIC_ACQ_REL)) return;
  for (kvo_promoted_registration *next, *promoted = group->promoted; promoted; promoted = next) {
    next = promoted->next;
    kvo_free(promoted);
  }
  kvo_free(group);
}

void kvo_group_member_free(kvo_registration *member) { kvo_group_release(member->group); }

bool kvo_group_is_valid(const kvo_group *group) {
  for (uint32_t i = 0; i < kvo_group_registration_count(group); i++)
    if (kvo_registration_state(&group->registrations[i]) == KVO_LIVE) return true;
  for (const kvo_promoted_registration *promoted = kvo_group_promoted(group); promoted;
      promoted = promoted->next)
    if (kvo_registration_state(&promoted->registration) == KVO_LIVE) return true;
  return false;
}

bool kvo_group_member_begin_locked(kvo_registration *member) {
  if (member->group->has_ended) return false;
  kvo_registration_set_state(member, KVO_LIVE);
  return true;
}

static void mark_ended(kvo_group *group) {
  KVO_LOCKED_OBJECTS(group->registrations[0].object, NULL);
  group->has_ended = true;
}

// All are unlinked before the first is retired, so one fence serves all of them. Once the head is unlinked no group key
// is promoted.
void kvo_group_unlink(kvo_group *group, kvo_retired **retired) {
  mark_ended(group);
  for (uint32_t i = 0; i < kvo_group_registration_count(group); i++)
    kvo_registration_unlink(&group->registrations[i], retired);
  for (kvo_promoted_registration *promoted = kvo_group_promoted(group); promoted;
      promoted = promoted->next)
    kvo_registration_unlink(&promoted->registration, retired);
}

void kvo_group_end(kvo_group *group) {
  kvo_retired *retired = NULL;
  kvo_group_unlink(group, &retired);
  kvo_retire(retired);
}
