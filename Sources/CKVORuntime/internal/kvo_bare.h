/// Setters that began while nobody observed what they set (bare.c). Those of bindings compare the isa
/// themselves.
#ifndef KVO_BARE_H
#define KVO_BARE_H

#include "kvo_class.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// An object's table has been swapped, or an interposer put in a method's place: an object, or a
/// method. After the swap, and before anything is read for who registers.
void kvo_note_first_observation(const void *concerned);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
