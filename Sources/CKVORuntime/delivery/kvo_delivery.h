/// Making a change known.
#ifndef KVO_DELIVERY_H
#define KVO_DELIVERY_H

#include "base/kvo_log.h"
#include "coding/kvo_key_path.h"
#include "tables/kvo_table.h"
#include "threads/kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_chain kvo_chain;

/// What happens to a to-many key.
typedef struct kvo_mutation {
  kvo_change_kind kind;                      ///< insertion, removal or replacement
  const kvo_index_set *KVO_NULLABLE indexes; ///< of an indexed one
  kvo_set_mutation set_mutation;             ///< of an unordered one; 0 for an indexed one
  kvo_collection *KVO_NULLABLE objects;      ///< what the set mutation is made with
  const kvo_value *KVO_NULLABLE members;     ///< the same as a binding's value
  /// What goes and comes, where the binding knows it: then nothing is read.
  const kvo_value *KVO_NULLABLE goes, *KVO_NULLABLE comes;
} kvo_mutation;

/// As what a set mutation is told.
KVO_INLINE kvo_change_kind kvo_set_mutation_kind(kvo_set_mutation mutation) {
  if (mutation == KVO_UNION) return KVO_INSERTION;
  return mutation == KVO_SET_SET ? KVO_REPLACEMENT : KVO_REMOVAL;
}

/// Opens an automatic change of a property: reads old and calls prior observers where asked for.
/// NULL if it joins a change under way, or if memory is out; the batch's frame if it becomes part of one. If nobody observes it, closing it looks
/// again: another thread may have registered an observer meanwhile.
kvo_frame *KVO_NULLABLE kvo_change_open(kvo_object *object, uintptr_t id);
/// The same for part of a to-many property; copies what it keeps. NULL: a setting.
kvo_frame *KVO_NULLABLE kvo_change_open_mutation(kvo_object *object, uintptr_t id,
    const kvo_mutation *KVO_NULLABLE mutation);
/// The same in a frame that has been pushed, with its `id`, by a thread that had no other change open. Returns it.
kvo_frame *kvo_change_open_frame(kvo_frame *frame, kvo_object *object);
/// Closes it: reads new, calls the observers, pops the frame.
void kvo_change_close(kvo_frame *frame);
/// Tells of a property that has been set without a change of it open: observers registered on other
/// threads meanwhile get a change that goes from what there is to what there is. The caller holds the object.
/// - by_hand: also of a key that notifies by hand alone.
void kvo_change_look(kvo_object *object, uintptr_t id, bool by_hand);
/// Closes one that came to nothing: final calls are not made.
void kvo_change_cancel(kvo_frame *frame);

// A getter may set something while its reads are recorded. What is read for that change, and what its
// observers read, are no reads of the getter's.
KVO_INLINE void *KVO_NULLABLE kvo_suspend_recording(void) {
  if (KVO_LIKELY(!kvo_recorder)) return NULL;
  void *recorder = kvo_current_recorder();
  if (recorder) kvo_set_recorder(NULL);
  return recorder;
}
KVO_INLINE void kvo_resume_recording(void *KVO_NULLABLE recorder) {
  if (KVO_UNLIKELY(recorder != NULL)) kvo_set_recorder(recorder);
}

kvo_frame *KVO_NULLABLE kvo_batch_taking_change(kvo_thread *thread, kvo_object *object,
    uintptr_t id, const kvo_mutation *KVO_NULLABLE mutation);
/// Whether a change of an observed key, by this thread, becomes part of a batch (batch.c). Where it is the first
/// one of its key there, old is read and prior observers are called; then it is told when the batch ends, and no
/// frame is needed for it.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_batch_takes(kvo_thread *thread, kvo_object *object,
    uintptr_t id, const kvo_mutation *KVO_NULLABLE mutation) {
  if (KVO_LIKELY(!thread->batch_count)) return NULL;
  return kvo_batch_taking_change(thread, object, id, mutation);
}
kvo_frame *KVO_NULLABLE kvo_batch_taking_again(kvo_thread *thread, kvo_object *object,
    uintptr_t id);
