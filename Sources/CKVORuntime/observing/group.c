// Registrations of several keys that are made and ended together.
//
// They are in one block of memory, which is freed when none of them is referenced. The first is the handle. Otherwise
// each is a registration of its own, in its key's list. `ended` is called when the last of them is reclaimed. A
// registration that is not inserted when the group ends is never inserted; both are decided under the object's lock.
// The object is held while they are made, unless all keys are ready and there is no initial call: then no code runs
// that may release it.
//
// If only old and new are asked for, most keys need no registration. The first registration is then the head of all
// their group keys (group_keys.c). Only keys that are derived, tracked or manual have registrations of their own.
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

static kvo_status group_out_of_memory(const kvo_class *cls, kvo_error *error) {
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, NULL, "No memory to observe keys of %s.",
      cls->name);
}

static kvo_status group_check_key(const kvo_class *cls, const char *key, kvo_error *error) {
  if (cls->is_bound) return KVO_OK; // a binding gives keys, which may have dots
  if (*key && *key != '@' && !strchr(key, '.')) return KVO_OK;
  return kvo_fail(error, KVO_INVALID_KEY_PATH, cls->name, key,
      "\"%s\" of %s can't be observed together with other keys: it is not a key.", key, cls->name);
}

// The state of a call, for cleaning up if the program's code throws an exception.
typedef struct {
  const request *request;
  kvo_prepared_registration *prepared_registrations;
  size_t prepared; // the number of placements that must be discarded or used
  kvo_group *group;
  size_t inserted;
  kvo_handle **handle;
  bool is_held; // whether the object is held
  kvo_error *error;
  kvo_status status;
} addition;

// A key for which everything needed is known already.
static bool prepare_ready(const request *request, const kvo_class *cls, const char *key,
    kvo_prepared_registration *prepared) {
  *prepared = (kvo_prepared_registration){.object = request->object,
      .accessors = kvo_class_ready_accessors(cls, key),
      .dynamic = cls->dynamic};
  return prepared->accessors;
}

static void group_hold(addition *addition) {
  if (!addition->is_held) addition->is_held = kvo_object_retain_memory(addition->request->object);
}

// Errors in the keys are found before the first one is observed.
static kvo_status group_prepare(addition *addition) {
  const request *request = addition->request;
  const kvo_class *cls = kvo_class_of(request->object);
  for (; addition->prepared < request->count; addition->prepared++) {
    const char *key = request->keys[addition->prepared];
    kvo_prepared_registration *prepared = &addition->prepared_registrations[addition->prepared];
    kvo_status status = prepare_ready(request, cls, key, prepared)
                            ? KVO_OK
                            : group_check_key(cls, key, addition->error);
    if (!status && !prepared->accessors) {
      group_hold(addition);
      status = kvo_registration_prepare(request->object, key, prepared, addition->error);
    }
    if (status) return status;
  }
  return KVO_OK;
}

// Whether the key can have a group key: it is not derived, and all its observers are notified at each set.
static bool can_use_group_key(const kvo_prepared_registration *prepared) {
  return !prepared->dependent_key &&
         !(kvo_tag_accessors(prepared->accessors) & KVO_ACCESSORS_TAG_MASK);
}

// 0 if group keys are not used. A log reports registrations one by one. A key that can't have a group key takes more
// memory in a group that has some than in one that has none.
static uint32_t count_group_keys(const request *request,
    const kvo_prepared_registration *prepared) {
  const kvo_options seated = KVO_OLD | KVO_NEW;
  uint32_t count = 0;
  if (request->options & KVO_ALL_OPTIONS & ~seated) return 0;
  if (kvo_log_flags & ~(uint32_t)KVO_DISABLE_FAST_PATH) return 0;
  for (size_t i = 0; i < request->count; i++) count += can_use_group_key(&prepared[i]);
  return count > 1 && count >= request->count / 2 ? count : 0;
}

