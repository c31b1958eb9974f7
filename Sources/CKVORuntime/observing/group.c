// Registrations of several keys that are made and ended together.
//
// They are in one block of memory, which is freed when none of them is referenced. The first is the handle. Otherwise
// each is a registration of its own, in its key's list. `ended` is called when the last of them is reclaimed. A
// registration that is not inserted when the group ends is never inserted; both are decided under the object's lock.
// The object is held while they are made, unless all keys are ready and there is no initial call: then no code runs
// that may release it.
//
// If only old and new are asked for, most keys need no registration. The first registration is then the head of all
// their seats (seats.c). Only keys that are derived, tracked or manual have registrations of their own.
#include "base/kvo_fail.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "tables/kvo_group.h"
#include "tables/kvo_registration.h"
#include "threads/kvo_thread.h"
#include "values/kvo_collection_internal.h"

#include <string.h>

typedef struct {
  kvo_object *object;
  const char *const *keys;
  size_t count;
  kvo_options options;
  kvo_callback callback;
  void *context;
  size_t stride;
  void (*ended)(void *context);
} request;

static kvo_status out_of_memory(const kvo_class *cls, kvo_error *error) {
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, NULL, "No memory to observe keys of %s.",
      cls->name);
}

static kvo_status check_key(const kvo_class *cls, const char *key, kvo_error *error) {
  if (cls->is_bound) return KVO_OK; // a binding gives keys, which may have dots
  if (*key && *key != '@' && !strchr(key, '.')) return KVO_OK;
  return kvo_fail(error, KVO_INVALID_KEY_PATH, cls->name, key,
      "\"%s\" of %s can't be observed together with other keys: it is no key.", key, cls->name);
}

// The state of a call, for cleaning up if the program's code throws an exception.
typedef struct {
  const request *request;
  kvo_placement *placements;
  size_t prepared; // the number of placements that must be discarded or used
  kvo_group *group;
  size_t inserted;
  kvo_handle **handle;
  bool is_held; // whether the object is held
  kvo_error *error;
  kvo_status status;
} addition;

// A key of which everything is known already.
static bool prepare_ready(const request *request, const kvo_class *cls, const char *key,
    kvo_placement *placement) {
  *placement = (kvo_placement){.object = request->object,
      .accessors = kvo_class_ready_accessors(cls, key),
      .dynamic = cls->dynamic};
  return placement->accessors;
}

static void hold(addition *addition) {
  if (!addition->is_held) addition->is_held = kvo_object_hold(addition->request->object);
}

// Errors in the keys are found before the first one is observed.
static kvo_status prepare(addition *addition) {
  const request *request = addition->request;
  const kvo_class *cls = kvo_class_of(request->object);
  for (; addition->prepared < request->count; addition->prepared++) {
    const char *key = request->keys[addition->prepared];
    kvo_placement *placement = &addition->placements[addition->prepared];
    kvo_status status =
        prepare_ready(request, cls, key, placement) ? KVO_OK : check_key(cls, key, addition->error);
    if (!status && !placement->accessors) {
      hold(addition);
      status = kvo_placement_prepare(request->object, key, placement, addition->error);
    }
    if (status) return status;
  }
  return KVO_OK;
}

// Whether the key can have a seat: it is not derived, and all its observers are notified at each set.
static bool can_sit(const kvo_placement *placement) {
  return !placement->derivation && !(kvo_reading_of(placement->accessors) & KVO_READING_MARKS);
}

// 0 if seats are not used. A log reports registrations one by one. In a group with seats, a key that can't have one
// takes more memory than in a group without.
static uint32_t count_seats(const request *request, const kvo_placement *placements) {
  const kvo_options seated = KVO_OLD | KVO_NEW;
  uint32_t count = 0;
  if (request->options & KVO_ALL_OPTIONS & ~seated) return 0;
  if (kvo_log_flags & ~(uint32_t)KVO_FORCE_LONG_WAY) return 0;
  for (size_t i = 0; i < request->count; i++) count += can_sit(&placements[i]);
  return count > 1 && count >= request->count / 2 ? count : 0;
}

