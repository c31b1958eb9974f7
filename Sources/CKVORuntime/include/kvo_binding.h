/// For language bindings: objects with other memory management, properties stored by the
/// language, changes bracketed at the call site, recording of reads.
///
/// A binding's object carries a `kvo_object` header at a fixed offset of its own choosing; the
/// runtime only ever sees a pointer to that header. Its isa is NULL, or a dynamic subclass while
/// somebody observes it: the test `kvo_binding_is_observed` is all that an unobserved property
/// pays.
#ifndef KVO_BINDING_H
#define KVO_BINDING_H

#include "kvo_observing.h"

#include <pthread.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

struct kvo_part;

/// Class-level operations. Inherited by subclasses. All may be called on any thread. `try_retain`,
/// `unowned_retain` and `unowned_release` are called with locks of the runtime held: they don't
/// call the runtime, nor wait for a lock whose holder may. The others may do both.
typedef struct kvo_class_operations {
  /// Takes a strong reference.
  void (*retain)(kvo_object *object);
  /// Gives a strong reference back.
  void (*release)(kvo_object *object);
  /// Takes a strong reference unless the object is dying; the memory is readable through an
  /// unowned reference.
  bool (*try_retain)(kvo_object *object);
  /// Keeps the object's memory, not the object.
  void (*unowned_retain)(kvo_object *object);
  /// Gives that back.
  void (*unowned_release)(kvo_object *object);
  /// As snprintf.
  size_t (*describe)(const kvo_object *object, char *buffer, size_t capacity);
  /// Hands a notification to an observer of this class, which is retained meanwhile.
  void (*KVO_NULLABLE observe)(kvo_object *observer, const char *key_path, kvo_object *object,
      const kvo_change *change, void *KVO_NULLABLE context);
  /// Adds the key paths that affect a key, besides what was declared to the runtime; the object is
  /// one of which the key is to be observed. Asked once for each class and key, until a key is
  /// added to the class or `kvo_class_forget_dependencies` is called.
  void (*KVO_NULLABLE affecting)(const kvo_class *cls, kvo_object *object, const char *key,
      kvo_key_paths *paths);
  /// Call the methods by which the class announces a change (`kvo_class_set_announces`), before it and after it.
  /// These methods call their superclass's, which call `kvo_will_change` and `kvo_did_change`: that begins and finishes the change. A
  /// method that does not call its superclass's leaves the change without a notification. No exception may leave them.
  /// - part: of a change of some elements, as it was given to `kvo_uniform_will_part`; NULL for a setting.
  void (*KVO_NULLABLE will)(kvo_object *object, const char *interned_key,
      const struct kvo_part *KVO_NULLABLE part);
  void (*KVO_NULLABLE did)(kvo_object *object, const char *interned_key,
      const struct kvo_part *KVO_NULLABLE part);
} kvo_class_operations;

/// Begins the root of a binding's hierarchy. The operations are not copied: they live for ever.
/// Like any class it is registered before it has subclasses; their instance size counts from the
/// header, and `kvo_class_named` does not find them. It may add the hooks of kvo_coding.h for
/// reading, setting and validating, none of which it has unless it adds them:
/// `valueForUndefinedKey:` answers for keys that have no property, also to observers; with
/// `valueForKey:` and `setValue:forKey:` the language's own key-value coding is asked when C reads
/// or sets a key, with `validateValue:forKey:error:` when C validates. The runtime calls no other
/// hook of a binding's class. Errors as `kvo_class_create`; subclasses are made by that.
kvo_class *KVO_NULLABLE kvo_class_create_root(const char *name,
    const kvo_class_operations *operations, kvo_error *KVO_NULLABLE error);

/// How the runtime finds the class of an object whose isa is NULL, a dying one as well; called
/// often, on any thread. To be set before the runtime sees such an object. One binding per process
/// may set it: KVO_DUPLICATE for another function.
kvo_status kvo_set_class_of_unobserved(
    const kvo_class *KVO_NONNULL (*KVO_NONNULL class_of)(const kvo_object *object),
    kvo_error *KVO_NULLABLE error);

