/// Key-value observing: being told of changes.
///
/// An observer is a callback with a context pointer, or an object whose class answers
/// `observeValueForKeyPath:ofObject:change:context:`. All observers of a key are called in the
/// order of registration, on the thread that made the change, before the setter returns, with no
/// lock held. Callbacks may read, set, register, remove, and drop the object.
///
/// Hooks that a class may add:
///
/// | selector | type |
/// |---|---|
/// | `observeValueForKeyPath:ofObject:change:context:` | `void (kvo_object *observer, const kvo_method *, const char *key_path, kvo_object *object, const kvo_change *, void *context)` |
/// | `automaticallyNotifiesObserversForKey:` (class method) | `bool (const kvo_class *, const char *key)` |
/// | `automaticallyNotifiesObserversOf<Key>`, `…For<Key>` (class methods) | `bool (const kvo_class *)` |
/// | `keyPathsForValuesAffectingValueForKey:` (class method) | `void (const kvo_class *, const char *key, kvo_key_paths *)` |
/// | `keyPathsForValuesAffecting<Key>` (class method) | `void (const kvo_class *, kvo_key_paths *)` |
///
/// Key paths. A registration for `next.name` is told when either link changes; it follows the
/// objects that the path leads to, keeps none of them alive, and is told nil where the path is
/// broken. `list.@sum.amount` and `list.@count` follow what is in the list and what its elements
/// say. A path that goes on through a plain collection can't be observed. A path is followed as far as
/// it leads today: what is wrong behind a link that is nil, or in what a collection has yet to get, is
/// reported as misuse, once for each registration, when it is met.
///
/// Memory. A registration that memory is out for is not made; ending one, and death, need none. A
/// change that can't be told for want of memory is made all the same, and reported as misuse, by
/// class and key. Its observers are told what could be read, and never what is not so: part of a
/// to-many key as a setting, a change without its old value, or, where it asked for a new one that can't
/// be read, nothing. Where a path could not be followed, it is when the link changes next.
#ifndef KVO_OBSERVING_H
#define KVO_OBSERVING_H

