// Manual changes: kvo_will_change and kvo_did_change (D6, D8).
//
// An open manual change is stored in its object's table, with the thread that opened it. So it ends with the object,
// and the dump shows it. A frame protects the object only during each of the two calls. Inside an automatic change of
// the same property on the same thread the pair joins: its closing call is expected and delivers nothing.
//
// A closing call finds the last opened pair of its thread and key. If it names other elements than the opening call
// did, one of the two is wrong: this is reported, and observers are notified of a setting, which is right for both.
// Inside a class's own method that was called for an automatic change, the two calls begin and finish that change
// (announced.c).
#include "base/kvo_forward.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "coding/kvo_accessor_search.h"
#include "delivery/kvo_delivery.h"
#include "delivery/kvo_general_delivery.h"
#include "observing/kvo_announced.h"
#include "observing/kvo_open_manual_changes.h"
#include "values/kvo_collection_internal.h"

#include <stdio.h>
#include <string.h>

// Each thread's pairs are linked too, so that they can be reported when it ends.

static void link_to_thread(kvo_manual_change *manual_change, kvo_thread *thread) {
  KVO_LOCKED(&kvo_manual_change_lock);
  manual_change->next_of_thread = thread->manual_changes;
  manual_change->link_of_thread = &thread->manual_changes;
  if (manual_change->next_of_thread)
    manual_change->next_of_thread->link_of_thread = &manual_change->next_of_thread;
  thread->manual_changes = manual_change;
}

// Returns false if the pair's thread has ended.
static bool unlink_from_thread_locked(kvo_manual_change *manual_change) {
  if (!manual_change->link_of_thread) return false;
  *manual_change->link_of_thread = manual_change->next_of_thread;
  if (manual_change->next_of_thread)
    manual_change->next_of_thread->link_of_thread = manual_change->link_of_thread;
  manual_change->link_of_thread = NULL;
  return true;
}

static bool unlink_from_thread(kvo_manual_change *manual_change) {
  KVO_LOCKED(&kvo_manual_change_lock);
  return unlink_from_thread_locked(manual_change);
}

static bool push_manual_change(kvo_object *object, kvo_manual_change *manual_change) {
  kvo_retired *retired = NULL;
  kvo_table *table;
  link_to_thread(manual_change, kvo_this_thread);
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    table = kvo_table_reserve_locked(object, 1, &retired);
    if (table) kvo_manual_changes_add_locked(table, manual_change);
  }
  if (retired) kvo_retire(retired);
  if (!table) unlink_from_thread(manual_change);
  return table != NULL;
}

static kvo_manual_change *unlink_manual_change_locked(kvo_object *object, uintptr_t id) {
  kvo_table *table = kvo_table_of(object);
  uint32_t thread = kvo_this_thread ? kvo_this_thread->number : 0;
  kvo_manual_change *manual_change =
      table ? kvo_manual_changes_find_locked(table, id, thread) : NULL;
  if (manual_change) kvo_manual_changes_remove_locked(table, manual_change);
  return manual_change;
}

// If the table was only needed for the pair, it is removed too.
static kvo_manual_change *remove_manual_change(kvo_object *object, uintptr_t id) {
  kvo_retired *retired = NULL;
  kvo_manual_change *manual_change;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    manual_change = unlink_manual_change_locked(object, id);
    kvo_table *table = kvo_table_of(object);
    if (table && !table->live) kvo_table_trim_locked(object, &retired);
  }
  if (retired) kvo_retire(retired);
  if (manual_change) unlink_from_thread(manual_change);
  return manual_change;
}

// A manual change holds either a delivery or an old value. Releasing either may throw, so the change is freed first.
static void free_manual_change(kvo_manual_change *manual_change) {
  kvo_general_delivery *delivery = manual_change->general_delivery;
  kvo_value old = manual_change->has_old ? manual_change->old_value : KVO_VALUE_NIL;
  kvo_free(manual_change);
  if (delivery) kvo_general_delivery_release(delivery);
  kvo_value_destroy(&old);
}

