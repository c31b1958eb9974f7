/// Setters that began while the property they set had no observer (unobserved_setters.c). Bindings compare the isa
/// themselves.
#ifndef KVO_UNOBSERVED_SETTERS_H
#define KVO_UNOBSERVED_SETTERS_H

#include "kvo_class.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Notifies late observers, like `kvo_setter_ran_unobserved` (kvo_class.h), for an interposed setter. The setter's keys
/// given by `keys` (bit i for `keys[i]`) were first observed while it ran, and it has opened no change of them. The
/// object may have died.
void kvo_setter_ran_partly_unobserved(kvo_object *address, const kvo_method *method, uint32_t keys);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
