// Group keys: the entries of a registration of many keys, without a registration at each.
//
// A group that asks for old and new at most has one registration, its head, followed by a group key of two words for
// each key that has no other entry. The key's cell contains the group key's address, tagged. The head is found from
// there by arithmetic. So a head is in many cells, and all of its group keys share its state, its references and its
// end. They are inserted together, and removed together, in one critical section of the object's lock.
//
// | reader | finds |
// |---|---|
// | a delivery, on the fast or the slow path | the group key, by which it calls the callback (`kvo_group_key_call`) |
// | code that only needs the head: options, ends, dumps | `kvo_observers_single` |
// | a list, the recipients of a change of a collection | a registration: the group key is promoted |
//
// Promotion replaces a group key by a registration of the group (`kvo_promoted_registration`) under the object's lock.
// The registration has the group key's age, so a change that found the group key before the change accepts the
// registration after it. The group key stays in the group's memory for threads that still read it. That memory is freed
// as registrations are, and a group key is never used again. As soon as one of a group's registrations ends, all its
// group keys end. So the head outlives none of them, and the end of the group is reported.
#include "tables/kvo_group.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "classes/kvo_dynamic_class.h"

_Static_assert(sizeof(kvo_group_key) == 16, "two words for a key");
_Static_assert(_Alignof(kvo_group_key) > KVO_OBSERVERS_TAG_MASK,
    "the lowest bits of its address are marks");
_Static_assert(sizeof(kvo_registration) % _Alignof(kvo_group_key) == 0,
    "group keys follow the head");

_Static_assert(offsetof(kvo_group_key, state) == offsetof(kvo_registration, state) &&
                   offsetof(kvo_group_key, options) == offsetof(kvo_registration, options) &&
                   offsetof(kvo_group_key, tagged_accessors) ==
                       offsetof(kvo_registration, tagged_accessors),
    "a group key begins as a registration");

// MARK: Promotion

// Serial numbers follow the head's in the order of the keys. So a key that is in the group twice is called in that
// order.
static uint64_t serial_of(const kvo_registration *head, uint32_t index) {
  uint64_t first = __atomic_load_n(&head->serial, __ATOMIC_ACQUIRE);
  return first >= KVO_NO_SERIAL ? KVO_NO_SERIAL : first + index;
}

kvo_registration *kvo_group_promote(kvo_group *group, uint32_t index, uintptr_t tagged_accessors,
    uint8_t state) {
  const kvo_registration *head = group->registrations;
  kvo_promoted_registration *made = kvo_alloc(sizeof *made);
  if (!made) return NULL;
  *made = (kvo_promoted_registration){.next = group->promoted, .index = index};
  made->registration = (kvo_registration){.state = state,
      .references = 1,
      .options = head->options,
      .has_counts = true,
      .callback = head->callback,
      .context = kvo_group_context(group, index),
      .tagged_accessors = tagged_accessors,
      .serial = serial_of(head, index),
      .thread = head->thread,
      .object = head->object,
      .group = group};
  __atomic_fetch_add(&group->unreclaimed, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&group->references, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&group->promoted, made, __ATOMIC_RELEASE);
  return &made->registration;
}

bool kvo_cell_promote_locked(kvo_cell *cell) {
  const kvo_group_key *group_key = kvo_observers_group_key(cell->observers);
  kvo_registration *promoted = kvo_group_promote(kvo_group_key_head(group_key)->group,
      group_key->index, group_key->tagged_accessors, KVO_LIVE);
  if (promoted) __atomic_store_n(&cell->observers, kvo_observers_of(promoted), __ATOMIC_SEQ_CST);
  return promoted;
}

// MARK: Taking group keys

// A key that has another observer gets a registration instead of a group key.
static bool insert_promoted_locked(kvo_table *table, const kvo_group_key *group_key,
    kvo_retired **retired) {
  kvo_registration *promoted = kvo_group_promote(kvo_group_key_head(group_key)->group,
      group_key->index, group_key->tagged_accessors, KVO_NOT_INSERTED);
  if (!promoted) return false;
  kvo_registration_set_state(promoted, KVO_LIVE);
  if (kvo_table_insert_locked(table, promoted, false, retired)) return true;
  kvo_registration_set_state(promoted, KVO_NOT_INSERTED);
  return false;
}

