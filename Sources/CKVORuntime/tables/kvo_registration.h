/// Making and ending registrations.
#ifndef KVO_REGISTRATION_H
#define KVO_REGISTRATION_H

#include "tables/kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

struct kvo_derivation;

/// What must be known before an entry can be placed at a key of an object. The object is held.
typedef struct kvo_placement {
  kvo_object *object;
  const kvo_accessors *accessors;
  kvo_class *dynamic;
  /// Made in advance for a derived key. After `kvo_registration_place`, the one to be attached.
  struct kvo_derivation *KVO_NULLABLE derivation;
} kvo_placement;

/// The accessors of an interned key that can be observed, because it can be read. NULL with
/// KVO_UNDEFINED_KEY or KVO_NO_MEMORY. May call `valueForUndefinedKey:`.
const kvo_accessors *KVO_NULLABLE kvo_observable_accessors(kvo_object *object, const char *key,
    kvo_error *KVO_NULLABLE error);
/// Fails with KVO_NOT_OBSERVABLE for a collection, naming the property to observe.
kvo_status kvo_collection_refuse_observing(kvo_object *collection, const char *key,
    kvo_error *KVO_NULLABLE error);

/// Finds the key's accessors, its dynamic subclass, its derivation. Calls hooks: no lock held. On
/// failure nothing has to be discarded. Statuses as `kvo_add_callback`.
kvo_status kvo_placement_prepare(kvo_object *object, const char *key, kvo_placement *placement,
    kvo_error *KVO_NULLABLE error);
/// Prepares the placement of a key that the class does not have, which only changes by hand can change. Calls hooks: no lock held.
kvo_status kvo_placement_prepare_by_hand(kvo_object *object, const char *key,
    kvo_placement *placement, kvo_error *error);
void kvo_placement_discard(kvo_placement *placement);
/// The same for one that has been used: if the class has changed since it was asked, the object's
/// derived keys are looked at again. No lock held.
void kvo_placement_settle(kvo_placement *placement);

/// Puts an entry among its key's observers, and its object's isa in its place. Takes the object's
/// and the observer's lock; under the graph lock if the entry is linked or the key derived. False,
/// with nothing changed, if memory is out.
bool kvo_registration_place(kvo_registration *registration, kvo_placement *placement,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Puts a registration in place and follows its path, then makes its initial call. Takes over the
/// placement and, on an error, over the registration unless it is a group's. `*handle`, if there is
/// one, is set before the call. KVO_NO_MEMORY: nothing has changed. No lock held.
kvo_status kvo_registration_insert(kvo_registration *registration, kvo_placement *placement,
    kvo_handle *KVO_NULLABLE *KVO_NULLABLE handle, kvo_error *KVO_NULLABLE error);
/// What taking out an observer of a derived key leaves behind.
typedef struct kvo_aftermath {
  struct kvo_derivation *KVO_NULLABLE orphan;  ///< it was the last one: taken from the cell
  struct kvo_derivation *KVO_NULLABLE suspect; ///< others are left, but maybe none that matters
} kvo_aftermath;

/// Takes an entry out, unless it has ended. Under the graph lock, if `aftermath` is given; without,
/// false if that lock is needed.
bool kvo_registration_take_out(kvo_registration *registration,
    kvo_aftermath *KVO_NULLABLE aftermath, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// The same of one that is live, with the locks of its object and its observer held. False, with nothing done,
/// if it needs the graph lock.
bool kvo_registration_take_out_locked(kvo_registration *registration,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// The recipient's kind and address, for messages: "observer" or "callback".
const char *kvo_registration_recipient_kind(const kvo_registration *registration);
const void *KVO_NULLABLE kvo_registration_recipient(const kvo_registration *registration);
/// Logs that a registration was made or ended, where the environment asks for that. No lock held.
void kvo_log_registration(const kvo_registration *registration, const char *what);

/// One more reference to its memory, and one less.
void kvo_registration_hold(kvo_registration *registration);
void kvo_registration_let_go(kvo_registration *registration);

/// Of a registration of a group: makes it live, unless the group has ended; the object's lock held.
bool kvo_group_member_begin_locked(kvo_registration *member);
/// Likewise: tells that it is reclaimed, and that nothing holds it any more.
void kvo_group_member_ended(kvo_registration *member);
void kvo_group_member_free(kvo_registration *member);
/// What is counted of all of them together: they are one observer.
kvo_counts *kvo_group_counts(kvo_group *group);
/// Whether any of a group is live.
bool kvo_group_is_valid(const kvo_group *group);
/// Ends all of a group; the caller keeps one of them.
void kvo_group_end(kvo_group *group);

/// Ends a registration that the caller keeps from being freed. False if it had ended.
bool kvo_registration_end(kvo_registration *registration);
/// The same up to what the caller has to retire.
bool kvo_registration_unlink(kvo_registration *registration,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Ends all with this object, and all that this object made as observer.
void kvo_registrations_end_with(kvo_object *object);
void kvo_registrations_end_by(kvo_object *observer);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