// MARK: The elements that the two calls name

enum { KIND_BITS = 7 };

static uint64_t manual_change_mixed(uint64_t hash, uint64_t number) {
  return kvo_hash_word(hash ^ number);
}

// A hash of a mutation: its kind, in the low bits, and its indexes; 0 for a setting. The objects of a set mutation
// are left out, since observers receive the elements that were actually added and removed.
static __attribute__((noinline)) uint32_t hash_of_part(const kvo_mutation *mutation) {
  uint64_t hash = manual_change_mixed(mutation->set_mutation, 1);
  for (size_t i = 0; i < kvo_index_set_range_count(mutation->indexes); i++) {
    kvo_range range = kvo_index_set_range(mutation->indexes, i);
    hash = manual_change_mixed(manual_change_mixed(hash, range.location), range.length);
  }
  return ((uint32_t)(hash >> 32) & ~(uint32_t)KIND_BITS) | (uint32_t)mutation->kind;
}

KVO_INLINE uint32_t hash_of(const kvo_mutation *mutation) {
  return KVO_LIKELY(!mutation) ? 0 : hash_of_part(mutation);
}

// The two calls of a pair, as the class's language names them.
static const char *name_of_will(const kvo_class *cls) {
  return cls->is_bound ? "willChangeValue" : "kvo_will_change";
}

static const char *name_of_did(const kvo_class *cls) {
  return cls->is_bound ? "didChangeValue" : "kvo_did_change";
}

static const char *kind_named(uint32_t hash) {
  switch ((kvo_change_kind)(hash & KIND_BITS)) {
  case KVO_INSERTION: return "an insertion";
  case KVO_REMOVAL: return "a removal";
  case KVO_REPLACEMENT: return "a replacement";
  default: return "a setting";
  }
}

static __attribute__((noinline)) void report_other_elements(const kvo_manual_change *manual_change,
    uint32_t hash) {
  bool is_same_kind = (manual_change->elements_hash & KIND_BITS) == (hash & KIND_BITS);
  kvo_misuse("A change of \"%s\" of %s was announced as %s and ended as %s. Its observers are "
             "notified that all of it was set.",
      manual_change->key, manual_change->cls->name, kind_named(manual_change->elements_hash),
      is_same_kind ? "one of other elements" : kind_named(hash));
}

static bool has_elements(const kvo_value *elements, const kvo_mutation *mutation) {
  return kvo_value_count(elements) >= kvo_index_set_count(mutation->indexes);
}

// Reports the first index at which there is no element. It is noticed only if an observer wants the elements.
static void report_missing_element(const kvo_object *object, const char *key,
    const kvo_mutation *mutation, const kvo_value *elements) {
  if (has_elements(elements, mutation)) return;
  kvo_misuse("A change of \"%s\" of %s was announced as %s at the index %zu, where there is no "
             "element. Its observers get the elements that exist.",
      key, kvo_class_of(object)->name, kind_named(mutation->kind),
      kvo_index_set_index(mutation->indexes, kvo_value_count(elements)));
}

static const kvo_mutation_record *mutation_of(const kvo_frame *frame) {
  bool is_general = frame->flags & KVO_FRAME_GENERAL_DELIVERY;
  return is_general ? &frame->general_delivery->first.mutation : NULL;
}

static void check_old_elements(const kvo_frame *frame, const char *key,
    const kvo_mutation *mutation) {
  const kvo_mutation_record *record = mutation && mutation->indexes ? mutation_of(frame) : NULL;
  if (record && record->has_predicted)
    report_missing_element(frame->object, key, mutation, &record->predicted);
}

// A replacement that lacked old elements has been reported.
static void check_new_elements(const kvo_frame *frame, const char *key,
    const kvo_mutation *mutation) {
  const kvo_mutation_record *record = mutation && mutation->indexes ? mutation_of(frame) : NULL;
  if (record && record->has_new &&
      (!record->has_predicted || has_elements(&record->predicted, mutation)))
    report_missing_element(frame->object, key, mutation, &record->new_value);
}

