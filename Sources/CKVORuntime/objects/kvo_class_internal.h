/// The structures of classes and methods. class.c and method.c write them; any file may read them.
#ifndef KVO_CLASS_INTERNAL_H
#define KVO_CLASS_INTERNAL_H

#include "base/kvo_map.h"
#include "kvo_binding.h"
#include "kvo_property.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_call kvo_call; // types/kvo_call.h

/// Two keys may share a setter: `name` and `Name` share `setName:`.
enum { KVO_KEYS_PER_METHOD = 2 };
/// A further bit of `observed`: the method changes only a part of its property.
enum { KVO_CHANGES_PART = 1 << KVO_KEYS_PER_METHOD };

/// One handle per selector and hierarchy: an override uses the handle of the method that it overrides. If a
/// superclass gets the method later, the older handles of its subclasses become its `twins`, with the same slot and
/// the same observed keys.
struct kvo_method {
  uint32_t slot; ///< must be first, see kvo_method_lookup; atomic
  uint8_t key_count;
  uint8_t observed; ///< bit i: keys[i] has been observed in some class that has the method; also
                    ///< the bit KVO_CHANGES_PART; atomic
  uint8_t accessor_kind; ///< enum kvo_accessor_kind: how the method changes its keys
  const char
      *KVO_NULLABLE keys[KVO_KEYS_PER_METHOD]; ///< interned keys that this method changes, by name
  const char *KVO_NULLABLE first_observed;     ///< the key that was observed first; atomic
  const char *selector;                        ///< interned
  const kvo_call *KVO_NULLABLE call;           ///< NULL for hooks
  struct kvo_method *KVO_NULLABLE twins;       ///< a list linked by this field; class lock
};

typedef struct kvo_ivar {
  ptrdiff_t offset;
  const kvo_type *type;
} kvo_ivar;

/// A binding's key. A later description keeps the one it replaces, which may be in use.
typedef struct kvo_property {
  kvo_property_description description; ///< must be first: accessors point at it
  const struct kvo_property *KVO_NULLABLE replaced;
} kvo_property;

enum { KVO_RECENT_KEYS = 16 };

/// The default alignment of instances: malloc's, and the header before an instance has that size.
enum { KVO_INSTANCE_ALIGNMENT = 16 };

struct kvo_class {
  kvo_imp KVO_NONNULL
  *KVO_NONNULL table;   ///< must be first, see kvo_method_lookup; replaced atomically when it grows
  size_t instance_size; ///< must be second, see kvo_isa_marks
  uint32_t slot_count;  ///< slots in use; the others contain a trap or, from KVO_CHECKED_SLOTS on,
                        ///< perhaps a method of a class that shares the table
  uint32_t capacity;
  uint32_t generation; ///< the number of changes of this class and its superclasses, for caches
  bool is_dynamic;
  bool
      is_bound; ///< a language binding's: instances are made elsewhere, isa is NULL while unobserved
  bool is_registered; ///< atomic
  bool is_collection; ///< `kvo_collection_class()` or a subclass of it
  uint8_t
      announces; ///< enum kvo_announced_kinds: the changes that the binding's own methods announce
  uint32_t instance_alignment; ///< at least KVO_INSTANCE_ALIGNMENT
  const kvo_class *plain;      ///< this class; for a dynamic class its superclass
  const kvo_class *KVO_NULLABLE superclass;
  kvo_class *KVO_NULLABLE subclasses; ///< the newest; linked by `sibling`; includes dynamic classes
  kvo_class *KVO_NULLABLE sibling;
  kvo_class *KVO_NULLABLE dynamic; ///< this class's KVONotifying_ subclass, atomically published
  const char *name;
  const void *KVO_NULLABLE
      definer;  ///< of a class that macros define: the address where it is stored when it is made
  size_t parts; ///< the number of parts of that definition that were added so far
  const kvo_class_operations *operations;
  uint8_t operations_number; ///< their index in `kvo_operations`
  kvo_map methods;           ///< selector -> kvo_method *: this class's own and its overrides
  kvo_map class_methods;     ///< selector -> kvo_imp
  kvo_map ivars;             ///< name -> kvo_ivar *
  kvo_map properties;        ///< key -> kvo_property *: a binding's
  kvo_key_set accessors;     ///< kvo_accessors, by key: cache, see accessor_search.c
  /// Some of the accessors that are ready, by the address of the key's name at the last look-up; atomic.
  const struct kvo_accessors *KVO_NULLABLE recent[KVO_RECENT_KEYS];
  kvo_map dependencies; ///< key -> declared key paths (dependencies.c)
};