/// Collects what a computed key's getter reads, while that is tracked.
typedef struct kvo_reads kvo_reads;
/// One more property that was read, of whatever object, which is retained for the time being.
void kvo_reads_add(kvo_reads *reads, kvo_object *object, const char *interned_key);
/// The same of a key that the binding knows by a token as well: an address that stands for nothing else as long
/// as the process lives. NULL: by none.
void kvo_reads_add_known(kvo_reads *reads, kvo_object *object, const char *interned_key,
    const void *KVO_NULLABLE token);
/// The same of a stored property that may be one of a key path's, `place` being where it is stored: for
/// `kvo_reads_are_path`.
void kvo_reads_add_step(kvo_reads *reads, kvo_object *object, const char *interned_key,
    const void *KVO_NULLABLE token, const void *place);
/// How many properties have been read so far, one that was read twice running counted once.
size_t kvo_reads_count(const kvo_reads *reads);
/// Says, when all has been read, that the key is a path of so many stored properties: if as many have been read, all of
/// them steps, the key's value depends on nothing else, and each but the last is a reference, of a pointer's size, to
/// an object whose header lies `offset` bytes behind its address; of that object the next one was read. So a
/// change of the last property needs no reading as long as the references are what they were.
void kvo_reads_are_path(kvo_reads *reads, size_t count, ptrdiff_t offset);
/// Whether this is the property that was read next when the key was last read: then it has been told.
/// Else it is to be told by `kvo_reads_add_known`. O(1); on the thread that tracks.
bool kvo_reads_follow(kvo_reads *reads, const kvo_object *object, const void *token);
/// Where what the getter answers is wanted: a nil value for the binding to make it there, as `get` does. So the key
/// needs no second reading. NULL: it is not wanted. On the thread that tracks.
kvo_value *KVO_NULLABLE kvo_reads_answer(kvo_reads *reads);

/// A key of a binding's class.
typedef struct kvo_property_description {
  const char *key;      ///< its name
  const kvo_type *type; ///< of its values
  /// Stored `offset` bytes after the header's address, before it if negative; 0, where the header
  /// itself is: nowhere. Keys don't share storage.
  ptrdiff_t offset;
  /// Reads the property into an uninitialised value of the type. Where it fails, the value is nil,
  /// and `error` filled in. NULL: the bytes at `offset` are copied.
  kvo_status (*KVO_NULLABLE get)(kvo_object *object, const void *KVO_NULLABLE binding,
      kvo_value *value, kvo_error *KVO_NULLABLE error);
  /// Sets the property by key: converts the value, which may be nil, and announces the change.
  /// NULL: what is stored and has no `get` is written to its storage, the rest is read-only.
  kvo_status (*KVO_NULLABLE set)(kvo_object *object, const void *KVO_NULLABLE binding,
      const kvo_value *value, kvo_error *KVO_NULLABLE error);
  /// Reads the property as `get` does, but for key-value coding alone, which may be given something
  /// that shows what the property has, of another type than observers are told. NULL: `get`.
  kvo_status (*KVO_NULLABLE show)(kvo_object *object, const void *KVO_NULLABLE binding,
      kvo_value *value, kvo_error *KVO_NULLABLE error);
  const void *KVO_NULLABLE binding; ///< handed to these functions; lives for ever
  bool manual;                      ///< no automatic notification
  /// Of a computed key for which the class names no affecting key paths: reads it as `get` does,
  /// and tells `reads` each property that its getter reads. While the key is observed it is
  /// affected by those, and read again after each of their changes. Called without a lock; it must
  /// not throw.
  void (*KVO_NULLABLE track)(kvo_object *object, const void *KVO_NULLABLE binding,
      kvo_reads *reads);
  /// Of a tracked key that stands for a path along other properties: its observers are called among
  /// those of the property that changed, in the order of registration, not after them.
  bool is_path;
  /// Of an ordered to-many key: reads the elements at those indexes that there are into an
  /// uninitialised value of the type. NULL: all are read, and the type picks some.
  void (*KVO_NULLABLE pick)(kvo_object *object, const void *KVO_NULLABLE binding,
      const kvo_index_set *indexes, kvo_value *value);
} kvo_property_description;

