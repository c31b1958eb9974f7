/// What a program may do to the runtime from the outside. For tests in processes of their own.
#ifndef FIXTURE_SURROUNDINGS_H
#define FIXTURE_SURROUNDINGS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Has the kernel refuse membarrier(2) from now on, as a sandbox does that a program enters. False
/// if it does not do it.
bool system_deny_membarrier(void);

/// Makes thread-specific keys until there are no more.
void fixture_take_all_keys(void);

/// What this thread keeps under the process's first key, whosever that is.
const void *KVO_NULLABLE fixture_first_key(void);

/// How many registrations and retirements there have been.
uint64_t fixture_serial(void);

/// Makes and destroys a lock of a binding, again and again, while it holds an outer one, on one
/// thread, and forks on another, so many times. Whether each child ended well. In a child of its
/// own.
bool fixture_make_locks_while_forking(int times);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
