/// The libffi part of making a call's shape, for call.c. kvo_call.h has the calls.
#ifndef KVO_FFI_H
#define KVO_FFI_H

#include "types/kvo_call.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Fills in `call->cif` from result and arguments. KVO_NO_MEMORY, or KVO_INVALID_ENCODING for types that libffi can't
/// pass on this machine.
kvo_status kvo_ffi_prepare(kvo_call *call, kvo_error *KVO_NULLABLE error);
/// Frees the cif of a call that is not in use.
void kvo_ffi_discard(kvo_call *call);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
