/// The general delivery, for two kinds of changes: those that reach more than the observers of one key, along key
/// paths or to derived keys; and those that carry the elements added to or removed from a to-many key.
#ifndef KVO_GENERAL_DELIVERY_H
#define KVO_GENERAL_DELIVERY_H

#include "delivery/kvo_delivery.h"
#include "graph/kvo_delta.h"
#include "graph/kvo_graph.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// An old value that another one has replaced, and that an observer in its prior call may still read.
typedef struct kvo_replaced_value {
  kvo_value value;
  struct kvo_replaced_value *KVO_NULLABLE next;
} kvo_replaced_value;

/// A mutation of a to-many key, with the elements it removed and added.
typedef struct kvo_mutation_record {
  kvo_change_kind kind; ///< KVO_SETTING: no mutation
  kvo_set_mutation set_mutation;
  kvo_index_set *KVO_NULLABLE indexes;
  const kvo_object *KVO_NULLABLE inserted; ///< an address to be compared
  bool is_exact;                           ///< as in kvo_mutation
  kvo_value objects;
  bool has_predicted, has_old, has_new, has_before;
  /// The elements that will be removed, for prior calls. A prior call may still be running after the did call.
  kvo_value predicted;
  kvo_value old_value, new_value; ///< removed and added elements
  kvo_value before;               ///< all members of a set
  bool elements_are_given;        ///< the binding supplied the removed and added elements
  bool became_setting; ///< it is delivered as a setting, because other elements were stored
  bool has_final_old;  ///< with `became_setting`: the old value is from before the whole change
  kvo_replaced_value *KVO_NULLABLE replaced; ///< if it became a setting; owned
} kvo_mutation_record;

/// A changed key of the frame's object. A single change has one; a batch (batch.c) has several.
typedef struct kvo_changed_key {
  uintptr_t id;
  kvo_mutation_record mutation;
  kvo_delta *KVO_NULLABLE delta; ///< to follow the key's nodes; not in a batch
  uint32_t expected_joins;       ///< how many changes that join it are part of its mutation
  uint64_t last_serial;          ///< in a batch: `kvo_serial` at the key's last change; else 0
  struct kvo_changed_key
      *KVO_NULLABLE next; ///< in a batch: the next key, in the order of first changes
  /// In a batch: no recipients were recorded, because the key had only plain observers. `serial` is `kvo_serial` at its
  /// first change, and `old_value`, if `has_old`, its value before that. It comes last, since it is not initialised.
  bool was_plain, has_old;
  uint64_t serial;
  kvo_value old_value;
} kvo_changed_key;

/// A key that a change affects: the changed key or one derived from it.
typedef struct kvo_dirty_key {
  kvo_object *object; ///< an unowned reference
  const kvo_class_operations *operations;
  uintptr_t id;
  const char *KVO_NULLABLE key; ///< for a derived key; interned
  uint64_t serial;              ///< orders keys of one name by when they were first watched
  /// The path was *led* here: the search reached the key only through nodes that a change or another thread placed.
  bool is_led;
  uint32_t tracked; ///< for a tracked key: its index in `kvo_path_nodes.tracked`, or KVO_NO_INDEX
  uint64_t behind;  ///< the open changes that all ways to it lead behind: a set of bits
  const kvo_changed_key *KVO_NULLABLE changed_key; ///< for a changed key
  bool is_read;
  kvo_value value; ///< the value that was read, for the key's plain observers
} kvo_dirty_key;