/// The same of a further change of a key, found at once where the thread has begun nothing since the batch.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_batch_takes_again(kvo_thread *thread, kvo_object *object,
    uintptr_t id) {
  return KVO_UNLIKELY(thread->batch_count) ? kvo_batch_taking_again(thread, object, id) : NULL;
}
/// Whether a batch of this thread's is going to tell of the key.
bool kvo_batch_tells(const kvo_thread *thread, const kvo_object *object, uintptr_t id);

/// The accessors of a key of a living object that is observed, as they are now; NULL if it is not.
const kvo_accessors *KVO_NULLABLE kvo_change_accessors(kvo_object *object, uintptr_t id);
/// Reads a key, or a path, for a change record: a collection as it is now, not as a proxy. False,
/// and nil, if memory was out. What a path's operators can't work on is nil, and reported once.
bool kvo_change_read(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);
bool kvo_change_read_path(kvo_object *object, const kvo_chain *chain, kvo_value *value);
/// Reports that observers of a key, if it has any, are not told of all, memory being out.
void kvo_change_report_untold(kvo_object *object, uintptr_t id);
/// The same if memory was out since `kvo_shortages` was this, once for each change.
void kvo_change_report_shortage(kvo_frame *frame, uint64_t shortages);

/// Whether a registration came to be found only after the change had begun.
KVO_INLINE bool kvo_registration_is_late(const kvo_registration *registration,
    const kvo_frame *frame) {
  return !kvo_registration_was_there(registration, frame->serial);
}

/// A frame of the thread's that protects the object while it is read or called for a change, and, unless it is
/// the changed one, which the change's own frame holds, keeps it alive. NULL if the object is dying, or memory
/// is out. It ends with `kvo_frame_pop`.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_change_visit(const kvo_frame *frame, kvo_thread *thread,
    kvo_object *object, const kvo_class_operations *operations) {
  kvo_frame *visit = kvo_frame_push(thread, object);
  if (!visit || object == frame->object) return visit;
  if (operations->try_retain(object)) {
    visit->flags |= KVO_FRAME_RETAINED;
    return visit;
  }
  kvo_frame_pop(visit);
  return NULL;
}

/// Logs and counts a delivery, as the environment asks (kvo_log_flags).
void kvo_log_delivery(kvo_registration *registration, const kvo_change *change);

/// Calls an observer object, or a member of a group.
void kvo_change_call_other(kvo_frame *frame, kvo_registration *registration,
    const kvo_change *change);
/// Calls the observer of a live registration, whose object the frame protects.
KVO_INLINE void kvo_change_call(kvo_frame *frame, kvo_registration *registration,
    const kvo_change *change) {
  if (KVO_UNLIKELY(kvo_log_flags)) kvo_log_delivery(registration, change);
  if (KVO_LIKELY(!(registration->options & (KVO_BY_OBSERVER | KVO_GROUPED))))
    registration->callback(registration->context, registration->object,
        kvo_registration_key_path(registration), change);
  else kvo_change_call_other(frame, registration, change);
}

/// Calls an observer that came while the change was under way on another thread, by a change of its own from
/// new to new (I3): where no old value was read in time, or where the observer wants to be called before.
void kvo_change_call_late(kvo_frame *frame, kvo_registration *registration,
    const kvo_value *KVO_NULLABLE old_value, const kvo_value *KVO_NULLABLE new_value);

/// The first half of a change by hand, which joins no other, in a frame that stays until the second:
/// reads old and calls prior observers where asked for. `frame->id` is set.
void kvo_change_begin(kvo_frame *frame);
/// Does that for a change of some elements or members of a to-many property. With NULL all of it is set.
void kvo_change_begin_mutation(kvo_frame *frame, const kvo_mutation *KVO_NULLABLE mutation);
/// The steps of a change, for pairs by hand: reads old if an observer asks for it; calls prior
/// observers; looks the observers up again, reads new and calls them. `frame->id` and `serial` are
/// set.
void kvo_change_read_old(kvo_frame *frame, kvo_observers observers);
void kvo_change_deliver_priors(kvo_frame *frame);
void kvo_change_finish(kvo_frame *frame);

/// The one call with the value there is, made by a registration with `KVO_INITIAL`. The frame
/// protects its object. False if memory was out and it was not made.
bool kvo_deliver_initial(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_frame *frame);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
