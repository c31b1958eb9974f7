// The life of a change: the will phase (read the old value, call prior observers), the setter, and the did phase
// (read the new value, call final observers): D1, D4, D5.
//
// An automatic change is a frame on its thread's stack, from the will phase to the end of the did phase. While the
// frame is open, a further change of the same property on the same thread joins it, that is, opens no frame. The
// frame is open during prior calls and closed before final calls, so a set in a final callback is a change of its
// own.
//
// A delivery walks the observers it finds, first to last. It skips those that have ended and those that this thread
// registered since the change began. Those that another thread registered since then are notified. No lock is held,
// and the object may die in a callback: after a final call only the memory that the frame's hazard pointer keeps is
// touched (I1). If prior observers are called, the object is retained, because its setter has yet to run.
//
// A change that is part of a batch is delivered by the batch (M1); a change of elements keeps an open frame, which
// others join. If the object's class overrides the methods that announce changes, these methods begin and finish the
// change (announced.c).
//
// Here `prior` means: for the prior call, before the change. `by_setter` means: opened by the property's own setter.
//
// This file handles settings of a key that has only observers of its own. Three others take the remaining cases:
// * general_delivery.c: key paths or derived keys depend on the key, or some elements of a to-many key change;
// * single_recipient.c: exactly one recipient is reached by a path or a derived key;
// * kvo_fast_path.h: there is one plain observer and nothing else is under way on the thread.
#include "delivery/kvo_delivery.h"

#include "base/kvo_forward.h"
#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "coding/kvo_field.h"
#include "delivery/kvo_general_delivery.h"
#include "kvo_binding.h"
#include "tables/kvo_distinct.h"
#include "tables/kvo_group.h"

// The program's getter may drop the last other reference to the object. So may a class method that is asked when the
// accessors are looked up again. A field is copied without any call, so the object need not be held.
KVO_INLINE void hold_while_read(kvo_frame *frame, const kvo_accessors *accessors) {
  if (!kvo_field_answers(accessors, KVO_KIND_VOID)) kvo_frame_hold(frame);
}

// Reports, once per change, that there was no memory for a value.
static void change_report_unread(kvo_frame *frame, const kvo_accessors *accessors) {
  if (!(frame->flags & KVO_FRAME_REPORTED))
    kvo_report_undelivered(accessors->cls->name, accessors->key);
  frame->flags |= KVO_FRAME_REPORTED;
}

// Only the property's own setter is certain to have ended its access to the storage: see `kvo_accessors_read_own`.
KVO_INLINE bool read_value(const kvo_accessors *accessors, kvo_object *object, kvo_value *value,
    bool by_setter) {
  return by_setter ? kvo_change_read_own(accessors, object, value)
                   : kvo_change_read(accessors, object, value);
}

// Reads the new value. False if out of memory.
KVO_INLINE bool read_new_value(kvo_frame *frame, const kvo_accessors *accessors, bool by_setter) {
  hold_while_read(frame, accessors);
  accessors = kvo_accessors_current(accessors);
  if (!read_value(accessors, frame->object, &frame->new_value, by_setter)) {
    change_report_unread(frame, accessors);
    return false;
  }
  frame->flags |= KVO_FRAME_HAS_NEW;
  return true;
}

// Whether a late observer can get the values it asks for; reads the new value if it has not been read yet. The new
// value also stands in for an old value that was not read in time, and is passed in the prior call of a late observer.
static bool has_new_for_late(kvo_frame *frame, uint32_t options, const kvo_accessors *accessors) {
  bool lacks_old = options & KVO_PRIOR || !(frame->flags & KVO_FRAME_HAS_OLD);
  bool needs_new = options & (KVO_NEW | KVO_DISTINCT) || (options & KVO_OLD && lacks_old);
  if (!needs_new || frame->flags & KVO_FRAME_HAS_NEW) return true;
  return !(frame->flags & KVO_FRAME_REPORTED) && read_new_value(frame, accessors, false);
}