static void group_fill_in(kvo_group *group, const request *request, uint32_t i,
    uintptr_t tagged_accessors) {
  group->registrations[i] = (kvo_registration){.state = KVO_NOT_INSERTED,
      .references = i ? 1 : 2, // the first is the handle
      .options = (uint8_t)((request->options & KVO_ALL_OPTIONS) | KVO_GROUPED),
      .thread = kvo_this_thread->number,
      .object = request->object,
      .tagged_accessors = tagged_accessors,
      .has_counts = true,
      .callback = request->callback,
      .context = kvo_group_context(group, i),
      .group = group};
}

static kvo_group *group_make(const request *request, const kvo_prepared_registration *prepared) {
  uint32_t count = (uint32_t)request->count, key_count = count_group_keys(request, prepared);
  uint32_t registrations = key_count ? 1 : count;
  size_t lasts = request->options & KVO_DISTINCT ? request->count : 0;
  size_t size = sizeof(kvo_group) + registrations * sizeof(kvo_registration) +
                (key_count ? request->count * sizeof(kvo_group_key) : lasts * sizeof(kvo_last));
  kvo_group *group = kvo_thread_current() ? kvo_alloc(size) : NULL;
  if (!group) return NULL;
  *group = (kvo_group){.count = count,
      .key_count = key_count,
      .unreclaimed = registrations,
      .references = registrations + 1, // one more for the maker
      .ended = request->ended,
      .context = request->context,
      .stride = request->context ? request->stride : 0};
  for (uint32_t i = 0; i < registrations; i++)
    group_fill_in(group, request, i, key_count ? 0 : kvo_tag_accessors(prepared[i].accessors));
  if (lasts) memset(kvo_group_lasts(group), 0, lasts * sizeof(kvo_last));
  for (uint32_t i = 0; key_count && i < count; i++)
    kvo_group_keys(group)[i] = (kvo_group_key){
        .options = group->registrations[0].options | KVO_GROUP_KEY,
        .index = i,
        .tagged_accessors = can_use_group_key(&prepared[i]) ? (uintptr_t)prepared[i].accessors : 0};
  return group;
}

// Releases a member that was never inserted. Call it once per member.
static void group_drop(kvo_registration *member) {
  kvo_registration_set_state(member, KVO_ENDED);
  kvo_group_member_ended(member);
  kvo_registration_release(member);
}

// The handle is set before the first initial call, which may end the group and release the handle. A member whose
// insertion failed is either not in the table or already removed again.
static kvo_status group_insert(addition *addition) {
  kvo_group *group = addition->group;
  for (; addition->inserted < group->count; addition->inserted++) {
    size_t i = addition->inserted;
    kvo_registration *member = &group->registrations[i];
    kvo_status status = kvo_registration_insert(member, &addition->prepared_registrations[i],
        i ? NULL : addition->handle, addition->error);
    if (status) return status;
    if (kvo_registration_state(member) == KVO_NOT_INSERTED) group_drop(member);
  }
  return KVO_OK;
}

// Makes the registrations for the keys that can't have a group key. This happens before anything is inserted, because
// the group's end is reported when the last registration has ended. They are linked in the order of the keys.
static bool make_full(const addition *addition) {
  for (uint32_t i = addition->group->count; i-- > 0;) {
    const kvo_prepared_registration *prepared = &addition->prepared_registrations[i];
    uintptr_t tagged_accessors = kvo_tag_accessors(prepared->accessors);
    if (!can_use_group_key(prepared) &&
        !kvo_group_promote(addition->group, i, tagged_accessors, KVO_NOT_INSERTED))
      return false;
  }
  return true;
}

