/// For language bindings: objects with their own memory management, properties that the language stores, changes
/// opened and closed at the assignment, and recording of reads.
///
/// A binding's object contains a `kvo_object` header at a fixed offset that the binding chooses. The runtime only
/// sees a pointer to that header. Its isa is NULL, or a dynamic subclass while the object is observed, so an
/// unobserved property pays for one test only (`kvo_binding_is_observed`).
#ifndef KVO_BINDING_H
#define KVO_BINDING_H

#include "kvo_observing.h"

#include <pthread.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

struct kvo_part;

/// Operations of a class's objects, inherited by subclasses. All may be called on any thread. `try_retain`,
/// `unowned_retain` and `unowned_release` are called with locks of the runtime held: they must not call the runtime,
/// nor wait for a lock whose holder may call it. The others may do both.
typedef struct kvo_class_operations {
  /// Takes a strong reference.
  void (*retain)(kvo_object *object);
  /// Releases a strong reference.
  void (*release)(kvo_object *object);
  /// Takes a strong reference unless the object is being destroyed; returns whether it did. The caller holds an
  /// unowned reference, so the memory can be read.
  bool (*try_retain)(kvo_object *object);
  /// Takes an unowned reference, which keeps the object's memory but not the object.
  void (*unowned_retain)(kvo_object *object);
  /// Releases an unowned reference.
  void (*unowned_release)(kvo_object *object);
  /// Writes a description of at most `capacity` bytes, including the NUL. Returns the whole length, as snprintf does.
  size_t (*describe)(const kvo_object *object, char *buffer, size_t capacity);
  /// Delivers a notification to an observer of this class, which is retained during the call.
  void (*KVO_NULLABLE observe)(kvo_object *observer, const char *key_path, kvo_object *object,
      const kvo_change *change, void *KVO_NULLABLE context);
  /// Adds the key paths that affect a key, besides those declared to the runtime. `object` is the object whose key is
  /// to be observed. Called once for each class and key, until a key is added to the class or
  /// `kvo_class_forget_dependencies` is called.
  void (*KVO_NULLABLE affecting)(const kvo_class *cls, kvo_object *object, const char *key,
      kvo_key_paths *paths);
  /// Calls the method by which the class announces a change (`kvo_class_set_announces`) before it; `did` calls the one
  /// after it. These methods call their superclass's, which call `kvo_will_change` and `kvo_did_change`: that
  /// begins and finishes the change. A method that does not call its superclass's leaves the change without a
  /// notification. No exception may leave them.
  /// - part: for a change of some elements, the part that was passed to `kvo_stored_property_will_change_part`; NULL
  ///   for a setting.
  void (*KVO_NULLABLE will)(kvo_object *object, const char *interned_key,
      const struct kvo_part *KVO_NULLABLE part);
  /// Calls the method by which the class announces a change after it, as `will` does before it.
  void (*KVO_NULLABLE did)(kvo_object *object, const char *interned_key,
      const struct kvo_part *KVO_NULLABLE part);
  /// Called before the runtime copies a stored property from this address. It is not called in a change that the
  /// property's own setter has opened, nor for plain values that `kvo_scoped_change_begin` or a key path reads. A
  /// language that mutates properties in place stops the program if a mutation is under way: the bytes may not be a
  /// value then. It must not call the runtime.
  void (*KVO_NULLABLE check_read)(const void *storage);
} kvo_class_operations;

/// Creates the root class of a binding's hierarchy. `operations` is not copied, so it must never be freed. Like any
/// class it must be registered before it has subclasses, which `kvo_class_create` makes. Their instance size counts
/// from the header, and `kvo_class_named` does not find them. Statuses as `kvo_class_create`.
///
/// The root has none of the hooks of kvo_coding.h unless it adds them. `valueForUndefinedKey:` answers for keys that
/// have no property, also to observers. `valueForKey:` and `setValue:forKey:` let the language's own key-value coding
/// handle keys that C reads and sets, `validateValue:forKey:error:` values that C validates. The runtime calls no
/// other hook of a binding's class.
kvo_class *KVO_NULLABLE kvo_class_create_root(const char *name,
    const kvo_class_operations *operations, kvo_error *KVO_NULLABLE error);

/// Sets the function by which the runtime finds the class of an object whose isa is NULL, also of one that is being
/// destroyed. It is called often, on any thread. Set it before the runtime sees such an object. One binding per
/// process may set it: KVO_DUPLICATE if another function is set already.
kvo_status kvo_set_class_of_unobserved(
    const kvo_class *KVO_NONNULL (*KVO_NONNULL class_of)(const kvo_object *object),
    kvo_error *KVO_NULLABLE error);

