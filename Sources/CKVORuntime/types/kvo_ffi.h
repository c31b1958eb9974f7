/// What call.c asks of libffi when it makes a call's shape; see kvo_call.h for calling.
#ifndef KVO_FFI_H
#define KVO_FFI_H

#include "types/kvo_call.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Fills in `call->cif` from result and arguments. KVO_NO_MEMORY, or KVO_INVALID_ENCODING for what
/// libffi can't pass on this machine.
kvo_status kvo_ffi_prepare(kvo_call *call, kvo_error *KVO_NULLABLE error);
/// Undoes it, for a call that was never handed out.
void kvo_ffi_discard(kvo_call *call);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