// Whether the change is to be delivered to an observer with KVO_DISTINCT, which is live.
static __attribute__((noinline)) bool change_is_admitted(kvo_registration *registration,
    const kvo_frame *frame) {
  const kvo_value *new = frame->flags & KVO_FRAME_HAS_NEW ? &frame->new_value : NULL;
  return kvo_distinct_admits(registration, frame->ticket, new) &&
         kvo_registration_state(registration) == KVO_LIVE;
}

// Whether an observer with KVO_DISTINCT was added after this change had read its new value without a ticket,
// or had taken one. The value that the observer has at registration is at least as new, so this change is not
// delivered.
static bool came_after_ticket(const kvo_registration *registration, const kvo_frame *frame) {
  if (!(registration->options & KVO_DISTINCT)) return false;
  return !(frame->flags & KVO_FRAME_HAS_TICKET) ||
         !kvo_registration_was_there(registration, frame->serial_at_ticket);
}

// Whether the change is not for a registration made after it began. If this thread made it, the next change is its first
// one; if another thread did, this change is, unless it is that of a batch: it looks for such observers before its calls,
// and those that come later find the stored value.
static bool is_not_for_late(const kvo_registration *registration, const kvo_frame *frame) {
  return frame->flags & KVO_FRAME_HAS_BATCH ||
         kvo_registration_thread(registration) == kvo_thread_number();
}

static __attribute__((noinline)) void deliver_late(kvo_registration *registration, kvo_frame *frame,
    bool prior) {
  if (prior || is_not_for_late(registration, frame)) return;
  if (kvo_registration_state(registration) != KVO_LIVE) return;
  if (came_after_ticket(registration, frame)) return;
  const kvo_accessors *accessors = kvo_registration_accessors(registration);
  if (!has_new_for_late(frame, registration->options, accessors)) return;
  const kvo_value *old = frame->flags & KVO_FRAME_HAS_OLD ? &frame->old_value : NULL;
  const kvo_value *new = frame->flags & KVO_FRAME_HAS_NEW ? &frame->new_value : NULL;
  kvo_change_call_late(frame, registration, frame->ticket, old, new);
}

// Does for a group key what deliver_to and deliver_late do for a registration. A group key asks for neither prior calls
// nor distinct changes.
static __attribute__((noinline)) void deliver_to_group_key(const kvo_group_key *group_key,
    kvo_frame *frame) {
  kvo_registration *head = kvo_group_key_head(group_key);
  bool is_late = kvo_registration_is_late(head, frame);
  if (kvo_registration_state(head) != KVO_LIVE) return;
  if (is_late && is_not_for_late(head, frame)) return;
  if (is_late && !has_new_for_late(frame, head->options, kvo_group_key_accessors(group_key)))
    return;
  if (kvo_registration_state(head) != KVO_LIVE) return; // a getter has run and may have ended it
  bool has_old = frame->flags & KVO_FRAME_HAS_OLD, has_new = frame->flags & KVO_FRAME_HAS_NEW;
  if (!has_new && head->options & KVO_NEW) return;
  if (!has_old && !is_late && head->options & KVO_OLD) return;
  const kvo_value *old = has_old ? &frame->old_value : &frame->new_value;
  kvo_keyed_change keyed = {.change = {.kind = KVO_SETTING,
                                .old_value = head->options & KVO_OLD ? old : NULL,
                                .new_value = head->options & KVO_NEW ? &frame->new_value : NULL}};
  kvo_group_key_call(group_key, kvo_group_key_accessors(group_key)->key, &keyed);
}

// Returns false if there was no memory for a value that the observer asks for, which has been reported.
KVO_INLINE bool change_fill_in(kvo_change *change, kvo_frame *frame, uint32_t options, bool prior) {
  bool old = options & KVO_OLD, new = options & KVO_NEW && !prior;
  if (KVO_UNLIKELY(old && !(frame->flags & KVO_FRAME_HAS_OLD))) return false;
  if (KVO_UNLIKELY(new && !(frame->flags & KVO_FRAME_HAS_NEW))) return false;
  if (old) change->old_value = &frame->old_value;
  if (new) change->new_value = &frame->new_value;
  return true;
}