/// Adds a key to a class or replaces the class's own earlier description; also while objects are
/// observed, if the key is stored where it was. The description is copied. KVO_NO_MEMORY. Any
/// thread.
kvo_status kvo_class_add_property(kvo_class *cls, const kvo_property_description *description,
    kvo_error *KVO_NULLABLE error);

/// Has the class and its subclasses asked again which key paths affect their keys; what is observed
/// of their objects follows the answers. Not with a lock of the binding's held: it reads
/// properties. Any thread.
void kvo_class_forget_dependencies(kvo_class *cls);

/// Whether anybody observes anything of the object. One relaxed load.
KVO_INLINE bool kvo_binding_is_observed(const void *header) {
  return __atomic_load_n(&((const kvo_object *)header)->isa, __ATOMIC_RELAXED) != NULL;
}

/// The same after a property has been set while nobody observed the object: whether another thread has
/// registered an observer meanwhile, which `kvo_uniform_look` is for.
KVO_INLINE bool kvo_binding_came_to_be_observed(const void *header) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return kvo_binding_is_observed(header);
}

/// Whether anything hangs at the object: registrations with it or by it, open changes by hand. For
/// the end of its life: if not, `kvo_object_will_die` need not be called.
KVO_INLINE bool kvo_binding_has_observations(const void *header) {
  return __atomic_load_n(&((const kvo_object *)header)->observations, __ATOMIC_ACQUIRE) != NULL;
}

/// Whether an address lies in an observed object: what a language hands over as a property's may be
/// a copy's. By the class's instance size, which counts from the header. True for an object that
/// nobody observes. O(1).
bool kvo_binding_holds(const void *header, const void *address);

/// What a change is made of: for bindings, which are compiled together with the runtime and read it where
/// they need it. Everybody else asks by `kvo_change_get_kind` and its like.
typedef struct kvo_change_parts {
  kvo_change_kind kind;                      ///< as `kvo_change_get_kind`
  bool is_prior;                             ///< as `kvo_change_is_prior`
  const kvo_value *KVO_NULLABLE old_value;   ///< NULL: not asked for
  const kvo_value *KVO_NULLABLE new_value;   ///< NULL: not asked for
  const kvo_index_set *KVO_NULLABLE indexes; ///< as `kvo_change_get_indexes`
} kvo_change_parts;
/// The parts of a change, which are valid during the call of the observer that it was handed to. O(1).
KVO_INLINE const kvo_change_parts *kvo_binding_change_parts(const kvo_change *change) {
  return (const kvo_change_parts *)(const void *)change;
}
/// As `kvo_change_get_key_index`. O(1).
KVO_INLINE uint32_t kvo_binding_key_index(const kvo_change *change) {
  return *(const uint32_t *)(const void *)(kvo_binding_change_parts(change) + 1);
}
/// Whether it is a setting: so mostly, and then it has no indexes. O(1).
KVO_INLINE bool kvo_binding_is_setting(const kvo_change *change) {
  return kvo_binding_change_parts(change)->kind == KVO_SETTING;
}
/// As `kvo_value_bytes`, of which NULL has none; inlined for what lies in the value itself.
KVO_INLINE const void *KVO_NULLABLE kvo_binding_bytes(const kvo_value *KVO_NULLABLE value) {
  if (!value || !value->type) return NULL;
  bool is_inline = value->type->size <= sizeof value->payload && value->type->alignment <= 16;
  return KVO_LIKELY(is_inline) ? (const void *)value->payload.words : kvo_value_bytes(value);
}