static kvo_manual_change *make_manual_change(const kvo_frame *frame, const kvo_accessors *accessors,
    const kvo_mutation *mutation, bool joined) {
  kvo_manual_change *manual_change = kvo_alloc(sizeof *manual_change);
  if (!manual_change) return NULL;
  *manual_change = (kvo_manual_change){.thread = frame->thread->number,
      .key = accessors->key,
      .cls = accessors->cls,
      .id = accessors->id,
      .serial = frame->serial,
      .elements_hash = hash_of(mutation),
      .joined = joined};
  return manual_change;
}

// An opening or closing call in progress, for cleaning up if an exception ends it.
typedef struct {
  kvo_object *object;
  const char *key;
  const kvo_mutation *mutation;
  kvo_manual_change *manual_change; // the pair that was opened; a callback may have ended it
  bool is_held;     // the object is held: a search, or a prior call that throws, may release it
  bool is_lost;     // memory ran out
  bool is_reported; // this was reported
} manual_call;

static void manual_change_hold(manual_call *call) {
  if (!call->is_held) call->is_held = kvo_object_retain_memory(call->object);
}

// The search may call class methods of the program.
static const kvo_accessors *manual_change_accessors_of(manual_call *call) {
  const kvo_class *cls = kvo_class_of(call->object);
  const kvo_accessors *accessors = kvo_class_known_accessors(cls, call->key);
  if (KVO_LIKELY(accessors != NULL)) return accessors;
  manual_change_hold(call);
  accessors = kvo_class_accessors(cls, call->key, NULL);
  return accessors ? accessors : kvo_class_undefined_accessors(cls, call->key);
}

static bool manual_change_leads_to_others(kvo_observers observers) {
  return kvo_observers_options(observers) & KVO_PATH_NODE || kvo_observers_are_tracked(observers);
}

static void manual_change_read_old(kvo_frame *frame, kvo_observers observers,
    const kvo_mutation *mutation) {
  if (mutation || manual_change_leads_to_others(observers) || kvo_in_place_may_hold(observers))
    kvo_general_delivery_begin(frame, mutation);
  else kvo_change_read_old(frame, observers);
}

static void manual_change_share(const kvo_frame *frame, kvo_manual_change *manual_change) {
  if (frame->flags & KVO_FRAME_GENERAL_DELIVERY)
    manual_change->general_delivery = kvo_general_delivery_retain(frame->general_delivery);
  manual_change->has_old = frame->flags & KVO_FRAME_HAS_OLD &&
                           kvo_value_copy(&manual_change->old_value, &frame->old_value) == KVO_OK;
}

static void deliver_priors(kvo_frame *frame) {
  uint64_t shortages = kvo_shortages;
  if (!(frame->flags & KVO_FRAME_GENERAL_DELIVERY)) {
    kvo_change_deliver_priors(frame);
    return;
  }
  kvo_general_delivery_deliver_priors(frame);
  kvo_change_report_shortage(frame, shortages);
}

// While the announced change's own frame delivers, this one must not count for the depth or the dump.
static bool begin_announced(kvo_frame *frame, manual_call *call) {
  __atomic_store_n(&frame->state, KVO_FRAME_PROTECTS, __ATOMIC_RELAXED);
  call->is_lost = !kvo_announced_begin(frame->object, frame->id);
  __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELAXED);
  return !call->is_lost;
}

