/// What threads and processes do to each other at a certain moment, in which they are held.
#ifndef FIXTURE_MOMENTS_H
#define FIXTURE_MOMENTS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A registration ends while another thread is in a call for the same object. Whether its end is
/// told when that call is over, and not before.
bool moment_end_waits_for_call(void);

/// A registration is invalidated; then another thread sets what it observed, and something else.
/// How many calls come for it after it was invalidated.
int moment_calls_after_invalidation(void);

/// Forks while a class is being defined. Whether the child can define others, and use them.
bool moment_fork_in_definition(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
