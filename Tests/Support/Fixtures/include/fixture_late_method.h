/// A method that a superclass gets while another thread looks it up.
#ifndef FIXTURE_LATE_METHOD_H
#define FIXTURE_LATE_METHOD_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Makes a class, and a subclass that has a method behind `others` other ones, and looks that up for an object of the subclass.
/// Before the look-up's load of this number, from 1, the superclass gets a method of the same selector. Returns whether the
/// look-up finds the subclass's function.
bool late_method_is_found(int before_load, int others);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