// Returns the number of keys that were inserted, which is lower than the number of group keys if memory ran out.
static uint32_t insert_each_locked(kvo_group *group, kvo_table *table, kvo_retired **retired) {
  const kvo_group_key *group_keys = kvo_group_keys(group);
  uint32_t inserted = 0;
  for (uint32_t i = 0; i < group->count; i++) {
    if (!group_keys[i].tagged_accessors) continue;
    bool is_in = kvo_table_insert_group_key_locked(table, &group_keys[i]) ||
                 insert_promoted_locked(table, &group_keys[i], retired);
    if (!is_in) break;
    inserted++;
  }
  return inserted;
}

// Gives numbers to the head, which reserves one for each group key, and to the promoted registrations. All group keys
// are visible by now, so a change that counts the first of them has counted all.
static void number_all_locked(kvo_group *group) {
  __atomic_store_n(&group->registrations->serial, KVO_NO_SERIAL, __ATOMIC_RELEASE);
  kvo_registration_take_serial(group->registrations);
  for (kvo_promoted_registration *promoted = group->promoted; promoted; promoted = promoted->next)
    if (promoted->registration.state == KVO_LIVE)
      (void)kvo_registration_serial(&promoted->registration); // takes its number
}

// The object's table with room for the group's keys. Keys that were observed before may have cells in the present one,
// so only the others are counted. A larger table is made without cells that are empty, so it needs room for all keys.
static kvo_table *reserve_locked(const kvo_group *group, kvo_retired **retired) {
  kvo_object *object = group->registrations[0].object;
  kvo_table *table = kvo_table_of(object);
  const kvo_group_key *group_keys = kvo_group_keys((kvo_group *)(uintptr_t)group);
  uint64_t used = table ? table->used : 0;
  for (uint32_t i = 0; table && i < group->count; i++)
    used += group_keys[i].tagged_accessors &&
            !kvo_table_find(table, kvo_group_key_accessors(&group_keys[i])->id);
  bool suffices = table && used * 4 <= ((uint64_t)table->mask + 1) * 3;
  return suffices ? table : kvo_table_reserve_locked(object, group->key_count, retired);
}

// A binding's object is marked for each observed key (`kvo_isa_mark`), so each is swizzled in. An object of C has no
// marks: it is enough to do so once, with any id.
static void swizzle_locked(kvo_object *object, kvo_group *group, kvo_class *dynamic) {
  bool has_threads = kvo_process_has_threads();
  uint32_t count = dynamic->is_bound ? group->count : 0;
  if (!count) kvo_swizzle_in_locked(object, dynamic, 0, has_threads);
  for (uint32_t i = 0; i < count; i++) {
    const kvo_group_key *group_key = &kvo_group_keys(group)[i];
    if (group_key->tagged_accessors)
      kvo_swizzle_in_locked(object, dynamic, kvo_group_key_accessors(group_key)->id, has_threads);
  }
}

static bool insert_group_keys_locked(kvo_group *group, kvo_class *dynamic, kvo_retired **retired) {
  kvo_registration *head = group->registrations;
  kvo_object *object = head->object;
  if (group->has_ended) return true;
  kvo_object_share_locked(object);
  kvo_table *table = reserve_locked(group, retired);
  if (!table) return false;
  swizzle_locked(object, group, dynamic); // first, as for a single registration
  head->serial = KVO_SERIAL_OF_HIDDEN;
  kvo_registration_set_state(head, KVO_LIVE);
  uint32_t inserted = insert_each_locked(group, table, retired);
  // If it were in no cell, no lookup would find it, and the object's table could be freed too early.
  if (!inserted) kvo_registration_set_state(head, KVO_NOT_INSERTED);
  if (inserted < group->key_count) return false;
  number_all_locked(group);
  return true;
}

bool kvo_group_insert_keys(kvo_group *group, kvo_class *dynamic, kvo_retired **retired) {
  KVO_LOCKED_OBJECTS(group->registrations[0].object, NULL);
  bool is_own = kvo_object_is_own(group->registrations[0].object);
  kvo_retired *before = *retired;
  bool all = insert_group_keys_locked(group, dynamic, retired);
  if (is_own) kvo_retire_mark_own(*retired, before);
  return all;
}