/// Collects the properties that a computed key's getter reads while the key is tracked.
typedef struct kvo_reads kvo_reads;
/// Adds a property that was read, of any object, which is retained while needed.
void kvo_reads_add(kvo_reads *reads, kvo_object *object, const char *interned_key);
/// Adds a property that was read, and that the binding also identifies by a token: an address that has no other
/// meaning for the lifetime of the process. The object is retained while needed. NULL means no token.
void kvo_reads_add_known(kvo_reads *reads, kvo_object *object, const char *interned_key,
    const void *KVO_NULLABLE token);
/// Adds a stored property that was read and may be a component of a key path, for `kvo_reads_are_path`. `place` is
/// the address where it is stored. Otherwise as `kvo_reads_add_known`.
void kvo_reads_add_step(kvo_reads *reads, kvo_object *object, const char *interned_key,
    const void *KVO_NULLABLE token, const void *place);
/// The number of properties read so far. Consecutive reads of the same property count once.
size_t kvo_reads_count(const kvo_reads *reads);
/// Declares, after all reads, that the key is a path of `count` stored properties. This takes effect if exactly that
/// many properties were read, all added by `kvo_reads_add_step`. The key's value must depend on nothing else. Each
/// property but the last must be a reference of a pointer's size to an object whose header is `offset` bytes after
/// its address, and the next property must have been read from that object. A change of the last property then needs
/// no new reading as long as the references are unchanged.
void kvo_reads_are_path(kvo_reads *reads, size_t count, ptrdiff_t offset);
/// Whether this is the property that was read next when the key was last read. If so, the read is recorded by this
/// call; otherwise call `kvo_reads_add_known`. O(1). Only on the thread that tracks.
bool kvo_reads_follow(kvo_reads *reads, const kvo_object *object, const void *token);
/// Returns where to put the getter's result, which saves a second reading of the key: a nil value, in which the
/// binding makes the result as `get` does. NULL if the result is not wanted. Only on the thread that tracks.
kvo_value *KVO_NULLABLE kvo_reads_result(kvo_reads *reads);

/// Describes a key of a binding's class.
typedef struct kvo_property_description {
  const char *key;      ///< the key's name
  const kvo_type *type; ///< the type of its values
  /// The property is stored `offset` bytes after the header's address, or before it if negative. 0, the header's own
  /// offset, means that it is not stored. No two keys may share storage.
  ptrdiff_t offset;
  /// Reads the property into an uninitialised value of the type. If it fails, the value must be nil and `error`
  /// filled in. NULL: the bytes at `offset` are copied.
  kvo_status (*KVO_NULLABLE get)(kvo_object *object, const void *KVO_NULLABLE binding,
      kvo_value *value, kvo_error *KVO_NULLABLE error);
  /// Sets the property by key: converts the value, which may be nil, and announces the change. NULL: a stored
  /// property without `get` is written to its storage, any other is read-only.
  kvo_status (*KVO_NULLABLE set)(kvo_object *object, const void *KVO_NULLABLE binding,
      const kvo_value *value, kvo_error *KVO_NULLABLE error);
  /// Reads the property for key-value coding. It may give a view of the property, of another type than the one
  /// observers receive. NULL: `get` is used.
  kvo_status (*KVO_NULLABLE show)(kvo_object *object, const void *KVO_NULLABLE binding,
      kvo_value *value, kvo_error *KVO_NULLABLE error);
  const void *KVO_NULLABLE binding; ///< passed to these functions; must never be freed
  bool manual;                      ///< no automatic notification
  /// For a computed key without declared affecting key paths: reads it as `get` does, and adds each property that its
  /// getter reads to `reads`. While the key is observed, it is affected by those properties and is read again after
  /// each of their changes. Called without a lock held. It must not throw.
  void (*KVO_NULLABLE track)(kvo_object *object, const void *KVO_NULLABLE binding,
      kvo_reads *reads);
  /// For a tracked key that represents a path along other properties: its observers are called among those of the
  /// property that changed, in the order of registration, not after them.
  bool is_path;
  /// For a tracked key that represents a path, but whose observers are called after those of the property that changed.
  /// As with any path, changes behind its first property are part of an open change of that.
  bool has_link;
  /// For an ordered to-many key: reads those elements at the indexes that exist into an uninitialised value of the
  /// type. NULL: all elements are read, and the type picks some.
  void (*KVO_NULLABLE pick)(kvo_object *object, const void *KVO_NULLABLE binding,
      const kvo_index_set *indexes, kvo_value *value);
} kvo_property_description;

/// Adds a key to a class, or replaces the class's own earlier description of it. Objects may be observed already,
/// provided that the key's storage stays where it was. The description is copied. KVO_NO_MEMORY. Any thread.
kvo_status kvo_class_add_property(kvo_class *cls, const kvo_property_description *description,
    kvo_error *KVO_NULLABLE error);

/// Discards the cached answers of the class and its subclasses about which key paths affect their keys. What is
/// observed of their objects follows the new answers. Call it without a lock of the binding's held, since it reads
/// properties. Any thread.
void kvo_class_forget_dependencies(kvo_class *cls);

