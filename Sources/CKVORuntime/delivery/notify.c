// Reads the values of a change, and calls one observer (D4, D5).
#include "delivery/kvo_delivery.h"

#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "coding/kvo_accessor_search.h"
#include "coding/kvo_get_key_path.h"
#include "delivery/kvo_fast_path.h"
#include "graph/kvo_graph.h"
#include "kvo_binding.h"
#include "tables/kvo_distinct.h"
#include "tables/kvo_group.h"
#include "values/kvo_collection_internal.h"

kvo_change_kind kvo_change_get_kind(const kvo_change *change) { return change->kind; }
bool kvo_change_is_prior(const kvo_change *change) { return change->is_prior; }
const kvo_value *kvo_change_get_old(const kvo_change *change) { return change->old_value; }
const kvo_value *kvo_change_get_new(const kvo_change *change) { return change->new_value; }
const kvo_index_set *kvo_change_get_indexes(const kvo_change *change) { return change->indexes; }

uint32_t kvo_change_get_key_index(const kvo_change *change) {
  return ((const kvo_keyed_change *)change)->key_index;
}

// MARK: Calling

KVO_INLINE void call_group_key(const kvo_group_key *group_key, const char *key,
    kvo_keyed_change *keyed) {
  const kvo_registration *head = kvo_group_key_head(group_key);
  keyed->key_index = group_key->index;
  head->callback(kvo_group_context(head->group, group_key->index), head->object, key,
      &keyed->change);
}

void kvo_group_key_call(const kvo_group_key *group_key, const char *key, kvo_keyed_change *keyed) {
  call_group_key(group_key, key, keyed);
}

// The index of a group member's key. With group keys, only promoted members are asked.
static uint32_t member_index(const kvo_registration *member) {
  const kvo_group *group = member->group;
  return group->key_count ? ((const kvo_promoted_registration *)member)->index
                          : (uint32_t)(member - group->registrations);
}

void kvo_group_call_member(const kvo_registration *member, kvo_keyed_change *keyed) {
  keyed->key_index = member_index(member);
  member->callback(member->context, member->object, kvo_registration_key_path(member),
      &keyed->change);
}

// The fast path has read the values that are asked for. No log is enabled, or the change would not take the fast
// path.
void kvo_fast_path_call_other(kvo_frame *frame, kvo_registration *registration, const char *key) {
  if (KVO_LIKELY((registration->options & KVO_GROUP_KEY) == KVO_GROUP_KEY)) {
    const kvo_group_key *group_key = (const kvo_group_key *)registration;
#ifdef KVO_POISON
    (void)kvo_registration_state(kvo_group_key_head(group_key)); // traps if it has been freed
#endif
    call_group_key(group_key, key ? key : kvo_group_key_accessors(group_key)->key, &frame->keyed);
  } else if (registration->options & KVO_GROUPED) {
    kvo_group_call_member(registration, &frame->keyed);
  } else {
    kvo_change_call_other(frame, registration, &frame->change);
  }
}

static void call_object(kvo_registration *registration, const kvo_change *change) {
  kvo_object *observer = registration->observer;
  const char *key_path = kvo_registration_key_path(registration);
  const kvo_class *cls = kvo_class_of(observer);
  if (cls->operations->observe) {
    cls->operations->observe(observer, key_path, registration->object, change,
        registration->context);
    return;
  }
  const kvo_method *method = kvo_class_find_method(cls, kvo_hooks()->observe);
  typedef void (*observe)(kvo_object *, const kvo_method *, const char *, kvo_object *,
      const kvo_change *, void *);
  ((observe)kvo_class_imp(cls, method))(observer, method, key_path, registration->object, change,
      registration->context);
}

// A dying observer is not called, because it cannot be retained. The frame releases the observer if the call ends by
// an exception.
static void call_living_object(kvo_frame *frame, kvo_registration *registration,
    const kvo_change *change) {
  const kvo_class_operations *operations = kvo_registration_operations(registration);
  kvo_object *observer = registration->observer;
  if (!operations->try_retain(observer)) return;
  frame->observer = observer;
  frame->flags |= KVO_FRAME_CALLS;
  call_object(registration, change);
  frame->flags &= ~(uint32_t)KVO_FRAME_CALLS;
  operations->release(observer);
}

void kvo_change_call_other(kvo_frame *frame, kvo_registration *registration,
    const kvo_change *change) {
  if (registration->options & KVO_BY_OBSERVER) {
    call_living_object(frame, registration, change);
    return;
  }
  kvo_keyed_change keyed = {.change = *change};
  kvo_group_call_member(registration, &keyed);
}