KVO_INLINE void deliver_to(kvo_registration *registration, kvo_frame *frame, bool prior) {
  bool is_late = kvo_registration_is_late(registration, frame);
  if (kvo_registration_state(registration) != KVO_LIVE) return;
  uint32_t options = registration->options;
  if (prior && !(options & KVO_PRIOR)) return;
  if (KVO_UNLIKELY(options & KVO_PATH_NODE)) return; // added after the recipients were chosen
  if (KVO_UNLIKELY(is_late)) {
    deliver_late(registration, frame, prior);
    return;
  }
  kvo_change change = {.kind = KVO_SETTING, .is_prior = prior};
  if (options & (KVO_OLD | KVO_NEW) && !change_fill_in(&change, frame, options, prior)) return;
  if (KVO_UNLIKELY(options & KVO_DISTINCT) && !prior && !change_is_admitted(registration, frame))
    return;
  kvo_change_call(frame, registration, &change);
}

// Not inlined: the loop would slow down the common case of one observer.
static __attribute__((noinline)) void deliver_to_list(kvo_list *list, kvo_frame *frame,
    bool prior) {
  uint32_t count = __atomic_load_n(&list->count, __ATOMIC_SEQ_CST);
  for (uint32_t i = 0; i < count; i++) {
    kvo_registration *registration = __atomic_load_n(&list->items[i], __ATOMIC_SEQ_CST);
    if (registration) deliver_to(registration, frame, prior);
  }
}

KVO_INLINE void change_deliver(kvo_observers observers, kvo_frame *frame, bool prior) {
  if (kvo_observers_is_list(observers))
    deliver_to_list(kvo_observers_list(observers), frame, prior);
  else if (KVO_UNLIKELY(kvo_observers_is_group_key(observers)))
    deliver_to_group_key(kvo_observers_group_key(observers), frame);
  else if (observers) deliver_to(kvo_observers_registration(observers), frame, prior);
}

KVO_INLINE void change_read_old(kvo_frame *frame, kvo_observers observers, bool by_setter) {
  const kvo_accessors *accessors = kvo_observers_accessors(observers);
  hold_while_read(frame, accessors);
  accessors = kvo_accessors_current(accessors);
  if (read_value(accessors, frame->object, &frame->old_value, by_setter))
    frame->flags |= KVO_FRAME_HAS_OLD;
  else change_report_unread(frame, accessors);
}

void kvo_change_read_old(kvo_frame *frame, kvo_observers observers) {
  if (kvo_observers_options(observers) & KVO_OLD) change_read_old(frame, observers, false);
}

// The observers are looked up again, because reading the old value ran the program's code, which may have changed
// them.
void kvo_change_deliver_priors(kvo_frame *frame) {
  kvo_observers observers = kvo_object_observers(frame->object, frame->id);
  if (!observers || !(kvo_observers_options(observers) & KVO_PRIOR)) return;
  kvo_frame_hold(frame);
  const kvo_frame *outer = kvo_thread_begin_priors(frame);
  change_deliver(observers, frame, true);
  kvo_thread_end_priors(frame, outer);
}

static void change_begin_general_delivery(kvo_frame *frame, const kvo_mutation *mutation) {
  uint64_t shortages = kvo_shortages;
  if (kvo_general_delivery_begin(frame, mutation)) kvo_general_delivery_deliver_priors(frame);
  kvo_change_report_shortage(frame, shortages);
}

bool kvo_change_add_key(kvo_frame *frame, kvo_changed_key *changed_key,
    const kvo_mutation *mutation) {
  uint64_t shortages = kvo_shortages;
  void *recorder = kvo_suspend_recording();
  bool added = kvo_general_delivery_add(frame, changed_key, mutation);
  if (added) kvo_change_report_shortage(frame, shortages);
  kvo_resume_recording(recorder);
  return added;
}