/// Whether the object is observed. One relaxed load. Any thread.
KVO_INLINE bool kvo_binding_is_observed(const void *header) {
  return __atomic_load_n(&((const kvo_object *)header)->isa, __ATOMIC_RELAXED) != NULL;
}

/// An object's isa with its marks (`kvo_isa_mark`); 0 if it is not observed. O(1). Any thread.
KVO_INLINE uintptr_t kvo_binding_marked_isa(const void *header) {
  return (uintptr_t)__atomic_load_n(&((const kvo_object *)header)->isa, __ATOMIC_ACQUIRE);
}

/// Whether a property that is stored at an address in an object with this isa may be observed. An address outside the
/// object, which may be that of a copy, gives true if anything of the object is observed. O(1).
KVO_INLINE bool kvo_isa_marks(uintptr_t isa, const void *header, const void *storage) {
  uintptr_t id = (uintptr_t)storage - (uintptr_t)header;
  const size_t *cls =
      (const size_t *)(isa & ~KVO_ISA_MARKS); // its second word is the instance size
  return isa && (isa & kvo_isa_mark(id) || id >= cls[1]);
}

/// Sets a property of a trivial type of eight bytes, which is stored in the object: opens its change, stores the value,
/// and notifies the observers. False, with nothing done, if the change joins one under way, or if `storage` is not in
/// the object. Any thread.
bool kvo_stored_property_set_word(void *header, void *storage, uint64_t value);

/// Whether the object is observed by now, for a property that was set while it was not. If so, another thread has
/// registered an observer during the set, and `kvo_stored_property_notify_late_observers` notifies it. Any thread.
KVO_INLINE bool kvo_binding_came_to_be_observed(const void *header) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return kvo_binding_is_observed(header);
}

/// Whether a property that was set while another property of its object was observed may be observed by now. `storage`
/// is in the object. Any thread.
KVO_INLINE bool kvo_binding_came_to_be_marked(const void *header, const void *storage) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uintptr_t isa = (uintptr_t)__atomic_load_n(&((const kvo_object *)header)->isa, __ATOMIC_RELAXED);
  return isa & kvo_isa_mark((uintptr_t)storage - (uintptr_t)header);
}

/// Whether the object has registrations, with it or by it, or open manual changes. If it has none at the end of its
/// life, `kvo_object_will_die` need not be called. One load. Any thread.
KVO_INLINE bool kvo_binding_has_observations(const void *header) {
  return __atomic_load_n(&((const kvo_object *)header)->observations, __ATOMIC_ACQUIRE) != NULL;
}

/// Whether an address is inside an observed object, by the class's instance size, which counts from the header. For
/// languages that may pass the address of a copy in place of the property's. True for an object that is not observed.
/// O(1).
bool kvo_binding_holds(const void *header, const void *address);

/// The parts of a change, for bindings, which are compiled together with the runtime and read them directly. All
/// other callers use `kvo_change_get_kind` and the functions like it.
typedef struct kvo_change_parts {
  kvo_change_kind kind;                      ///< see `kvo_change_get_kind`
  bool is_prior;                             ///< see `kvo_change_is_prior`
  const kvo_value *KVO_NULLABLE old_value;   ///< NULL: not asked for
  const kvo_value *KVO_NULLABLE new_value;   ///< NULL: not asked for
  const kvo_index_set *KVO_NULLABLE indexes; ///< see `kvo_change_get_indexes`
} kvo_change_parts;
/// The parts of a change. They are valid during the observer call that received the change. O(1).
KVO_INLINE const kvo_change_parts *kvo_binding_change_parts(const kvo_change *change) {
  return (const kvo_change_parts *)(const void *)change;
}
/// Which of its keys changed, from 0, in a callback of `kvo_add_callback_for_keys`. Inlined. O(1).
KVO_INLINE uint32_t kvo_binding_key_index(const kvo_change *change) {
  return *(const uint32_t *)(const void *)(kvo_binding_change_parts(change) + 1);
}
/// Whether the change is a setting, which is the usual case. A setting has no indexes. O(1).
KVO_INLINE bool kvo_binding_is_setting(const kvo_change *change) {
  return kvo_binding_change_parts(change)->kind == KVO_SETTING;
}
/// The address of a value's bytes, NULL for NULL and nil. Equals `kvo_value_bytes`, inlined for values that are
/// stored in the `kvo_value` itself.
KVO_INLINE const void *KVO_NULLABLE kvo_binding_bytes(const kvo_value *KVO_NULLABLE value) {
  if (!value || !value->type) return NULL;
  bool is_inline = value->type->size <= sizeof value->payload && value->type->alignment <= 16;
  return KVO_LIKELY(is_inline) ? (const void *)value->payload.words : kvo_value_bytes(value);
}

