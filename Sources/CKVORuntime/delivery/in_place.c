// In-place mutations that a thread has open (E4).
//
// While a binding's language mutates a property in place, the property can't be read. A change that is made in the
// mutation, such as one by the setter of a value's part, may reach keys that are derived from the property. It neither
// reads these keys nor notifies their observers: it leaves them to the change of the property, which does both when the
// mutation has ended. That change then *owes* them a notification, even if the keys no longer depend on the property.
//
// Recipients are left to a change that reached them before the mutation. In the frame of a mutation that may reach other
// keys, KVO_FRAME_IN_PLACE is set. A mutation that is part of another change or of a batch has a frame of its own for
// the mark, and the other change's frame has the recipients. A change on the fast path has no mark: its property has
// one plain observer, so no key is derived from it.
//
// A mutation belongs to a task if the language has tasks, since a thread may run another task while the mutation is
// suspended. A mutation that goes on on another thread has no mark there.
//
// What is owed is written under the graph lock, and so is the end of a change that another thread closes.
#include "delivery/kvo_general_delivery.h"

static const void *(*current_task)(void);

void kvo_set_current_task(const void *(*find)(void)) { current_task = find; }

static const void *find_task(void) { return current_task ? current_task() : NULL; }

static bool reaches_no_other_key(const kvo_frame *frame) {
  const uint32_t reaching = KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_SINGLE_RECIPIENT;
  return !(frame->flags & reaching) && frame->state == KVO_FRAME_OPEN;
}

static kvo_frame *mark(kvo_frame *frame) {
  frame->task = find_task();
  frame->flags |= KVO_FRAME_IN_PLACE;
  frame->thread->in_place_count++;
  return frame;
}

// A frame for a mutation that is part of a batch, or of another change if `batch` is NULL.
static kvo_frame *push_joining(kvo_frame *batch, kvo_object *object, uintptr_t id) {
  kvo_thread *thread = kvo_this_thread;
  bool joins = thread && thread->open_count;
  kvo_frame *frame = joins ? kvo_frame_push_as(thread, object, KVO_FRAME_JOINS) : NULL;
  if (!frame) return batch;
  frame->id = id;
  thread->open_count++;
  return mark(frame);
}

kvo_frame *kvo_in_place_mark(kvo_frame *frame, kvo_object *object, uintptr_t id) {
  if (!frame || frame->state == KVO_FRAME_BATCH) return push_joining(frame, object, id);
  return KVO_LIKELY(reaches_no_other_key(frame)) ? frame : mark(frame);
}

// The newest mutation of the task that began before `later`, or the newest of all if that is NULL.
static kvo_frame *mutation_before(const kvo_thread *thread, const void *task, kvo_frame *later) {
  kvo_frame *frame = later;
  while ((frame = kvo_thread_open_before(thread, frame)))
    if (frame->flags & KVO_FRAME_IN_PLACE && frame->task == task) return frame;
  return NULL;
}

static kvo_frame *newest_mutation(const void **task) {
  const kvo_thread *thread = kvo_this_thread;
  if (!thread || !thread->in_place_count) return NULL;
  *task = find_task();
  return mutation_before(thread, *task, NULL);
}

bool kvo_in_place_is_open(void) {
  const void *task;
  return newest_mutation(&task) != NULL;
}

// Whether the frame is that of a mutation, or of the change or batch that the mutation is part of.
static bool has_mutation(const kvo_frame *frame, const void *task, kvo_frame *newest) {
  for (kvo_frame *mutation = newest; mutation;
      mutation = mutation_before(kvo_this_thread, task, mutation)) {
    bool is_part = mutation->object == frame->object &&
                   (mutation->id == frame->id || frame->state == KVO_FRAME_BATCH);
    if (is_part) return true;
  }
  return false;
}

static kvo_general_delivery *delivery_of(const kvo_frame *frame) {
  return frame->flags & KVO_FRAME_GENERAL_DELIVERY ? frame->general_delivery : NULL;
}

// The recipient may have been freed, and its address taken by a registration that is newer than the change.
static bool is_single_recipient(const kvo_frame *frame, const kvo_registration *registration) {
  return frame->flags & KVO_FRAME_SINGLE_RECIPIENT && frame->recipient == registration &&
         !kvo_registration_is_late(registration, frame);
}

static bool leave_to(kvo_frame *frame, const kvo_registration *registration,
    const kvo_general_delivery *searching) {
  kvo_general_delivery *delivery = delivery_of(frame);
  if (delivery) return delivery != searching && kvo_recipients_owe_locked(delivery, registration);
  if (!is_single_recipient(frame, registration)) return false;
  frame->flags |= KVO_FRAME_OWES;
  return true;
}

bool kvo_in_place_leave_locked(const kvo_registration *registration,
    const kvo_general_delivery *searching) {
  const void *task;
  kvo_frame *newest = newest_mutation(&task), *frame = NULL;
  if (!newest) return false;
  while ((frame = kvo_thread_open_before(kvo_this_thread, frame)))
    if (has_mutation(frame, task, newest) && leave_to(frame, registration, searching)) return true;
  return false;
}

static bool is_at(const kvo_path_observation *observation, const kvo_frame *frame) {
  const kvo_path_node *first = observation->first;
  return first && first->entry.object == frame->object &&
         kvo_registration_id(&first->entry) == frame->id;
}

static bool reaches(const kvo_frame *frame, const kvo_dependent_key *dependent_key) {
  const kvo_general_delivery *delivery = delivery_of(frame);
  if (delivery && kvo_recipients_reach(&delivery->before, dependent_key)) return true;
  for (uint32_t i = 0; i < dependent_key->count; i++)
    if (is_at(dependent_key->path_observations[i], frame)) return true;
  return false;
}

bool kvo_in_place_affects_slow_locked(const kvo_dependent_key *dependent_key) {
  const void *task;
  kvo_frame *newest = newest_mutation(&task), *frame = NULL;
  if (!newest) return false;
  while ((frame = kvo_thread_open_before(kvo_this_thread, frame)))
    if (has_mutation(frame, task, newest) && reaches(frame, dependent_key)) return true;
  return false;
}
