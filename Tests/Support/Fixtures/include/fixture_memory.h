/// Memory that runs out.
#ifndef FIXTURE_MEMORY_H
#define FIXTURE_MEMORY_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Lets `count` more allocations of the runtime on this thread succeed, then none; a negative count
/// lets all. False where the build has no way to do so, as a release build.
bool fixture_limit_memory(int64_t count);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
