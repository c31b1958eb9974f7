// Changes by hand: kvo_will_change and kvo_did_change.
//
// An open pair hangs at its object's table, with the thread that opened it, so that it ends with
// the object and shows in the dump. A frame guards the object during each of the two calls only.
// Inside an automatic change of the same property and thread the pair joins: its did is expected
// and delivers nothing. A did finds the pair of its thread and key that was opened last.
#include "kvo_accessors.h"
#include "kvo_delivery.h"
#include "kvo_intern.h"
#include "kvo_lock.h"
#include "kvo_log.h"
#include "kvo_memory.h"
#include "kvo_open_pairs.h"

static const kvo_accessors *accessors_of(kvo_object *object, const char *key) {
  const kvo_class *cls = kvo_class_of(object);
  const kvo_accessors *accessors = kvo_class_known_accessors(cls, key);
  if (KVO_LIKELY(accessors != NULL)) return accessors;
  accessors = kvo_class_accessors(cls, key, NULL);
  return accessors ? accessors : kvo_class_undefined_accessors(cls, key);
}

static bool push_pair(kvo_object *object, kvo_open_pair *pair) {
  kvo_retired *retired = NULL;
  kvo_table *table;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    table = kvo_table_reserve_locked(object, &retired);
    if (table) {
      pair->next = table->open_pairs;
      table->open_pairs = pair;
    }
  }
  kvo_retire(retired);
  return table != NULL;
}

static kvo_open_pair *unlink_pair_locked(kvo_object *object, uintptr_t id) {
  kvo_table *table = object->observations;
  uint32_t thread = kvo_this_thread ? kvo_this_thread->number : 0;
  for (kvo_open_pair **link = table ? &table->open_pairs : NULL; link && *link;
      link = &(*link)->next) {
    kvo_open_pair *pair = *link;
    if (pair->id != id || pair->thread != thread) continue;
    *link = pair->next;
    return pair;
  }
  return NULL;
}

// The table may have hung at the object for the pair alone: then it goes too.
static kvo_open_pair *take_pair(kvo_object *object, uintptr_t id) {
  kvo_retired *retired = NULL;
  kvo_open_pair *pair;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    pair = unlink_pair_locked(object, id);
    kvo_table_trim_locked(object, &retired);
  }
  kvo_retire(retired);
  return pair;
}

static void free_pair(kvo_open_pair *pair) {
  if (pair->has_old) kvo_value_destroy(&pair->old_value);
  kvo_free(pair);
}

static kvo_open_pair *make_pair(const kvo_frame *frame, const kvo_accessors *accessors) {
  kvo_open_pair *pair = kvo_alloc(sizeof *pair);
  if (!pair) return NULL;
  *pair = (kvo_open_pair){.thread = frame->thread->number,
      .key = accessors->key,
      .id = accessors->id,
      .serial = frame->serial,
      .joined = kvo_thread_has_open(frame->thread, frame->object, accessors->id)};
  return pair;
}

// The pair is open while priors are called, and keeps its own copy of old: a did in such a
// callback ends it.
static void open_pair(kvo_frame *frame, const kvo_accessors *accessors) {
  kvo_open_pair *pair = make_pair(frame, accessors);
  if (!pair) return;
  bool joined = pair->joined;
  const kvo_cell *cell = joined ? NULL : kvo_change_cell(frame->object, frame->id);
  if (cell) {
    kvo_change_read_old(frame, cell);
    pair->has_old = frame->flags & KVO_FRAME_HAS_OLD &&
                    kvo_value_copy(&pair->old_value, &frame->old_value) == KVO_OK;
  }
  if (!push_pair(frame->object, pair)) {
    free_pair(pair);
    return;
  }
  if (cell) kvo_change_deliver_priors(frame, cell);
}

static kvo_frame *push_frame(kvo_object *object, uintptr_t id) {
  kvo_thread *thread = kvo_thread_current();
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (!frame) return NULL;
  frame->id = id;
  frame->serial = __atomic_load_n(&kvo_registration_serial, __ATOMIC_SEQ_CST);
  return frame;
}

void kvo_will_change_key(kvo_object *object, const char *key) {
  const kvo_accessors *accessors = accessors_of(object, key);
  kvo_frame *frame = accessors ? push_frame(object, accessors->id) : NULL;
  if (!frame) return;
  open_pair(frame, accessors);
  kvo_frame_pop(frame);
}

static void finish(kvo_frame *frame, kvo_open_pair *pair) {
  frame->serial = pair->serial;
  if (pair->has_old) frame->flags |= KVO_FRAME_HAS_OLD;
  if (pair->has_old) frame->old_value = pair->old_value;
  pair->has_old = false;
  bool joined = pair->joined;
  free_pair(pair);
  if (!joined) kvo_change_finish(frame);
}

static void report_unmatched(const kvo_object *object, const char *key) {
  kvo_misuse(
      "didChangeValue for \"%s\" of %s without a willChangeValue on this thread; it is ignored.",
      key, kvo_class_of(object)->name);
}

void kvo_did_change_key(kvo_object *object, const char *key) {
  const kvo_accessors *accessors = accessors_of(object, key);
  if (!accessors) return;
  kvo_open_pair *pair = take_pair(object, accessors->id);
  if (!pair) {
    report_unmatched(object, key);
    return;
  }
  kvo_frame *frame = push_frame(object, accessors->id);
  if (!frame) {
    free_pair(pair);
    return;
  }
  finish(frame, pair);
  kvo_frame_pop(frame);
}

void kvo_will_change(kvo_object *object, const char *key) {
  const char *interned = kvo_key_intern(key);
  if (interned) kvo_will_change_key(object, interned);
}

void kvo_did_change(kvo_object *object, const char *key) {
  const char *interned = kvo_key_intern(key);
  if (interned) kvo_did_change_key(object, interned);
}

static kvo_open_pair *take_all_pairs(kvo_object *object) {
  kvo_retired *retired = NULL;
  kvo_open_pair *pairs = NULL;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    kvo_table *table = object->observations;
    if (table) {
      pairs = table->open_pairs;
      table->open_pairs = NULL;
      kvo_table_trim_locked(object, &retired);
    }
  }
  kvo_retire(retired);
  return pairs;
}

void kvo_open_pairs_end_with(kvo_object *object) {
  kvo_open_pair *pairs = take_all_pairs(object);
  for (kvo_open_pair *next; pairs; pairs = next) {
    next = pairs->next;
    kvo_misuse(
        "A %s died with a willChangeValue for \"%s\" that thread %u made and no didChangeValue followed.",
        kvo_class_of(object)->name, pairs->key, (unsigned)pairs->thread);
    free_pair(pairs);
  }
}