/// Makes a class. Fails with the statuses of `kvo_class_create`. The class lock must not be held.
kvo_class *KVO_NULLABLE kvo_class_make(const char *name, const kvo_class *KVO_NULLABLE superclass,
    size_t instance_size, kvo_error *KVO_NULLABLE error);
/// The class with that name, if this definer has begun it but not finished it for lack of memory. Define lock held.
kvo_class *KVO_NULLABLE kvo_class_unfinished(const char *name, const void *definer);
/// Makes the class of a definition, as `kvo_class_define` does, but returns NULL if out of memory.
const kvo_class *KVO_NULLABLE kvo_class_try_define(const kvo_class *KVO_NULLABLE *KVO_NONNULL once,
    const kvo_class_definition *definition);
/// Makes a class with the superclass's table or a copy of it, and adds it to the subclasses. NULL if out of memory.
kvo_class *KVO_NULLABLE kvo_class_derive_locked(const char *name,
    const kvo_class *KVO_NULLABLE superclass, bool has_own_table);

/// Gives a new class its table: the superclass's, or its own copy of that. False if out of memory.
bool kvo_class_begin_table_locked(kvo_class *cls, const kvo_class *KVO_NULLABLE superclass,
    bool has_own);
/// Gives the class a table separate from its superclass's, before one of its slots is changed. False if out of
/// memory.
bool kvo_class_own_table_locked(kvo_class *cls);
/// Makes room for one more slot, the last of `needed`, in the class and its descendants. False if out of memory.
bool kvo_class_reserve_slots_locked(kvo_class *cls, uint32_t needed);
/// The first slot that is free in the class and in all of its descendants.
uint32_t kvo_class_slot_limit_locked(const kvo_class *cls);
/// Fills a slot for which there is room in the class and its descendants.
void kvo_class_fill_slots_locked(kvo_class *cls, uint32_t slot, kvo_imp imp);
/// Fills the slots that belong to no method of the class: stops the program.
void kvo_class_without_method(void);
/// The number of slots, from the first on, that contain only methods of the class or that trap. A class that fills
/// one of them needs a table separate from its superclass's.
enum { KVO_CHECKED_SLOTS = 64 };
/// Changes a slot of a class, and of the classes that share its table. The table must not be its superclass's.
void kvo_class_set_slot_locked(kvo_class *cls, uint32_t slot, kvo_imp imp);
/// Invalidates the caches of the class and its descendants.
void kvo_class_touch_locked(kvo_class *cls);
/// The number of changes of any class; atomic.
extern uint64_t kvo_class_epoch;
KVO_INLINE uint64_t kvo_classes_now(void) {
  return __atomic_load_n(&kvo_class_epoch, __ATOMIC_ACQUIRE);
}

/// The offset of the field that a macro-made getter returns; negative for any other getter. O(1), no lock. In
/// property.c.
ptrdiff_t kvo_field_of_getter(kvo_imp getter);

const kvo_method *KVO_NULLABLE kvo_class_find_method(const kvo_class *cls,
    const char *interned_selector);