/// Registers a callback as `kvo_add_callback` does, with words of the binding's in place of a context. They are
/// copied into the registration, and `callback` and `ended` receive the copy's address, which is aligned for a
/// pointer. Statuses and the rules for `ended` are those of `kvo_add_callback`. If it fails, the words stay the
/// caller's. Any thread.
/// - size: the size of the words, in bytes.
kvo_status kvo_add_callback_with_words(kvo_object *object, const char *key_path,
    kvo_options options, kvo_callback callback, const void *words, size_t size,
    void (*KVO_NULLABLE ended)(void *words), kvo_handle *KVO_NULLABLE *KVO_NONNULL handle,
    kvo_error *KVO_NULLABLE error);

/// As `kvo_add_callback_with_words`, for a key of a binding. The key may contain dots, which don't make it a key path.
kvo_status kvo_add_callback_of_key_with_words(kvo_object *object, const char *interned_key,
    kvo_options options, kvo_callback callback, const void *words, size_t size,
    void (*KVO_NULLABLE ended)(void *words), kvo_handle *KVO_NULLABLE *KVO_NONNULL handle,
    kvo_error *KVO_NULLABLE error);

/// Whether a registration of this key needs nothing further from the binding: the key of the object's class has been
/// observed before, the class has not changed since, no log is written and no hints are wanted. False for a key path,
/// and for a name that is not a key. O(n) in the length of the name. Any thread.
bool kvo_key_is_ready(const kvo_object *object, const char *name);

/// The number of times that the object's class has changed, for `kvo_remember_token`. Any thread.
uint32_t kvo_class_changes(const kvo_object *object);
/// Remembers which key a token denotes for objects of a type, so that the binding need not look the key up in its own
/// tables at each registration. `type` and `token` are addresses that have no other meaning for the lifetime of the
/// process. The entry is kept until the class changes, and is only made if the key has been observed. Any thread;
/// takes the class lock.
/// - object: an object of the type.
/// - changes: what `kvo_class_changes` returned before the binding looked the key up.
void kvo_remember_token(const kvo_object *object, const void *type, const void *token,
    const char *interned_key, uint32_t changes);
/// Registers a callback, as `kvo_add_callback_with_words` does, for the key that a token denotes for the object's
/// type. Returns false, with nothing done, if the token is not remembered, an initial call is asked for, a log is
/// written, or there is no memory. Call `kvo_add_callback_with_words` in that case. O(1). Any thread.
bool kvo_add_callback_by_token(kvo_object *object, const void *type, const void *token,
    kvo_options options, kvo_callback callback, const void *words, size_t size,
    void (*KVO_NULLABLE ended)(void *words), kvo_handle *KVO_NULLABLE *KVO_NONNULL handle);

/// An open change. Opaque.
typedef struct kvo_frame kvo_frame;

/// Opens an automatic change of the property stored at `storage`. If the property has observers, it reads the old value
/// and calls prior observers. Pass the result to `kvo_stored_property_did_change` or
/// `kvo_stored_property_cancel_change`, on the same thread unless the language suspends inside an access. The caller
/// must keep the object alive until then. The property is read both here and in `kvo_stored_property_did_change`, so
/// that no mutation in place may be under way then: the caller ensures that. No exception may leave either function: the
/// binding's callback must catch an observer's.
/// - Returns: NULL if the storage is not the object's, or if the change joins one in progress.
kvo_frame *KVO_NULLABLE kvo_stored_property_will_change(void *header, const void *storage);
/// Opens a change as `kvo_stored_property_will_change` does, for a mutation in place: until the change is closed, the
/// property can't be read. So changes that this thread makes in the mutation do not read keys that are derived from the
/// property, and leave their observers to this change. It notifies them even if it is cancelled.
kvo_frame *KVO_NULLABLE kvo_stored_property_will_change_in_place(void *header, const void *storage);
/// Sets the function that finds the task which the calling thread runs, for a language whose tasks may suspend in a
/// mutation in place: while one does, changes by other tasks of its thread are not part of the mutation. A mutation
/// that no task began belongs to its thread, and changes by the tasks that the thread runs before it ends are part of
/// it. The function returns NULL if there is no task, and the address is only compared. It is called on any thread,
/// under a lock, so it must not call the runtime. Set it once, before the first mutation of a task.
void kvo_set_current_task(const void *KVO_NULLABLE (*KVO_NONNULL find)(void));
/// Closes the change that `kvo_stored_property_will_change` or one of its variants opened, and calls the observers.
void kvo_stored_property_did_change(kvo_frame *frame);
/// Closes a change that `kvo_stored_property_will_change_key` opened, and calls the observers. For a caller that has
/// the key at hand, which saves a memory access if objects have very many keys.
void kvo_stored_property_did_change_key(kvo_frame *frame, const char *interned_key);
/// Closes a change without calling the observers again, because nothing was changed.
void kvo_stored_property_cancel_change(kvo_frame *frame);
/// Notifies observers that another thread registered while a property was set without a change, because the object
/// was not observed. Call it if the object is observed (`kvo_binding_came_to_be_observed`) after the value has been
/// stored. The caller must keep the object alive.
void kvo_stored_property_notify_late_observers(void *header, const void *storage);
/// Notifies observers as `kvo_stored_property_notify_late_observers` does, for a property named by its interned key.
void kvo_stored_property_notify_late_observers_key(void *header, const char *interned_key);
/// Opens a change as `kvo_stored_property_will_change` does, for a key without storage of its own, named by its
/// interned key (`kvo_key_intern`).
kvo_frame *KVO_NULLABLE kvo_stored_property_will_change_key(void *header, const char *interned_key);
/// Opens a change as `kvo_stored_property_will_change_in_place` does, for a property named by its interned key.
kvo_frame *KVO_NULLABLE kvo_stored_property_will_change_key_in_place(void *header,
    const char *interned_key);