#include "kvo_class.h"
#include "kvo_value.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// What a registration asks for; several are joined by `|`. With none, 0, the observer is called after each change, also one
/// that has set an equal value, and is told the key but no value.
typedef enum KVO_FLAG_ENUM kvo_options {
  KVO_NEW = 1, ///< The change carries the new value, `kvo_change_get_new`.
  KVO_OLD = 2, ///< The change carries the old value, `kvo_change_get_old`.
  /// One call before registration returns, with the value there is as the new one if KVO_NEW is asked for as well.
  KVO_INITIAL = 4,
  /// One more call before each change, `kvo_change_is_prior`, with the old value if KVO_OLD is asked for as well.
  KVO_PRIOR = 8,
  /// No call after a change when old and new are equal. Values are compared by `kvo_value_equal`; those that can't be
  /// compared are never equal. Prior calls are made, since the new value is not known yet.
  KVO_DISTINCT = 16
} kvo_options;
#ifdef __cplusplus
extern "C++" {
/// Several options; none are `{}`.
constexpr kvo_options operator|(kvo_options a, kvo_options b) {
  return static_cast<kvo_options>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// The options that are in both.
constexpr kvo_options operator&(kvo_options a, kvo_options b) {
  return static_cast<kvo_options>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
/// All options but these.
constexpr kvo_options operator~(kvo_options a) {
  return static_cast<kvo_options>(~static_cast<unsigned>(a) & 31u);
}
/// Adds options.
constexpr kvo_options &operator|=(kvo_options &a, kvo_options b) { return a = a | b; }
/// Keeps the options that are in both: `options &= ~KVO_PRIOR` takes one away.
constexpr kvo_options &operator&=(kvo_options &a, kvo_options b) { return a = a & b; }
}
#endif

/// What happened to the property.
typedef enum KVO_CLOSED_ENUM kvo_change_kind {
  KVO_SETTING = 1, ///< The property as a whole was set. Initial calls have this kind, too.
  KVO_INSERTION,   ///< Elements came into a to-many property.
  KVO_REMOVAL,     ///< Elements went out of a to-many property.
  KVO_REPLACEMENT  ///< Elements of a to-many property gave way to others.
} kvo_change_kind;

/// One change as one observer may see it: what it asked for and nothing more. Valid during the
/// call that it is handed to, on that thread.
typedef struct kvo_change kvo_change;
/// A collection: see kvo_collection.h.
typedef struct kvo_collection kvo_collection;
/// A set of indexes: see kvo_index_set.h.
typedef struct kvo_index_set kvo_index_set;

/// What happened.
kvo_change_kind kvo_change_get_kind(const kvo_change *change);
/// Whether this call comes before the change.
bool kvo_change_is_prior(const kvo_change *change);
/// The value before the change. NULL if this observer did not ask for it (`KVO_OLD`), in an initial call, and for an insertion;
/// the readers of kvo_value.h take NULL for nil. A nil property gives a nil value, not NULL. An observer that another thread
/// registered during the change gets the new value as the old one. Owned by the change: copy a value that is to outlive the
/// call (`kvo_value_copy`).
const kvo_value *KVO_NULLABLE kvo_change_get_old(const kvo_change *change);
/// The value after the change; NULL if this observer did not ask for it, in a prior call, and for a removal.
/// Otherwise as `kvo_change_get_old`.
const kvo_value *KVO_NULLABLE kvo_change_get_new(const kvo_change *change);
/// Where an ordered to-many property changed: the new indexes of what was inserted or replaced, the
/// old ones of what was removed. NULL, which the readers of kvo_index_set.h take for a set without indexes, for any other
/// change. Owned by the change.
///
/// The values of an insertion, a removal, a replacement are collections: of what came (new) and
/// what went (old), absent where nothing can have come or gone. For an ordered property they are
/// arrays in the order of the indexes, for an unordered one sets.
const kvo_index_set *KVO_NULLABLE kvo_change_get_indexes(const kvo_change *change);
/// In a callback of `kvo_add_callback_for_keys`, which of its keys changed, from 0. Not for others.
uint32_t kvo_change_get_key_index(const kvo_change *change);

/// What is called at a change. The function may be left by an exception of C++ or the end of the thread, which close the
/// change untold, but not by longjmp.
/// - context: what was given at the registration.
/// - object: the object that was registered with, whichever object of a key path has changed. Borrowed: who keeps it
///   retains it.
/// - key_path: the key or key path as registered. A key lives for ever, a path of several components as long as the
///   registration.
/// - change: what happened, with the values that were asked for. Valid until the function returns.
typedef void (*kvo_callback)(void *KVO_NULLABLE context, kvo_object *object, const char *key_path,
    const kvo_change *change);

/// A registration made by `kvo_add_callback`, owned by its caller until `kvo_handle_release`.
typedef struct kvo_handle kvo_handle;

/// Registers a callback for a key or key path. Registering again registers a second time: the callback is called twice.
/// - object: the object to observe. It is not kept alive: its death ends the registration.
/// - key_path: a key, such as "balance", or a key path, "owner.name", "list.@sum.amount". It is copied.
/// - options: what the callback wants to be told, such as `KVO_OLD | KVO_NEW`. 0: that there was a change, and no more.
/// - callback: what is called at each change, on the thread that makes it.
/// - context: a pointer of the caller's, handed to `callback` and `ended`, and never read. NULL if there is nothing to
///   hand on.
/// - ended: gives back what `context` stands for. Called exactly once, with the context, after the last call in progress when
///   the registration has ended, by whatever way: invalidation, `kvo_remove_all_observers`, the object's death. On the
///   thread that ended it or on the one whose call was the last; in a forked child, where the last call was another
///   thread's, when next something ends. Not called if registration fails. It must not throw. NULL: nothing is to be done.
/// - handle: where the registration's handle goes, which is NULL if it fails. Set before the initial call. Release it with
///   `kvo_handle_release`, which ends the registration too. An exception of C++ that the initial call throws passes
///   through; the registration is made nevertheless, and its handle to be released. NULL in place of an address, if no
///   handle is wanted: the registration then lives until the object dies, or until `kvo_remove_all_observers` ends all
///   of the object's; there is no other way to end it.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_UNDEFINED_KEY (by the class that lacks it), KVO_NOT_OBSERVABLE (a collection: the message
/// names the property to observe), KVO_INVALID_KEY_PATH, KVO_INVALID_OPERATOR,
/// KVO_CLOSURES_UNAVAILABLE, KVO_NO_MEMORY: nothing is registered. Amortised O(1) for a key without
/// dependencies, O(length) for a path, with O(n log n) for n elements under an operator. Any
/// thread.
kvo_status kvo_add_callback(kvo_object *object, const char *key_path, kvo_options options,
    kvo_callback callback, void *KVO_NULLABLE context,
    void (*KVO_NULLABLE ended)(void *KVO_NULLABLE context),
    kvo_handle *KVO_NULLABLE *KVO_NULLABLE handle, kvo_error *KVO_NULLABLE error);

/// Registers a callback for several keys at once, all of them or none, in one piece of memory and
/// with one handle, which ends them together.
/// An initial call that was made before memory ran out at a later key stays made. One that throws
/// ends all of them; the handle is to be given back all the same. Parameters that are not listed are as those of
/// `kvo_add_callback`.
/// - keys: `count` keys, not key paths; one of them may stand there twice, and is told twice.
/// - context: of the first key; the i-th key's callback is handed `context + i * stride`. With a stride of 0
///   it tells the keys apart by `kvo_change_get_key_index`, or by their names.
/// - ended: called exactly once, with `context`, when all of them have ended.
/// - handle: where the handle of all of them goes. Not NULL.
///
/// Statuses as `kvo_add_callback`, KVO_INVALID_ARGUMENT for no keys. O(count). Any thread.
kvo_status kvo_add_callback_for_keys(kvo_object *object,
    const char *KVO_NONNULL const *KVO_NONNULL keys, size_t count, kvo_options options,
    kvo_callback callback, void *KVO_NULLABLE context, size_t stride,
    void (*KVO_NULLABLE ended)(void *KVO_NULLABLE context),
    kvo_handle *KVO_NULLABLE *KVO_NONNULL handle, kvo_error *KVO_NULLABLE error);

/// Ends the registration. When it returns, no new call begins; one in progress on another thread
/// may finish. Again is harmless, so is after the object's death. Any thread, also inside the
/// callback.
void kvo_handle_invalidate(kvo_handle *handle);
/// Whether changes are still told: false once the registration has ended, in whatever way. Any thread.
bool kvo_handle_is_valid(const kvo_handle *handle);
/// Invalidates and gives the handle back. NULL is ignored. Once; not while other threads use the
/// handle.
void kvo_handle_release(kvo_handle *KVO_NULLABLE handle);

/// Registers an object as observer of a key or key path. Neither object is kept alive: the death of
/// one ends the registration. The same registration may be made several times and then is told
/// several times.
/// - object: the object to observe.
/// - observer: the object whose method is called at each change.
/// - key_path: a key or key path of `object`. It is copied.
/// - options: as those of `kvo_add_callback`.
/// - context: a pointer that the method is handed, by which it tells this registration from others, mostly the address of
///   a static variable. Never read, nor given back.
/// - error: filled in if it fails. May be NULL.
///
/// Statuses as `kvo_add_callback`; KVO_INVALID_ARGUMENT if the observer is of a
/// binding's class that takes no notifications. A class of C that does not override
/// `observeValueForKeyPath:ofObject:change:context:` inherits the root's, which reports what no
/// class took. Any thread.
kvo_status kvo_add_observer(kvo_object *object, kvo_object *observer, const char *key_path,
    kvo_options options, void *KVO_NULLABLE context, kvo_error *KVO_NULLABLE error);

/// Removes the most recent registration of that observer and key path, whatever its context.
/// KVO_NOT_REGISTERED if there is none. Any thread.
kvo_status kvo_remove_observer(kvo_object *object, kvo_object *observer, const char *key_path,
    kvo_error *KVO_NULLABLE error);
/// Removes the most recent one of that observer, key path and context. A NULL context is one like any other.
/// KVO_NOT_REGISTERED if there is none. Any thread.
kvo_status kvo_remove_observer_with_context(kvo_object *object, kvo_object *observer,
    const char *key_path, void *KVO_NULLABLE context, kvo_error *KVO_NULLABLE error);
/// Ends all registrations with the object, whoever made them, those without a handle too. Any thread.
void kvo_remove_all_observers(kvo_object *object);
/// Whether a change of the key would be told to anybody. Any thread.
bool kvo_is_observed(const kvo_object *object, const char *key);

/// A change by hand: what happens to the key between the two is one change, delivered by the did.
/// Pairs match by thread, object and key, the last opened first; pairs of different keys may
/// cross. Inside an automatic change of the same object and key on the same thread a pair joins
/// that change. A did without will is reported as misuse and ignored. Any thread.
/// - object: the object that has the key.
/// - key: a key of the object's own. A key path, an empty key, and one that the class lacks are reported as misuse.
void kvo_will_change(kvo_object *object, const char *key);
/// Ends the change that `kvo_will_change` began on this thread, and calls the observers.
void kvo_did_change(kvo_object *object, const char *key);

/// The same for part of an ordered to-many key: what is inserted, removed or replaced at the
/// indexes. A did that names another kind or other indexes than its will is reported as misuse, and observers are notified
/// that the whole key was set. Any thread.
/// - kind: KVO_INSERTION, KVO_REMOVAL or KVO_REPLACEMENT.
/// - indexes: where: of what is removed or replaced its indexes before, of what is inserted those that it has
///   afterwards. They are copied. Indexes that no collection can have (a negative number that became a size, or NULL, since
///   no set can be made of it) are reported as misuse, and observers are notified that the whole key was set.
/// - key: the to-many key.
void kvo_will_change_indexes(kvo_object *object, kvo_change_kind kind,
    const kvo_index_set *KVO_NULLABLE indexes, const char *key);
/// Ends the change that `kvo_will_change_indexes` began on this thread with the same kind and key, and calls the observers.
void kvo_did_change_indexes(kvo_object *object, kvo_change_kind kind,
    const kvo_index_set *KVO_NULLABLE indexes, const char *key);

/// What happens to an unordered to-many key.
typedef enum KVO_CLOSED_ENUM kvo_set_mutation {
  KVO_UNION = 1, ///< The objects are added: told as an insertion.
  KVO_MINUS,     ///< The objects are taken away: told as a removal.
  KVO_INTERSECT, ///< What is not among the objects is taken away: told as a removal.
  KVO_SET_SET    ///< The objects take the place of all there were: told as a replacement.
} kvo_set_mutation;

/// The same for an unordered to-many key; observers get what really came and went. Any thread.
/// - mutation: what is done with `objects`.
/// - objects: what is added, taken away, kept or put in place. It is retained until the did.
/// - key: the to-many key.
void kvo_will_change_set(kvo_object *object, kvo_set_mutation mutation, kvo_collection *objects,
    const char *key);
/// Ends the change that `kvo_will_change_set` began on this thread with the same mutation and key, and calls the observers.
void kvo_did_change_set(kvo_object *object, kvo_set_mutation mutation, kvo_collection *objects,
    const char *key);

/// Calls `body(context)`, and tells what this thread changes of the object meanwhile when it ends, in the order in
/// which the keys were first changed: of each key one change, from the value before the first one to the value that
/// there is at the end. Derived keys and key paths that several of them affect are told once. Several changes of
/// part of a to-many key become a setting; one alone stays what it is. Prior observers are called at the key's first
/// change. Inside a body for the same object on the same thread it is part of that. An exception of C++ passes on
/// when what was changed has been told.
/// What other threads change, and changes of other objects, are told as ever. In a prior call, and where memory is
/// out, changes are told by themselves. The object lives until the end.
/// O(1) beside what the changes cost: each key's first one what it costs without, further ones less. Any thread.
void kvo_coalesce(kvo_object *object, void (*body)(void *KVO_NULLABLE context),
    void *KVO_NULLABLE context);

/// Collects key paths while a hook is asked.
typedef struct kvo_key_paths kvo_key_paths;
/// Adds one; again is harmless. The text is copied. What can't be followed, a misspelt key for instance, is reported as
/// misuse when the key that depends on it is first observed.
void kvo_key_paths_add(kvo_key_paths *paths, const char *key_path);

/// What the class says of the key paths that affect a key: for calling the superclass's answer from
/// an override of the hook.
/// - cls: the superclass, for that: `kvo_class_superclass(account_class())`.
/// - key: the key that is affected.
/// - paths: where they are added: what the hook was handed.
///
/// Any thread.
void kvo_class_key_paths_affecting(const kvo_class *cls, const char *key, kvo_key_paths *paths);

/// Declares that a key is derived from what a key path leads to: when that changes, the key's
/// observers are told. Adds to what superclasses declare and hooks say. Also for classes that have subclasses and whose
/// objects are observed.
/// - cls: the class, which is not const: what a `setup` is called with.
/// - key: the derived key.
/// - key_path: what it is derived from: a key of the same object or a path from it, of any depth, also with operators. It
///   is copied.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_INVALID_KEY_PATH, KVO_INVALID_OPERATOR, KVO_NO_MEMORY: then nothing depends on it, also of
/// the objects that are observed. A name that the class does not have is no error, since its methods may be added
/// later. So a misspelt one is told of later, and in another way: a misspelt `key_path` is reported as misuse when the
/// derived key is first observed, a misspelt `key` by a hint (`KVO_LOG=hints`) when an object of the class is. Any thread.
kvo_status kvo_class_add_dependency(kvo_class *cls, const char *key, const char *key_path,
    kvo_error *KVO_NULLABLE error);

/// What the class says of automatic notification for a key: the hooks above, true by default.
/// For calling the superclass's answer from an override of the hook. Any thread.
bool kvo_class_automatically_notifies(const kvo_class *cls, const char *key);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
