/// The calls that lead from a room to a higher one. `Scripts/check runtime` knows of them by this list: any
/// other reference upward is refused.
#ifndef KVO_UPCALLS_H
#define KVO_UPCALLS_H

#include "kvo_class.h"
#include "kvo_collection.h"
#include "kvo_error.h"
#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN

/// Public, as bindings call it as well (kvo_binding.h): ends what is registered with an object that dies, and what
/// it has registered.
void kvo_object_will_die(kvo_object *object);

#pragma GCC visibility push(hidden)

struct kvo_call;
struct kvo_frame;
struct kvo_mutation;
struct kvo_mutation_record;
struct kvo_propagation;
struct kvo_retired;
struct kvo_telling;
struct kvo_thread;

// The root class: what it does for the hooks `valueForKey:`, `setValue:forKey:` and
// `validateValue:forKey:error:`.
kvo_status kvo_search_value(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    const char *key, kvo_value *value, kvo_error *KVO_NULLABLE error);
kvo_status kvo_search_and_set(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    const kvo_value *KVO_NULLABLE value, const char *key, kvo_error *KVO_NULLABLE error);
kvo_status kvo_search_and_validate(kvo_object *object, const kvo_method *KVO_NULLABLE method,
    kvo_value *value, const char *key, kvo_error *KVO_NULLABLE error);
/// Adds to an error about a key that the class does not have which of its keys is probably meant, if one
/// is near. A binding's classes are left alone: the binding knows more of them. O(methods and ivars).
void kvo_suggest_key(const kvo_class *cls, const char *key, kvo_error *KVO_NULLABLE error);

// Of objects.

/// The interposer of every method of the call's shape: typed if there is one and closures are not
/// forced. NULL with KVO_CLOSURES_UNAVAILABLE, naming the cause.
kvo_imp KVO_NULLABLE kvo_choose_interposer(const struct kvo_call *call,
    kvo_error *KVO_NULLABLE error);
/// Of a proxy, the class and key of the property that it shows. False for stored collections.
bool kvo_collection_property(const kvo_collection *collection,
    const char *KVO_NONNULL *KVO_NONNULL class_name, const char *KVO_NONNULL *KVO_NONNULL key);

// Of threads and their frames.

/// Runs `body(context)`, which calls the user, and then `end(context)`, also where an exception leaves the body.
void kvo_finally(void (*body)(void *KVO_NULLABLE context), void (*end)(void *KVO_NULLABLE context),
    void *KVO_NULLABLE context);

/// Called each time that a thread's frames fill a block, before a change of that object. Stops the
/// program, with a message that names class and key, if observers have gone too deep, or if the
/// thread's own stack is about to end. Returns where that stack is now.
uintptr_t kvo_depth_check(struct kvo_thread *thread, kvo_object *object);
/// Opens a change of a key that is marked manual, in a frame with its `id`, by the class's methods where it has some.
/// False: the key is manual. NULL: a setting.
bool kvo_announced_open(struct kvo_frame *frame, uintptr_t observers,
    const struct kvo_mutation *KVO_NULLABLE mutation);
/// Finishes one that is no longer counted among the open ones.
void kvo_announced_close(struct kvo_frame *frame);
/// When an observer with `KVO_DISTINCT` has been called. On the thread on which it has begun. Nothing where it
/// has ended.
void kvo_distinct_end(struct kvo_telling *telling);
/// In a forked child: ends what a thread was telling that is gone. Thread lock held.
void kvo_distinct_abandon(struct kvo_telling *KVO_NULLABLE tellings);
/// A thread of that number begins. From the second on changes reckon with others. Thread lock held.
void kvo_distinct_expect_thread_locked(uint32_t number);
/// Ends what of telling observers with `KVO_DISTINCT` an exception has left. On the thread that began it.
void kvo_propagation_end_tellings(struct kvo_propagation *propagation);
void kvo_propagation_release(struct kvo_propagation *propagation);
/// A record that was allocated by itself.
void kvo_mutation_free(struct kvo_mutation_record *record);
/// Reports the changes by hand that a thread has open that ends.
void kvo_open_pairs_end_of_thread(struct kvo_thread *thread);
/// In a forked child: those of a thread that is gone stay with their objects. Thread lock held.
void kvo_open_pairs_abandon_locked(struct kvo_thread *thread);

/// What is left to do when nothing reads a retired registration any more: its end is told.
void kvo_registration_reclaim(struct kvo_retired *retired);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