// The pair is open while prior observers are called. It has its own copy of the old value, or shares what the frame
// found, because a callback may close it.
static void open_manual_change(kvo_frame *frame, const kvo_accessors *accessors,
    const kvo_mutation *mutation, manual_call *call) {
  uint64_t shortages = kvo_shortages;
  bool joined = kvo_change_join(frame->thread, frame->object, accessors->id);
  if (KVO_UNLIKELY(joined) && begin_announced(frame, call)) return;
  kvo_observers observers = joined ? 0 : kvo_object_observers(frame->object, frame->id);
  joined =
      joined || (observers && kvo_batch_record(frame->thread, frame->object, frame->id, mutation));
  if (joined) observers = 0;
  if (observers) { // a getter or a prior call may release the object
    manual_change_hold(call);
    manual_change_read_old(frame, observers, mutation);
    if (kvo_shortages == shortages) check_old_elements(frame, accessors->key, mutation);
  }
  kvo_manual_change *manual_change = make_manual_change(frame, accessors, mutation, joined);
  if (!manual_change) return;
  manual_change_share(frame, manual_change);
  manual_change->is_reported = kvo_shortages != shortages;
  if (!push_manual_change(frame->object, manual_change)) {
    free_manual_change(manual_change);
    return;
  }
  call->manual_change = manual_change;
  call->is_lost = false;
  kvo_change_report_shortage(frame, shortages);
  if (observers) deliver_priors(frame);
}

static kvo_frame *push_frame(kvo_object *object, uintptr_t id) {
  kvo_thread *thread = kvo_thread_current();
  kvo_frame *frame = thread ? kvo_frame_push_as(thread, object, KVO_FRAME_DELIVERING) : NULL;
  if (!frame) return NULL;
  frame->id = id;
  return frame;
}

// The number of this thread's opening calls that could not be stored, and whose closing call is still to come. It is
// not in the thread's record, which may not exist for lack of memory.
static _Thread_local uint32_t lost_manual_changes;

// Lack of memory is reported once, and not again at the closing call.
static void manual_change_count_as_lost(const kvo_object *object, const char *key,
    bool is_reported) {
  lost_manual_changes++;
  if (!is_reported) kvo_report_undelivered(kvo_class_of(object)->name, key);
}

static void report_key(const kvo_class *cls, const char *key, const char *cause) {
  kvo_misuse("A manual change of \"%s\" of %s notifies no observer: %s", key, cls->name, cause);
}

// The hook of a class that answers undefined keys is only called if hints are wanted.
static void hint_at_unanswered_key(manual_call *call) {
  kvo_object *object = call->object;
  const char *key = call->key;
  const kvo_class *cls = kvo_class_of(object);
  kvo_error error = {.status = KVO_OK};
  if (kvo_isa(object) == cls || !kvo_wants_hints()) return;
  manual_change_hold(call);
  if (kvo_observable_accessors(object, key, &error) || error.status != KVO_UNDEFINED_KEY) return;
  kvo_fail_undefined(cls, key, &error);
  kvo_hint("A manual change of \"%s\" of %s notifies no observer: %s", key, cls->name,
      error.message);
}

// A key without a getter can't be observed unless the class answers for it, so it is probably misspelt.
static __attribute__((noinline)) void report_unknown_key(manual_call *call) {
  const char *key = call->key;
  const kvo_class *cls = kvo_class_of(call->object);
  kvo_error error;
  if (cls->is_bound) return; // the binding gives a hint of its own
  if (!*key) {
    report_key(cls, key, "a key is not empty.");
  } else if (strchr(key, '.')) {
    report_key(cls, key,
        "this is a key path. Announce the change of the object that has its last key.");
  } else if (kvo_class_may_answer_any_key(cls)) {
    hint_at_unanswered_key(call);
  } else {
    kvo_fail_undefined(cls, key, &error);
    report_key(cls, key, error.message);
  }
}

static void will_change(void *opaque) {
  manual_call *call = opaque;
  const kvo_accessors *accessors = manual_change_accessors_of(call);
  if (KVO_UNLIKELY(accessors && !accessors->getter)) report_unknown_key(call);
  kvo_frame *frame = accessors ? push_frame(call->object, accessors->id) : NULL;
  if (!frame) return;
  open_manual_change(frame, accessors, call->mutation, call);
  call->is_reported = frame->flags & KVO_FRAME_REPORTED;
  kvo_frame_pop(frame);
}

