/// Delivery of changes to their observers.
#ifndef KVO_DELIVERY_H
#define KVO_DELIVERY_H

#include "base/kvo_log.h"
#include "coding/kvo_key_path.h"
#include "tables/kvo_table.h"
#include "threads/kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_path_observation kvo_path_observation;

/// A mutation of a to-many key: some of its elements are inserted, removed or replaced.
typedef struct kvo_mutation {
  kvo_change_kind kind;                      ///< insertion, removal or replacement
  const kvo_index_set *KVO_NULLABLE indexes; ///< for an ordered collection
  kvo_set_mutation set_mutation;             ///< for a set; 0 for an ordered collection
  kvo_collection *KVO_NULLABLE objects;      ///< the operand of the set mutation
  const kvo_value *KVO_NULLABLE members;     ///< the operand as a binding's value
  const kvo_object *KVO_NULLABLE inserted;   ///< the only element that is added, if it is known
  bool is_exact; ///< the elements at the indexes after an insertion are the inserted ones
  /// The elements that are removed and added, if the binding knows them. Then nothing is read.
  const kvo_value *KVO_NULLABLE goes, *KVO_NULLABLE comes;
} kvo_mutation;

/// The kind of change that a set mutation is delivered as.
KVO_INLINE kvo_change_kind kvo_set_mutation_kind(kvo_set_mutation mutation) {
  if (mutation == KVO_UNION) return KVO_INSERTION;
  return mutation == KVO_SET_SET ? KVO_REPLACEMENT : KVO_REMOVAL;
}

/// Opens an automatic change of a property: reads the old value and calls prior observers if they asked for it.
/// Returns NULL if the change joins an open one or if out of memory, and the batch's frame if it becomes part of a
/// batch. If the key has no observer, closing the change looks again: another thread may have registered one in
/// between.
kvo_frame *KVO_NULLABLE kvo_change_open(kvo_object *object, uintptr_t id);
/// Opens an automatic change of some elements of a to-many property, like `kvo_change_open`. As the first change of the
/// property in a batch it has a frame of its own, which the changes that make it join. Copies what it keeps of
/// `mutation`; NULL means a setting.
kvo_frame *KVO_NULLABLE kvo_change_open_mutation(kvo_object *object, uintptr_t id,
    const kvo_mutation *KVO_NULLABLE mutation);
/// Opens an automatic change in a frame that the caller has pushed and given its `id`, while the thread had no other
/// change open. Returns the frame.
kvo_frame *kvo_change_open_frame(kvo_frame *frame, kvo_object *object);
/// Sets how many changes of the key may join the open one and still be part of its mutation. Any further one changes
/// other elements.
void kvo_change_expect_joins(kvo_frame *frame, uint32_t joins);
/// A further change of a property joins the automatic one that this thread has open. If that is in its prior calls and
/// names elements, it becomes a setting: an observer changes the elements itself (D7).
void kvo_change_note_join(const kvo_thread *thread, const kvo_object *object, uintptr_t id);
/// Whether this thread has an automatic change of the property open, which a change that is to begin joins.
KVO_INLINE bool kvo_change_join(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  if (KVO_LIKELY(!kvo_thread_join_open(thread, object, id))) return false;
  kvo_change_note_join(thread, object, id);
  return true;
}
/// Whether this thread has a change of the property open of which observers will get the elements.
bool kvo_change_names_elements(const kvo_object *object, uintptr_t id);
/// The change of elements that this thread has open, if any, turns out to be another one: the property's setter has not
/// stored the collection that it was passed. Observers of the property are notified of a setting (D5).
/// - old_value: the collection before the change, which is copied; NULL if it is not known.
/// - is_first: the caller has opened the change, and read the collection before that.
void kvo_change_becomes_setting(kvo_object *object, uintptr_t id,
    const kvo_value *KVO_NULLABLE old_value, bool is_first);
/// Closes a change: reads the new value, calls the observers, pops the frame.
void kvo_change_close(kvo_frame *frame);
/// Delivers a setting to observers that other threads registered while a property was set without an open change. Its
/// old and new values are both the current one. The caller retains the object.
/// - also_manual: also delivers for a key whose notifications are manual
void kvo_change_notify_late_observers(kvo_object *object, uintptr_t id, bool also_manual);
/// Closes a change that did not take place: calls no final observers.
void kvo_change_cancel(kvo_frame *frame);

// A getter may set a property while its reads are recorded. The reads made for that change, and those of its
// observers, do not count as the getter's.
KVO_INLINE void *KVO_NULLABLE kvo_suspend_recording(void) {
  void *recorder = kvo_recorder;
  if (KVO_UNLIKELY(recorder != NULL)) kvo_set_recorder(NULL);
  return recorder;
}
KVO_INLINE void kvo_resume_recording(void *KVO_NULLABLE recorder) {
  if (KVO_UNLIKELY(recorder != NULL)) kvo_set_recorder(recorder);
}

kvo_frame *KVO_NULLABLE kvo_batch_record_slow(kvo_thread *thread, kvo_object *object, uintptr_t id,
    const kvo_mutation *KVO_NULLABLE mutation);