static kvo_status insert_full(addition *addition, kvo_promoted_registration *promoted) {
  for (; promoted; promoted = promoted->next) {
    kvo_registration *member = &promoted->registration;
    addition->inserted = promoted->index;
    kvo_status status = kvo_registration_insert(member,
        &addition->prepared_registrations[promoted->index], NULL, addition->error);
    if (status) return status;
    if (kvo_registration_state(member) == KVO_NOT_INSERTED) group_drop(member);
  }
  addition->inserted = addition->group->count;
  return KVO_OK;
}

// Settling one placement is enough, because it looks at all keys of the object. False if out of memory.
static bool finish_group_keys(const addition *addition) {
  uint64_t shortages = kvo_shortages;
  for (uint32_t i = 0; i < addition->group->count; i++) {
    kvo_prepared_registration *prepared = &addition->prepared_registrations[i];
    if (!can_use_group_key(prepared) ||
        kvo_accessors_current(prepared->accessors) == prepared->accessors)
      continue;
    kvo_prepared_registration_finish(prepared);
    break;
  }
  return kvo_shortages == shortages;
}

// Inserts all group keys at once, then the other registrations, one by one.
static kvo_status insert_group_keys(addition *addition) {
  kvo_group *group = addition->group;
  kvo_registration *head = group->registrations;
  kvo_retired *retired = NULL;
  bool has_all = make_full(addition);
  kvo_promoted_registration *promoted = group->promoted;
  *addition->handle = head;
  has_all = has_all &&
            kvo_group_insert_keys(group, addition->prepared_registrations[0].dynamic, &retired);
  kvo_retire(retired);
  if (has_all && kvo_registration_state(head) == KVO_NOT_INSERTED) group_drop(head);
  if (has_all && finish_group_keys(addition)) return insert_full(addition, promoted);
  return group_out_of_memory(kvo_class_of(addition->request->object), addition->error);
}

static void group_add(void *opaque) {
  addition *addition = opaque;
  addition->status = group_prepare(addition);
  if (addition->status) return;
  addition->group = group_make(addition->request, addition->prepared_registrations);
  if (addition->group)
    addition->status =
        addition->group->key_count ? insert_group_keys(addition) : group_insert(addition);
  else
    addition->status =
        group_out_of_memory(kvo_class_of(addition->request->object), addition->error);
}

// All registrations or none: ends those that are inserted, and releases the others.
static void end_half_made(const addition *addition) {
  kvo_group *group = addition->group;
  kvo_group_end(group);
  for (size_t i = group->key_count ? 0 : addition->inserted;
      i < kvo_group_registration_count(group); i++)
    if (kvo_registration_state(&group->registrations[i]) == KVO_NOT_INSERTED)
      group_drop(&group->registrations[i]);
  for (kvo_promoted_registration *promoted = group->promoted; promoted; promoted = promoted->next)
    if (kvo_registration_state(&promoted->registration) == KVO_NOT_INSERTED)
      group_drop(&promoted->registration);
}

static void end_addition(const addition *addition) {
  for (size_t i = addition->group ? addition->inserted : 0; i < addition->prepared; i++)
    kvo_prepared_registration_discard(&addition->prepared_registrations[i]);
  kvo_free(addition->prepared_registrations);
  if (addition->group) kvo_group_release(addition->group);
  if (addition->is_held) kvo_object_release(addition->request->object);
}

// Undoes the call, because memory ran out.
static void group_give_up(const addition *addition) {
  kvo_group *group = addition->group;
  kvo_handle *first = &group->registrations[0];
  group->ended = NULL;
  end_half_made(addition);
  *addition->handle = NULL;
  kvo_registration_release(first);
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
  addition.prepared_registrations = kvo_alloc(count * sizeof *addition.prepared_registrations);
  if (!addition.prepared_registrations) return group_out_of_memory(cls, error);
  if (options & (KVO_INITIAL | KVO_DISTINCT)) group_hold(&addition);
  kvo_unwinding(group_add, end_thrown, &addition);
  if (addition.status && addition.group) group_give_up(&addition);
  end_addition(&addition);
  return addition.status;
}
