/// A superclass gets a method while another thread looks it up.
#ifndef FIXTURE_LATE_METHOD_H
#define FIXTURE_LATE_METHOD_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Makes a class, and a subclass with a method after `others` other ones, and looks that method up for an object of
/// the subclass. Just before the lookup's atomic load of the given number, from 1, the superclass gets a method with
/// the same selector. Returns whether the lookup finds the subclass's function.
bool late_method_is_found(int before_load, int others);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
