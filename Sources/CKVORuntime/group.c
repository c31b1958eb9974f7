// Registrations of several keys that are made and ended together.
//
// They lie in one block, which is freed when nothing holds any of them. The first is the handle.
// Each is otherwise a registration of its own, in its key's list; `ended` is called when the last
// of them is reclaimed. One that is not in place yet when the group ends never comes there: both
// are decided under the object's lock. The object is held while they are made: the initial call of
// one may drop it.
#include "kvo_collection_internal.h"
#include "kvo_fail.h"
#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_registration.h"
#include "kvo_thread.h"

#include <string.h>

struct kvo_group {
  uint32_t count;
  bool has_ended;       // object lock
  uint32_t unreclaimed; // of its registrations; atomic
  uint32_t references;  // registrations that something holds; atomic
  void (*ended)(void *context);
  void *context;
  kvo_counts counts; // of its observer
  kvo_registration registrations[];
};

void kvo_group_member_ended(kvo_registration *member) {
  kvo_group *group = member->group;
  if (__atomic_sub_fetch(&group->unreclaimed, 1, __ATOMIC_ACQ_REL)) return;
  if (group->ended) group->ended(group->context);
}

kvo_counts *kvo_group_counts(kvo_group *group) { return &group->counts; }

static void let_go(kvo_group *group) {
  if (!__atomic_sub_fetch(&group->references, 1, __ATOMIC_ACQ_REL)) kvo_free(group);
}

void kvo_group_member_free(kvo_registration *member) { let_go(member->group); }

bool kvo_group_is_valid(const kvo_group *group) {
  for (uint32_t i = 0; i < group->count; i++)
    if (kvo_registration_state(&group->registrations[i]) == KVO_LIVE) return true;
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

// All are out before the first is retired: one fence for all of them.
void kvo_group_end(kvo_group *group) {
  kvo_retired *retired = NULL;
  mark_ended(group);
  for (uint32_t i = 0; i < group->count; i++)
    kvo_registration_unlink(&group->registrations[i], &retired);
  kvo_retire(retired);
}

// MARK: Making

typedef struct {
  kvo_object *object;
  const char *const *keys;
  size_t count;
  kvo_options options;
  kvo_callback callback;
  char *context;
  size_t stride;
  void (*ended)(void *context);
} request;

static kvo_status out_of_memory(const kvo_class *cls, kvo_error *error) {
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, NULL, "No memory to observe keys of %s.",
      cls->name);
}

static kvo_status check_key(const kvo_class *cls, const char *key, kvo_error *error) {
  if (*key && !strpbrk(key, ".@")) return KVO_OK;
  return kvo_fail(error, KVO_INVALID_KEY_PATH, cls->name, key,
      "\"%s\" of %s can't be observed together with other keys: it is no key.", key, cls->name);
}

// A request that is being carried out, for the case that an exception of the user's ends it.
typedef struct {
  const request *request;
  kvo_stand *stands;
  size_t prepared; // of which so many have to be discarded or used
  kvo_group *group;
  size_t inserted;
  kvo_handle **handle;
  bool is_held; // the object
  kvo_error *error;
  kvo_status status;
} addition;

// Whatever may be wrong with the keys is found before the first one is observed.
static kvo_status prepare(addition *addition) {
  const request *request = addition->request;
  const kvo_class *cls = kvo_class_of(request->object);
  for (; addition->prepared < request->count; addition->prepared++) {
    const char *key = request->keys[addition->prepared];
    kvo_status status = check_key(cls, key, addition->error);
    if (!status)
      status = kvo_stand_prepare(request->object, key, &addition->stands[addition->prepared],
          addition->error);
    if (status) return status;
  }
  return KVO_OK;
}

static kvo_group *make(const request *request, const kvo_stand *stands) {
  kvo_thread *thread = kvo_thread_current();
  size_t size = sizeof(kvo_group) + request->count * sizeof(kvo_registration);
  kvo_group *group = thread ? kvo_alloc(size) : NULL;
  if (!group) return NULL;
  uint32_t count = (uint32_t)request->count;
  *group = (kvo_group){.count = count,
      .unreclaimed = count,
      .references = count + 1, // that of whoever is making it
      .ended = request->ended,
      .context = request->context};
  for (uint32_t i = 0; i < count; i++)
    group->registrations[i] = (kvo_registration){.state = KVO_UNPLACED,
        .references = i ? 1 : 2, // the first is the handle
        .options = (uint8_t)((request->options & KVO_ALL_OPTIONS) | KVO_GROUPED),
        .thread = thread->number,
        .object = request->object,
        .reading = kvo_reading_of(stands[i].accessors),
        .has_counts = true,
        .callback = request->callback,
        .context = request->context ? request->context + i * request->stride : NULL,
        .group = group};
  return group;
}

// Lets go of one that has not come into place.
static void drop(kvo_registration *member) {
  kvo_group_member_ended(member);
  kvo_registration_let_go(member);
}

// The handle is set before the first initial call, which may end the group and give the handle
// back. The one that could not be inserted has not come into place, or has been taken back.
static kvo_status insert(addition *addition) {
  kvo_group *group = addition->group;
  for (; addition->inserted < group->count; addition->inserted++) {
    size_t i = addition->inserted;
    kvo_registration *member = &group->registrations[i];
    kvo_status status = kvo_registration_insert(member, &addition->stands[i],
        i ? NULL : addition->handle, addition->error);
    if (status) return status;
    if (kvo_registration_state(member) == KVO_UNPLACED) drop(member);
  }
  return KVO_OK;
}

static void add(void *opaque) {
  addition *addition = opaque;
  addition->status = prepare(addition);
  if (addition->status) return;
  addition->group = make(addition->request, addition->stands);
  if (addition->group) addition->status = insert(addition);
  else addition->status = out_of_memory(kvo_class_of(addition->request->object), addition->error);
}

// All of them or none: ends those that are in place, and lets go of the others.
static void end_half_made(const addition *addition) {
  kvo_group *group = addition->group;
  kvo_group_end(group);
  for (size_t i = addition->inserted; i < group->count; i++)
    if (kvo_registration_state(&group->registrations[i]) == KVO_UNPLACED)
      drop(&group->registrations[i]);
}

static void end_addition(const addition *addition) {
  for (size_t i = addition->group ? addition->inserted : 0; i < addition->prepared; i++)
    kvo_stand_discard(&addition->stands[i]);
  kvo_free(addition->stands);
  if (addition->group) let_go(addition->group);
  if (addition->is_held) kvo_object_release(addition->request->object);
}

// Memory has run out: it is as if there had been no call.
static void give_up(const addition *addition) {
  kvo_group *group = addition->group;
  kvo_handle *first = &group->registrations[0];
  group->ended = NULL;
  end_half_made(addition);
  *addition->handle = NULL;
  kvo_registration_let_go(first);
}

// An exception: the handle is the caller's if it has been set.
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
  if (kvo_class_is_collection(cls)) return kvo_collection_refuse_observing(object, "", error);
  if (!count || count > UINT32_MAX)
    return kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, NULL, "No keys of %s to observe.",
        cls->name);
  const request request = {object, keys, count, options, callback, context, stride, ended};
  addition addition = {.request = &request, .handle = handle, .error = error};
  addition.stands = kvo_alloc(count * sizeof *addition.stands);
  if (!addition.stands) return out_of_memory(cls, error);
  addition.is_held = options & KVO_INITIAL && kvo_object_hold(object);
  kvo_unwinding(add, end_thrown, &addition);
  if (addition.status && addition.group) give_up(&addition);
  end_addition(&addition);
  return addition.status;
}
