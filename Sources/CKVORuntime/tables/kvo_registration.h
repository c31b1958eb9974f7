/// Making and ending registrations.
#ifndef KVO_REGISTRATION_H
#define KVO_REGISTRATION_H

#include "tables/kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

struct kvo_dependent_key;

/// Everything that is needed to insert an entry at a key of an object. The caller holds the object.
typedef struct kvo_prepared_registration {
  kvo_object *object;
  const kvo_accessors *accessors;
  kvo_class *dynamic;
  /// Made in advance for a derived key. After `kvo_entry_insert`, the one that has to be attached.
  struct kvo_dependent_key *KVO_NULLABLE dependent_key;
} kvo_prepared_registration;

/// The accessors of an interned key that can be observed, because it can be read. NULL with
/// KVO_UNDEFINED_KEY or KVO_NO_MEMORY. May call `valueForUndefinedKey:`.
const kvo_accessors *KVO_NULLABLE kvo_observable_accessors(kvo_object *object, const char *key,
    kvo_error *KVO_NULLABLE error);
/// Fails with KVO_NOT_OBSERVABLE for a collection; the message names the property to observe instead.
kvo_status kvo_collection_refuse_observing(kvo_object *collection, const char *key,
    kvo_error *KVO_NULLABLE error);

/// Finds the key's accessors, its dynamic subclass and its dependent key. Calls hooks: no lock held. After a failure
/// nothing has to be discarded. Statuses as `kvo_add_callback`.
kvo_status kvo_registration_prepare(kvo_object *object, const char *key,
    kvo_prepared_registration *prepared, kvo_error *KVO_NULLABLE error);
/// Prepares the placement of a key that the class does not have, which only manual changes can change. Calls hooks:
/// no lock held.
kvo_status kvo_registration_prepare_manual(kvo_object *object, const char *key,
    kvo_prepared_registration *prepared, kvo_error *error);
void kvo_prepared_registration_discard(kvo_prepared_registration *prepared);
/// Ends the use of a prepared registration that was inserted: if the class has changed since it was prepared, the
/// dependencies of the object's derived keys are determined again. No lock held.
void kvo_prepared_registration_finish(kvo_prepared_registration *prepared);

/// Inserts an entry among its key's observers, and swizzles the object's isa. Takes the object's and the observer's
/// lock. Call it under the graph lock if the entry is a node or the key derived. Returns false, with nothing changed,
/// if out of memory. If the group of the registration has ended, it inserts nothing and returns true.
bool kvo_entry_insert(kvo_registration *registration, kvo_prepared_registration *prepared,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Inserts a registration, follows its path, and makes its initial call. It takes over the placement and, on an
/// error, the registration, unless that is a group's. `*handle`, if there is one, is set before the call.
/// KVO_NO_MEMORY: nothing has changed. No lock held.
kvo_status kvo_registration_insert(kvo_registration *registration,
    kvo_prepared_registration *prepared, kvo_handle *KVO_NULLABLE *KVO_NULLABLE handle,
    kvo_error *KVO_NULLABLE error);
/// The dependent key that may have to end after an observer of a derived key was removed.
typedef struct kvo_removal_result {
  struct kvo_dependent_key *KVO_NULLABLE
      detached; ///< the removed observer was the last one: the dependent key was taken from the cell
  struct kvo_dependent_key *KVO_NULLABLE
      maybe_unused; ///< other entries are left, but perhaps none that needs the dependent key
} kvo_removal_result;

/// Removes an entry, unless it has ended. Call it under the graph lock if `removal` is given. Without, it returns
/// false if that lock is needed.
bool kvo_registration_take_out(kvo_registration *registration,
    kvo_removal_result *KVO_NULLABLE removal, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Removes a live entry, with the locks of its object and its observer held. Returns false, with nothing done, if it
/// needs the graph lock.
bool kvo_registration_take_out_locked(kvo_registration *registration,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Writes the recipient's name, for dumps and logs: an observer's description, a callback's name or address. `context`
/// is the callback's. No lock held; the caller holds the registration.
void kvo_registration_name_recipient(const kvo_registration *registration,
    const void *KVO_NULLABLE context, char *buffer, size_t capacity);
/// Whether a binding names callbacks, by their contexts.
bool kvo_callbacks_have_names(void);
/// The size of a buffer for a recipient's name.
enum { KVO_RECIPIENT_NAME = 256 };
/// Logs that a registration was made or ended, if the environment asks for that. No lock held.
void kvo_log_registration(const kvo_registration *registration, const char *what);

/// Takes and releases a reference to the registration's memory.
void kvo_registration_retain(kvo_registration *registration);
void kvo_registration_release(kvo_registration *registration);

/// Makes a registration of a group live, unless the group has ended. The object's lock.
bool kvo_group_member_begin_locked(kvo_registration *member);
/// Notes that a registration of a group is reclaimed; `kvo_group_member_free`, that it is no longer referenced.
void kvo_group_member_ended(kvo_registration *member);
void kvo_group_member_free(kvo_registration *member);
/// The counters of the group, which is one observer.
kvo_counts *kvo_group_counts(kvo_group *group);
/// Whether any registration of a group is live.
bool kvo_group_is_valid(const kvo_group *group);
/// Ends all registrations of a group. The caller holds one of them.
void kvo_group_end(kvo_group *group);
/// Unlinks all registrations of a group, and adds them to `retired`, which the caller retires. The caller holds one of
/// them.
void kvo_group_unlink(kvo_group *group, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Ends a registration that the caller holds. Returns false if it had already ended.
bool kvo_registration_end(kvo_registration *registration);
/// Ends a registration, but leaves it to the caller to retire the memory.
bool kvo_registration_unlink(kvo_registration *registration,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Ends all registrations with this object, and all that this object made as an observer.
void kvo_registrations_end_of_observed(kvo_object *object);
void kvo_registrations_end_of_observer(kvo_object *observer);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
