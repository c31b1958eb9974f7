/// Classes: methods, instance variables, and the flat dispatch table that a call goes through.
#ifndef KVO_CLASS_H
#define KVO_CLASS_H

#include "kvo_object.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Any method, cast to one function type. A method really is
/// `R f(kvo_object *self, const kvo_method *_cmd, args…)`.
typedef void (*kvo_imp)(void);

/// A method's handle: selector, slot, encoding. Lives for ever. Each method is passed its own as its second argument,
/// which is called `_cmd` as in Objective-C: by it an override finds the superclass's implementation
/// (`kvo_class_imp`), and one function that stands for several selectors the one that was called
/// (`kvo_method_selector`). Most methods have no use for it.
typedef struct kvo_method kvo_method;

/// A C type as the runtime needs to know it: its Objective-C style encoding, and what the
/// compiler says of its layout, so that an encoding that does not fit is refused when the class
/// is made. `size` 0 leaves the comparison out.
typedef struct kvo_layout {
  const char *encoding; ///< such as "d", or "{point=dd}"
  size_t size;          ///< `sizeof` the type; 0: not compared
  size_t alignment;     ///< `_Alignof` the type
} kvo_layout;

/// What `KVO_TYPE` can't find out: a struct, with its encoding, say
/// `KVO_STRUCT(struct point, "{point=dd}")`.
#define KVO_STRUCT(type, encoding_string) {(encoding_string), sizeof(type), KVO_ALIGNOF(type)}

/// What a signature's layout speaks of.
typedef enum KVO_CLOSED_ENUM kvo_signature_form {
  KVO_FORM_GETTER, ///< A getter, `T f(self, _cmd)`: `KVO_GETTER(T)`.
  KVO_FORM_SETTER, ///< A setter, `void f(self, _cmd, T)`: `KVO_SETTER(T)`.
  KVO_FORM_ENCODED, ///< Any other method: `encoding` is all of it, such as "i@:d": result, self, _cmd, arguments.
  KVO_FORM_HOOK, ///< One of the runtime's own hooks, called with the C type documented there: `KVO_HOOK`.
} kvo_signature_form;

/// How a method is called. Written by `KVO_GETTER`, `KVO_SETTER`, `KVO_ENCODED` or `KVO_HOOK`.
typedef struct kvo_signature {
  kvo_signature_form form; ///< what `layout` speaks of
  kvo_layout layout;       ///< the property's type, or the whole encoding
} kvo_signature;

/// Begins a class. It must be registered before it has instances.
/// - name: one that no other class has. It is copied.
/// - superclass: NULL for `kvo_root_class()`. Must be registered.
/// - instance_size: `sizeof` the instance's struct, whose first member is the superclass's struct.
/// - error: filled in where NULL is returned. May be NULL.
///
/// Returns NULL with KVO_DUPLICATE, KVO_INVALID_ARGUMENT or KVO_NO_MEMORY. Classes live for ever.
kvo_class *KVO_NULLABLE kvo_class_create(const char *name, const kvo_class *KVO_NULLABLE superclass,
    size_t instance_size, kvo_error *KVO_NULLABLE error);

/// Adds a method, or overrides an inherited one (the encodings must then agree). Also allowed on
/// a class that is registered, has subclasses, and whose objects are observed.
/// - cls: the class, which is not const: what `kvo_class_create` has given, or what a `setup` is called with.
/// - selector: the method's name, with a colon for each argument: "balance", "setBalance:". It is copied.
/// - imp: the function, cast to `kvo_imp`.
/// - signature: how it is called: `KVO_GETTER(T)`, `KVO_SETTER(T)`, `KVO_ENCODED("…")`, or `KVO_HOOK` for a method that
///   the runtime itself calls.
/// - method: where the method's handle goes, for callers that call it by `kvo_method_lookup`. NULL: it is not wanted,
///   as for hooks, and for methods that are only called by key-value coding.
/// - error: filled in if it fails. May be NULL.
///
/// A subclass that has it already overrides it, as one that gets it later does. A library that has the function stays in memory
/// when it is closed; the dynamic linker is asked for that at once, or when the `setup` is over that this is called in.
///
/// KVO_DUPLICATE if this very class has it already (`kvo_class_replace_method` replaces),
/// KVO_INVALID_ENCODING, also if a superclass or a subclass has it with another encoding, KVO_LAYOUT_MISMATCH, KVO_NO_MEMORY, KVO_INVALID_ARGUMENT for a selector
/// of more than 511 bytes. Any thread.
kvo_status kvo_class_add_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_signature signature, const kvo_method *KVO_NULLABLE *KVO_NULLABLE method,
    kvo_error *KVO_NULLABLE error);

/// Replaces what the class does for a selector that it has or inherits. Takes effect at the
/// next call, also for objects that are observed.
/// - imp: the new function, of the same type as the old one.
/// - previous: where the implementation used until now goes, so that the new one may call it. NULL: not wanted.
///
/// KVO_UNDEFINED_KEY if there is no such method. Any thread.
kvo_status kvo_class_replace_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_imp KVO_NULLABLE *KVO_NULLABLE previous, kvo_error *KVO_NULLABLE error);

