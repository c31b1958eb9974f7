// Seats: the entries of a registration of many keys, without a registration at each.
//
// A group that asks for old and new at most has one registration, its head, followed by a seat of two words for each
// key that has no other entry. The key's cell contains the seat's address, tagged. The head is found from there by
// arithmetic. So a head is in many cells, and all of its seats share its state, its references and its end. They are
// inserted together, and removed together, in one critical section of the object's lock.
//
// | reader | finds |
// |---|---|
// | a delivery, on the fast or the slow path | the seat, by which it calls the callback (`kvo_seat_call`) |
// | code that only needs the head: options, ends, dumps | `kvo_observers_single` |
// | a list, the recipients of a change of a collection | a registration: the seat is promoted |
//
// Promotion replaces a seat by a registration of the group (`kvo_full_member`) under the object's lock. The
// registration has the seat's age, so a change that found the seat before the change accepts the registration after
// it. The seat stays in the group's memory for threads that still read it. That memory is freed as registrations are,
// and a seat is never used again. As soon as one of a group's registrations ends, all its seats end. So the head
// outlives none of them, and the end of the group is reported.
#include "tables/kvo_group.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "classes/kvo_dynamic_class.h"

_Static_assert(sizeof(kvo_seat) == 16, "two words for a key");
_Static_assert(_Alignof(kvo_seat) > KVO_OBSERVERS_MARKS,
    "the lowest bits of its address are marks");
_Static_assert(sizeof(kvo_registration) % _Alignof(kvo_seat) == 0, "seats lie behind a head");

_Static_assert(offsetof(kvo_seat, state) == offsetof(kvo_registration, state) &&
                   offsetof(kvo_seat, options) == offsetof(kvo_registration, options) &&
                   offsetof(kvo_seat, reading) == offsetof(kvo_registration, reading),
    "a seat begins as a registration");

// MARK: Promotion

// Serial numbers follow the head's in the order of the keys. So a key that is in the group twice is called in that
// order.
static uint64_t serial_of(const kvo_registration *head, uint32_t index) {
  uint64_t first = __atomic_load_n(&head->serial, __ATOMIC_ACQUIRE);
  return first >= KVO_NO_SERIAL ? KVO_NO_SERIAL : first + index;
}

kvo_registration *kvo_group_make_full(kvo_group *group, uint32_t index, uintptr_t reading,
    uint8_t state) {
  const kvo_registration *head = group->registrations;
  kvo_full_member *made = kvo_alloc(sizeof *made);
  if (!made) return NULL;
  *made = (kvo_full_member){.next = group->full, .index = index};
  made->registration = (kvo_registration){.state = state,
      .references = 1,
      .options = head->options,
      .has_counts = true,
      .callback = head->callback,
      .context = kvo_group_context(group, index),
      .reading = reading,
      .serial = serial_of(head, index),
      .thread = head->thread,
      .object = head->object,
      .group = group};
  __atomic_fetch_add(&group->unreclaimed, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&group->references, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&group->full, made, __ATOMIC_RELEASE);
  return &made->registration;
}

bool kvo_cell_promote_locked(kvo_cell *cell) {
  const kvo_seat *seat = kvo_observers_seat(cell->observers);
  kvo_registration *full =
      kvo_group_make_full(kvo_seat_head(seat)->group, seat->index, seat->reading, KVO_LIVE);
  if (full) __atomic_store_n(&cell->observers, kvo_observers_of(full), __ATOMIC_SEQ_CST);
  return full;
}

// MARK: Taking seats

// A key that has another observer gets a registration instead of a seat.
static bool join_locked(kvo_table *table, const kvo_seat *seat, kvo_retired **retired) {
  kvo_registration *full =
      kvo_group_make_full(kvo_seat_head(seat)->group, seat->index, seat->reading, KVO_UNPLACED);
  if (!full) return false;
  kvo_registration_set_state(full, KVO_LIVE);
  if (kvo_table_insert_locked(table, full, false, retired)) return true;
  kvo_registration_set_state(full, KVO_UNPLACED);
  return false;
}

// Returns the number of keys that were inserted, which is lower than the number of seats if memory is out.
static uint32_t take_all_locked(kvo_group *group, kvo_table *table, kvo_retired **retired) {
  const kvo_seat *seats = kvo_group_seats(group);
  uint32_t taken = 0;
  for (uint32_t i = 0; i < group->count; i++) {
    if (!seats[i].reading) continue;
    bool is_in = kvo_table_seat_locked(table, &seats[i]) || join_locked(table, &seats[i], retired);
    if (!is_in) break;
    taken++;
  }
  return taken;
}

// All seats are visible. A change that counts the first of them has counted all.
static void number_all_locked(kvo_group *group) {
  __atomic_store_n(&group->registrations->serial, KVO_NO_SERIAL, __ATOMIC_RELEASE);
  kvo_registration_take_serial(group->registrations);
  for (kvo_full_member *full = group->full; full; full = full->next)
    if (full->registration.state == KVO_LIVE) kvo_registration_serial(&full->registration);
}

// Keys that were observed before may have cells. A larger table is made without the empty ones, so it needs room for
// all.
static kvo_table *reserve_locked(const kvo_group *group, kvo_retired **retired) {
  kvo_object *object = group->registrations[0].object;
  kvo_table *table = kvo_table_of(object);
  const kvo_seat *seats = kvo_group_seats((kvo_group *)(uintptr_t)group);
  uint64_t used = table ? table->used : 0;
  for (uint32_t i = 0; table && i < group->count; i++)
    used += seats[i].reading && !kvo_table_find(table, kvo_seat_accessors(&seats[i])->id);
  bool suffices = table && used * 4 <= ((uint64_t)table->mask + 1) * 3;
  return suffices ? table : kvo_table_reserve_locked(object, group->seats, retired);
}

static bool take_seats_locked(kvo_group *group, kvo_class *dynamic, kvo_retired **retired) {
  kvo_registration *head = group->registrations;
  kvo_object *object = head->object;
  if (group->has_ended) return true;
  kvo_object_share_locked(object);
  kvo_table *table = reserve_locked(group, retired);
  if (!table) return false;
  head->serial = KVO_NOT_IN_PLACE;
  kvo_registration_set_state(head, KVO_LIVE);
  uint32_t taken = take_all_locked(group, table, retired);
  // If it were in no cell, no lookup would find it, and the object's table could be freed too early.
  if (!taken) kvo_registration_set_state(head, KVO_UNPLACED);
  if (taken < group->seats) return false;
  number_all_locked(group);
  bool has_threads = kvo_process_has_threads();
  for (uint32_t i = 0; i < group->count; i++) {
    const kvo_seat *seat = &kvo_group_seats(group)[i];
    if (seat->reading)
      kvo_swizzle_in_locked(object, dynamic, kvo_seat_accessors(seat)->id, has_threads);
  }
  return true;
}

bool kvo_group_take_seats(kvo_group *group, kvo_class *dynamic, kvo_retired **retired) {
  KVO_LOCKED_OBJECTS(group->registrations[0].object, NULL);
  bool is_own = kvo_object_is_own(group->registrations[0].object);
  kvo_retired *before = *retired;
  bool all = take_seats_locked(group, dynamic, retired);
  if (is_own) kvo_retire_mark_own(*retired, before);
  return all;
}
