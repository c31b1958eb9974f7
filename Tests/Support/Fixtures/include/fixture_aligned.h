/// Instances that need more alignment than malloc gives.
#ifndef FIXTURE_ALIGNED_H
#define FIXTURE_ALIGNED_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Makes, observes, changes and releases objects of a class of that alignment (64, 128 or 4096), made by the macros,
/// by the macros in a subclass, and without macros. Small objects are made in between. Returns how many were not
/// aligned, not zero-filled, did not notify, or did not die.
size_t aligned_count_wrong(size_t alignment);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
