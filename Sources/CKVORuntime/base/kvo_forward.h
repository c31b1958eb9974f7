/// The calls from a folder to a higher one. `Scripts/check runtime` refuses any other reference upward.
#ifndef KVO_FORWARD_H
#define KVO_FORWARD_H

#include "kvo_class.h"
#include "kvo_collection.h"
#include "kvo_error.h"
#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN

/// Public, because bindings call it too (kvo_binding.h): ends the registrations with an object that is being
/// destroyed, and those that it made.
void kvo_object_will_die(kvo_object *object);

#pragma GCC visibility push(hidden)

struct kvo_call;
struct kvo_frame;
struct kvo_mutation;
struct kvo_mutation_record;
struct kvo_batch;
struct kvo_general_delivery;
struct kvo_known;
struct kvo_retired;
struct kvo_thread;

// The root class's implementations of the hooks `valueForKey:`, `setValue:forKey:` and `validateValue:forKey:error:`.
kvo_status kvo_search_value(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    const char *key, kvo_value *value, kvo_error *KVO_NULLABLE error);
kvo_status kvo_search_and_set(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    const kvo_value *KVO_NULLABLE value, const char *key, kvo_error *KVO_NULLABLE error);
kvo_status kvo_search_and_validate(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    kvo_value *value, const char *key, kvo_error *KVO_NULLABLE error);
/// Adds the key that is probably meant, if one is near, to an error about an undefined key. Classes of bindings are
/// left out: the binding knows more of them. O(methods and ivars).
void kvo_suggest_key(const kvo_class *cls, const char *key, kvo_error *KVO_NULLABLE error);

// Objects.

/// The interposer for all methods of a call's shape: a typed one if it exists and closures are not forced. NULL with
/// KVO_CLOSURES_UNAVAILABLE, and the cause.
kvo_imp KVO_NULLABLE kvo_choose_interposer(const struct kvo_call *call,
    kvo_error *KVO_NULLABLE error);
/// For a proxy: the class and key of its property. False for stored collections.
bool kvo_collection_property(const kvo_collection *collection,
    const char *KVO_NONNULL *KVO_NONNULL class_name, const char *KVO_NONNULL *KVO_NONNULL key);

// Threads and their frames.

/// Runs `body(context)`, which calls the program's code, and then `end(context)`, even if an exception leaves the
/// body.
void kvo_finally(void (*body)(void *KVO_NULLABLE context), void (*end)(void *KVO_NULLABLE context),
    void *KVO_NULLABLE context);
/// Runs `body(context)`, which releases what it takes out of the context. An object that dies may throw: then the body
/// is called again for the rest, and the exception passes on at the end.
void kvo_until_done(void (*body)(void *KVO_NULLABLE context), void *KVO_NULLABLE context);

/// Called each time that a thread's frames fill a block, before a change of that object. Stops the program, with a
/// message that names class and key, if deliveries are nested too deep or the thread's stack is about to end. Returns
/// the current stack address.
uintptr_t kvo_depth_check(struct kvo_thread *thread, kvo_object *object);
/// Opens a change of a key that is marked manual, in a frame with its `id`, if methods of the class announce it.
/// Returns false if the key is really manual. `mutation` is NULL for a setting.
bool kvo_announced_open(struct kvo_frame *frame, uintptr_t observers,
    const struct kvo_mutation *KVO_NULLABLE mutation);
/// Closes such a change. It must not count as open any more.
void kvo_announced_close(struct kvo_frame *frame);
/// Gives a reference back. Returns whether it was the last one: then the caller destroys the delivery.
bool kvo_general_delivery_drop(struct kvo_general_delivery *delivery);
/// If an object that dies throws, the caller calls this again for the rest.
void kvo_general_delivery_destroy(struct kvo_general_delivery *delivery);
/// Frees a mutation record that was allocated separately.
void kvo_mutation_free(struct kvo_mutation_record *record);
/// Frees a batch's record of its keys. If an object that dies throws, the caller calls this again for the rest.
void kvo_batch_destroy(struct kvo_batch *batch);
/// Reports the open manual changes of a thread that ends.
void kvo_manual_changes_end_of_thread(struct kvo_thread *thread);
/// Removes the thread's open changes of nodes, so that no other change counts as part of them (open_path_changes.c).
/// No lock held.
void kvo_open_path_changes_end_of_thread(struct kvo_thread *thread);
/// Like `kvo_open_path_changes_end_of_thread`, in a forked child, for a thread that does not exist there. Takes no
/// lock.
void kvo_open_path_changes_abandon(struct kvo_thread *thread);
/// Takes an in-place mutation out of the list of those that are open. No lock held.
void kvo_in_place_end(struct kvo_frame *frame);
/// Takes an in-place mutation out of the list of those that are open. Graph lock held.
void kvo_in_place_end_locked(struct kvo_frame *frame);
/// Whether the task that this thread runs has begun an in-place mutation, perhaps on another thread. Graph lock held.
bool kvo_in_place_is_of_task_locked(const struct kvo_frame *frame);
/// In a forked child: detaches the open manual changes of a thread that does not exist in the child. They stay with
/// their objects. Thread lock held.
void kvo_manual_changes_abandon_locked(struct kvo_thread *thread);

/// Finishes a retired registration that is no longer read: reports its end. A value that it stores (distinct.c) is put
/// in front of the chain `taken`.
void kvo_registration_reclaim(struct kvo_retired *retired,
    struct kvo_known *KVO_NULLABLE *KVO_NONNULL taken);
/// Releases the values of such a chain. An object that dies with one may throw: all are released in any case.
void kvo_distinct_release(struct kvo_known *taken);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
