/// Instances that need more alignment than malloc gives.
#ifndef FIXTURE_ALIGNED_H
#define FIXTURE_ALIGNED_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Makes objects of a class of that alignment, 64, 128 and 4096, by the macros, by the macros in a subclass, and by hand;
/// observes and changes them, and lets them go. Small objects are made in between. How many were not aligned,
/// not filled with zeros, not told of, or did not die.
size_t aligned_count_wrong(size_t alignment);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