static void finish_general_delivery(kvo_frame *frame) {
  uint64_t shortages = kvo_shortages;
  kvo_general_delivery_finish(frame);
  kvo_change_report_shortage(frame, shortages);
}

// Reads the old value and calls prior observers.
KVO_INLINE void change_begin(kvo_frame *frame, kvo_observers observers,
    const kvo_mutation *mutation, bool by_setter) {
  uint32_t options = kvo_observers_options(observers);
  bool reaches_further = options & KVO_PATH_NODE || kvo_in_place_may_hold(observers);
  if (KVO_UNLIKELY(mutation || reaches_further || kvo_observers_are_tracked(observers))) {
    if (mutation || !kvo_single_recipient_begin(frame, observers))
      change_begin_general_delivery(frame, mutation);
    return;
  }
  if (options & KVO_OLD) change_read_old(frame, observers, by_setter);
  if (KVO_UNLIKELY(options & KVO_PRIOR)) kvo_change_deliver_priors(frame);
}

KVO_INLINE void begin_unrecorded(kvo_frame *frame, kvo_observers observers,
    const kvo_mutation *mutation, bool by_setter) {
  void *recorder = kvo_suspend_recording();
  change_begin(frame, observers, mutation, by_setter);
  kvo_resume_recording(recorder);
}

void kvo_change_begin(kvo_frame *frame) {
  kvo_observers observers = kvo_object_observers(frame->object, frame->id);
  if (observers) begin_unrecorded(frame, observers, NULL, false);
}

void kvo_change_begin_mutation(kvo_frame *frame, const kvo_mutation *mutation) {
  kvo_observers observers = kvo_object_observers(frame->object, frame->id);
  if (observers) begin_unrecorded(frame, observers, mutation, false);
}

KVO_INLINE bool are_automatic(kvo_observers observers) {
  return KVO_LIKELY(observers) && KVO_LIKELY(!kvo_observers_are_manual(observers));
}

KVO_INLINE void change_open_frame_state(kvo_frame *frame, kvo_thread *thread, kvo_object *object,
    uintptr_t id, const kvo_mutation *mutation) {
  frame->id = id;
  thread->open_count++;
  kvo_observers observers = kvo_object_observers(object, id);
  if (!are_automatic(observers)) {
    if (observers && kvo_announced_open(frame, observers, mutation)) return;
    __atomic_store_n(&frame->state, KVO_FRAME_UNOBSERVED, __ATOMIC_RELAXED);
    return;
  }
  __atomic_store_n(&frame->state, KVO_FRAME_OPEN, __ATOMIC_RELAXED);
  begin_unrecorded(frame, observers, mutation, true);
}

KVO_INLINE kvo_frame *change_push(kvo_thread *thread, kvo_object *object, uintptr_t id) {
  kvo_frame *frame = KVO_LIKELY(thread != NULL) ? kvo_frame_push(thread, object) : NULL;
  if (KVO_UNLIKELY(!frame)) kvo_change_report_undelivered(object, id);
  return frame;
}

// Lets the thread's batch of the object, if there is one, take the change. The frame protects the object while its
// observers are looked up.
static kvo_frame *take_into_batch(kvo_frame *frame, kvo_object *object, uintptr_t id,
    const kvo_mutation *mutation) {
  if (!frame->thread->batch_count || !are_automatic(kvo_object_observers(object, id))) return NULL;
  return kvo_batch_record(frame->thread, object, id, mutation);
}

// Marks the frame of a change of some elements that the batch delivers. The frame stays open but notifies no observers.
// The program's setter or accessor, which makes the change, joins it instead of opening a second one of the key.
static void mark_batched(kvo_frame *frame, kvo_thread *thread, uintptr_t id) {
  frame->id = id;
  frame->flags |= KVO_FRAME_SILENT | KVO_FRAME_BEGUN | KVO_FRAME_BATCHED;
  thread->open_count++;
  __atomic_store_n(&frame->state, KVO_FRAME_ANNOUNCED, __ATOMIC_RELAXED);
}