// The pair may have ended, and its memory may have been reused, so we look for it by address.
static bool unlink_this_locked(kvo_object *object, const kvo_manual_change *manual_change) {
  kvo_table *table = kvo_table_of(object);
  kvo_manual_change *found = table ? table->manual_changes : NULL;
  while (found && found != manual_change) found = found->next;
  if (found) kvo_manual_changes_remove_locked(table, found);
  return found != NULL;
}

// If a prior call throws, the pair is removed, because the closing call is not going to be made.
static void withdraw_manual_change(const manual_call *call) {
  kvo_retired *retired = NULL;
  bool taken;
  {
    KVO_LOCKED_OBJECTS(call->object, NULL);
    taken = unlink_this_locked(call->object, call->manual_change);
    kvo_table_trim_locked(call->object, &retired);
  }
  kvo_retire(retired);
  if (!taken) return;
  unlink_from_thread(call->manual_change);
  free_manual_change(call->manual_change);
}

static void manual_change_take_back(void *opaque) {
  const manual_call *call = opaque;
  if (call->manual_change) withdraw_manual_change(call);
  if (call->is_held) kvo_object_release(call->object);
}

static void will_change_by(kvo_object *object, const char *key, const kvo_mutation *mutation) {
  manual_call call = {.object = object, .key = key, .mutation = mutation, .is_lost = true};
  kvo_unwinding(will_change, manual_change_take_back, &call);
  if (KVO_UNLIKELY(call.is_lost)) manual_change_count_as_lost(object, key, call.is_reported);
  if (call.is_held) kvo_object_release(object);
}

static void move_into_frame(kvo_frame *frame, kvo_manual_change *manual_change) {
  kvo_frame_backdate(frame, manual_change->serial);
  if (manual_change->is_reported) frame->flags |= KVO_FRAME_REPORTED;
  if (manual_change->has_old) {
    frame->old_value = manual_change->old_value;
    frame->flags |= KVO_FRAME_HAS_OLD;
    manual_change->has_old = false;
  }
  if (!manual_change->general_delivery) return;
  frame->general_delivery = manual_change->general_delivery;
  frame->flags |= KVO_FRAME_GENERAL_DELIVERY;
  manual_change->general_delivery = NULL;
}

// Prior calls may still be in progress in an outer frame, so the elements of which they are notified stay unchanged.
static __attribute__((noinline)) void turn_into_setting(kvo_frame *frame,
    const kvo_manual_change *manual_change, uint32_t hash) {
  report_other_elements(manual_change, hash);
  if (frame->flags & KVO_FRAME_GENERAL_DELIVERY)
    frame->general_delivery->first.mutation.kind = KVO_SETTING;
  else if (manual_change->joined)
    (void)kvo_batch_record(frame->thread, frame->object, frame->id, NULL);
}

static void manual_change_finish(kvo_frame *frame, kvo_manual_change *manual_change,
    uint32_t hash) {
  move_into_frame(frame, manual_change);
  bool joined = manual_change->joined;
  if (KVO_UNLIKELY(manual_change->elements_hash != hash))
    turn_into_setting(frame, manual_change, hash);
  free_manual_change(manual_change);
  if (!joined) kvo_change_finish(frame);
}

// The key, which is never freed, of the manual change that this thread opened last and that is still open; or NULL.
static const char *open_key(kvo_object *object) {
  uint32_t thread = kvo_this_thread ? kvo_this_thread->number : 0;
  KVO_LOCKED_OBJECTS(object, NULL);
  kvo_table *table = kvo_table_of(object);
  kvo_manual_change *manual_change = table ? table->manual_changes : NULL;
  while (manual_change && manual_change->thread != thread) manual_change = manual_change->next;
  return manual_change ? manual_change->key : NULL;
}