/// A member of a set of recipients: a registration that is to be notified, with a reference to it.
typedef struct kvo_pending_notification {
  kvo_registration *registration;
  uint64_t serial; ///< the registration's
  uint32_t thread; ///< the registration's
  /// For an observer of a tracked path: the path, with a reference.
  kvo_dependent_key *KVO_NULLABLE path;
  uint32_t dirty_key; ///< without `path`: index of the dirty key that it observes
  uint32_t tracked;   ///< with `path`: its index in `kvo_path_nodes.tracked`, or KVO_NO_INDEX
  bool is_whole;      ///< gets whole values, not removed and added elements
  bool is_led;        ///< as in kvo_dirty_key
  bool is_late;       ///< added during the change, by another thread or by a change that led here
  bool lacks_old;     ///< it asks for the old value, which was not read: the new one stands in
  bool is_within;     ///< it was there at the last change, in the batch, of a key that leads to it
  bool is_read;
  kvo_value value;       ///< the path's value, or one that another change has handed on
  uint32_t index_before; ///< its index in `before`, or KVO_NO_INDEX
  uint64_t behind;       ///< as in kvo_dirty_key, if it is `is_behind`
  /// Another open change notifies it (open_path_changes.c, in_place.c). Nothing has been read for it.
  bool is_behind;
  /// In a batch: it was `is_behind` and is no longer, so its old value and prior call are due.
  bool is_due;
  bool is_newer; ///< it was found after the change began (in_place.c); then it is also `is_behind`
  bool is_owed;  ///< another change has left it to this one; graph lock
  bool stands_for_others; ///< changes behind this one's node are part of it; graph lock
} kvo_pending_notification;

enum { KVO_NO_INDEX = UINT32_MAX };

/// Index entry: the position of a registration in a set of recipients.
typedef struct kvo_recipient_index_entry {
  const kvo_registration *KVO_NULLABLE registration;
  uint32_t position;
} kvo_recipient_index_entry;

/// The registrations that are to be notified of a change, in order. A few are stored inline, so the struct must not
/// be moved.
typedef struct kvo_recipients {
  kvo_recipient_index_entry *KVO_NULLABLE index; ///< hash index of the members, if there are many
  uint32_t index_mask;
  kvo_dirty_key *dirty_keys;
  kvo_pending_notification *pending;
  uint32_t dirty_key_count, dirty_key_capacity, pending_count, pending_capacity;
  bool has_due; ///< some members are `is_due`, or have been
  kvo_dirty_key inline_dirty_keys[2];
  kvo_pending_notification inline_pending[3];
} kvo_recipients;

/// Initializes an empty set.
void kvo_recipients_init(kvo_recipients *recipients);

/// A tracked key that a change affects, with a reference, and the value it had when it was read again for the change.
typedef struct kvo_tracked {
  kvo_dependent_key *dependent_key;
  kvo_read_result result;
} kvo_tracked;

/// The nodes that lead on from keys that a change affects, and the tracked keys it affects, each with a reference.
typedef struct kvo_path_nodes {
  kvo_path_node *KVO_NULLABLE *KVO_NULLABLE items;
  size_t count, capacity;
  kvo_tracked *KVO_NULLABLE tracked;
  size_t tracked_count, tracked_capacity;
} kvo_path_nodes;

/// Shortens the set to these counts, dropping what was added since.
void kvo_recipients_shorten(kvo_recipients *recipients, uint32_t dirty_key_count,
    uint32_t member_count);
/// Fills an empty set with the one recipient that a change of the frame's key was found to reach: the user's
/// registration of the path observation, or of the derived key that the path observation serves. The set has no
/// member if that registration has ended. The recipient takes over the frame's old value. False if out of memory. Graph
/// lock held.
bool kvo_recipients_init_with_locked(kvo_recipients *recipients, kvo_frame *frame,
    const kvo_path_observation *observation, kvo_registration *recipient);
void kvo_recipients_destroy(kvo_recipients *recipients);
void kvo_path_nodes_destroy(kvo_path_nodes *nodes);

/// Initializes a record with copies of what it keeps. False if out of memory.
bool kvo_mutation_begin(kvo_mutation_record *record, const kvo_mutation *mutation);
void kvo_mutation_destroy(kvo_mutation_record *record);
/// The elements that the record names as removed and added. False if it names none.
bool kvo_mutation_name_elements(const kvo_mutation_record *record, kvo_named_elements *named);
/// Read what observers with these options ask for, before and after the change.
void kvo_mutation_read_before(kvo_mutation_record *record, kvo_object *object, uintptr_t id,
    uint32_t options);
void kvo_mutation_read_after(kvo_mutation_record *record, kvo_object *object, uintptr_t id,
    uint32_t options);

