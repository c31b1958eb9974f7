/// Classes: methods, instance variables, and the flat dispatch table that a call goes through.
#ifndef KVO_CLASS_H
#define KVO_CLASS_H

#include "kvo_object.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A pointer to any method's function, cast to this one type. The function's real type is `R f(kvo_object *self,
/// const kvo_method *_cmd, args…)`.
typedef void (*kvo_imp)(void);

/// A method's handle: its selector, dispatch slot and encoding. It is never freed. Each method receives its own
/// handle as the second argument, called `_cmd` as in Objective-C. An override uses it to find the superclass's
/// implementation (`kvo_class_imp`). A function that implements several selectors uses it to find out which was
/// called (`kvo_method_selector`). Most methods ignore it.
typedef struct kvo_method kvo_method;

/// A C type, described by its Objective-C style encoding and the compiler's size and alignment. The runtime compares
/// these when the class is made, and refuses an encoding that does not fit. `size` 0 turns the comparison off.
typedef struct kvo_layout {
  const char *encoding; ///< such as "d", or "{point=dd}"
  size_t size;          ///< `sizeof` the type; 0 turns the comparison off
  size_t alignment;     ///< `_Alignof` the type
} kvo_layout;

/// The layout of a struct, whose encoding `KVO_TYPE` can't find out: `KVO_STRUCT(struct point, "{point=dd}")`.
#define KVO_STRUCT(type, encoding_string) {(encoding_string), sizeof(type), KVO_ALIGNOF(type)}

/// The meaning of the layout in a `kvo_signature`.
typedef enum KVO_CLOSED_ENUM kvo_signature_form {
  KVO_FORM_GETTER, ///< A getter, `T f(self, _cmd)`: `KVO_GETTER(T)`.
  KVO_FORM_SETTER, ///< A setter, `void f(self, _cmd, T)`: `KVO_SETTER(T)`.
  KVO_FORM_ENCODED, ///< Any other method: `encoding` has result, self, _cmd and arguments, such as "i@:d".
  KVO_FORM_HOOK, ///< A hook that the runtime calls, with the C type in its documentation: `KVO_HOOK`.
} kvo_signature_form;

/// How a method is called. Use `KVO_GETTER`, `KVO_SETTER`, `KVO_ENCODED` or `KVO_HOOK` to make one.
typedef struct kvo_signature {
  kvo_signature_form form; ///< what `layout` describes
  kvo_layout layout;       ///< the property's type, or the whole encoding
} kvo_signature;

/// Creates a class. Register it (`kvo_class_register`) before you create instances or subclasses.
/// - name: a name that no other class has. It is copied.
/// - superclass: a registered class. NULL means `kvo_root_class()`.
/// - instance_size: `sizeof` the instance's struct, whose first member is the superclass's struct.
/// - error: filled in if NULL is returned. May be NULL.
///
/// Returns NULL with KVO_DUPLICATE, KVO_INVALID_ARGUMENT or KVO_NO_MEMORY. Classes are never freed. Any thread.
kvo_class *KVO_NULLABLE kvo_class_create(const char *name, const kvo_class *KVO_NULLABLE superclass,
    size_t instance_size, kvo_error *KVO_NULLABLE error);

/// Adds a method to a class, or overrides an inherited one; the encodings must then agree. The class may already be
/// registered, have subclasses, and have objects that are observed.
/// - cls: the class, from `kvo_class_create` or as passed to a `setup` function.
/// - selector: the method's name, with a colon for each argument: "balance", "setBalance:". It is copied.
/// - imp: the function, cast to `kvo_imp`.
/// - signature: how it is called: `KVO_GETTER(T)`, `KVO_SETTER(T)`, `KVO_ENCODED("…")`, or `KVO_HOOK` for a method
///   that the runtime itself calls.
/// - method: receives the method's handle, for callers that use `kvo_method_lookup`. Pass NULL for hooks and for
///   methods that only key-value coding calls.
/// - error: filled in if it fails. May be NULL.
///
/// A subclass that already has the method overrides it, and so does one that gets it later. A shared library that
/// contains the function stays in memory when it is closed. The runtime asks the dynamic linker for that at once, or,
/// inside a `setup` function, after that has returned.
///
/// KVO_DUPLICATE if this class itself has the method (use `kvo_class_replace_method`). KVO_INVALID_ENCODING, also if
/// a superclass or a subclass has it with another encoding. KVO_LAYOUT_MISMATCH, KVO_NO_MEMORY. KVO_INVALID_ARGUMENT
/// for a selector of more than 511 bytes. Any thread.
kvo_status kvo_class_add_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_signature signature, const kvo_method *KVO_NULLABLE *KVO_NULLABLE method,
    kvo_error *KVO_NULLABLE error);

/// Replaces the implementation of a method that the class has or inherits. Takes effect at the next call, also for
/// observed objects.
/// - imp: the new function. It must have the old one's type.
/// - previous: receives the old implementation, so that the new one can call it. May be NULL.
///
/// KVO_UNDEFINED_KEY if there is no such method. Any thread.
kvo_status kvo_class_replace_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_imp KVO_NULLABLE *KVO_NULLABLE previous, kvo_error *KVO_NULLABLE error);

/// Adds a class method, such as the hooks that kvo_coding.h and kvo_observing.h list with their C types. It is found
/// by selector, also from subclasses; a subclass that adds its own overrides it.
/// - imp: the function, cast to `kvo_imp`. It receives the class that was asked, perhaps a subclass, and no `_cmd`.
///
/// Statuses as `kvo_class_add_method`.
kvo_status kvo_class_add_class_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_error *KVO_NULLABLE error);