/// `kvo_add_callback` with words of the binding's own in place of a context: a copy of them lies in the
/// registration, and its address, at which a pointer may lie, is what the callback and `ended` are handed.
/// Statuses, and what `ended` may do, as there; where it fails, the words are still the caller's. Any thread.
/// - size: of the words, in bytes.
kvo_status kvo_add_callback_with_words(kvo_object *object, const char *key_path,
    kvo_options options, kvo_callback callback, const void *words, size_t size,
    void (*KVO_NULLABLE ended)(void *words), kvo_handle *KVO_NULLABLE *KVO_NONNULL handle,
    kvo_error *KVO_NULLABLE error);

/// Whether a key of the object's class has been observed before, and the class has not changed since, so that the
/// binding has nothing left to find out, nor to say of it: nothing is logged, nobody wants hints. False for a key path, and
/// for what is no key. O(n) in the length of the name. Any thread.
bool kvo_key_is_ready(const kvo_object *object, const char *name);

/// How often the object's class has changed, for `kvo_remember_token`. Any thread.
uint32_t kvo_class_changes(const kvo_object *object);
/// Which key a token names for the objects of a type: both are addresses that stand for nothing else as long as
/// the process lives. For a binding that would else look the key up in tables of its own each time that it is
/// observed. Remembered until the class changes, and only where the key has been observed, so that nothing is left
/// to find out. Any thread; takes the class lock.
/// - object: one of the type.
/// - changes: what `kvo_class_changes` answered before the binding looked the key up.
void kvo_remember_token(const kvo_object *object, const void *type, const void *token,
    const char *interned_key, uint32_t changes);
/// `kvo_add_callback_with_words` of the key that a token names for the type of the object. False, with nothing
/// done, unless that is known, no initial call is asked for, nothing is logged, and there is memory: then
/// `kvo_add_callback_with_words` is to be called. O(1).
bool kvo_add_callback_by_token(kvo_object *object, const void *type, const void *token,
    kvo_options options, kvo_callback callback, const void *words, size_t size,
    void (*KVO_NULLABLE ended)(void *words), kvo_handle *KVO_NULLABLE *KVO_NONNULL handle);

/// An open automatic change. Not to be looked into.
typedef struct kvo_frame kvo_frame;

/// Opens an automatic change of the property stored at `storage`, reads old and calls prior
/// observers if there are any. NULL if the storage is not the object's, or if the change joins one
/// under way. What is returned must be given to `kvo_uniform_did` or `kvo_uniform_cancel`, on the
/// same thread unless the language suspends inside an access. The caller holds the object until
/// then; the property is read in here and in the did. No exception may leave either: an observer's
/// is to be caught by the binding, in the callback.
kvo_frame *KVO_NULLABLE kvo_uniform_will(void *header, const void *storage);
/// Closes the change and calls the observers.
void kvo_uniform_did(kvo_frame *frame);
/// The same of a change that `kvo_uniform_will_key` has opened, for a caller that has the key at hand: with very
/// many keys it is not looked for in memory then.
void kvo_uniform_did_key(kvo_frame *frame, const char *interned_key);
/// Closes a change that came to nothing: no final calls are made.
void kvo_uniform_cancel(kvo_frame *frame);
/// For a property that was set while nobody observed the object, so that no change was opened, if the
/// object is observed by now (`kvo_binding_is_observed`, asked after the value has been stored): tells
/// observers that were registered on another thread meanwhile. The caller holds the object.
void kvo_uniform_look(void *header, const void *storage);
/// The same by interned key.
void kvo_uniform_look_key(void *header, const char *interned_key);
/// `kvo_uniform_will` for a key without storage of its own, by interned key (`kvo_key_intern`).
kvo_frame *KVO_NULLABLE kvo_uniform_will_key(void *header, const char *interned_key);

/// As `kvo_coalesce` with a body between the two calls, on the same thread. NULL if there is nothing to end: this
/// thread coalesces the object's changes already, the object is dying, or memory is out.
kvo_frame *KVO_NULLABLE kvo_batch_begin(void *header);
/// Ends what `kvo_batch_begin` has begun, and tells what was collected.
void kvo_batch_end(kvo_frame *frame);