/// Adds a method of the class itself, found by selector through the superclasses: the hooks
/// named in kvo_coding.h and kvo_observing.h, which say of what C type each is. A subclass that adds one overrides its
/// superclass's.
/// - imp: the function, cast to `kvo_imp`. It is handed the class that is asked, a subclass perhaps, and no `_cmd`.
///
/// Statuses as `kvo_class_add_method`.
kvo_status kvo_class_add_class_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_error *KVO_NULLABLE error);

/// Declares an instance variable, for key-value coding. What that stores in one without a setter is
/// the ivar's: a string made by malloc, an object retained; the class's `dealloc` gives it back.
/// - name: of the ivar: the key, or one of the names by which the key's search finds it (kvo_coding.h).
/// - offset: where it lies in the instance: `offsetof(account, balance)`.
/// - layout: its type: `(kvo_layout)KVO_TYPE(double)`, or `KVO_STRUCT` of a struct.
///
/// Statuses as `kvo_class_add_method`, and
/// KVO_INVALID_ARGUMENT if it lies outside the instance.
kvo_status kvo_class_add_ivar(kvo_class *cls, const char *name, size_t offset, kvo_layout layout,
    kvo_error *KVO_NULLABLE error);

/// Has instances aligned as their struct is, for one that asks for more than malloc gives, by `_Alignas` or with vectors.
/// Subclasses inherit it. The macros of kvo_property.h do that themselves.
/// - alignment: `_Alignof` the instance's struct.
///
/// KVO_INVALID_ARGUMENT if it is no power of two, or the class is registered already.
kvo_status kvo_class_set_alignment(kvo_class *cls, size_t alignment, kvo_error *KVO_NULLABLE error);

/// Ends the making of the class: it can have instances and subclasses now. Methods may still be added.
/// KVO_DUPLICATE if it is registered already. Any thread.
kvo_status kvo_class_register(kvo_class *cls, kvo_error *KVO_NULLABLE error);

/// The class of that name, or NULL. Any thread.
const kvo_class *KVO_NULLABLE kvo_class_named(const char *name);
/// The class's name. Lives for ever. Any thread.
const char *kvo_class_name(const kvo_class *cls);
/// The class's superclass; NULL for a root. Any thread.
const kvo_class *KVO_NULLABLE kvo_class_superclass(const kvo_class *cls);
/// Whether the class is `ancestor`, or below it. O(depth). Any thread.
bool kvo_class_is_subclass_of(const kvo_class *cls, const kvo_class *ancestor);

/// The handle under which the class answers a selector, its own or inherited; NULL if it doesn't.
const kvo_method *KVO_NULLABLE kvo_class_method(const kvo_class *cls, const char *selector);
/// What the class does for a method: for calling the superclass's implementation, say `((void
/// (*)(kvo_object *, const kvo_method *, double))kvo_class_imp(base, _cmd))(self, _cmd, v)`.
kvo_imp kvo_class_imp(const kvo_class *cls, const kvo_method *method);

/// The method's selector, such as "setBalance:". Lives for ever.
const char *kvo_method_selector(const kvo_method *method);
/// The index in the dispatch table. Owned by the runtime, the same down a hierarchy.
uint32_t kvo_method_slot(const kvo_method *method);

/// The function that a call reaches now. The first word of a class points at its dispatch table,
/// the first 32 bits of a method are its slot: three loads. The object must have an isa (objects
/// of C classes always do). The handle must be one of its class or of a superclass. One of another class
/// stops the program with a message where the object's class has nothing in that slot and it is one of
/// the first 64; else another method may run, a sibling's slots being the same. Any thread.
KVO_INLINE kvo_imp kvo_method_lookup(const kvo_object *self, const kvo_method *method) {
  kvo_imp KVO_NONNULL *KVO_NONNULL const *isa =
      (kvo_imp KVO_NONNULL *KVO_NONNULL const *)(const void *)kvo_isa(self);
  // Before the table: another thread may give a superclass the method, which publishes a table that has the new slot, then the
  // slot.
  uint32_t slot = __atomic_load_n((const uint32_t *)(const void *)method, __ATOMIC_ACQUIRE);
  kvo_imp *table = __atomic_load_n(isa, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&table[slot], __ATOMIC_RELAXED);
}

/// How often an object or a method was observed for the first time. Atomic; only compared.
extern uint64_t kvo_first_observations;
/// What `kvo_setter_returned` does if that has happened while the setter ran; parameters as there.
void kvo_setter_ran_bare(kvo_object *self, const kvo_method *method, kvo_imp imp, uint64_t begun);

/// For callers that change a property by `kvo_method_lookup`, as the functions do that the
/// macros make: to be asked before the look-up, and given to `kvo_setter_returned` after the call. A
/// setter that begins while nobody observes the property is not interposed, and what it stores would
/// be told to no observer that another thread registers before it returns. One load. Any thread.
KVO_INLINE uint64_t kvo_setter_begins(void) {
  return __atomic_load_n(&kvo_first_observations, __ATOMIC_ACQUIRE);
}
/// After the call: tells observers that came too late to be told by it, of a setting. Mostly one load;
/// else it may call observers. The object may have died in the setter.
/// - imp: what `kvo_method_lookup` gave and was called.
/// - begun: what `kvo_setter_begins` gave before.
KVO_INLINE void kvo_setter_returned(kvo_object *self, const kvo_method *method, kvo_imp imp,
    uint64_t begun) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(__atomic_load_n(&kvo_first_observations, __ATOMIC_RELAXED) != begun))
    kvo_setter_ran_bare(self, method, imp, begun);
}

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
