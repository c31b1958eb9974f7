/// Objects: a two-word header, and the reference-counted root class of C.
#ifndef KVO_OBJECT_H
#define KVO_OBJECT_H

#include "kvo_base.h"
#include "kvo_error.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A class, made by the macros of kvo_property.h or by `kvo_class_create`. It is never freed.
typedef struct kvo_class kvo_class;

/// The header of every observable object: the first member of a C instance, and at a fixed offset inside an instance
/// of a language binding.
///
/// Don't read the members directly, since other threads change them. Use `kvo_isa` and `kvo_class_of`.
typedef struct kvo_object {
  const kvo_class
      *KVO_NULLABLE isa; ///< see `kvo_isa`; its highest bits are marks, see `kvo_isa_mark`
  void
      *KVO_NULLABLE observations; ///< the object's registrations, and the values associated with it
} kvo_object;

/// The bits of an isa that mark which properties may be observed.
enum {
  KVO_ISA_MARK_SHIFT = 48, ///< the first of these bits
  KVO_ISA_MARK_COUNT = 16, ///< the number of these bits
};
/// The bits of an isa that mark properties. The others are the address of the class.
#define KVO_ISA_MARKS (~(uintptr_t)0 << KVO_ISA_MARK_SHIFT)
/// In the isa of an observed object of a binding, the bit that is set if a key with this identifier is observed.
/// Several keys share a bit, so only a clear bit is proof. Objects of C classes have no marks.
KVO_INLINE uintptr_t kvo_isa_mark(uintptr_t id) {
  return (uintptr_t)1 << (KVO_ISA_MARK_SHIFT + (id / sizeof(uintptr_t)) % KVO_ISA_MARK_COUNT);
}

/// The class whose dispatch table the object uses now: its plain class, the dynamic subclass `KVONotifying_<Class>`
/// while it is observed, or NULL for an unobserved object of a binding. Don't test class membership with it; use
/// `kvo_class_of`. O(1). Any thread.
KVO_INLINE const kvo_class *KVO_NULLABLE kvo_isa(const kvo_object *object) {
  uintptr_t isa = (uintptr_t)__atomic_load_n(&object->isa, __ATOMIC_ACQUIRE);
  return (const kvo_class *)(isa & ~KVO_ISA_MARKS);
}
/// `kvo_isa` of an object of a C class, whose isa has no marks. O(1). Any thread.
KVO_INLINE const kvo_class *kvo_isa_of_c(const kvo_object *object) {
  return __atomic_load_n(&object->isa, __ATOMIC_ACQUIRE);
}

/// The object's class, never the dynamic subclass. O(1). Any thread.
const kvo_class *kvo_class_of(const kvo_object *object);

/// The root of C's classes. It counts references, and implements `observeValueForKeyPath:ofObject:change:context:` by
/// reporting a notification that no class handled. Static; any thread.
const kvo_class *kvo_root_class(void);

/// Creates an object of a C class, filled with zeros. There is no other way: a struct on the stack or in an array is
/// not an object. The caller owns the one reference, and releases it with `kvo_object_release`. NULL if out of
/// memory, or if the class is a binding's or not registered. Any thread.
/// - cls: the class; `account_class()` for a class that the macros define.
kvo_object *KVO_NULLABLE kvo_object_create(const kvo_class *cls);

/// Takes a reference, and returns the object. Objects of bindings are allowed. Any thread.
kvo_object *kvo_object_retain(kvo_object *object);

/// Takes a reference unless the object's destruction has begun; returns whether it did. The object's memory must
/// still be valid, for example because the caller is notified before it is freed (`kvo_object_associate`). Any
/// thread.
bool kvo_object_try_retain(kvo_object *object);

/// Releases a reference. NULL is ignored. Any thread. Releasing the last reference destroys the object, in this
/// order:
///
/// - the `dealloc` methods of its classes are called, subclass first;
/// - the registrations that it made, and those that others made with it, end;
/// - the values associated with it are released;
/// - its properties of the policies RETAIN and COPY are released, and its memory is freed.
///
/// A chain of objects that own one another by such properties or by collections may have any length. An object whose
/// last reference a `dealloc` method releases is destroyed before this function returns to that method, which uses
/// stack. Chains that are linked so must be short: if little of the stack is left, the program stops with a message
/// that names the class. An exception that leaves a `dealloc` method is passed on after the object has been
/// destroyed.
void kvo_object_release(kvo_object *KVO_NULLABLE object);

/// Associates a value with an object, also of a binding, under a key. It is kept as long as the object lives, and
/// replaces the value that had the same key.
/// - key: an address that identifies the value, such as that of a static variable. It is never read.
/// - value: a pointer of the caller's. NULL removes the value.
/// - release: called with a value when it has been replaced or removed, or when the object has been destroyed. By
///   then all registrations with the object have ended, and it must not be used any more. Called without a lock held.
///   Objects that it releases are destroyed at once; inside 100 or more nested destructions, only after it has
///   returned. May be NULL.
///
/// KVO_NO_MEMORY, with the value still the caller's and nothing changed. O(*n*) in the number of values associated
/// with the object. Any thread.
kvo_status kvo_object_associate(kvo_object *object, const void *key, void *KVO_NULLABLE value,
    void (*KVO_NULLABLE release)(void *value), kvo_error *KVO_NULLABLE error);
/// The value associated with an object under a key, or NULL. O(*n*) in the number of values. Any thread.
/// - retain: takes a reference to the value for the caller before it is returned, in case another thread removes it.
///   Called with a lock held, so it must not call the runtime. NULL: no reference is taken.
void *KVO_NULLABLE kvo_object_associated(kvo_object *object, const void *key,
    void (*KVO_NULLABLE retain)(void *value));

/// Ends all registrations with an object and by it, and releases the values associated with it. Afterwards no call of
/// its observers begins. Call it before the object's memory is freed, once per object: in a binding, or where objects
/// are freed without `kvo_object_release`. By then a binding's `try_retain` must refuse the object, and nothing may
/// be registered with it or by it any more. Any thread.
void kvo_object_will_die(kvo_object *object);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