// A misspelt key is probably meant to be the one of the open manual change.
static void report_unmatched(kvo_object *object, const char *key) {
  if (lost_manual_changes) {
    lost_manual_changes--;
    return;
  }
  const kvo_class *cls = kvo_class_of(object);
  const char *open = open_key(object);
  kvo_misuse("%s for \"%s\" of %s without a %s on this thread; it is ignored.%s%s%s",
      name_of_did(cls), key, cls->name, name_of_will(cls),
      open ? " The last one that is open is for \"" : "", open ? open : "",
      open ? "\": did you mean that?" : "");
}

static void did_change(void *opaque) {
  const manual_call *call = opaque;
  // The opening call made everything that is needed here, so nothing is allocated and memory can't be out.
  uintptr_t id = kvo_class_key_id(kvo_class_of(call->object), kvo_key_find(call->key));
  bool is_asked = kvo_this_thread && KVO_UNLIKELY(kvo_this_thread->announcing != NULL);
  if (is_asked && kvo_announced_finish(call->object, id)) return;
  kvo_manual_change *manual_change = id ? remove_manual_change(call->object, id) : NULL;
  if (!manual_change) {
    report_unmatched(call->object, call->key);
    return;
  }
  kvo_frame *frame = push_frame(call->object, id);
  if (!frame) {
    if (!manual_change->is_reported)
      kvo_report_undelivered(kvo_class_of(call->object)->name, call->key);
    free_manual_change(manual_change);
    return;
  }
  uint64_t shortages = kvo_shortages;
  manual_change_finish(frame, manual_change, hash_of(call->mutation));
  if (kvo_shortages == shortages) check_new_elements(frame, call->key, call->mutation);
  kvo_frame_pop(frame);
}

// MARK: By name

// The name could not be stored. Trying it once more gives the reason.
static __attribute__((noinline)) void count_name_as_lost(kvo_object *object, const char *key) {
  kvo_error error = {.status = KVO_NO_MEMORY};
  kvo_key_keep(key, kvo_class_of(object)->name, &error);
  bool is_beyond_limit = error.status == KVO_NOT_OBSERVABLE;
  if (is_beyond_limit) kvo_misuse("A manual change notifies no observer: %s", error.message);
  manual_change_count_as_lost(object, key, is_beyond_limit);
}

static void will_change_named(kvo_object *object, const char *key, const kvo_mutation *mutation) {
  const char *interned = kvo_key_keep(key, "", NULL);
  if (interned) will_change_by(object, interned, mutation);
  else count_name_as_lost(object, key);
}

void kvo_will_change(kvo_object *object, const char *key) { will_change_named(object, key, NULL); }

static void did_change_by(kvo_object *object, const char *key, const kvo_mutation *mutation) {
  manual_call call = {.object = object, .key = key, .mutation = mutation};
  kvo_unwinding(did_change, NULL, &call);
}

void kvo_did_change(kvo_object *object, const char *key) { did_change_by(object, key, NULL); }

// Whether no collection can have these indexes. They are NULL if a set with a negative index could not be made.
static bool are_impossible(const kvo_index_set *indexes) {
  if (!indexes) return true;
  return kvo_index_set_count(indexes) && kvo_index_is_negative(kvo_index_set_last(indexes));
}

static __attribute__((noinline)) void report_impossible(const kvo_object *object, const char *key,
    const kvo_index_set *indexes) {
  char where[64] = "without indexes";
  if (indexes)
    snprintf(where, sizeof where, "at the index %td, which no element can have",
        (ptrdiff_t)kvo_index_set_last(indexes));
  kvo_misuse("A change of \"%s\" of %s was announced %s. Its observers are notified that all of it "
             "was set.",
      key, kvo_class_of(object)->name, where);
}

void kvo_will_change_indexes(kvo_object *object, kvo_change_kind kind, const kvo_index_set *indexes,
    const char *key) {
  const kvo_mutation mutation = {.kind = kind, .indexes = indexes};
  bool is_refused = kind != KVO_SETTING && are_impossible(indexes);
  if (KVO_UNLIKELY(is_refused)) report_impossible(object, key, indexes);
  will_change_named(object, key, kind == KVO_SETTING || is_refused ? NULL : &mutation);
}

