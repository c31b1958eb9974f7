// In-place mutations that a task has open (E4).
//
// While a binding's language mutates a property in place, the property can't be read. A change that is made in the
// mutation, such as one by the setter of a value's part, may reach keys that depend on the property. These keys are
// *held*: the change neither reads them nor notifies their observers. It leaves the observers to the change of the
// property, which reads and notifies when the mutation has ended. That change then *owes* them a notification, even if
// the keys no longer depend on the property.
//
// Each search for recipients begins with a search from each property that the task is mutating, which finds the held
// keys. Recipients that were not there when the mutation began are added to its change as newer ones. They are notified
// if something has been left to it.
//
// A mutation belongs to the task that began it, and otherwise to its thread. A task may continue on another thread, and
// the first thread may then run other tasks. The graph lock protects the list of the mutations.
//
// A mutation that is part of another change or of a batch has a frame of its own for the list. The other change's frame
// has the recipients. If there is a pair of manual changes around the mutation, the pair has them. A change that began
// with plain observers only, or on the fast path, is not in the list.
#include "delivery/kvo_general_delivery.h"

#include "base/kvo_lock.h"

kvo_frame *kvo_in_place_newest;

static const void *(*current_task)(void); // atomic

void kvo_set_current_task(const void *(*find)(void)) {
  __atomic_store_n(&current_task, find, __ATOMIC_RELEASE);
}

const void *kvo_in_place_find_task(void) {
  const void *(*find)(void) = __atomic_load_n(&current_task, __ATOMIC_ACQUIRE);
  return find ? find() : NULL;
}

// Whether the change has only observers of its own key. If memory ran out, it may have others.
static bool reaches_no_other_key(const kvo_frame *frame) {
  const uint32_t reaching =
      KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_SINGLE_RECIPIENT | KVO_FRAME_REPORTED;
  return !(frame->flags & reaching) && frame->state == KVO_FRAME_OPEN;
}

static void store(kvo_frame **slot, kvo_frame *frame) {
  __atomic_store_n(slot, frame, __ATOMIC_RELAXED);
}

static kvo_frame *enter_list(kvo_frame *frame) {
  frame->task = kvo_in_place_find_task();
  KVO_LOCKED(&kvo_graph_lock);
  frame->flags |= KVO_FRAME_IN_PLACE;
  if (frame->flags & KVO_FRAME_GENERAL_DELIVERY) frame->general_delivery->task = frame->task;
  frame->in_place_delivery = NULL;
  frame->next_in_place = kvo_in_place_newest;
  frame->in_place_slot = &kvo_in_place_newest;
  if (frame->next_in_place) frame->next_in_place->in_place_slot = &frame->next_in_place;
  store(&kvo_in_place_newest, frame);
  return frame;
}

void kvo_in_place_end_locked(kvo_frame *frame) {
  frame->flags &= ~(uint32_t)KVO_FRAME_IN_PLACE;
  store(frame->in_place_slot, frame->next_in_place);
  if (frame->next_in_place) frame->next_in_place->in_place_slot = frame->in_place_slot;
}

void kvo_in_place_end(kvo_frame *frame) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_in_place_end_locked(frame);
}

// A frame for a mutation that is part of a batch, or of another change if `batch` is NULL.
static kvo_frame *push_joining(kvo_frame *batch, kvo_object *object, uintptr_t id) {
  kvo_thread *thread = kvo_this_thread;
  bool joins = thread && thread->open_count;
  kvo_frame *frame = joins ? kvo_frame_push_as(thread, object, KVO_FRAME_JOINS) : NULL;
  if (!frame) return batch;
  frame->id = id;
  thread->open_count++;
  return enter_list(frame);
}

kvo_frame *kvo_in_place_mark(kvo_frame *frame, kvo_object *object, uintptr_t id) {
  if (!frame || frame->state == KVO_FRAME_BATCH) return push_joining(frame, object, id);
  return KVO_LIKELY(reaches_no_other_key(frame)) ? frame : enter_list(frame);
}

bool kvo_in_place_is_of_task_locked(const kvo_frame *mutation) {
  return mutation->task && mutation->task == kvo_in_place_find_task();
}

static bool belongs_to(const kvo_frame *mutation, const void *task) {
  return mutation->task ? mutation->task == task : mutation->thread == kvo_this_thread;
}

// The newest mutation of the task, or the next one after a mutation.
static kvo_frame *next_mutation(const kvo_frame *mutation, const void *task) {
  kvo_frame *next = mutation ? mutation->next_in_place : kvo_in_place_newest;
  while (next && !belongs_to(next, task)) next = next->next_in_place;
  return next;
}