static void fill_in(kvo_group *group, const request *request, uint32_t i, uintptr_t reading) {
  group->registrations[i] = (kvo_registration){.state = KVO_UNPLACED,
      .references = i ? 1 : 2, // the first is the handle
      .options = (uint8_t)((request->options & KVO_ALL_OPTIONS) | KVO_GROUPED),
      .thread = kvo_this_thread->number,
      .object = request->object,
      .reading = reading,
      .has_counts = true,
      .callback = request->callback,
      .context = kvo_group_context(group, i),
      .group = group};
}

static kvo_group *make(const request *request, const kvo_placement *placements) {
  uint32_t count = (uint32_t)request->count, seats = count_seats(request, placements);
  uint32_t registrations = seats ? 1 : count;
  size_t lasts = request->options & KVO_DISTINCT ? request->count : 0;
  size_t size = sizeof(kvo_group) + registrations * sizeof(kvo_registration) +
                (seats ? request->count * sizeof(kvo_seat) : lasts * sizeof(kvo_last));
  kvo_group *group = kvo_thread_current() ? kvo_alloc(size) : NULL;
  if (!group) return NULL;
  *group = (kvo_group){.count = count,
      .seats = seats,
      .unreclaimed = registrations,
      .references = registrations + 1, // one more for the maker
      .ended = request->ended,
      .context = request->context,
      .stride = request->context ? request->stride : 0};
  for (uint32_t i = 0; i < registrations; i++)
    fill_in(group, request, i, seats ? 0 : kvo_reading_of(placements[i].accessors));
  if (lasts) memset(kvo_group_lasts(group), 0, lasts * sizeof(kvo_last));
  for (uint32_t i = 0; seats && i < count; i++)
    kvo_group_seats(group)[i] = (kvo_seat){.options = group->registrations[0].options | KVO_SEATED,
        .index = i,
        .reading = can_sit(&placements[i]) ? (uintptr_t)placements[i].accessors : 0};
  return group;
}

// Releases a member that was never inserted. Call it once per member.
static void drop(kvo_registration *member) {
  kvo_registration_set_state(member, KVO_ENDED);
  kvo_group_member_ended(member);
  kvo_registration_let_go(member);
}

// The handle is set before the first initial call, which may end the group and release the handle. A member whose
// insertion failed is either not in the table or already removed again.
static kvo_status insert(addition *addition) {
  kvo_group *group = addition->group;
  for (; addition->inserted < group->count; addition->inserted++) {
    size_t i = addition->inserted;
    kvo_registration *member = &group->registrations[i];
    kvo_status status = kvo_registration_insert(member, &addition->placements[i],
        i ? NULL : addition->handle, addition->error);
    if (status) return status;
    if (kvo_registration_state(member) == KVO_UNPLACED) drop(member);
  }
  return KVO_OK;
}

// Makes the registrations for the keys that can't have a seat. This happens before anything is inserted, because the
// group's end is reported when the last registration has ended. They are linked in the order of the keys.
static bool make_full(const addition *addition) {
  for (uint32_t i = addition->group->count; i-- > 0;) {
    const kvo_placement *placement = &addition->placements[i];
    uintptr_t reading = kvo_reading_of(placement->accessors);
    if (!can_sit(placement) && !kvo_group_make_full(addition->group, i, reading, KVO_UNPLACED))
      return false;
  }
  return true;
}

static kvo_status insert_full(addition *addition, kvo_full_member *full) {
  for (; full; full = full->next) {
    kvo_registration *member = &full->registration;
    addition->inserted = full->index;
    kvo_status status =
        kvo_registration_insert(member, &addition->placements[full->index], NULL, addition->error);
    if (status) return status;
    if (kvo_registration_state(member) == KVO_UNPLACED) drop(member);
  }
  addition->inserted = addition->group->count;
  return KVO_OK;
}