/// Adds a method as `kvo_class_add_method` does, but keeps no shared library loaded: for functions of the runtime.
kvo_status kvo_class_add_own_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_signature signature, const kvo_method *KVO_NULLABLE *KVO_NULLABLE method,
    kvo_error *KVO_NULLABLE error);
/// Adds a class method. Statuses as `kvo_class_add_class_method`. Call that one instead: it also updates observed
/// keys if the method answers what they depend on.
kvo_status kvo_class_method_add(kvo_class *cls, const char *selector, kvo_imp imp,
    const char *KVO_NULLABLE *KVO_NONNULL interned, kvo_error *KVO_NULLABLE error);
kvo_imp KVO_NULLABLE kvo_class_find_class_method(const kvo_class *cls,
    const char *KVO_NULLABLE interned_selector);

/// Records that an object's table was swapped, or that a method was interposed; `concerned` is the object or the
/// method. Call it after the swap, and before anything is read for the registration.
void kvo_note_first_observation(const void *concerned);

/// Whether a first observation after the one with that number may have concerned an object or a method.
bool kvo_first_observation_may_concern(const void *concerned, uint64_t begun);

/// The operations of C objects (instance.c).
extern const kvo_class_operations kvo_root_operations;
/// Whether this thread is in `destroyProperties` of an object that is being destroyed. If so, the objects that it
/// releases are destroyed one after the other, not nested.
bool kvo_releases_take_turns(void);
/// In `destroyProperties`: releases the object in a slot, if any, and sets the slot to NULL. Returns false, with
/// nothing done, if an object released before must be destroyed first. Then `destroyProperties` is called again.
bool kvo_release_in_turn(kvo_object *KVO_NULLABLE *KVO_NONNULL slot);
/// In `destroyProperties`: destroys a value, which may run the program's code. Objects that this code releases are
/// destroyed at once.
void kvo_value_destroy_in_turn(kvo_value *value);
/// The operations of all roots, by number, so that a registration can store them in a byte.
extern const kvo_class_operations *KVO_NULLABLE kvo_operations[256];
/// Sets a root's operations. False if there are too many.
bool kvo_class_set_operations(kvo_class *root, const kvo_class_operations *operations);

/// The selectors of hooks, interned once; root.c.
typedef struct kvo_hook_names {
  const char *set_nil_value;
  const char *value_for_undefined;
  const char *set_value_for_undefined;
  const char *value_for_key;
  const char *set_value_for_key;
  const char *validate_value;
  const char *dealloc;
  const char *destroy_properties;
  const char *observe;
  const char *access_ivars;
  const char *automatically_notifies;
  const char *key_paths_affecting;
} kvo_hook_names;
const kvo_hook_names *kvo_hooks(void);

/// Whether a class of C has its own hook that may answer otherwise undefined keys.
bool kvo_class_may_answer_any_key(const kvo_class *cls);

/// The plain class of an isa: for a dynamic subclass, its superclass.
KVO_INLINE const kvo_class *kvo_plain_class(const kvo_class *isa) { return isa->plain; }

KVO_INLINE bool kvo_class_is_registered(const kvo_class *cls) {
  return __atomic_load_n(&cls->is_registered, __ATOMIC_ACQUIRE);
}

/// Retains the object, unless it is being destroyed; returns whether it did. For code that continues with the object
/// after observers were called, which may release it (D7).
KVO_INLINE bool kvo_object_retain_memory(kvo_object *object) {
  return kvo_class_of(object)->operations->try_retain(object);
}

/// The method's slot. Read it before the table: see `kvo_method_lookup`.
KVO_INLINE uint32_t kvo_slot_of(const kvo_method *method) {
  return __atomic_load_n(&method->slot, __ATOMIC_ACQUIRE);
}
/// The implementation in a slot of the class's current table.
KVO_INLINE kvo_imp kvo_class_slot(const kvo_class *cls, uint32_t slot) {
  kvo_imp *table = __atomic_load_n(&cls->table, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&table[slot], __ATOMIC_RELAXED);
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