/// Begins a batch, as `kvo_coalesce` does for its body. `kvo_batch_end` must end it on the same thread, and not in a
/// mutation in place that began after it. Returns NULL if there is nothing to end: this thread already collects the
/// object's changes, the object is being destroyed, or there is no memory.
kvo_frame *KVO_NULLABLE kvo_batch_begin(void *header);
/// Ends the batch that `kvo_batch_begin` began, and delivers the collected changes.
void kvo_batch_end(kvo_frame *frame);

/// Opens a manual change of a key around a body. `kvo_scoped_change_end` closes it after the body, on the same thread.
/// Observers are notified as by `kvo_will_change` and `kvo_did_change`, but the object stores no pair in the meantime.
/// If the key has observers, the old value is read and prior observers are called. Scoped changes nest. A pair in the
/// body is a change of its own, and so is an automatic change. The caller must keep the object alive until the scoped
/// change is closed. No exception may leave the two functions: the binding's callback must catch an observer's. Any
/// thread. O(1).
/// - Returns: NULL if the key has no observers, if the change joins an automatic one in progress, or if the class
///   announces changes itself (`kvo_class_set_announces`). In the first two cases the binding asks
///   `kvo_binding_came_to_be_observed` after the body, and calls `kvo_scoped_change_notify_late_observers` if it is
///   true.
/// - likely_id: what `kvo_binding_key_id` returned for the key and the object's class or a superclass of it; 0 if it
///   was not called.
kvo_frame *KVO_NULLABLE kvo_scoped_change_begin(void *header, const char *interned_key,
    uintptr_t likely_id);
/// Opens a manual change as `kvo_scoped_change_begin` does, for a key that need not be interned. O(n) in its length.
kvo_frame *KVO_NULLABLE kvo_scoped_change_begin_named(void *header, const char *key);
/// Closes the change that `kvo_scoped_change_begin` or `kvo_scoped_change_begin_named` opened, and calls the observers.
void kvo_scoped_change_end(kvo_frame *frame);
/// Notifies observers that another thread registered while a body ran without a change, because
/// `kvo_scoped_change_begin` returned NULL. The caller must keep the object alive.
void kvo_scoped_change_notify_late_observers(void *header, const char *key);

/// The changes that a class's own methods announce.
typedef enum KVO_FLAG_ENUM kvo_announced_kinds {
  KVO_ANNOUNCES_SETTINGS = 1, ///< settings of a whole value
  KVO_ANNOUNCES_PARTS = 2,    ///< changes of some elements
} kvo_announced_kinds;

/// Declares that a class's objects announce changes by methods that the program overrides. Automatic changes of
/// observed keys then call the operations `will` and `did`. With KVO_ANNOUNCES_SETTINGS, `kvo_scoped_change_begin`
/// returns NULL for objects of the class and its subclasses. Call it before the class is registered.
void kvo_class_set_announces(kvo_class *cls, kvo_announced_kinds kinds);

/// The id by which observation tables know a key of the class, for `kvo_scoped_change_begin`. 0 if the class has no
/// such key, or there is no memory. The id of a key may change while the key has no observers. O(1) after the first
/// call for class and key. Any thread.
uintptr_t kvo_binding_key_id(const kvo_class *cls, const char *interned_key);

/// Describes a change of some elements of a to-many key.
typedef struct kvo_part {
  /// Insertion, removal or replacement. A plain setting if there was no memory for the details.
  kvo_change_kind kind;
  /// The indexes, for an ordered key. Observers receive the elements at them before and after the change.
  const kvo_index_set *KVO_NULLABLE indexes;
  /// For an unordered key: the elements that are removed and those that are inserted, each a collection; NULL if the
  /// kind of change has none. The key is not read then.
  const kvo_value *KVO_NULLABLE goes, *KVO_NULLABLE comes;
  /// For an unordered key whose removed and inserted elements are not known: the mutation. The key is read before and
  /// after. 0 if `goes` and `comes` are used.
  kvo_set_mutation set_mutation;
  /// The operand of `set_mutation`, a collection. NULL if `goes` and `comes` are used.
  const kvo_value *KVO_NULLABLE members;
  /// For an insertion in an ordered key: the elements at the indexes afterwards are the inserted ones, because only
  /// the binding decides where they go.
  bool is_exact;
} kvo_part;

