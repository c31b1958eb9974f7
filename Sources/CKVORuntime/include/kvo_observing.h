/// Key-value observing: notification of changes.
///
/// An observer is a callback with a context pointer, or an object whose class implements
/// `observeValueForKeyPath:ofObject:change:context:`. All observers of a key are called in the order of registration,
/// on the thread that made the change, before the setter returns, with no lock held. Callbacks may read, set,
/// register, remove, and release the object.
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
/// Key paths. An observer registered for `next.name` is notified when either property changes. The registration
/// follows the objects that the path leads to, and keeps none of them alive; if the path is broken, its value is nil.
/// `list.@sum.amount` and `list.@count` follow the list's elements and their values. A path that continues through a
/// plain collection can't be observed. A path is checked as far as it leads when it is registered. An error behind a
/// link that is nil, or in later elements of a collection, is reported as misuse when it is met, once for each
/// registration.
///
/// Memory. If memory runs out, a registration is not made; ending one and destroying an object need no memory. A
/// change whose notifications can't all be delivered for lack of memory is made nevertheless, and reported as misuse,
/// by class and key. Observers receive the values that could be read, and never wrong ones: a setting in place of a
/// change of elements, or a change without its old value. An observer that asked for a new value that can't be read
/// is not called. A path that could not be followed is followed when its link changes next.
#ifndef KVO_OBSERVING_H
#define KVO_OBSERVING_H