/// Opens a change by hand of a key around a body, after which `kvo_bracket_did` closes it, on the same
/// thread: what `kvo_will_change` and `kvo_did_change` tell, but nothing hangs at the object meanwhile.
/// Reads old and calls prior observers if there are any. Brackets nest; a pair by hand in the body is a
/// change of its own, and so is an automatic one. The caller holds the object until the did. No exception
/// may leave either: see `kvo_uniform_will`. Any thread. O(1).
/// - Returns: NULL if nobody can be told, if the change joins an automatic one under way, or if the class
///   has its own way (`kvo_class_set_announces`): in the first two cases the binding asks
///   `kvo_binding_came_to_be_observed` after the body, and `kvo_bracket_look` if so.
/// - likely_id: what `kvo_binding_key_id` has said of the key, for the object's class or one above it; 0 if
///   it has not been asked.
kvo_frame *KVO_NULLABLE kvo_bracket_will(void *header, const char *interned_key,
    uintptr_t likely_id);
/// The same by a key that need not be interned. O(n) in its length.
kvo_frame *KVO_NULLABLE kvo_bracket_will_named(void *header, const char *key);
/// Closes the change and calls the observers.
void kvo_bracket_did(kvo_frame *frame);
/// After a body that was run without a change: tells observers that another thread has registered meanwhile.
/// The caller holds the object.
void kvo_bracket_look(void *header, const char *key);

/// Which changes a class's own methods announce.
typedef enum KVO_FLAG_ENUM kvo_announced_kinds {
  KVO_ANNOUNCES_SETTINGS = 1,
  KVO_ANNOUNCES_PARTS = 2, ///< changes of some elements
} kvo_announced_kinds;

/// For a class whose objects announce changes in their own way, by methods that the program overrides. Automatic changes of
/// observed keys call its operations `will` and `did`. With KVO_ANNOUNCES_SETTINGS brackets of its objects, and of its
/// subclasses', are NULL. Before the class is registered.
void kvo_class_set_announces(kvo_class *cls, kvo_announced_kinds kinds);

/// What tables know a key of the class by, for `kvo_bracket_will`; 0 if the class has no such key, or
/// memory is out. It may become another for a key that nobody observes. O(1) after the first call for
/// class and key. Any thread.
uintptr_t kvo_binding_key_id(const kvo_class *cls, const char *interned_key);

/// A change of some elements of a to-many key.
typedef struct kvo_part {
  /// Insertion, removal or replacement; a setting, which says less but nothing wrong, where there
  /// was no memory for what a part says.
  kvo_change_kind kind;
  /// Where, in an ordered key. Observers are told what the key has at them before and after.
  const kvo_index_set *KVO_NULLABLE indexes;
  /// Of an unordered key: which elements go and which come, each a collection, NULL for what the
  /// kind of change does not tell. The key is not read then.
  const kvo_value *KVO_NULLABLE goes, *KVO_NULLABLE comes;
  /// Of an unordered key of which that is not known: what is done with which elements. The key is
  /// read before and after. 0 and NULL: `goes` and `comes` say it.
  kvo_set_mutation set_mutation;
  const kvo_value *KVO_NULLABLE members;
} kvo_part;

/// `kvo_uniform_will_key` for a change of some elements, stored or not. The indexes and values,
/// which are copied, must be those of what is done before `kvo_uniform_did`.
kvo_frame *KVO_NULLABLE kvo_uniform_will_part(void *header, const char *interned_key,
    const kvo_part *part);

/// `kvo_will_change_set` with a set of a type of the binding's.
void kvo_will_change_members(kvo_object *object, kvo_set_mutation mutation,
    const kvo_value *members, const char *key);
/// Ends the change that `kvo_will_change_members` began on this thread with the same mutation and key.
void kvo_did_change_members(kvo_object *object, kvo_set_mutation mutation, const char *key);

