/// The interposer of a method: one compiled in advance, or a closure made at run time.
#ifndef KVO_INTERPOSER_CHOICE_H
#define KVO_INTERPOSER_CHOICE_H

#include "types/kvo_call.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The interposer compiled for `void (self, _cmd, value)` of a scalar, a pointer or a small struct (kvo_shapes.h).
/// NULL for any other method.
kvo_imp KVO_NULLABLE kvo_typed_interposer(const kvo_call *call);

/// The closure that interposes on every method of this call's shape. One is enough, because it finds everything it
/// needs through `self` and `_cmd`. NULL with KVO_CLOSURES_UNAVAILABLE, naming the cause.
kvo_imp KVO_NULLABLE kvo_call_closure(const kvo_call *call, kvo_error *KVO_NULLABLE error);

/// For tests: while set, `kvo_call_closure` fails as on a system that refuses executable memory, even if the closure
/// was made before. Closures in use keep working. Any thread.
void kvo_ffi_set_closures_refused(bool refused);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