#include "kvo_class.h"
#include "kvo_value.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The options of a registration, joined by `|`. Without any, 0, the observer is called after each change, even if an
/// equal value was set, and receives the key but no values.
typedef enum KVO_FLAG_ENUM kvo_options {
  KVO_NEW = 1, ///< The change carries the new value, `kvo_change_get_new`.
  KVO_OLD = 2, ///< The change carries the old value, `kvo_change_get_old`.
  /// One call before registration returns, with the current value as the new one if KVO_NEW is set as well.
  KVO_INITIAL = 4,
  /// An additional call before each change, `kvo_change_is_prior`, with the old value if KVO_OLD is set as well.
  KVO_PRIOR = 8,
  /// No call after a change whose new value equals the value last delivered to the observer or, before the first
  /// delivery, the value at registration, which is read then (D3). Values are compared by `kvo_value_equal`, objects by
  /// identity; values that can't be compared are never equal. Changes of elements are always delivered, and prior
  /// calls are always made.
  KVO_DISTINCT = 16
} kvo_options;
#ifdef __cplusplus
extern "C++" {
/// Joins options; `{}` is none.
constexpr kvo_options operator|(kvo_options a, kvo_options b) {
  return static_cast<kvo_options>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// The options that are in both operands.
constexpr kvo_options operator&(kvo_options a, kvo_options b) {
  return static_cast<kvo_options>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
/// All options except these.
constexpr kvo_options operator~(kvo_options a) {
  return static_cast<kvo_options>(~static_cast<unsigned>(a) & 31u);
}
/// Adds options.
constexpr kvo_options &operator|=(kvo_options &a, kvo_options b) { return a = a | b; }
/// Keeps the options that are in both: `options &= ~KVO_PRIOR` removes one.
constexpr kvo_options &operator&=(kvo_options &a, kvo_options b) { return a = a & b; }
}
#endif

/// The kind of a change.
typedef enum KVO_CLOSED_ENUM kvo_change_kind {
  KVO_SETTING = 1, ///< The property as a whole was set. Initial calls have this kind as well.
  KVO_INSERTION,   ///< Elements were inserted into a to-many property.
  KVO_REMOVAL,     ///< Elements were removed from a to-many property.
  KVO_REPLACEMENT  ///< Elements of a to-many property were replaced.
} kvo_change_kind;

/// A change as one observer sees it, with the parts that this observer asked for and nothing more. Valid during the
/// call that receives it, on that thread.
typedef struct kvo_change kvo_change;
/// A collection of values, described in kvo_collection.h.
typedef struct kvo_collection kvo_collection;
/// A set of indexes, described in kvo_index_set.h.
typedef struct kvo_index_set kvo_index_set;

/// The kind of the change.
kvo_change_kind kvo_change_get_kind(const kvo_change *change);
/// Whether this is the additional call before the change (`KVO_PRIOR`).
bool kvo_change_is_prior(const kvo_change *change);
/// The value before the change. NULL if this observer did not ask for it (`KVO_OLD`), in an initial call, and for an
/// insertion; the readers of kvo_value.h treat NULL as nil. If the property was nil, the result is a nil value, not
/// NULL. An observer that another thread registered during the change receives the new value as the old one. The
/// change owns the value: copy it to keep it beyond the call (`kvo_value_copy`).
const kvo_value *KVO_NULLABLE kvo_change_get_old(const kvo_change *change);
/// The value after the change. NULL if this observer did not ask for it (`KVO_NEW`), in a prior call, and for a
/// removal; the readers of kvo_value.h treat NULL as nil. If the property is nil, the result is a nil value, not
/// NULL. The change owns the value: copy it to keep it beyond the call (`kvo_value_copy`).
const kvo_value *KVO_NULLABLE kvo_change_get_new(const kvo_change *change);
/// The indexes at which an ordered to-many property changed: after the change for an insertion or replacement, before
/// it for a removal. NULL for any other change; the readers of kvo_index_set.h treat NULL as an empty set. The change
/// owns them.
///
/// The values of an insertion, removal or replacement are collections: the elements that were inserted (new) and
/// removed (old), absent if the kind of change has none. For an ordered property they are arrays in the order of the
/// indexes, for an unordered one sets.
const kvo_index_set *KVO_NULLABLE kvo_change_get_indexes(const kvo_change *change);
/// The index of the key that changed, from 0, in a callback of `kvo_add_callback_for_keys`. Meaningless in other
/// callbacks.
uint32_t kvo_change_get_key_index(const kvo_change *change);

/// A function that is called at each change. It may be left by a C++ exception or the end of the thread, which close
/// the change without further calls, but not by longjmp.
/// - context: the context of the registration.
/// - object: the object that was registered with, whichever object of a key path has changed. Borrowed: retain it to
///   keep it.
/// - key_path: the key or key path as registered. A key is never freed; a path of several components lives as long as
///   the registration.
/// - change: the change, with the values that the registration asked for. Valid until the function returns.
typedef void (*kvo_callback)(void *KVO_NULLABLE context, kvo_object *object, const char *key_path,
    const kvo_change *change);

/// A registration made by `kvo_add_callback`. The caller owns it until `kvo_handle_release`.
typedef struct kvo_handle kvo_handle;

/// Registers a callback for a key or key path. Registering twice means two calls at each change.
/// - object: the object to observe. It is not retained: its destruction ends the registration.
/// - key_path: a key, such as "balance", or a key path, such as "owner.name" or "list.@sum.amount". It is copied.
/// - options: which calls and values the callback gets, such as `KVO_OLD | KVO_NEW`. 0: one call after each change,
///   without values.
/// - callback: called at each change, on the thread that makes it.
/// - context: a pointer of the caller's, passed to `callback` and `ended` and never read. May be NULL.
/// - ended: releases the resources behind `context`. Called with it exactly once, when the registration has ended in
///   any way (invalidation, `kvo_remove_all_observers`, destruction of the object) and the last call in progress has
///   returned. It runs on the thread that ended the registration or on the one that made that last call; in a forked
///   child, where that call was another thread's, when some other registration ends. Not called if registration
///   fails. It must not throw. May be NULL.
/// - handle: receives the registration's handle, or NULL if it fails. It is set before the initial call. Release the
///   handle with `kvo_handle_release`, which ends the registration too. If the initial call throws a C++ exception,
///   that passes through, but the registration is made and its handle must be released. Pass NULL if you need no
///   handle: the registration then ends only when the object is destroyed, or by `kvo_remove_all_observers`.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_UNDEFINED_KEY, which names the class that lacks the key; KVO_NOT_OBSERVABLE for a collection, with a message
/// that names the property to observe; KVO_INVALID_KEY_PATH, KVO_INVALID_OPERATOR, KVO_CLOSURES_UNAVAILABLE,
/// KVO_NO_MEMORY. After any of these nothing is registered. Amortised O(1) for a key without dependencies, O(length)
/// for a path, and O(n log n) for n elements under an operator. Any thread.
kvo_status kvo_add_callback(kvo_object *object, const char *key_path, kvo_options options,
    kvo_callback callback, void *KVO_NULLABLE context,
    void (*KVO_NULLABLE ended)(void *KVO_NULLABLE context),
    kvo_handle *KVO_NULLABLE *KVO_NULLABLE handle, kvo_error *KVO_NULLABLE error);

/// Registers a callback for several keys at once, all of them or none, with one allocation and one handle, which ends
/// them together. If memory runs out at a later key, initial calls that were already made are not undone. If an
/// initial call throws, all of the registrations end, but the handle must still be released. Parameters that are not
/// listed are as those of `kvo_add_callback`.
/// - keys: `count` keys, not key paths. A key that is listed twice is notified twice.
/// - context: the context of the first key. The i-th key's callback receives `context + i * stride`. With a stride of
///   0 the callback distinguishes the keys by `kvo_change_get_key_index` or by their names.
/// - ended: called exactly once, with `context`, when all of them have ended.
/// - handle: receives the one handle of all registrations. Not NULL.
///
/// Statuses as `kvo_add_callback`, and KVO_INVALID_ARGUMENT if `count` is 0. O(count). Any thread.
kvo_status kvo_add_callback_for_keys(kvo_object *object,
    const char *KVO_NONNULL const *KVO_NONNULL keys, size_t count, kvo_options options,
    kvo_callback callback, void *KVO_NULLABLE context, size_t stride,
    void (*KVO_NULLABLE ended)(void *KVO_NULLABLE context),
    kvo_handle *KVO_NULLABLE *KVO_NONNULL handle, kvo_error *KVO_NULLABLE error);

/// Ends the registration. When this returns, no new call begins; a call in progress on another thread may finish.
/// Calling it again, or after the object's destruction, has no effect. Any thread, also inside the callback.
void kvo_handle_invalidate(kvo_handle *handle);
/// Whether the registration is still active. False once it has ended, in any way. Any thread.
bool kvo_handle_is_valid(const kvo_handle *handle);
/// Ends the registration and frees the handle. NULL is ignored. Call it once, while no other thread uses the handle.
/// Any thread.
void kvo_handle_release(kvo_handle *KVO_NULLABLE handle);

/// Registers an object as observer of a key or key path. Neither object is retained: the destruction of either ends
/// the registration. The same registration may be made several times, and then is notified several times.
/// - object: the object to observe.
/// - observer: the object whose method is called at each change.
/// - key_path: a key or key path of `object`. It is copied.
/// - options: which calls and values the observer gets, as in `kvo_add_callback`.
/// - context: a pointer that is passed to the method, which distinguishes its registrations by it; usually the
///   address of a static variable. It is never read or freed.
/// - error: filled in if it fails. May be NULL.
///
/// Statuses as `kvo_add_callback`, and KVO_INVALID_ARGUMENT if the observer's class is a binding's that accepts no
/// notifications. A class of C that does not override `observeValueForKeyPath:ofObject:change:context:` inherits the
/// root's, which reports that no class handled the notification. Any thread.
kvo_status kvo_add_observer(kvo_object *object, kvo_object *observer, const char *key_path,
    kvo_options options, void *KVO_NULLABLE context, kvo_error *KVO_NULLABLE error);

/// Removes an observer's most recent registration for a key path, whatever its context. KVO_NOT_REGISTERED if there
/// is none. Any thread.
kvo_status kvo_remove_observer(kvo_object *object, kvo_object *observer, const char *key_path,
    kvo_error *KVO_NULLABLE error);
/// Removes an observer's most recent registration for a key path with this context; NULL is a context like any other.
/// KVO_NOT_REGISTERED if there is none. Any thread.
kvo_status kvo_remove_observer_with_context(kvo_object *object, kvo_object *observer,
    const char *key_path, void *KVO_NULLABLE context, kvo_error *KVO_NULLABLE error);
/// Ends all registrations with the object, by any observer, including those without a handle. Any thread.
void kvo_remove_all_observers(kvo_object *object);
/// Whether the key has observers. Any thread.
bool kvo_is_observed(const kvo_object *object, const char *key);

/// Begins a manual change of a key, which `kvo_did_change` ends on the same thread. What happens to the key between
/// the two calls is one change, delivered by `kvo_did_change`. Pairs match by thread, object and key, the last opened
/// first; pairs of different keys may cross. Inside an automatic change of the same object and key on the same
/// thread, a pair joins that change. A `kvo_did_change` without a `kvo_will_change` is reported as misuse and
/// ignored. Any thread.
/// - object: the object that has the key.
/// - key: a key of the object's own. A key path, an empty key, and a key that the class lacks are reported as misuse.
void kvo_will_change(kvo_object *object, const char *key);
/// Ends the change that `kvo_will_change` began on this thread, and calls the observers.
void kvo_did_change(kvo_object *object, const char *key);

/// Begins a manual change of some elements of an ordered to-many key, which `kvo_did_change_indexes` ends on the same
/// thread. If that names another kind or other indexes, this is reported as misuse, and observers receive a setting
/// of the whole key. Pairs nest and join as those of `kvo_will_change`. Any thread.
/// - kind: KVO_INSERTION, KVO_REMOVAL or KVO_REPLACEMENT.
/// - indexes: the elements' indexes: before the change for a removal or replacement, after it for an insertion. They
///   are copied. Indexes that no collection can have are reported as misuse, and observers receive a setting of the
///   whole key. Examples are a negative number converted to a size, and NULL in place of a set that could not be
///   made.
/// - key: the to-many key.
void kvo_will_change_indexes(kvo_object *object, kvo_change_kind kind,
    const kvo_index_set *KVO_NULLABLE indexes, const char *key);
/// Ends the change that `kvo_will_change_indexes` began on this thread with the same kind and key, and calls the
/// observers.
void kvo_did_change_indexes(kvo_object *object, kvo_change_kind kind,
    const kvo_index_set *KVO_NULLABLE indexes, const char *key);

/// A mutation of an unordered to-many key.
typedef enum KVO_CLOSED_ENUM kvo_set_mutation {
  KVO_UNION = 1, ///< The objects are added: an insertion.
  KVO_MINUS,     ///< The objects are removed: a removal.
  KVO_INTERSECT, ///< All other objects are removed: a removal.
  KVO_SET_SET    ///< The objects replace all existing ones: a replacement.
} kvo_set_mutation;

/// Begins a manual change of an unordered to-many key, which `kvo_did_change_set` ends on the same thread. Observers
/// receive the elements that were actually added and removed. Pairs nest and join as those of `kvo_will_change`. Any
/// thread.
/// - mutation: the operation that is done with `objects`.
/// - objects: the operation's operand. It is retained until the change ends.
/// - key: the to-many key.
void kvo_will_change_set(kvo_object *object, kvo_set_mutation mutation, kvo_collection *objects,
    const char *key);
/// Ends the change that `kvo_will_change_set` began on this thread with the same mutation and key, and calls the
/// observers.
void kvo_did_change_set(kvo_object *object, kvo_set_mutation mutation, kvo_collection *objects,
    const char *key);

/// Calls `body(context)`, and collects this thread's changes of the object during the body. When the body ends,
/// observers receive one change for each key, in the order in which the keys were first changed: from the value
/// before the first change to the value at the end. Derived keys and key paths that several of the keys affect are
/// notified once. Several changes of elements of a to-many key become a setting; a single one is delivered unchanged.
/// Prior observers are called at the key's first change.
///
/// A body inside another one for the same object on the same thread is part of that one. A C++ exception passes on
/// after the collected changes have been delivered. Changes by other threads and of other objects are delivered as
/// usual. In a prior call, and without memory, changes are delivered one by one. The object is kept alive until the
/// end.
///
/// O(1) besides the changes: a key's first change costs as much as outside of a body, further ones less. Any thread.
void kvo_coalesce(kvo_object *object, void (*body)(void *KVO_NULLABLE context),
    void *KVO_NULLABLE context);

/// Collects the key paths that a hook adds.
typedef struct kvo_key_paths kvo_key_paths;
/// Adds a key path; adding it again has no effect. The text is copied. A key path that can't be followed, such as a
/// misspelt key, is reported as misuse when the key that depends on it is first observed.
void kvo_key_paths_add(kvo_key_paths *paths, const char *key_path);

/// Adds the key paths that affect a key according to a class. An override of the hook calls it to get its
/// superclass's answer.
/// - cls: the class that is asked; in an override, the superclass: `kvo_class_superclass(account_class())`.
/// - key: the key that is affected.
/// - paths: where they are added: the hook's own argument.
///
/// Any thread.
void kvo_class_key_paths_affecting(const kvo_class *cls, const char *key, kvo_key_paths *paths);

/// Declares that a key depends on a key path: when the value of that changes, the key's observers are notified. The
/// declaration adds to those of superclasses and to the answers of hooks. The class may have subclasses and observed
/// objects.
/// - cls: the class, from `kvo_class_create` or as passed to a `setup` function.
/// - key: the dependent key.
/// - key_path: the key path that it depends on: a key of the same object or a path from it, of any length, also with
///   operators. It is copied.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_INVALID_KEY_PATH, KVO_INVALID_OPERATOR, KVO_NO_MEMORY; then nothing has changed, for observed objects either.
/// A name that the class does not have is not an error here, since its methods may be added later. A misspelt
/// `key_path` is reported as misuse when the dependent key is first observed, a misspelt `key` as a hint
/// (`KVO_LOG=hints`) when an object of the class is. Any thread.
kvo_status kvo_class_add_dependency(kvo_class *cls, const char *key, const char *key_path,
    kvo_error *KVO_NULLABLE error);

/// Whether a class notifies automatically of changes of a key: the hooks' answer, true by default. An override of a
/// hook calls it to get its superclass's answer. Any thread.
bool kvo_class_automatically_notifies(const kvo_class *cls, const char *key);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