/// The one copy of a string used as key or key path. Lives for ever. KVO: out of memory gives NULL.
const char *KVO_NULLABLE kvo_key_intern(const char *key);

/// A pointer that a binding keeps with an interned key, or with the key path that an observer is
/// called with (its own string, say): set once, the first wins; returns the one that is kept.
const void *KVO_NULLABLE kvo_key_cookie(const char *interned_key);
const void *kvo_key_set_cookie(const char *interned_key, const void *cookie);
/// What is called with a cookie when its key path ends: key paths of several components live as
/// long as they are observed, interned keys for ever. May be called with locks held: it must not
/// call the runtime.
void kvo_set_cookie_end(void (*end)(const void *cookie));

/// How a binding writes the key of a property whose key is no name, as that of a key path that it made
/// a key of: at most `capacity` bytes, with a NUL, of what the program's source has; false if it can't.
/// For the message of a program that is stopped: called on a thread of its own, which may end late.
void kvo_set_key_speller(bool (*KVO_NULLABLE spell)(const void *KVO_NULLABLE binding, char *buffer,
    size_t capacity));

/// Reports an error in the program that it can live with, as the runtime does its own.
void kvo_report_misuse(const char *message);

/// Whether anybody wants hints at what is no error, but probably meant otherwise: a handler, or the
/// environment (`KVO_LOG=hints`, `KVO_HELP=1`).
bool kvo_wants_hints(void);
/// Gives one to the handler, or logs it. To say it once is the binding's matter.
void kvo_give_hint(const char *message);
/// Sees each hint; NULL logs them where the environment asks for it. Any thread.
void kvo_set_hint_handler(void (*KVO_NULLABLE handler)(const char *message));

/// Reads along a key path as far as what its last key is a key of, for a binding that sets or
/// validates in its own way: an object, a collection, a value with keys, or nil, to be destroyed by
/// the caller. `*last_key` points into `key_path`. Statuses as `kvo_set_value_for_key_path`.
kvo_status kvo_value_with_last_key(kvo_object *object, const char *key_path, kvo_value *value,
    const char *KVO_NULLABLE *KVO_NONNULL last_key, kvo_error *KVO_NULLABLE error);

/// A mutex of the binding's, which fork() finds free: the forking thread takes it before, with the
/// runtime's own, so that no child inherits one that nobody gives back. Its members are the
/// runtime's.
typedef struct kvo_binding_lock {
  pthread_mutex_t mutex;                                    ///< the runtime's own
  bool is_outer;                                            ///< see `kvo_binding_lock_init`
  struct kvo_binding_lock *KVO_NULLABLE next;               ///< the runtime's own
  struct kvo_binding_lock *KVO_NULLABLE *KVO_NULLABLE link; ///< the runtime's own
} kvo_binding_lock;

/// Makes, takes, gives back and destroys a lock, which a fork waits for.
///
/// - is_outer: may be taken again by the thread that holds it, which may call the runtime meanwhile and take
///   others that are not outer. While one of those is held neither the runtime is called nor another taken.
///   Outer ones must not be nested.
///
/// The lock must not move. An outer one is made and destroyed while no lock is held, another also
/// under an outer one.
void kvo_binding_lock_init(kvo_binding_lock *lock, bool is_outer);
/// Destroys a lock, which nobody holds. See `kvo_binding_lock_init`.
void kvo_binding_lock_destroy(kvo_binding_lock *lock);
/// Takes a lock, and waits until it is free. See `kvo_binding_lock_init`.
void kvo_binding_lock_take(kvo_binding_lock *lock);
/// Gives back a lock that this thread holds. See `kvo_binding_lock_init`.
void kvo_binding_lock_give_back(kvo_binding_lock *lock);

