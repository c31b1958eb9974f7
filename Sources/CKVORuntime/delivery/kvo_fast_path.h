/// The fast path of a change: a setting of a key with one plain observer, while this thread has no other change open
/// and records no reads. This is the common case. C++ includes this file.
///
/// Such a change is like any other: it has a frame and goes through the states that change.c describes. It can skip
/// these checks: if the cell held exactly one observer before the change and holds exactly one now, it is the same
/// observer, still live, with the same options, and registered in time. In every other case the fast path hands the
/// frame over to change.c.
#ifndef KVO_FAST_PATH_H
#define KVO_FAST_PATH_H

#include "base/kvo_log.h"
#include "coding/kvo_field.h"
#include "delivery/kvo_delivery.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Whether a change that begins now may take the fast path. `thread` is `kvo_fast_path_thread`.
KVO_INLINE bool kvo_fast_path_may_begin(const kvo_thread *thread) {
  return KVO_LIKELY(!(thread->open_count | kvo_log_flags)); // one test
}

/// Calls an observer that `kvo_fast_path_finish` does not call itself: an observer object, a group member or a group
/// key.
void kvo_fast_path_call_other(kvo_frame *frame, kvo_registration *registration,
    const char *KVO_NULLABLE key);

/// Finds the observer of a protected object's key. False unless there is exactly one, and it is plain.
KVO_INLINE bool kvo_fast_path_find(kvo_object *object, uintptr_t id, kvo_observer_slot *slot) {
  slot->word = kvo_object_owned_word(object);
  kvo_observation_word observation_word = slot->word ^ kvo_owner_bits;
  if (KVO_UNLIKELY(observation_word & KVO_OWNER_BITS)) {
    observation_word = kvo_observation_word_share(slot->word, object);
    slot->word = kvo_object_owned_word(object);
    if (KVO_UNLIKELY(slot->word != observation_word)) return false; // it has just changed
  }
  if (kvo_observation_word_is_inline(observation_word)) {
    slot->observers = observation_word;
    slot->source = (const uintptr_t *)&object->observations;
    slot->found = slot->word;
    return KVO_LIKELY(kvo_observers_is_plain(observation_word)) &&
           KVO_LIKELY(kvo_registration_id(kvo_observers_registration(observation_word)) == id);
  }
  if (KVO_UNLIKELY(!observation_word)) return false;
  const kvo_cell *cell = kvo_table_find((kvo_table *)observation_word, id);
  if (KVO_UNLIKELY(!cell)) return false;
  slot->source = &cell->observers;
  slot->observers = slot->found = kvo_cell_observers(cell);
  return KVO_LIKELY(kvo_observers_is_plain(slot->observers));
}
/// The result may be a group key, which begins like a registration. So only `state`, `options` and `tagged_accessors`
/// may be read from it.
KVO_INLINE kvo_registration *kvo_observer_slot_registration(const kvo_observer_slot *slot) {
  kvo_registration *registration = kvo_observers_registration(slot->observers);
#ifdef KVO_POISON
  (void)kvo_registration_state(registration); // traps if it has been freed
#endif
  return registration;
}

/// A plain observer's `tagged_accessors` has no marks, so it is the pointer to the accessors.
KVO_INLINE const kvo_accessors *kvo_observer_slot_accessors(const kvo_observer_slot *slot) {
  return (const kvo_accessors *)kvo_observer_slot_registration(slot)->tagged_accessors;
}

/// Whether the cell still holds the observer that was found, and no other.
KVO_INLINE bool kvo_observer_slot_is_current(const kvo_object *object,
    const kvo_observer_slot *slot) {
  return KVO_LIKELY(kvo_object_owned_word(object) == slot->word) &&
         KVO_LIKELY(__atomic_load_n(slot->source, __ATOMIC_SEQ_CST) == slot->found);
}

/// Reads the old value if the observer asks for it. False: it asks for values that are not read from a field of this
/// kind.
KVO_INLINE bool kvo_fast_path_read_old(kvo_frame *frame, kvo_object *object,
    const kvo_observer_slot *slot, kvo_kind kind, size_t size) {
  uint32_t options = kvo_observer_slot_registration(slot)->options;
  frame->change.old_value = NULL;
  if (options & (KVO_OLD | KVO_NEW)) {
    const kvo_accessors *accessors = kvo_observer_slot_accessors(slot);
    if (KVO_UNLIKELY(!kvo_field_answers(accessors, kind))) return false;
    if (options & KVO_OLD)
      frame->change.old_value = kvo_field_read(&frame->old_value, accessors, object, size);
  }
  return true;
}

/// Finds the observer of a change whose frame has just been pushed, and reads the old value if the observer asks for
/// it. False: the change takes the slow path.
KVO_INLINE bool kvo_fast_path_begin(kvo_frame *frame, kvo_object *object, uintptr_t id,
    kvo_observer_slot *slot, kvo_kind kind, size_t size) {
  return KVO_LIKELY(kvo_fast_path_find(object, id, slot)) &&
         KVO_LIKELY(kvo_fast_path_read_old(frame, object, slot, kind, size));
}

/// The will phase of an automatic change, in a frame with its `id`. False: the change takes the slow path.
KVO_INLINE bool kvo_fast_path_will_change(kvo_thread *thread, kvo_frame *frame, kvo_object *object,
    uintptr_t id, kvo_observer_slot *slot, kvo_kind kind, size_t size) {
  if (KVO_UNLIKELY(!kvo_fast_path_begin(frame, object, id, slot, kind, size))) return false;
  thread->open_count = 1;
  return true;
}

/// Lets the did phase continue on the slow path, with the old value that has been read.
KVO_INLINE void kvo_fast_path_leave(kvo_frame *frame) {
  frame->flags &= ~(uint32_t)(KVO_FRAME_FAST_PATH | KVO_FRAME_COPIES);
  if (frame->change.old_value) frame->flags |= KVO_FRAME_HAS_OLD;
}

/// Calls the observer if nothing else has to be done; otherwise the slow path finishes the change. The frame is in
/// state KVO_FRAME_DELIVERING, and the caller pops it. `key` is the key's name, or NULL to read it from the
/// accessors: memory that nothing else here needs, so a cache miss if there are many keys.
KVO_INLINE void kvo_fast_path_finish(kvo_frame *frame, kvo_object *object,
    const kvo_observer_slot *slot, const char *KVO_NULLABLE key, size_t size) {
  kvo_light_fence(); // a thread that registers now sees the stored value
  kvo_registration *registration = kvo_observer_slot_registration(slot);
  bool is_there = kvo_observer_slot_is_current(object, slot);
  frame->change.new_value = NULL;
  if (is_there && registration->options & KVO_NEW) {
    const kvo_accessors *accessors = kvo_observer_slot_accessors(slot);
    is_there = kvo_field_is_current(accessors); // they had a field in the will phase
    if (KVO_LIKELY(is_there))
      frame->change.new_value = kvo_field_read(&frame->new_value, accessors, object, size);
  }
  if (KVO_UNLIKELY(!is_there)) {
    kvo_fast_path_leave(frame);
    kvo_change_finish(frame);
  } else if (KVO_LIKELY(!(registration->options & (KVO_BY_OBSERVER | KVO_GROUPED)))) {
    if (!key) key = kvo_observer_slot_accessors(slot)->key;
    registration->callback(registration->context, object, key, &frame->change);
  } else {
    kvo_fast_path_call_other(frame, registration, key);
  }
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