/// Declares an instance variable for key-value coding. If the key has no setter, key-value coding writes to the
/// variable: a string as a copy made by malloc, an object retained. The class's `dealloc` method must free or release
/// it.
/// - name: the variable's name: the key, or another name that the search for the key finds (kvo_coding.h).
/// - offset: its offset in the instance: `offsetof(account, balance)`.
/// - layout: its type: `(kvo_layout)KVO_TYPE(double)`, or `KVO_STRUCT` of a struct.
///
/// Statuses as `kvo_class_add_method`, and KVO_INVALID_ARGUMENT if the variable would be outside the instance. Any
/// thread.
kvo_status kvo_class_add_ivar(kvo_class *cls, const char *name, size_t offset, kvo_layout layout,
    kvo_error *KVO_NULLABLE error);

/// Sets the alignment of instances, for a struct that needs more than malloc gives (`_Alignas`, vector members).
/// Subclasses inherit it. The macros of kvo_property.h call this for you.
/// - alignment: `_Alignof` the instance's struct.
///
/// KVO_INVALID_ARGUMENT if it is not a power of two, or if the class is already registered. Any thread.
kvo_status kvo_class_set_alignment(kvo_class *cls, size_t alignment, kvo_error *KVO_NULLABLE error);

/// Registers a class, which can have instances and subclasses from then on. Methods may still be added. KVO_DUPLICATE
/// if it is already registered. Any thread.
kvo_status kvo_class_register(kvo_class *cls, kvo_error *KVO_NULLABLE error);

/// The class with that name, or NULL. Any thread.
const kvo_class *KVO_NULLABLE kvo_class_named(const char *name);
/// The class's name. It is never freed. Any thread.
const char *kvo_class_name(const kvo_class *cls);
/// The class's superclass; NULL for a root. Any thread.
const kvo_class *KVO_NULLABLE kvo_class_superclass(const kvo_class *cls);
/// Whether the class is `ancestor` or one of its subclasses. O(depth). Any thread.
bool kvo_class_is_subclass_of(const kvo_class *cls, const kvo_class *ancestor);

/// The handle of the method that the class has or inherits for a selector; NULL if it has none. It is never freed.
/// Any thread.
const kvo_method *KVO_NULLABLE kvo_class_method(const kvo_class *cls, const char *selector);
/// The class's implementation of a method. An override calls its superclass's with it: `((void (*)(kvo_object *,
/// const kvo_method *, double))kvo_class_imp(base, _cmd))(self, _cmd, v)`. Any thread.
kvo_imp kvo_class_imp(const kvo_class *cls, const kvo_method *method);

/// The method's selector, such as "setBalance:". It is never freed. Any thread.
const char *kvo_method_selector(const kvo_method *method);
/// The method's index in the dispatch table, the same in a class and all of its subclasses. The runtime assigns it.
/// Any thread.
uint32_t kvo_method_slot(const kvo_method *method);

/// The function that a call of the method reaches now, by three loads: a class's first word points at its dispatch
/// table, a method's first 32 bits are its slot. The object must have an isa, as objects of C classes always do. The
/// handle must belong to the object's class or a superclass. If it does not, the call stops the program with a
/// message, provided that the object's class has no method in that slot and the slot is one of the first 64.
/// Otherwise another method may run, since sibling classes use the same slots. Any thread.
KVO_INLINE kvo_imp kvo_method_lookup(const kvo_object *self, const kvo_method *method) {
  kvo_imp KVO_NONNULL *KVO_NONNULL const *isa =
      (kvo_imp KVO_NONNULL *KVO_NONNULL const *)(const void *)kvo_isa_of_c(self);
  // Load the slot before the table: a thread that adds a method to a superclass publishes a table that has the new
  // slot, then the slot.
  uint32_t slot = __atomic_load_n((const uint32_t *)(const void *)method, __ATOMIC_ACQUIRE);
  kvo_imp *table = __atomic_load_n(isa, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&table[slot], __ATOMIC_RELAXED);
}

/// Counts first observations of an object or a method. Atomic; its values are only compared with each other.
extern uint64_t kvo_first_observations;
/// The slow path of `kvo_setter_returned`: a first observation happened while the setter ran. Its parameters are the
/// same.
void kvo_setter_ran_unobserved(kvo_object *self, const kvo_method *method, kvo_imp imp,
    uint64_t begun);

/// Call this before `kvo_method_lookup` finds a setter, and pass the result to `kvo_setter_returned` after the call.
/// The setters that the macros make do so. A setter that begins while the property has no observer is not interposed;
/// if another thread registers an observer before it returns, the two calls notify that observer. One load. Any
/// thread.
KVO_INLINE uint64_t kvo_setter_begins(void) {
  return __atomic_load_n(&kvo_first_observations, __ATOMIC_ACQUIRE);
}
/// Call this after a setter that `kvo_method_lookup` found. It notifies observers that another thread registered
/// while the setter ran, with a change of kind setting. Usually one load; otherwise it may call observers. The object
/// may have been destroyed by the setter. Any thread.
/// - imp: the function that `kvo_method_lookup` returned and the caller called.
/// - begun: what `kvo_setter_begins` returned before the look-up.
KVO_INLINE void kvo_setter_returned(kvo_object *self, const kvo_method *method, kvo_imp imp,
    uint64_t begun) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(__atomic_load_n(&kvo_first_observations, __ATOMIC_RELAXED) != begun))
    kvo_setter_ran_unobserved(self, method, imp, begun);
}

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