/// Opens a change of some elements of a key, stored or not, as `kvo_stored_property_will_change_key` does for a whole
/// key. The indexes and values are copied. They must describe exactly what is done before
/// `kvo_stored_property_did_change`, or else `kvo_stored_property_change_is_setting` must be called.
kvo_frame *KVO_NULLABLE kvo_stored_property_will_change_part(void *header, const char *interned_key,
    const kvo_part *part);

/// Makes the change of elements of the key that this thread has open, if any, a setting: the property's setter has not
/// stored the collection that it was passed. To be called before `kvo_stored_property_did_change`.
/// - old_value: the collection before the change, which is copied; NULL if it is not known.
/// - is_first: the caller has opened the change, and read the collection before that.
void kvo_stored_property_change_is_setting(void *header, const char *interned_key,
    const kvo_value *KVO_NULLABLE old_value, bool is_first);

/// Whether an open change of elements has become a setting, because prior observers have changed the elements. The
/// mutation must be made to the present ones.
bool kvo_stored_property_change_became_setting(const kvo_frame *frame);

/// A change of elements that a binding works out from the present ones.
typedef struct kvo_worked_out_change {
  kvo_change_kind kind; ///< insertion, removal or replacement
  /// The indexes that the inserted elements have afterwards, or the removed or replaced ones before; none if there is
  /// nothing to do. The receiver destroys them. NULL if there was no memory.
  kvo_index_set *KVO_NULLABLE indexes;
  /// The new elements, one for each index; the receiver releases them. NULL for a removal, or if there was no memory.
  kvo_collection *KVO_NULLABLE elements;
} kvo_worked_out_change;

/// Changes elements of an array or ordered set through a proxy, as `kvo_collection_insert_many` and so on do, in a way
/// that depends on the present ones (an end, an order, a condition).
/// - work_out: fills in the change, which is empty. Or it returns a status, having filled in only the error. Called
///   before observers are, and again if prior observers have changed the elements (D7).
///
/// The statuses of `work_out` and of `kvo_collection_insert_many`. Any thread that may call the accessors.
kvo_status kvo_collection_change(kvo_collection *proxy,
    kvo_status (*work_out)(void *KVO_NULLABLE context, kvo_worked_out_change *change,
        kvo_error *KVO_NULLABLE error),
    void *KVO_NULLABLE context, kvo_error *KVO_NULLABLE error);

/// Begins a manual change of a set, as `kvo_will_change_set` does, with operands of a type of the binding's.
void kvo_will_change_members(kvo_object *object, kvo_set_mutation mutation,
    const kvo_value *members, const char *key);
/// Ends the change that `kvo_will_change_members` began on this thread with the same mutation and key, and calls the
/// observers.
void kvo_did_change_members(kvo_object *object, kvo_set_mutation mutation, const char *key);

/// Returns the only copy of a string that is used as a key or key path. It is never freed. NULL if out of memory. Any
/// thread.
const char *KVO_NULLABLE kvo_key_intern(const char *key);

/// The pointer that a binding stores with an interned key, or with the key path that an observer is called with; for
/// example its own form of the string. NULL if there is none. Any thread.
const void *KVO_NULLABLE kvo_key_cookie(const char *interned_key);
/// Stores a pointer with an interned key or a registration's key path, and returns the one that is stored: the first
/// wins. Any thread.
const void *kvo_key_set_cookie(const char *interned_key, const void *cookie);
/// Sets the function that is called with a cookie when its key path is freed. Key paths of several components live as
/// long as they are observed; interned keys are never freed. It may be called with locks held, so it must not call
/// the runtime.
void kvo_set_cookie_end(void (*end)(const void *cookie));

/// Sets a function that writes the source form of a key that is not a name, such as a key that the binding made for
/// one of its own key paths. It writes at most `capacity` bytes, including the NUL, and returns false if it can't. It
/// is used for the message of a program that is stopped, and is called on a thread of its own, which may end late.
void kvo_set_key_speller(bool (*KVO_NULLABLE spell)(const void *KVO_NULLABLE binding, char *buffer,
    size_t capacity));

/// Reports a programming error that does not stop the program, as the runtime reports its own. Any thread.
void kvo_report_misuse(const char *message);

/// Whether hints are wanted, by a handler or by the environment (`KVO_LOG=hints`, `KVO_HELP=1`). A hint is about code
/// that is not an error, but probably not what was meant.
bool kvo_wants_hints(void);
/// Passes a hint to the handler, or logs it. The binding must make sure that each hint is given only once.
void kvo_give_hint(const char *message);
/// Sets the handler that receives each hint. NULL: hints are logged if the environment asks for it. Any thread.
void kvo_set_hint_handler(void (*KVO_NULLABLE handler)(const char *message));

