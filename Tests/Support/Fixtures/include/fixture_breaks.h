/// The program's own break function, in place of the runtime's.
#ifndef FIXTURE_BREAKS_H
#define FIXTURE_BREAKS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// How often it was called.
int64_t breaks_count(void);
/// With what, the last time on this thread; empty before.
const char *breaks_last_message(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
