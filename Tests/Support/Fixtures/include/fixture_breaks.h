/// The program's own break function, which replaces the runtime's.
#ifndef FIXTURE_BREAKS_H
#define FIXTURE_BREAKS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The number of its calls.
int64_t breaks_count(void);
/// The message of the last call on this thread; empty before.
const char *breaks_last_message(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
