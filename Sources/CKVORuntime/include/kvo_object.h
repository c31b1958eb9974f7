/// Objects: a two-word header, and C's own reference-counted root.
#ifndef KVO_OBJECT_H
#define KVO_OBJECT_H

#include "kvo_base.h"
#include "kvo_error.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A class, made by the macros of kvo_property.h or by `kvo_class_create`. Lives for ever.
typedef struct kvo_class kvo_class;

/// The header of every observable object: the first member of a C instance, and at one fixed
/// offset inside an instance of a binding.
///
/// Never read the members directly: other threads change them. Use `kvo_isa` and `kvo_class_of`.
typedef struct kvo_object {
  const kvo_class *KVO_NULLABLE isa; ///< see `kvo_isa`
  void *KVO_NULLABLE
      observations; ///< what hangs at the object: registrations and values kept with it
} kvo_object;

/// The class whose dispatch table the object uses now: the plain class, the dynamic subclass
/// `KVONotifying_<Class>` while somebody observes the object, or NULL for an unobserved object
/// of a binding. Don't test class membership with it. O(1), any thread.
KVO_INLINE const kvo_class *KVO_NULLABLE kvo_isa(const kvo_object *object) {
  return __atomic_load_n(&object->isa, __ATOMIC_ACQUIRE);
}

/// The object's class, never the dynamic subclass. O(1), any thread.
const kvo_class *kvo_class_of(const kvo_object *object);

/// The root of C's classes: it counts references, and answers `observeValueForKeyPath:…` by
/// reporting a notification that no class took. Static; any thread.
const kvo_class *kvo_root_class(void);

/// The one way to make an object of a C class: a struct on the stack or in an array is none. A
/// zero-filled instance of a registered C class, with one reference owned by the caller, who gives it back by
/// `kvo_object_release`; NULL if memory is out, or if the class is a binding's or not registered. Any thread.
/// - cls: what `account_class()` gives, for a class that the macros have made.
kvo_object *KVO_NULLABLE kvo_object_create(const kvo_class *cls);

/// Takes a reference; returns the object. Works for objects of bindings as well. Any thread.
kvo_object *kvo_object_retain(kvo_object *object);

/// Takes a reference unless the object has begun to die; whether it did. For who knows that its memory is still
/// there, as one does who is told before it goes (`kvo_object_associate`). Any thread.
bool kvo_object_try_retain(kvo_object *object);

/// Gives a reference back. The last one calls the `dealloc` methods of the classes, subclass
/// first, ends the registrations that the object made or that others made with it, gives back what is kept
/// with it, releases the properties of the policies RETAIN and COPY, and frees it. NULL is ignored. Any
/// thread.
/// A chain of objects that own one another by such properties, or by collections, may be of any length. An object that a
/// `dealloc` method releases for the last time dies before this function returns to it, and takes stack: a chain that is linked so
/// must not be long, and where little of the stack is left the program is stopped with a message that names the class.
/// An exception that leaves a `dealloc` method passes on when the object has died all the same.
void kvo_object_release(kvo_object *KVO_NULLABLE object);

/// Keeps a value with an object of any binding, as long as the object lives, in place of what was kept under
/// the same key.
/// - key: an address that tells the values apart, say of a static variable of who keeps it. It is never read.
/// - value: a pointer of the caller's. NULL takes away what was kept.
/// - release: gives a value back when it is no longer kept, or the object has died: all registrations with it
///   have ended by then, and it must not be used any more. Called without locks. NULL: nothing is to be done. Objects that it
///   releases die at once, but within 100 deaths that nest only after it has returned.
///
/// KVO_NO_MEMORY, with the value the caller's and all as it was. O(*n*) in what is kept with the object. Any thread.
kvo_status kvo_object_associate(kvo_object *object, const void *key, void *KVO_NULLABLE value,
    void (*KVO_NULLABLE release)(void *value), kvo_error *KVO_NULLABLE error);
/// What is kept under a key, or NULL. Any thread.
/// - retain: gives the caller a share of the value before it is returned, for where another thread may take it away
///   meanwhile. Called with a lock held, so it may not call the runtime. NULL: the value is returned as it is.
void *KVO_NULLABLE kvo_object_associated(kvo_object *object, const void *key,
    void (*KVO_NULLABLE retain)(void *value));

/// To be called by a binding, or by code that frees such objects without `kvo_object_release`,
/// before the object's memory goes: ends all registrations with it and by it. No call of one of
/// its observers begins afterwards; gives back what is kept with it. A binding's `try_retain` refuses the object by then, and
/// nothing is registered with it, or by it, any more. Any thread, once per object.
void kvo_object_will_die(kvo_object *object);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
