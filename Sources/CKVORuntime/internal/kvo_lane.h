/// Which interposer a method gets: one compiled beforehand, or a closure made at run time.
#ifndef KVO_LANE_H
#define KVO_LANE_H

#include "kvo_call.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The interposer of every method of the call's shape: typed if there is one and closures are not
/// forced. NULL with KVO_CLOSURES_UNAVAILABLE, naming the cause.
kvo_imp KVO_NULLABLE kvo_lane_interposer(const kvo_call *call, kvo_error *KVO_NULLABLE error);

/// The interposer compiled for `void (self, _cmd, value)` of a scalar, a pointer or a small struct (kvo_shapes.h),
/// NULL for any other method.
kvo_imp KVO_NULLABLE kvo_typed_interposer(const kvo_call *call);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
