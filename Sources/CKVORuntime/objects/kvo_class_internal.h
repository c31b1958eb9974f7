/// Inside classes and methods. class.c and method.c write these structures; any file may read
/// them.
#ifndef KVO_CLASS_INTERNAL_H
#define KVO_CLASS_INTERNAL_H

#include "base/kvo_key_set.h"
#include "base/kvo_map.h"
#include "kvo_binding.h"
#include "kvo_property.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_call kvo_call; // types/kvo_call.h

/// Two keys may share a setter: `name` and `Name` share `setName:`.
enum { KVO_KEYS_PER_METHOD = 2 };
/// Among the bits of the keys that were observed: the method sets no property as a whole.
enum { KVO_CHANGES_PART = 1 << KVO_KEYS_PER_METHOD };

/// One handle per selector and hierarchy: an override keeps the handle that it overrides. Where a superclass got the method
/// later, the older handles of its subclasses are its `twins`: they have its slot, and the same keys are observed.
struct kvo_method {
  uint32_t slot; ///< first, by the contract of kvo_method_lookup; atomic
  uint8_t key_count;
  uint8_t observed; ///< bit i: keys[i] has been observed in some class that has the method; a bit
                    ///< KVO_CHANGES_PART besides; atomic
  uint8_t accessor_kind; ///< enum kvo_accessor_kind: what the method does to its keys
  const char
      *KVO_NULLABLE keys[KVO_KEYS_PER_METHOD]; ///< interned keys that this method changes, by name
  const char *KVO_NULLABLE first_observed;     ///< which of them was, before any other; atomic
  const char *selector;                        ///< interned
  const kvo_call *KVO_NULLABLE call;           ///< NULL for hooks
  struct kvo_method *KVO_NULLABLE twins;       ///< linked by this; class lock
};

typedef struct kvo_ivar {
  ptrdiff_t offset;
  const kvo_type *type;
} kvo_ivar;

/// A binding's key. One that takes an earlier one's place keeps it reachable: it may be in use.
typedef struct kvo_property {
  kvo_property_description description; ///< first: what accessors refer to
  const struct kvo_property *KVO_NULLABLE replaced;
} kvo_property;

enum { KVO_RECENT_KEYS = 16 };

/// Instances are aligned so without being asked: malloc's memory is, and what precedes them has that size.
enum { KVO_INSTANCE_ALIGNMENT = 16 };

struct kvo_class {
  kvo_imp KVO_NONNULL *KVO_NONNULL
      table; ///< first, by the contract of kvo_method_lookup; atomically replaced when it grows
  uint32_t
      slot_count; ///< slots in use; the others, and those of relatives alone, hold a trap, or from
                  ///< KVO_CHECKED_SLOTS on maybe a method of a class that shares the table
  uint32_t capacity;
  uint32_t generation; ///< counts changes of this class or its superclasses, for caches
  bool is_dynamic;
  bool is_bound;      ///< a language binding's: instances made elsewhere, isa NULL when unobserved
  bool is_registered; ///< atomic
  bool is_collection; ///< `kvo_collection_class()`, or below it
  uint8_t
      announces; ///< enum kvo_announced_kinds: what objects announce by methods of the binding's
  uint32_t instance_alignment; ///< KVO_INSTANCE_ALIGNMENT at least
  const kvo_class *plain;      ///< this class; of a dynamic one its superclass
  const kvo_class *KVO_NULLABLE superclass;
  kvo_class *KVO_NULLABLE subclasses; ///< the newest; linked by `sibling`; dynamic ones too
  kvo_class *KVO_NULLABLE sibling;
  kvo_class *KVO_NULLABLE dynamic; ///< this class's KVONotifying_ subclass, atomically published
  const char *name;
  const void *KVO_NULLABLE definer; ///< of one that macros define: where it is kept when it is made
  size_t parts;                     ///< how many parts of that definition it has got so far
  size_t instance_size;
  const kvo_class_operations *operations;
  uint8_t operations_number; ///< their place among `kvo_operations`
  kvo_map methods;           ///< selector -> kvo_method *: this class's own and its overrides
  kvo_map class_methods;     ///< selector -> kvo_imp
  kvo_map ivars;             ///< name -> kvo_ivar *
  kvo_map properties;        ///< key -> kvo_property *: a binding's
  kvo_key_set accessors;     ///< kvo_accessors, by key: cache, see accessor_search.c
  /// Some of those that are ready, by where in memory their name was when they were asked for; atomic.
  const struct kvo_accessors *KVO_NULLABLE recent[KVO_RECENT_KEYS];
  kvo_map dependencies; ///< key -> what dependencies.c keeps: declared key paths
};

/// Fails with the statuses of `kvo_class_create`; the class lock must not be held.
kvo_class *KVO_NULLABLE kvo_class_make(const char *name, const kvo_class *KVO_NULLABLE superclass,
    size_t instance_size, kvo_error *KVO_NULLABLE error);
/// The class of that name if this definer has not finished it: memory was out. Define lock held.
kvo_class *KVO_NULLABLE kvo_class_unfinished(const char *name, const void *definer);
/// As `kvo_class_define`; NULL if memory is out.
const kvo_class *KVO_NULLABLE kvo_class_try_define(const kvo_class *KVO_NULLABLE *KVO_NONNULL once,
    const kvo_class_definition *definition);
