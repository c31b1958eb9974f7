/// The effects of a program's environment on the runtime. For tests in processes of their own.
#ifndef FIXTURE_SURROUNDINGS_H
#define FIXTURE_SURROUNDINGS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Makes the kernel refuse membarrier(2) from now on, as in a sandbox that a program enters. False if the kernel
/// can't.
bool system_deny_membarrier(void);

/// Makes thread-specific keys until there are no more.
void fixture_take_all_keys(void);

/// This thread's value for the process's first thread-specific key, whoever made it.
const void *KVO_NULLABLE fixture_first_key(void);

/// The number of registrations and retirements so far.
uint64_t fixture_serial(void);

/// Makes and destroys a binding's lock, repeatedly, while holding an outer one, on one thread, and forks `times`
/// times on another. Returns whether each child exited well. Runs in a child of its own.
bool fixture_make_locks_while_forking(int times);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