/// The binding's errors on this thread: where its functions leave what a `kvo_error` has no room
/// for.
extern __thread void *KVO_NULLABLE kvo_errors;
KVO_INLINE void *KVO_NULLABLE kvo_current_errors(void) { return kvo_errors; }
KVO_INLINE void kvo_set_errors(void *KVO_NULLABLE errors) { kvo_errors = errors; }

/// What the binding is passing on from one property to another on this thread.
extern __thread void *KVO_NULLABLE kvo_flow;
KVO_INLINE void *KVO_NULLABLE kvo_current_flow(void) { return kvo_flow; }
KVO_INLINE void kvo_set_flow(void *KVO_NULLABLE flow) { kvo_flow = flow; }

/// What no other thread that runs has the same of.
KVO_INLINE const void *kvo_binding_thread(void) { return &kvo_flow; }

/// Whether what is told on this thread is part of something that began before a stamp was taken: the outermost of its
/// changes that are open, being told or collected now did so. Two changes are told in one such thing if the later
/// began in it before the earlier was stamped.
bool kvo_binding_began_before(uint64_t stamp);
/// A number that is greater than all before it.
uint64_t kvo_binding_stamp(void);
/// Whether a batch of this thread's is open: what it changes of the batch's object is told when that ends.
bool kvo_binding_is_collecting(void);

/// The binding's recorder of reads on this thread, NULL when none is recording. Only read: it is set by
/// `kvo_set_recorder`. Weak: another library may define it as `&kvo_asking` on each thread, and be asked about
/// every read while none is recording.
extern __thread void *KVO_NULLABLE kvo_recorder __attribute__((tls_model("initial-exec")));
extern const char kvo_asking;
/// What the variable is when none is recording: NULL, or `&kvo_asking` where that is so. Weak likewise.
const void *KVO_NULLABLE kvo_idle_recorder(void);
/// Whether somebody wants to know what is read of an object on this thread: what such a library answers by its function
/// `kvo_observation_tracks`, false without one. Any thread.
bool kvo_tracks_reads(kvo_object *object);
/// Tells that a key of such an object is about to be read: calls `kvo_observation_read`. Any thread.
void kvo_tell_tracker(kvo_object *object, const char *interned_key);

/// Whom to tell of reads by key while a recorder is set: what key-value coding reads, of objects of
/// C and of the binding, past the getters that would tell by themselves. One binding per process
/// may set it.
void kvo_set_read_listener(void (*KVO_NULLABLE listener)(void *recorder, kvo_object *object,
    const char *interned_key));

/// The variable for languages that can't name it.
KVO_INLINE void *KVO_NULLABLE kvo_current_recorder(void) {
  return kvo_recorder == &kvo_asking ? NULL : kvo_recorder;
}
/// Sets the binding's recorder of reads on this thread; NULL: none is recording.
void kvo_set_recorder(void *KVO_NULLABLE recorder);

/// For the binding's recorder: whether what is read now on this thread is told to a tracked key alone, which may
/// be asked straight away by `kvo_reads_follow`. NULL where it is told to somebody else.
extern __thread kvo_reads *KVO_NULLABLE kvo_sink __attribute__((tls_model("initial-exec")));
KVO_INLINE kvo_reads *KVO_NULLABLE kvo_current_sink(void) { return kvo_sink; }
KVO_INLINE void kvo_set_sink(kvo_reads *KVO_NULLABLE sink) { kvo_sink = sink; }

/// Whether reads are being recorded on this thread, or asked about. `pure`, so that a loop may ask once.
__attribute__((pure)) KVO_INLINE bool kvo_is_recording(void) { return kvo_recorder != NULL; }

/// Calls `visit` for each symbol that the file tells of the program or library in which an address
/// lies: its name, as compilers mangle it, and where it is. For none where the file has been stripped of
/// them or can't be read, or on another system than Linux. Reads the file each time, so it is for
/// messages, and what comes once. Any thread; no lock is held meanwhile.
void kvo_visit_symbols(const void *address,
    void (*visit)(void *KVO_NULLABLE context, const char *name, const void *address),
    void *KVO_NULLABLE context);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