// Whether the change is to be delivered, after the prior call, which has run the program's code.
static bool late_is_admitted(kvo_registration *registration, uint64_t ticket,
    const kvo_value *new) {
  if (kvo_registration_state(registration) != KVO_LIVE) return false;
  if (!(registration->options & KVO_DISTINCT)) return true;
  return kvo_distinct_admits(registration, ticket, new) &&
         kvo_registration_state(registration) == KVO_LIVE;
}

void kvo_change_call_late(kvo_frame *frame, kvo_registration *registration, uint64_t ticket,
    const kvo_value *old, const kvo_value *new) {
  uint32_t options = registration->options;
  if (kvo_registration_state(registration) != KVO_LIVE)
    return; // reading has run the program's code
  if (!old || options & KVO_PRIOR) old = new;
  kvo_change change = {.kind = KVO_SETTING, .old_value = options & KVO_OLD ? old : NULL};
  change.is_prior = true;
  if (options & KVO_PRIOR) kvo_change_call(frame, registration, &change);
  change.is_prior = false;
  change.new_value = options & KVO_NEW ? new : NULL;
  if (late_is_admitted(registration, ticket, new)) kvo_change_call(frame, registration, &change);
}

// MARK: Reading

const kvo_accessors *kvo_change_accessors(kvo_object *object, uintptr_t id) {
  const kvo_accessors *accessors = NULL;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    kvo_observers observers = kvo_object_observers_locked(object, id);
    if (observers) accessors = kvo_observers_accessors(observers);
  }
  return accessors ? kvo_accessors_current(accessors) : NULL;
}

// A value that could not be read for lack of memory must not be taken for nil: it is destroyed, and false returned.
static bool was_read_whole(kvo_value *value, uint64_t shortages) {
  if (KVO_LIKELY(kvo_shortages == shortages)) return true;
  kvo_value_destroy(value);
  return false;
}

// Replaces a proxy that was read by a stored collection. False, with no value, if memory ran out since the reading
// began.
KVO_INLINE bool snapshot_read(kvo_value *value, uint64_t shortages) {
  if (KVO_UNLIKELY(value->type && value->type->kind == KVO_KIND_OBJECT)) kvo_value_snapshot(value);
  return was_read_whole(value, shortages);
}

bool kvo_change_read(const kvo_accessors *accessors, kvo_object *object, kvo_value *value) {
  uint64_t shortages = kvo_shortages;
  kvo_accessors_read(accessors, object, value);
  return snapshot_read(value, shortages);
}

bool kvo_change_read_own(const kvo_accessors *accessors, kvo_object *object, kvo_value *value) {
  uint64_t shortages = kvo_shortages;
  kvo_accessors_read_own(accessors, object, value);
  return snapshot_read(value, shortages);
}

// Errors for values that an operator can't work on, such as nil in a union, or that have no keys where the path
// continues, also for single elements. An undefined key is not among them: it was reported when its node was placed.
static bool is_misfit(kvo_status status) {
  return status == KVO_TYPE_MISMATCH || status == KVO_NIL_VALUE || status == KVO_INVALID_KEY_PATH ||
         status == KVO_INVALID_OPERATOR;
}

// A misfit is delivered as nil and reported once.
bool kvo_change_read_path(kvo_object *object, const kvo_path_observation *observation,
    kvo_value *value) {
  uint64_t shortages = kvo_shortages;
  kvo_error error; // filled in completely if anything fails
  kvo_status status = kvo_value_at_path(object, observation->path, value, &error);
  if (KVO_UNLIKELY(is_misfit(status)))
    kvo_path_observation_report_unread((kvo_path_observation *)(uintptr_t)observation, &error);
  kvo_value_snapshot(value);
  return was_read_whole(value, shortages);
}

void kvo_change_report_undelivered(kvo_object *object, uintptr_t id) {
  const kvo_accessors *accessors = kvo_change_accessors(object, id);
  if (accessors) kvo_report_undelivered(accessors->cls->name, accessors->key);
}

// If the object died while observers were called, the general delivery still holds its memory.
void kvo_change_report_shortage(kvo_frame *frame, uint64_t shortages) {
  if (KVO_LIKELY(kvo_shortages == shortages) || frame->flags & KVO_FRAME_REPORTED) return;
  kvo_change_report_undelivered(frame->object, frame->id);
  frame->flags |= KVO_FRAME_REPORTED;
}