// Opens a change while this thread has another change or a batch open. Returns the batch's frame if the batch delivers
// the change, and NULL if the change joins an open one.
static __attribute__((noinline)) kvo_frame *open_nested(kvo_thread *thread, kvo_object *object,
    uintptr_t id, const kvo_mutation *mutation) {
  kvo_frame *batch = kvo_batch_record_quickly(thread, object, id);
  if (batch || kvo_change_join(thread, object, id)) return batch;
  kvo_frame *frame = change_push(thread, object, id);
  if (!frame) return NULL;
  batch = take_into_batch(frame, object, id, mutation);
  if (batch && !mutation) {
    kvo_frame_pop(frame);
    return batch;
  }
  if (batch) mark_batched(frame, thread, id);
  else change_open_frame_state(frame, thread, object, id, mutation);
  return frame;
}

KVO_INLINE kvo_frame *open_change(kvo_object *object, uintptr_t id, const kvo_mutation *mutation) {
  kvo_thread *thread = kvo_thread_current();
  if (thread && KVO_UNLIKELY(thread->open_count)) return open_nested(thread, object, id, mutation);
  kvo_frame *frame = change_push(thread, object, id);
  if (frame) change_open_frame_state(frame, thread, object, id, mutation);
  return frame;
}

kvo_frame *kvo_change_open_frame(kvo_frame *frame, kvo_object *object) {
  change_open_frame_state(frame, frame->thread, object, frame->id, NULL);
  return frame;
}

kvo_frame *kvo_change_open(kvo_object *object, uintptr_t id) {
  return open_change(object, id, NULL);
}

kvo_frame *kvo_change_open_mutation(kvo_object *object, uintptr_t id,
    const kvo_mutation *mutation) {
  return open_change(object, id, mutation);
}

void kvo_change_take_ticket(kvo_frame *frame) {
  frame->ticket = kvo_distinct_take_ticket();
  frame->serial_at_ticket = __atomic_load_n(&kvo_serial, __ATOMIC_SEQ_CST);
  frame->flags |= KVO_FRAME_HAS_TICKET;
}

// The new value is also read if the old value was not: it stands in for the old one in a call of a late observer.
KVO_INLINE void change_read_new(kvo_frame *frame, kvo_observers observers, uint32_t options,
    bool by_setter) {
  if (!(options & (KVO_NEW | KVO_DISTINCT)) && frame->flags & KVO_FRAME_HAS_OLD) return;
  read_new_value(frame, kvo_observers_accessors(observers), by_setter);
}

void kvo_change_deliver_final(kvo_frame *frame, kvo_observers observers) {
  change_deliver(observers, frame, false);
}

// MARK: The did phase

// Fences, then looks for observers. A thread that registers at this time sees the stored value, or its registration
// is found here (I3).
KVO_INLINE void change_finish(kvo_frame *frame, bool by_setter) {
  kvo_light_fence();
  kvo_observers observers = kvo_object_observers(frame->object, frame->id);
  if (KVO_UNLIKELY(!observers)) {
    if (frame->flags & KVO_FRAME_GENERAL_DELIVERY) finish_general_delivery(frame);
    return;
  }
  uint32_t options = kvo_observers_options(observers);
  bool reaches_further =
      options & KVO_PATH_NODE ||
      frame->flags & (KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_SINGLE_RECIPIENT) ||
      kvo_in_place_may_hold(observers); // perhaps a mutation that began after the change
  if (KVO_UNLIKELY(reaches_further || kvo_observers_are_tracked(observers))) {
    bool was_single = frame->flags & KVO_FRAME_SINGLE_RECIPIENT;
    if (!was_single || !kvo_single_recipient_finish(frame, observers))
      finish_general_delivery(frame);
    return;
  }
  if (options & (KVO_OLD | KVO_NEW | KVO_DISTINCT)) {
    if (KVO_UNLIKELY(options & KVO_DISTINCT)) kvo_change_take_ticket(frame);
    change_read_new(frame, observers, options, by_setter);
    // The program's getter may have changed the observers.
    observers = kvo_object_observers(frame->object, frame->id);
    if (KVO_UNLIKELY(!observers)) return;
  }
  change_deliver(observers, frame, false);
}