// Settling one placement is enough, because it looks at all keys of the object. False if memory is out.
static bool settle_seats(const addition *addition) {
  uint64_t shortages = kvo_shortages;
  for (uint32_t i = 0; i < addition->group->count; i++) {
    kvo_placement *placement = &addition->placements[i];
    if (!can_sit(placement) || kvo_accessors_current(placement->accessors) == placement->accessors)
      continue;
    kvo_placement_settle(placement);
    break;
  }
  return kvo_shortages == shortages;
}

// Inserts all seats at once, then the other registrations, one by one.
static kvo_status insert_seats(addition *addition) {
  kvo_group *group = addition->group;
  kvo_registration *head = group->registrations;
  kvo_retired *retired = NULL;
  bool has_all = make_full(addition);
  kvo_full_member *full = group->full;
  *addition->handle = head;
  has_all = has_all && kvo_group_take_seats(group, addition->placements[0].dynamic, &retired);
  kvo_retire(retired);
  if (has_all && kvo_registration_state(head) == KVO_UNPLACED) drop(head);
  if (has_all && settle_seats(addition)) return insert_full(addition, full);
  return out_of_memory(kvo_class_of(addition->request->object), addition->error);
}

static void add(void *opaque) {
  addition *addition = opaque;
  addition->status = prepare(addition);
  if (addition->status) return;
  addition->group = make(addition->request, addition->placements);
  if (addition->group)
    addition->status = addition->group->seats ? insert_seats(addition) : insert(addition);
  else addition->status = out_of_memory(kvo_class_of(addition->request->object), addition->error);
}

// All registrations or none: ends those that are inserted, and releases the others.
static void end_half_made(const addition *addition) {
  kvo_group *group = addition->group;
  kvo_group_end(group);
  for (size_t i = group->seats ? 0 : addition->inserted; i < kvo_group_registration_count(group);
      i++)
    if (kvo_registration_state(&group->registrations[i]) == KVO_UNPLACED)
      drop(&group->registrations[i]);
  for (kvo_full_member *full = group->full; full; full = full->next)
    if (kvo_registration_state(&full->registration) == KVO_UNPLACED) drop(&full->registration);
}

static void end_addition(const addition *addition) {
  for (size_t i = addition->group ? addition->inserted : 0; i < addition->prepared; i++)
    kvo_placement_discard(&addition->placements[i]);
  kvo_free(addition->placements);
  if (addition->group) kvo_group_let_go(addition->group);
  if (addition->is_held) kvo_object_release(addition->request->object);
}

// Memory is out: undoes the call.
static void give_up(const addition *addition) {
  kvo_group *group = addition->group;
  kvo_handle *first = &group->registrations[0];
  group->ended = NULL;
  end_half_made(addition);
  *addition->handle = NULL;
  kvo_registration_let_go(first);
}

// Cleans up after an exception. If the handle was set, the caller owns it.
static void end_thrown(void *opaque) {
  const addition *addition = opaque;
  if (addition->group) end_half_made(addition);
  end_addition(addition);
}

kvo_status kvo_add_callback_for_keys(kvo_object *object, const char *const *keys, size_t count,
    kvo_options options, kvo_callback callback, void *context, size_t stride,
    void (*ended)(void *context), kvo_handle **handle, kvo_error *error) {
  *handle = NULL;
  const kvo_class *cls = kvo_class_of(object);
  if (cls->is_collection) return kvo_collection_refuse_observing(object, "", error);
  if (!count || count > UINT32_MAX)
    return kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, NULL, "No keys of %s to observe.",
        cls->name);
  const request request = {object, keys, count, options, callback, context, stride, ended};
  addition addition = {.request = &request, .handle = handle, .error = error};
  addition.placements = kvo_alloc(count * sizeof *addition.placements);
  if (!addition.placements) return out_of_memory(cls, error);
  if (options & (KVO_INITIAL | KVO_DISTINCT)) hold(&addition);
  kvo_unwinding(add, end_thrown, &addition);
  if (addition.status && addition.group) give_up(&addition);
  end_addition(&addition);
  return addition.status;
}
