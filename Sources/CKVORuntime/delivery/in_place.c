// In-place mutations that a thread has open (E4).
//
// While a binding's language mutates a property in place, the property can't be read. A change that the thread makes in
// the mutation, such as one by the setter of a value's part, may reach keys that are derived from the property. It
// neither reads these keys nor notifies their observers: the change of the property does both when the mutation has
// ended. So it treats them as it treats observers behind an open change of a node (open_path_changes.c).
//
// The frame of a change has KVO_FRAME_IN_PLACE during the mutation. A mutation that is part of another change has a
// frame of its own for the mark. A change on the fast path has none: its property has one plain observer, so no key is
// derived from it.
#include "delivery/kvo_general_delivery.h"

static bool reaches_no_other_key(const kvo_frame *frame) {
  const uint32_t reaching = KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_SINGLE_RECIPIENT;
  return !(frame->flags & reaching) && frame->state == KVO_FRAME_OPEN;
}

// A frame for a mutation that is part of a batch, or of another change if `batch` is NULL.
static kvo_frame *push_joining(kvo_frame *batch, kvo_object *object, uintptr_t id) {
  kvo_thread *thread = kvo_this_thread;
  bool joins = thread && thread->open_count;
  kvo_frame *frame = joins ? kvo_frame_push_as(thread, object, KVO_FRAME_JOINS) : NULL;
  if (!frame) return batch;
  frame->id = id;
  frame->flags = KVO_FRAME_IN_PLACE;
  thread->open_count++;
  thread->in_place_count++;
  return frame;
}

kvo_frame *kvo_in_place_mark(kvo_frame *frame, kvo_object *object, uintptr_t id) {
  if (!frame || frame->state == KVO_FRAME_BATCH) return push_joining(frame, object, id);
  if (KVO_LIKELY(reaches_no_other_key(frame))) return frame;
  frame->flags |= KVO_FRAME_IN_PLACE;
  frame->thread->in_place_count++;
  return frame;
}

// The newest mutation that began before `later`, or the newest of all if that is NULL.
static const kvo_frame *mutation_before(const kvo_thread *thread, const kvo_frame *later) {
  const kvo_frame *frame = later;
  while ((frame = kvo_thread_open_before(thread, frame)))
    if (frame->flags & KVO_FRAME_IN_PLACE) return frame;
  return NULL;
}

bool kvo_in_place_is_open(void) {
  const kvo_thread *thread = kvo_this_thread;
  return thread && thread->in_place_count && mutation_before(thread, NULL);
}

static bool is_at(const kvo_path_observation *observation, const kvo_frame *frame) {
  const kvo_path_node *first = observation->first;
  return first && first->entry.object == frame->object &&
         kvo_registration_id(&first->entry) == frame->id;
}

bool kvo_in_place_affects_slow_locked(const kvo_dependent_key *dependent_key) {
  const kvo_frame *frame = NULL;
  while ((frame = mutation_before(kvo_this_thread, frame)))
    for (uint32_t i = 0; i < dependent_key->count; i++)
      if (is_at(dependent_key->path_observations[i], frame)) return true;
  return false;
}