/// Reads along a key path up to the value that has its last key, for a binding that sets or validates in its own way.
/// The value is an object, a collection, a value with keys, or nil, and the caller must destroy it. `*last_key`
/// points into `key_path`. Statuses as `kvo_set_value_for_key_path`.
kvo_status kvo_value_with_last_key(kvo_object *object, const char *key_path, kvo_value *value,
    const char *KVO_NULLABLE *KVO_NONNULL last_key, kvo_error *KVO_NULLABLE error);

/// A mutex of the binding's that is safe across fork(): the forking thread takes it before the fork, with the
/// runtime's own locks, so that no child inherits one that is never released. The members belong to the runtime.
typedef struct kvo_binding_lock {
  pthread_mutex_t mutex;                                    ///< the runtime's own
  bool is_outer;                                            ///< see `kvo_binding_lock_init`
  struct kvo_binding_lock *KVO_NULLABLE next;               ///< the runtime's own
  struct kvo_binding_lock *KVO_NULLABLE *KVO_NULLABLE link; ///< the runtime's own
} kvo_binding_lock;

/// Initialises a lock, which a fork waits for. The lock must not move. An outer lock is initialised and destroyed
/// while no lock is held; another one also while an outer one is held.
/// - is_outer: an outer lock may be taken again by the thread that holds it. That thread may call the runtime, and
///   take locks that are not outer. Outer locks must not be nested. A thread that holds a lock that is not outer must
///   neither call the runtime nor take another lock.
void kvo_binding_lock_init(kvo_binding_lock *lock, bool is_outer);
/// Destroys a lock, which must be free. See `kvo_binding_lock_init`.
void kvo_binding_lock_destroy(kvo_binding_lock *lock);
/// Takes a lock, waiting until it is free. See `kvo_binding_lock_init`.
void kvo_binding_lock_acquire(kvo_binding_lock *lock);
/// Releases a lock that this thread holds. See `kvo_binding_lock_init`.
void kvo_binding_lock_release(kvo_binding_lock *lock);

/// The binding's errors on this thread: its functions store here what does not fit in a `kvo_error`.
extern __thread void *KVO_NULLABLE kvo_errors;
/// The binding's errors on this thread, for languages that can't name the variable `kvo_errors`.
KVO_INLINE void *KVO_NULLABLE kvo_current_errors(void) { return kvo_errors; }
/// Sets the binding's errors on this thread.
KVO_INLINE void kvo_set_errors(void *KVO_NULLABLE errors) { kvo_errors = errors; }

/// The value that the binding is forwarding from one property to another on this thread.
extern __thread void *KVO_NULLABLE kvo_forwarding;
/// The value that is being forwarded on this thread, for languages that can't name the variable `kvo_forwarding`.
KVO_INLINE void *KVO_NULLABLE kvo_current_forwarding(void) { return kvo_forwarding; }
/// Sets the value that is being forwarded on this thread.
KVO_INLINE void kvo_set_forwarding(void *KVO_NULLABLE flow) { kvo_forwarding = flow; }

/// An address that identifies this thread: no other running thread has the same one.
KVO_INLINE const void *kvo_binding_thread(void) { return &kvo_forwarding; }

/// Whether this thread's outermost change began before a stamp was taken. The change may be open, being delivered, or
/// collected by a batch. A binding finds out with this function whether two changes have the same outermost change:
/// they have if, when the later one is delivered, the outermost change began before the stamp of the earlier one. A
/// change that another thread began counts from the time when this thread took it over.
bool kvo_binding_began_before(uint64_t stamp);
/// Returns a number that is greater than all earlier ones. Any thread.
uint64_t kvo_binding_stamp(void);
/// Counts that this thread traverses a collection inside the current one. Returns false, with nothing counted, beyond a
/// depth of 100: then a collection equals only itself (B7).
bool kvo_nesting_enter(void);
/// Ends the traversal of a collection, also after an exception. `entered` is what `kvo_nesting_enter` returned.
void kvo_nesting_leave(bool entered);
/// The stamp of the change that this thread is delivering, of several nested ones the innermost. It is taken when an
/// observer of the change first asks for it, and all observers of the change get the same one. Returns a new stamp if
/// the thread is delivering no change. A change that another thread began belongs to the thread that delivers it.
uint64_t kvo_binding_delivery_stamp(void);
/// A change that calls an observer, before or after its setter. Two calls for one key are made by one change if they
/// have `thread` and `began` in common. Each key of a batch, and each manual pair, is a change of its own.
typedef struct kvo_calling_change {
  /// Identifies the thread that has begun the change, until the change has ended.
  const void *KVO_NULLABLE thread;
  /// The last stamp that had been taken when the change began; 0 if it began at an unknown time.
  uint64_t began;
  /// The stamp since which the delivering thread has had the change: `began`, or a later one if that thread has taken
  /// the change over from another. All changes that the thread makes in the observers' calls begin after it.
  uint64_t taken;
} kvo_calling_change;
/// The change for which this thread calls an observer, the innermost of several. Call it first in the observer.
/// - is_prior: whether it is a call before the change.
kvo_calling_change kvo_binding_calling_change(bool is_prior);
/// Whether an observer has made the change that this thread is delivering, in the delivery of another change, and both
/// changes began after a stamp was taken.
bool kvo_binding_is_made_by_observer(uint64_t stamp);
/// Whether a change is open on this thread, or delivered by it.
bool kvo_binding_is_within(kvo_calling_change change);
/// Whether this thread has an open batch. Its changes of the batch's object are delivered when the batch ends.
bool kvo_binding_is_collecting(void);