void kvo_did_change_indexes(kvo_object *object, kvo_change_kind kind, const kvo_index_set *indexes,
    const char *key) {
  const kvo_mutation mutation = {.kind = kind, .indexes = indexes};
  did_change_by(object, key, kind == KVO_SETTING || are_impossible(indexes) ? NULL : &mutation);
}

void kvo_will_change_set(kvo_object *object, kvo_set_mutation set_mutation, kvo_collection *objects,
    const char *key) {
  const kvo_mutation mutation = {.kind = kvo_set_mutation_kind(set_mutation),
      .set_mutation = set_mutation,
      .objects = objects};
  will_change_named(object, key, &mutation);
}

void kvo_will_change_members(kvo_object *object, kvo_set_mutation set_mutation,
    const kvo_value *members, const char *key) {
  const kvo_mutation mutation = {.kind = kvo_set_mutation_kind(set_mutation),
      .set_mutation = set_mutation,
      .members = members};
  will_change_named(object, key, &mutation);
}

void kvo_did_change_set(kvo_object *object, kvo_set_mutation set_mutation, kvo_collection *objects,
    const char *key) {
  (void)objects;
  kvo_did_change_members(object, set_mutation, key);
}

void kvo_did_change_members(kvo_object *object, kvo_set_mutation set_mutation, const char *key) {
  const kvo_mutation mutation = {
      .kind = kvo_set_mutation_kind(set_mutation), .set_mutation = set_mutation};
  did_change_by(object, key, &mutation);
}

// MARK: Left open

static kvo_manual_change *remove_all_manual_changes(kvo_object *object) {
  kvo_retired *retired = NULL;
  kvo_manual_change *pairs = NULL;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    kvo_table *table = kvo_table_of(object);
    if (table) {
      pairs = kvo_manual_changes_take_all_locked(table);
      kvo_table_trim_locked(object, &retired);
    }
  }
  kvo_retire(retired);
  return pairs;
}

// A pair that was reported when its thread ended is not reported again. Called again for the others if one throws.
static void end_pairs(void *opaque) {
  kvo_manual_change **pairs = opaque;
  for (kvo_manual_change *pair; (pair = *pairs);) {
    *pairs = pair->next;
    if (unlink_from_thread(pair))
      kvo_misuse(
          "An object of %s died with a %s for \"%s\" that thread %u made and no %s followed.",
          pair->cls->name, name_of_will(pair->cls), pair->key, (unsigned)pair->thread,
          name_of_did(pair->cls));
    free_manual_change(pair);
  }
}

void kvo_manual_changes_end_with(kvo_object *object) {
  kvo_manual_change *pairs = remove_all_manual_changes(object);
  if (pairs) kvo_until_done(end_pairs, &pairs);
}

static bool take_of_thread(kvo_thread *thread, kvo_manual_change *copy) {
  KVO_LOCKED(&kvo_manual_change_lock);
  kvo_manual_change *manual_change = thread->manual_changes;
  if (!manual_change) return false;
  unlink_from_thread_locked(manual_change);
  *copy = *manual_change;
  return true;
}

// The pairs stay in their objects' tables and in the dump, because the mistake is still there.
void kvo_manual_changes_end_of_thread(kvo_thread *thread) {
  kvo_manual_change copy;
  while (take_of_thread(thread, &copy))
    kvo_misuse("Thread %u ended with a %s for \"%s\" of an object of %s that no %s followed.",
        (unsigned)copy.thread, name_of_will(copy.cls), copy.key, copy.cls->name,
        name_of_did(copy.cls));
}

void kvo_manual_changes_abandon_locked(kvo_thread *thread) {
  for (kvo_manual_change *manual_change = thread->manual_changes; manual_change;
      manual_change = manual_change->next_of_thread)
    manual_change->link_of_thread = NULL;
  thread->manual_changes = NULL;
}