/// The state of a general delivery, kept by a frame or an open manual change.
typedef struct kvo_general_delivery {
  uint32_t references;      ///< atomic: frames and pairs
  bool notifies_for_others; ///< it has a member with `is_owed` or `stands_for_others`; graph lock
  bool has_before;          ///< `before` has been found
  bool ran_out_of_memory;   ///< there was no memory for some of the new values
  kvo_changed_key first;    ///< the changed key; those of a batch follow by `next`
  bool is_batch;            ///< its changed keys are a batch's (batch.c)
  kvo_recipients before, after;
  /// The recipients that the property has come to reach since its in-place mutation began (in_place.c); graph lock.
  kvo_recipients *KVO_NULLABLE newer;
  kvo_path_nodes nodes; ///< to be followed after the change
  /// In the list of its thread's open changes of nodes (open_path_changes.c); graph lock. `slot` is the pointer to this
  /// one; NULL if it is not in the list.
  struct kvo_general_delivery *KVO_NULLABLE next;
  struct kvo_general_delivery *KVO_NULLABLE *KVO_NULLABLE slot;
  uint64_t bit; ///< its own in sets of open changes, while it is in the list; 0 if none was left
  const void *KVO_NULLABLE task; ///< that mutates the property in place; NULL for other changes
  bool
      is_listed; ///< it has entered the list and not left it, except by its thread's end; its own users'
} kvo_general_delivery;

/// A further change of a property joins the one that this thread has open in a batch of the object. If that is in its
/// prior calls, it becomes a setting (D7).
void kvo_batch_note_join(const kvo_thread *thread, const kvo_object *object, uintptr_t id);
/// Whether an open change that this thread's batch has taken over has become a setting in its prior calls. False for a
/// change that is made in such a call.
bool kvo_batch_change_became_setting(const kvo_frame *change);
/// The changed key of a change with a general delivery of its own, or NULL. A batch's frame stands for further changes
/// of all its keys, which have no prior calls.
KVO_INLINE kvo_changed_key *KVO_NULLABLE kvo_change_own_key(const kvo_frame *frame) {
  bool is_general = frame->flags & KVO_FRAME_GENERAL_DELIVERY;
  return is_general && frame->state != KVO_FRAME_BATCH ? &frame->general_delivery->first : NULL;
}
/// Whether an open change of elements has become a setting, because other elements have been stored than it named.
KVO_INLINE bool kvo_change_became_setting(const kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_BATCHED) return kvo_batch_change_became_setting(frame);
  const kvo_changed_key *changed_key = kvo_change_own_key(frame);
  return changed_key && changed_key->mutation.became_setting;
}

/// Adds the recipients of a change of `changed_key` to `before`, after those that are there, and announces the change
/// to the nodes that lead on. False if out of memory.
bool kvo_recipients_find_before(kvo_general_delivery *delivery, kvo_object *object,
    kvo_changed_key *changed_key);
/// Adds the recipients to `after`, once the change has been made. Members that are in `before` get their index there.
/// The first search also collects the nodes that lead on and the tracked keys. When these have been read, search
/// again: keys and members get their index among them. False if out of memory.
bool kvo_recipients_find_after(kvo_general_delivery *delivery, kvo_object *object,
    kvo_changed_key *changed_key, bool is_again);

/// Leaves a registration to an open change that has found it. `also_behind` includes what that change left to another
/// one, and what is newer than it. Graph lock held, as for the next three.
bool kvo_recipients_leave_to_locked(kvo_general_delivery *delivery,
    const kvo_registration *registration, bool also_behind);
/// Whether an open change has found the registration.
bool kvo_recipients_contain_locked(kvo_general_delivery *delivery,
    const kvo_registration *registration);
/// Whether something has been left to an open change for the registration.
bool kvo_recipients_was_left_to_locked(kvo_general_delivery *delivery,
    const kvo_registration *registration);
/// Adds to `newer` of an open change the recipients that a change of the property reaches now, and that are not in
/// `before`. False if out of memory.
bool kvo_recipients_extend_locked(kvo_general_delivery *delivery, kvo_object *object, uintptr_t id);
/// Adds the recipients that other changes have left to this one, and that it no longer reaches, to `after`.
void kvo_recipients_add_owed(kvo_general_delivery *delivery);
/// Gives a registration's value to an open change that has left the registration to another one: the old value of its
/// notification. Takes over the value, unless it returns false. NULL if there is none. An observer that asks for prior
/// calls must have had one (`has_prior`). Graph lock held.
bool kvo_recipients_take_value_locked(kvo_general_delivery *delivery,
    const kvo_registration *registration, const kvo_value *KVO_NULLABLE value, bool has_prior);
