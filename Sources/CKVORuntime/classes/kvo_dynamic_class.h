/// The dynamic subclass, at which an observed object's isa points.
#ifndef KVO_DYNAMIC_CLASS_H
#define KVO_DYNAMIC_CLASS_H

#include "objects/kvo_class_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The dynamic subclass of a plain class. Unless `automatic` is false, interposers replace the setters of
/// `interned_key`, whose accessors the class must have. NULL with KVO_CLOSURES_UNAVAILABLE or KVO_NO_MEMORY. O(1)
/// after the first call for the key. Takes the class lock.
kvo_class *KVO_NULLABLE kvo_swizzle_class(const kvo_class *cls, const char *interned_key,
    bool automatic, kvo_error *KVO_NULLABLE error);

/// Whether the dynamic subclass has an interposer in the method's slot.
bool kvo_swizzle_interposes(const kvo_class *dynamic, const kvo_method *method);
/// Interposes a method that was added to a class whose keys are already observed.
void kvo_swizzle_refresh_locked(kvo_class *cls, const kvo_method *method);

/// Points an object's isa at the dynamic subclass, or back. Object lock held.
/// For an object of a binding, sets the mark of the key with this identifier as well. `is_noted`: whether a setter may
/// be running that began while the object was not observed (kvo_unobserved_setters.h).
void kvo_swizzle_in_locked(kvo_object *object, kvo_class *dynamic, uintptr_t id, bool is_noted);
void kvo_swizzle_out_locked(kvo_object *object);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