/// Returns the batch's frame if a change of an observed key by this thread becomes part of a batch (batch.c), else
/// NULL. For the first change of a key in the batch, this reads the old value and calls prior observers. The batch
/// delivers the change when it ends, so the change needs no frame of its own.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_batch_record(kvo_thread *thread, kvo_object *object,
    uintptr_t id, const kvo_mutation *KVO_NULLABLE mutation) {
  if (KVO_LIKELY(!thread->batch_count)) return NULL;
  return kvo_batch_record_slow(thread, object, id, mutation);
}
kvo_frame *KVO_NULLABLE kvo_batch_record_on_top(kvo_thread *thread, kvo_object *object,
    uintptr_t id);
/// Fast way for a change of a key in a batch whose frame is the thread's newest: for a further change, and for the first
/// one of a key that has only plain observers.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_batch_record_quickly(kvo_thread *thread, kvo_object *object,
    uintptr_t id) {
  return KVO_UNLIKELY(thread->batch_count) ? kvo_batch_record_on_top(thread, object, id) : NULL;
}
/// Whether a batch of this thread will deliver a change of the key.
bool kvo_batch_will_deliver(const kvo_thread *thread, const kvo_object *object, uintptr_t id);

/// The current accessors of an observed key of a living object; NULL if the key is not observed.
const kvo_accessors *KVO_NULLABLE kvo_change_accessors(kvo_object *object, uintptr_t id);
/// Reads a key, or a path, for a change record. A collection is copied rather than read through a proxy. Returns
/// false, with a nil value, if out of memory. A path whose operators cannot work on its elements reads as nil, which
/// is reported once.
bool kvo_change_read(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);
/// As `kvo_change_read`, for a change that the property's own setter has opened (`kvo_accessors_read_own`).
bool kvo_change_read_own(const kvo_accessors *accessors, kvo_object *object, kvo_value *value);
bool kvo_change_read_path(kvo_object *object, const kvo_path_observation *observation,
    kvo_value *value);
/// Reports that observers of a key, if it has any, miss part of a change because memory ran out.
void kvo_change_report_undelivered(kvo_object *object, uintptr_t id);
/// Reports that, once per change, if memory ran out since `kvo_shortages` had the value `shortages`.
void kvo_change_report_shortage(kvo_frame *frame, uint64_t shortages);

/// Takes a ticket (distinct.c) for a change that reaches observers with KVO_DISTINCT. Call this before its new
/// values are read.
void kvo_change_take_ticket(kvo_frame *frame);

/// Whether a registration became visible only after the change had begun.
KVO_INLINE bool kvo_registration_is_late(const kvo_registration *registration,
    const kvo_frame *frame) {
  return !kvo_registration_was_there(registration, frame->serial);
}

/// Pushes a frame that protects the object while it is read or called for a change. The frame also keeps the object
/// alive, unless it is the changed object, which the change's own frame keeps. End it with `kvo_frame_pop`. Returns
/// NULL if the object is dying or there is no memory.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_change_protect(const kvo_frame *frame, kvo_thread *thread,
    kvo_object *object, const kvo_class_operations *operations) {
  kvo_frame *protector = kvo_frame_push(thread, object);
  if (!protector || object == frame->object) return protector;
  if (operations->try_retain(object)) {
    protector->flags |= KVO_FRAME_RETAINED;
    return protector;
  }
  kvo_frame_pop(protector);
  return NULL;
}

/// Logs and counts a delivery, if the environment asks for it (kvo_log_flags).
void kvo_log_delivery(kvo_registration *registration, const kvo_change *change);

/// Calls an observer object or a group member.
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

/// Calls an observer that another thread added during the change (I3), if no old value was read in time or the
/// observer wants a prior call. The observer gets a change of its own, with the new value as the old one. Its prior
/// call may make changes, so a distinct change is compared after that.
/// - ticket: of the change, if it is distinct.
void kvo_change_call_late(kvo_frame *frame, kvo_registration *registration, uint64_t ticket,
    const kvo_value *KVO_NULLABLE old_value, const kvo_value *KVO_NULLABLE new_value);

/// Begins a manual change, which joins no other change, in a frame that stays until the did phase. Reads the old
/// value and calls prior observers if they asked for it. The caller has set `frame->id`.
void kvo_change_begin(kvo_frame *frame);
/// Begins a manual change of some elements or members of a to-many property. NULL means that the whole is set.
void kvo_change_begin_mutation(kvo_frame *frame, const kvo_mutation *KVO_NULLABLE mutation);
/// The steps of a change, for manual changes: reading the old value if an observer asks for it; calling prior
/// observers; and looking the observers up again, reading the new value and calling them. The caller has set
/// `frame->id` and `frame->serial`.
void kvo_change_read_old(kvo_frame *frame, kvo_observers observers);
void kvo_change_deliver_priors(kvo_frame *frame);
void kvo_change_finish(kvo_frame *frame);
/// Makes the final calls of these observers. The frame has the values that they ask for.
void kvo_change_deliver_final(kvo_frame *frame, kvo_observers observers);

/// Reads the current value of a registration with KVO_INITIAL, to be delivered, or KVO_DISTINCT, to be stored.
/// `frame` protects the registration's object. Returns false, without a call, if there was no memory.
bool kvo_deliver_initial(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_frame *frame);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