bool kvo_in_place_is_open_slow(void) {
  KVO_LOCKED(&kvo_graph_lock);
  return next_mutation(NULL, kvo_in_place_find_task());
}

static bool has_recipients(const kvo_frame *frame) {
  return frame->flags & (KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_SINGLE_RECIPIENT);
}

static bool is_part_of(const kvo_frame *mutation, const kvo_frame *frame) {
  return frame->object == mutation->object &&
         (frame->id == mutation->id || frame->state == KVO_FRAME_BATCH);
}

// The frame of the mutation's change, or of the change or batch that it is part of. NULL if none has recipients.
static kvo_frame *change_of(kvo_frame *mutation) {
  if (has_recipients(mutation)) return mutation;
  kvo_frame *frame = mutation->thread == kvo_this_thread ? mutation : NULL;
  while (frame && !(has_recipients(frame) && is_part_of(mutation, frame)))
    frame = kvo_thread_open_before(kvo_this_thread, frame);
  return frame;
}

// The delivery of a pair of manual changes around the mutation, or NULL.
static kvo_general_delivery *delivery_of_pair(const kvo_frame *mutation) {
  if (mutation->thread != kvo_this_thread) return NULL;
  KVO_LOCKED_OBJECTS(mutation->object, NULL);
  const kvo_table *table = kvo_table_of(mutation->object);
  const kvo_manual_change *pair = table ? table->manual_changes : NULL;
  while (pair && !(pair->id == mutation->id && pair->thread == mutation->thread->number))
    pair = pair->next;
  return pair ? pair->general_delivery : NULL;
}

kvo_frame *kvo_in_place_next_change_locked(kvo_frame **mutation) {
  kvo_frame *frame = NULL;
  const void *task = kvo_in_place_find_task();
  while (!frame && (*mutation = next_mutation(*mutation, task))) frame = change_of(*mutation);
  return frame;
}

// The delivery of the mutation's change, or NULL.
static kvo_general_delivery *delivery_of(kvo_frame *mutation) {
  kvo_frame *frame = change_of(mutation);
  if (!frame) return delivery_of_pair(mutation);
  return frame->flags & KVO_FRAME_GENERAL_DELIVERY ? frame->general_delivery : NULL;
}

// Finds the delivery of the mutation's change, and adds the keys that depend on the property by now to its recipients.
// False if out of memory.
static bool extend_recipients_of(kvo_frame *mutation) {
  kvo_general_delivery *delivery = mutation->in_place_delivery = delivery_of(mutation);
  if (delivery) return kvo_recipients_extend_locked(delivery, mutation->object, mutation->id);
  bool is_unknown = mutation->flags & KVO_FRAME_REPORTED || change_of(mutation);
  if (is_unknown) kvo_shortages++; // there was no memory for a delivery
  return !is_unknown;
}

bool kvo_in_place_hold_locked(bool *is_open) {
  const void *task = kvo_in_place_find_task();
  kvo_frame *mutation = NULL;
  bool ok = true;
  while ((mutation = next_mutation(mutation, task))) {
    ok = extend_recipients_of(mutation) && ok;
    *is_open = true;
  }
  return ok;
}

bool kvo_in_place_holds(const kvo_registration *registration) {
  if (!kvo_in_place_is_open()) return false;
  const void *task = kvo_in_place_find_task();
  kvo_frame *mutation = NULL;
  KVO_LOCKED(&kvo_graph_lock);
  while ((mutation = next_mutation(mutation, task))) {
    kvo_general_delivery *delivery = mutation->in_place_delivery;
    if (delivery && kvo_recipients_contain_locked(delivery, registration)) return true;
  }
  return false;
}

bool kvo_in_place_take_value_locked(const kvo_registration *registration, const kvo_value *value,
    bool has_prior) {
  const void *task = kvo_in_place_find_task();
  kvo_frame *mutation = NULL;
  while ((mutation = next_mutation(mutation, task))) {
    kvo_general_delivery *delivery = delivery_of(mutation);
    if (delivery && kvo_recipients_take_value_locked(delivery, registration, value, has_prior))
      return true;
  }
  return false;
}

bool kvo_in_place_leave_locked(const kvo_registration *registration,
    const kvo_general_delivery *searching, bool also_behind) {
  const void *task = kvo_in_place_find_task();
  kvo_frame *mutation = NULL;
  while ((mutation = next_mutation(mutation, task))) {
    kvo_general_delivery *delivery = mutation->in_place_delivery;
    if (delivery && delivery != searching &&
        kvo_recipients_leave_to_locked(delivery, registration, also_behind))
      return true;
  }
  return false;
}