KVO_INLINE void finish_unrecorded(kvo_frame *frame, bool by_setter) {
  void *recorder = kvo_suspend_recording();
  change_finish(frame, by_setter);
  kvo_resume_recording(recorder);
}

void kvo_change_finish(kvo_frame *frame) { finish_unrecorded(frame, false); }

// Notifies the observers of a key that had none to notify when the change began, if it has some by now.
static __attribute__((noinline)) void notify_late_observers(kvo_frame *frame, bool also_manual) {
  __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
  kvo_light_fence();
  kvo_observers observers = kvo_object_observers(frame->object, frame->id);
  bool is_silent = !also_manual && observers && kvo_observers_are_manual(observers) &&
                   !kvo_observers_are_announced(observers);
  if (observers && !is_silent) kvo_change_finish(frame);
}

void kvo_change_notify_late_observers(kvo_object *object, uintptr_t id, bool also_manual) {
  kvo_thread *thread = kvo_thread_current();
  if (thread && kvo_thread_join_open(thread, object, id)) return; // the open change delivers it
  if (thread && kvo_batch_will_deliver(thread, object, id)) return;
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (!frame) {
    kvo_change_report_undelivered(object, id);
    return;
  }
  frame->id = id;
  kvo_frame_backdate(frame, 0); // all present observers count as late
  notify_late_observers(frame, also_manual);
  kvo_frame_pop(frame);
}

// Makes this thread the one that ends the change, and the frame no longer open. Both under the graph lock: the thread
// that began the change may be searching, under that lock, for open changes to which it can leave a recipient.
static void transfer_to_this_thread(kvo_frame *frame, uint32_t state) {
  uint32_t next = state == KVO_FRAME_ANNOUNCED ? KVO_FRAME_ANNOUNCING : KVO_FRAME_DELIVERING;
  KVO_LOCKED(&kvo_graph_lock);
  kvo_frame_transfer(frame);
  __atomic_store_n(&frame->state, next, __ATOMIC_RELEASE);
}

void kvo_change_close(kvo_frame *frame) {
  uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
  if (KVO_UNLIKELY(state == KVO_FRAME_BATCH)) return; // the batch delivers it when it ends
  if (KVO_UNLIKELY(frame->flags & KVO_FRAME_IN_PLACE)) kvo_in_place_end(frame);
  if (KVO_LIKELY(frame->thread == kvo_this_thread)) frame->thread->open_count--;
  else transfer_to_this_thread(frame, state);
  if (KVO_LIKELY(state == KVO_FRAME_OPEN)) {
    __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
    finish_unrecorded(frame, true);
  } else if (state == KVO_FRAME_UNOBSERVED) {
    notify_late_observers(frame, false);
  } else if (state == KVO_FRAME_ANNOUNCED) {
    kvo_announced_close(frame);
  }
  kvo_frame_pop(frame);
}

// Marks a change as cancelled if it must be closed all the same: other changes have left recipients to it, or it is
// announced, so that the class's did method has to run. Otherwise returns false, and no other change can leave
// recipients to it from then on.
static bool cancel_but_close(kvo_frame *frame, bool is_announced) {
  KVO_LOCKED(&kvo_graph_lock);
  bool is_general = frame->flags & KVO_FRAME_GENERAL_DELIVERY;
  if (is_announced || (is_general && frame->general_delivery->notifies_for_others)) {
    frame->flags |= KVO_FRAME_CANCELLED;
    return true;
  }
  if (frame->thread != kvo_this_thread)
    __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
  if (is_general) kvo_open_path_changes_end_locked(frame->general_delivery);
  return false;
}

// The thread that began the change may still make it a setting.
static bool became_setting(const kvo_frame *frame) {
  if (KVO_LIKELY(frame->thread == kvo_this_thread)) return kvo_change_became_setting(frame);
  KVO_LOCKED(&kvo_graph_lock);
  return kvo_change_became_setting(frame);
}