/// The binding's recorder of reads on this thread, or NULL if none is recording. Only read it; `kvo_set_recorder`
/// sets it.
extern __thread void *KVO_NULLABLE kvo_recorder __attribute__((tls_model("initial-exec")));
/// Points to a word that is NULL while reads on this thread are neither recorded nor tracked: to `kvo_recorder` while a
/// recorder is set, otherwise to `kvo_idle_recording_word()`. Weak: a library that tracks reads, such as KVOObservation,
/// defines it with another value at the start of each thread.
extern __thread void *KVO_NULLABLE const *KVO_NONNULL kvo_recording_word
    __attribute__((tls_model("initial-exec")));
/// The word of this thread while no recorder is set: a constant NULL, or the word of a library that tracks reads. Weak:
/// that library defines this function too.
void *KVO_NULLABLE const *KVO_NONNULL kvo_idle_recording_word(void);
/// Whether a library such as KVOObservation tracks reads of an object on this thread, by its function
/// `kvo_observation_tracks`. Called while no recorder is set. False without such a library. Any thread.
bool kvo_tracks_reads(kvo_object *object);
/// Announces to that library that a key of a tracked object is about to be read: calls `kvo_observation_read`. Any
/// thread.
void kvo_notify_tracker(kvo_object *object, const char *interned_key);

/// Sets the function that receives reads by key while a recorder is set. It is called for reads by key-value coding,
/// of objects of C and of the binding, which do not go through getters that would record them. One binding per
/// process may set it.
void kvo_set_read_listener(void (*KVO_NULLABLE listener)(void *recorder, kvo_object *object,
    const char *interned_key));

/// The recorder of reads on this thread, for languages that can't name the variable `kvo_recorder`. NULL if none is
/// recording.
KVO_INLINE void *KVO_NULLABLE kvo_current_recorder(void) { return kvo_recorder; }
/// Sets the binding's recorder of reads on this thread. NULL: none is recording.
void kvo_set_recorder(void *KVO_NULLABLE recorder);

/// For the binding's recorder: the tracked key that alone receives the reads of this thread, which `kvo_reads_follow`
/// may be called with. NULL if the reads go elsewhere.
extern __thread kvo_reads *KVO_NULLABLE kvo_tracked_reads
    __attribute__((tls_model("initial-exec")));
/// The tracked key that receives this thread's reads, for languages that can't name the variable `kvo_tracked_reads`.
KVO_INLINE kvo_reads *KVO_NULLABLE kvo_current_tracked_reads(void) { return kvo_tracked_reads; }
/// Sets the tracked key that alone receives this thread's reads; NULL if they go elsewhere.
KVO_INLINE void kvo_set_tracked_reads(kvo_reads *KVO_NULLABLE sink) { kvo_tracked_reads = sink; }

/// Whether reads on this thread are recorded or may be tracked. `pure`, so that a loop may test it once.
__attribute__((pure)) KVO_INLINE bool kvo_is_recording(void) { return *kvo_recording_word != NULL; }

/// Writes the name that a binding gives a callback with that context, for dumps and logs. Returns the length as
/// snprintf does, or 0 if the callback is not the binding's. Called with no lock held, while the registration is held.
/// Any thread.
typedef size_t kvo_callback_namer(kvo_callback callback, const void *KVO_NULLABLE context,
    char *buffer, size_t capacity);
/// Sets the function that names callbacks. One binding per process may set it.
void kvo_set_callback_namer(kvo_callback_namer *KVO_NULLABLE namer);

/// How different two names are, to suggest one in place of the other: the number of faults, ignoring ASCII case. A
/// fault is a swapped pair of bytes, or a missing, extra or wrong one. `UINT32_MAX` if `other` should not be suggested:
/// it is the same name, or has more than one fault, or more than two from six bytes on, or any in a name of less than
/// three. O(length²). Any thread.
uint32_t kvo_name_distance(const char *name, const char *other);

/// Whether code of the program or of a library is at an address. Any thread.
bool kvo_is_code(const void *address);
/// Calls `visit` for each symbol in the file of the program or library that contains an address: its mangled name and
/// its address. There are none if the file is stripped or can't be read, and on systems other than Linux. The file is
/// read at each call, so use it for messages and for work that is done once. Any thread; no lock is held during the
/// calls.
void kvo_visit_symbols(const void *address,
    void (*visit)(void *KVO_NULLABLE context, const char *name, const void *address),
    void *KVO_NULLABLE context);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