/// Gives copies of a registration's value to this task's open changes that have left the registration to another
/// change. It is the old value of their notifications. No lock held.
void kvo_recipients_hand_on(const kvo_registration *registration,
    const kvo_value *KVO_NULLABLE value, bool has_prior);

/// Adds a change of a node to the list of those that this thread has open, unless it is there already. Graph lock
/// held, as for the next two.
void kvo_open_path_changes_add_locked(kvo_general_delivery *delivery);
void kvo_open_path_changes_remove_locked(kvo_general_delivery *delivery);
/// Takes a change out of the list if it is there.
KVO_INLINE void kvo_open_path_changes_end_locked(kvo_general_delivery *delivery) {
  if (delivery->slot) kvo_open_path_changes_remove_locked(delivery);
  delivery->is_listed = false;
}
/// The newest change of a node that this thread has open, or the next one after a change, without in-place mutations by
/// other tasks than the current one. NULL if there are no more.
kvo_general_delivery *KVO_NULLABLE
kvo_open_path_changes_next_locked(const kvo_general_delivery *KVO_NULLABLE delivery);
/// Bits of the sets named `behind`, in which the search for recipients collects what all ways to a key or an observer
/// lead behind. The other bits are those of single changes (`kvo_general_delivery.bit`), the lowest first.
enum {
  KVO_HELD = 1,        ///< a property that is being mutated in place, on which the key depends
  KVO_BEHIND_OPEN = 2, ///< an open change of a node, which may be another one for each way
  KVO_FIRST_OPEN = 4
};
/// The open changes of nodes before this one on its path, other than the change that is searching.
uint64_t kvo_open_path_changes_before_locked(const kvo_path_node *node,
    const kvo_general_delivery *searching);
/// Takes a change that was never finished out of the list, if its thread has not ended. No lock held.
void kvo_open_path_changes_leave(kvo_general_delivery *delivery);

// In-place mutations (in_place.c).

/// Marks the change of a property that this thread is about to mutate in place. `frame` is the change, the frame of the
/// batch that it is part of, or NULL if it joins another change. Returns the frame by which it is closed; NULL if it
/// need not be.
kvo_frame *KVO_NULLABLE kvo_in_place_mark(kvo_frame *KVO_NULLABLE frame, kvo_object *object,
    uintptr_t id);
/// The newest mutation of any task, in a list; atomic.
extern kvo_frame *KVO_NULLABLE kvo_in_place_newest;
/// The task that this thread runs, or NULL. Its address is only compared.
const void *KVO_NULLABLE kvo_in_place_find_task(void);
bool kvo_in_place_is_open_slow(void);
/// Whether the task that this thread runs is mutating a property in place. No lock held.
KVO_INLINE bool kvo_in_place_is_open(void) {
  return KVO_UNLIKELY(__atomic_load_n(&kvo_in_place_newest, __ATOMIC_RELAXED) != NULL) &&
         kvo_in_place_is_open_slow();
}
/// Whether these may be the observers of a derived key that depends on such a property. Those of a derived key are in a
/// list. No lock held.
KVO_INLINE bool kvo_in_place_may_hold(kvo_observers observers) {
  return KVO_UNLIKELY(kvo_observers_is_list(observers)) && kvo_in_place_is_open();
}
/// The frame that has the recipients of a property that the task is mutating: of the newest mutation if `*mutation` is
/// NULL, or else of the next one after it. Stores that mutation. NULL if there are no more. Graph lock held.
kvo_frame *KVO_NULLABLE
kvo_in_place_next_change_locked(kvo_frame *KVO_NULLABLE *KVO_NONNULL mutation);
/// Adds what each property that the task is mutating reaches now to what its change has reached. The keys get stamps
/// from now on. Sets `is_open` if the task is mutating one. False if out of memory. Graph lock held.
bool kvo_in_place_hold_locked(bool *is_open);
/// Leaves a registration to the change of a property that the task is mutating in place, other than the one that is
/// searching. The arguments are as for `kvo_recipients_leave_to_locked`. Graph lock held.
bool kvo_in_place_leave_locked(const kvo_registration *registration,
    const kvo_general_delivery *searching, bool also_behind);