void kvo_change_cancel(kvo_frame *frame) {
  uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
  if (state == KVO_FRAME_BATCH) return;
  if (became_setting(frame)) { // others have changed the property
    kvo_change_close(frame);
    return;
  }
  if (KVO_UNLIKELY(frame->flags & KVO_FRAME_IN_PLACE)) kvo_in_place_end(frame);
  bool is_announced = state == KVO_FRAME_ANNOUNCED;
  bool may_have_to_close =
      is_announced || frame->flags & (KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_SINGLE_RECIPIENT);
  if (may_have_to_close && cancel_but_close(frame, is_announced)) {
    kvo_change_close(frame);
    return;
  }
  if (KVO_LIKELY(frame->thread == kvo_this_thread)) frame->thread->open_count--;
  kvo_frame_pop(frame);
}

// Reads what the registration observes, its key or its path, as the frame's new value. False if out of memory.
static bool read_present(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_frame *frame) {
  kvo_path_node *node = kvo_path_node_of(registration);
  bool is_read =
      node ? kvo_change_read_path(registration->object, node->observation, &frame->new_value)
           : kvo_change_read(accessors, registration->object, &frame->new_value);
  if (is_read) frame->flags |= KVO_FRAME_HAS_NEW;
  return is_read;
}

// Reads the value at registration. Sets `is_overtaken` if a distinct change has been compared before it, so that the
// present value must be compared too.
static bool read_at_registration(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_frame *frame, bool *is_overtaken) {
  bool is_distinct = registration->options & KVO_DISTINCT;
  bool is_initial = registration->options & KVO_INITIAL;
  uint64_t ticket = is_distinct ? kvo_distinct_take_ticket() : 0;
  kvo_fence_setters(); // a change under way finds the registration, or its value is read here: I3
  if (!(registration->options & (KVO_NEW | KVO_DISTINCT))) return true;
  if (!read_present(registration, accessors, frame)) return false;
  if (is_distinct)
    *is_overtaken = !kvo_distinct_begin(registration, ticket, &frame->new_value, is_initial);
  return true;
}

// Delivers the property's present value, unless it equals the one delivered last, after a change has been compared
// during the registration (D3). The observer may have missed a later one: it is attached to the keys that a derived key
// depends on one after the other. It is not called in a loop: the getter, or other threads, might set the property
// without end. This change takes a ticket, like any other, so a value that overtakes it is delivered by its
// own change.
static void deliver_overtaking_value(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_frame *frame) {
  kvo_change_take_ticket(frame);
  frame->old_value = frame->new_value;
  frame->flags = (frame->flags | KVO_FRAME_HAS_OLD) & ~(uint32_t)KVO_FRAME_HAS_NEW;
  accessors = kvo_accessors_current(accessors);
  if (read_present(registration, accessors, frame)) {
    kvo_change_call_late(frame, registration, frame->ticket, &frame->old_value, &frame->new_value);
  } else {
    change_report_unread(frame, accessors);
    kvo_distinct_admits(registration, frame->ticket, NULL);
  }
}

// The program's getter may have ended the registration.
static void call_initially(kvo_registration *registration, kvo_frame *frame) {
  if (kvo_registration_state(registration) != KVO_LIVE) return;
  const kvo_change change = {
      .kind = KVO_SETTING, .new_value = registration->options & KVO_NEW ? &frame->new_value : NULL};
  kvo_change_call(frame, registration, &change);
}

bool kvo_deliver_initial(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_frame *frame) {
  if (!kvo_handle_is_valid(registration)) return true;
  void *recorder = kvo_suspend_recording();
  bool is_overtaken = false;
  bool is_read = read_at_registration(registration, accessors, frame, &is_overtaken);
  if (is_read && registration->options & KVO_INITIAL) call_initially(registration, frame);
  if (is_overtaken && kvo_registration_state(registration) == KVO_LIVE)
    deliver_overtaking_value(registration, accessors, frame);
  kvo_resume_recording(recorder);
  return is_read;
}
