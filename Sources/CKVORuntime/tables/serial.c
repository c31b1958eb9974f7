// The serial number of a registration: the order in which registrations became visible (I3), counted over all of
// them.
//
// A registration is inserted first and numbered after that. With the number taken first, a change that begins in
// between would count the registration as present, but not find it. A thread that finds a registration without a
// number takes one for it; the first thread decides. So all threads read the same number, and a change for which a
// registration came too late before the change finds it too late after the change as well.
//
// Group keys are numbered together, when the last of them is in place. Until then their head is KVO_SERIAL_OF_HIDDEN:
// no thread takes numbers, and a change that finds a group key is too early for it, since the group keys' numbers will
// be higher than the change's count.
#include "tables/kvo_group.h"

static uint64_t serial_decide(kvo_registration *registration, uint64_t serial) {
  uint64_t found = KVO_NO_SERIAL;
  bool is_first = __atomic_compare_exchange_n(&registration->serial, &found, serial, false,
      __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
  return is_first ? serial : found;
}

static uint64_t serial_next(uint32_t count) {
  return __atomic_add_fetch(&kvo_serial, count, __ATOMIC_SEQ_CST) - count + 1;
}

// The head reserves a number for each of its group's keys, in their order. A key without a group key is numbered by
// itself.
static uint64_t take_for_member(kvo_registration *registration, const kvo_registration *head) {
  uint32_t index = ((const kvo_promoted_registration *)registration)->index;
  if (!kvo_group_keys(head->group)[index].tagged_accessors)
    return serial_decide(registration, serial_next(1));
  uint64_t first = kvo_registration_serial(head);
  return first == KVO_SERIAL_OF_HIDDEN ? first : serial_decide(registration, first + index);
}

uint64_t kvo_registration_take_serial(const kvo_registration *registration) {
  kvo_registration *numbered = (kvo_registration *)(uintptr_t)registration;
  kvo_registration *head = kvo_group_head(registration);
  if (!head) return serial_decide(numbered, serial_next(1));
  return head == numbered ? serial_decide(head, serial_next(head->group->count))
                          : take_for_member(numbered, head);
}

bool kvo_registration_was_numbered(const kvo_registration *registration, uint64_t counted) {
  return kvo_registration_serial(registration) <= counted;
}