/// A class with the superclass's table or a copy of it, linked into its subclasses. NULL if memory
/// is out.
kvo_class *KVO_NULLABLE kvo_class_derive_locked(const char *name,
    const kvo_class *KVO_NULLABLE superclass, bool has_own_table);

/// Gives a new class its table: the superclass's, or a copy of its own. False if memory is out.
bool kvo_class_begin_table_locked(kvo_class *cls, const kvo_class *KVO_NULLABLE superclass,
    bool has_own);
/// Parts the class's table from its superclass's, before one of its slots is pointed somewhere else.
/// False if memory is out.
bool kvo_class_own_table_locked(kvo_class *cls);
/// Makes room for one more slot, the last of `needed`, in the class and its descendants. False if
/// memory is out.
bool kvo_class_reserve_slots_locked(kvo_class *cls, uint32_t needed);
/// The first slot that is free in the class and in all of its descendants.
uint32_t kvo_class_slot_limit_locked(const kvo_class *cls);
/// Fills a slot for which there is room in the class and its descendants.
void kvo_class_fill_slots_locked(kvo_class *cls, uint32_t slot, kvo_imp imp);
/// What slots hold that are no method's of the class: stops the program.
void kvo_class_without_method(void);
/// So many slots from the first on hold nothing but methods of the class and that: what fills one of them
/// needs a table that is not the superclass's.
enum { KVO_CHECKED_SLOTS = 64 };
/// Points one slot of a class somewhere else, and of those that share its table, which is not its
/// superclass's.
void kvo_class_set_slot_locked(kvo_class *cls, uint32_t slot, kvo_imp imp);
/// Tells caches of the class and its descendants that something changed.
void kvo_class_touch_locked(kvo_class *cls);
/// How often any class has changed; atomic.
extern uint64_t kvo_class_epoch;
KVO_INLINE uint64_t kvo_classes_now(void) {
  return __atomic_load_n(&kvo_class_epoch, __ATOMIC_ACQUIRE);
}

/// Where the field lies that a getter made by the macros gives; negative for any other getter. O(1), no
/// lock. property.c's.
ptrdiff_t kvo_field_of_getter(kvo_imp getter);

const kvo_method *KVO_NULLABLE kvo_class_find_method(const kvo_class *cls,
    const char *interned_selector);
/// As `kvo_class_add_method`, but keeps no library: for functions of the runtime's own.
kvo_status kvo_class_add_own_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_signature signature, const kvo_method *KVO_NULLABLE *KVO_NULLABLE method,
    kvo_error *KVO_NULLABLE error);
/// Adds a class method. Statuses as `kvo_class_add_class_method`, which is to be called: it has observed keys
/// looked at again where the method tells what they depend on.
kvo_status kvo_class_method_add(kvo_class *cls, const char *selector, kvo_imp imp,
    const char *KVO_NULLABLE *KVO_NONNULL interned, kvo_error *KVO_NULLABLE error);
kvo_imp KVO_NULLABLE kvo_class_find_class_method(const kvo_class *cls,
    const char *KVO_NULLABLE interned_selector);

/// An object's table has been swapped, or an interposer put in a method's place: `concerned` is the object, or
/// the method. To be called after the swap, and before anything is read for the registration.
void kvo_note_first_observation(const void *concerned);

/// Whether a first observation since the one of that number may have concerned an object, or a method.
bool kvo_first_observation_may_concern(const void *concerned, uint64_t begun);

/// How objects of C live, instance.c.
extern const kvo_class_operations kvo_root_operations;
/// Whether `destroyProperties` of a dying object runs on this thread: then what it lets go of goes in turn.
bool kvo_releases_take_turns(void);
/// In there: lets go of the object in a slot, if any, which becomes NULL. False, with nothing done, if it has to wait until
/// what was let go of before has died: then `destroyProperties` is called again.
bool kvo_release_in_turn(kvo_object *KVO_NULLABLE *KVO_NONNULL slot);
/// In there: ends a value, which may run code of the program's. What that lets go of does not go in turn.
void kvo_value_destroy_in_turn(kvo_value *value);
/// Those of all roots, by number, so that what knows an object can keep a byte of it.
extern const kvo_class_operations *KVO_NULLABLE kvo_operations[256];
/// Sets a root's operations. False: there are too many.
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

/// Whether a class of C has a hook of its own that may answer keys for which it has nothing else.
bool kvo_class_may_answer_any_key(const kvo_class *cls);

/// The plain class of an isa: a dynamic subclass's superclass.
KVO_INLINE const kvo_class *kvo_plain_class(const kvo_class *isa) { return isa->plain; }

KVO_INLINE bool kvo_class_is_registered(const kvo_class *cls) {
  return __atomic_load_n(&cls->is_registered, __ATOMIC_ACQUIRE);
}

/// Holds the object, to be released, unless it is dying: for code that goes on with it after observers
/// were called, one of which may drop it (D7).
KVO_INLINE bool kvo_object_hold(kvo_object *object) {
  return kvo_class_of(object)->operations->try_retain(object);
}

/// The method's slot. To be read before the table: see `kvo_method_lookup`.
KVO_INLINE uint32_t kvo_slot_of(const kvo_method *method) {
  return __atomic_load_n(&method->slot, __ATOMIC_ACQUIRE);
}
/// An implementation by slot, from the class's table as it is now.
KVO_INLINE kvo_imp kvo_class_slot(const kvo_class *cls, uint32_t slot) {
  kvo_imp *table = __atomic_load_n(&cls->table, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&table[slot], __ATOMIC_RELAXED);
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