/// Whether what the registration observes depends on such a property, so that it can't be read. No lock held.
bool kvo_in_place_holds(const kvo_registration *registration);
/// `kvo_recipients_take_value_locked` for the change of such a property. Graph lock held.
bool kvo_in_place_take_value_locked(const kvo_registration *registration,
    const kvo_value *KVO_NULLABLE value, bool has_prior);

/// Begins a general delivery, which belongs to the frame from then on: finds the recipients and reads old values.
/// False if out of memory.
bool kvo_general_delivery_begin(kvo_frame *frame, const kvo_mutation *KVO_NULLABLE mutation);
/// Continues a change that single_recipient.c has begun. The recipient found there, unless it has ended, is the only
/// member of `before`.
void kvo_general_delivery_resume(kvo_frame *frame, const kvo_path_observation *observation,
    kvo_registration *recipient);
/// Continues a change that single_recipient.c has begun, as `kvo_general_delivery_resume` does. If memory is out, the
/// frame may have no general delivery. Graph lock held.
void kvo_general_delivery_resume_locked(kvo_frame *frame, const kvo_path_observation *observation,
    kvo_registration *recipient);
void kvo_general_delivery_deliver_priors(kvo_frame *frame);
/// Adds a changed key to a batch's frame (`kvo_general_delivery_add`), with the recording of reads suspended.
bool kvo_change_add_key(kvo_frame *frame, kvo_changed_key *changed_key,
    const kvo_mutation *KVO_NULLABLE mutation);
/// Adds a changed key to the general delivery of a batch's frame. Finds its recipients, reads old values for those that
/// no earlier changed key reached, and calls their prior observers. Observers that get the elements of `mutation` have
/// whole old values read as well. Returns false, having added nothing, if out of memory.
bool kvo_general_delivery_add(kvo_frame *frame, kvo_changed_key *changed_key,
    const kvo_mutation *KVO_NULLABLE mutation);
/// Makes a general delivery without changed keys, which belongs to the frame from then on. NULL if out of memory.
kvo_general_delivery *KVO_NULLABLE kvo_general_delivery_make(kvo_frame *frame);
/// Finishes a change: follows nodes and tracked keys again, finds the recipients again, reads new values and calls
/// the observers. The frame has no general delivery yet if the key had only plain observers when the change began.
void kvo_general_delivery_finish(kvo_frame *frame);
kvo_general_delivery *kvo_general_delivery_retain(kvo_general_delivery *delivery);
/// Releases a reference, and destroys the delivery if it was the last one.
void kvo_general_delivery_release(kvo_general_delivery *delivery);

// Changes that reach exactly one recipient, along a path or to a derived key (single_recipient.c).

/// The will phase of a change of a key with nodes, whose frame is open: finds the recipient, and reads the
/// old value if the recipient asks for it. Returns false, having done nothing, if the change needs a general
/// delivery.
bool kvo_single_recipient_begin(kvo_frame *frame, kvo_observers observers);
/// The did phase of a frame with KVO_FRAME_SINGLE_RECIPIENT. Clears the flag, reads the new value and calls the
/// recipient. Returns false if a general delivery has to finish the change: then what the will phase found is in the
/// frame's general delivery.
bool kvo_single_recipient_finish(kvo_frame *frame, kvo_observers observers);
void kvo_single_recipient_generalize_slow(void);
/// Gives a general delivery to each change with a single recipient whose property the task is mutating in place, so
/// that recipients can be left to it. If memory is out, it stays as it is, and `kvo_in_place_hold_locked` fails. No
/// lock held.
KVO_INLINE void kvo_single_recipient_generalize_mutations(void) {
  if (KVO_UNLIKELY(__atomic_load_n(&kvo_in_place_newest, __ATOMIC_RELAXED) != NULL))
    kvo_single_recipient_generalize_slow();
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
