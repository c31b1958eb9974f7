/// Simulates lack of memory.
#ifndef FIXTURE_MEMORY_H
#define FIXTURE_MEMORY_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Lets `count` more allocations of the runtime on this thread succeed, then none; a negative count lets all succeed.
/// False if the build does not support it, like a release build.
bool fixture_limit_memory(int64_t count);
/// Lets `count` more succeed, then one fail, then all succeed.
void fixture_fail_allocation(int64_t count);
/// Lets `count` more succeed, then `failures` fail, then all succeed.
void fixture_fail_allocations(int64_t count, int64_t failures);
/// Whether an allocation has failed since then.
bool fixture_memory_ran_out(void);

/// The rest of a limit while it is suspended.
typedef struct fixture_memory_limit {
  int64_t allocations, failures;
} fixture_memory_limit;

fixture_memory_limit fixture_lift_memory_limit(void);
void fixture_restore_memory_limit(fixture_memory_limit limit);

/// The result of trying scenarios.
typedef struct fixture_shortage {
  int scenarios;
  int failures; ///< allocations that were made to fail
  int wrong;    ///< runs that went wrong, each with a line on stderr
} fixture_shortage;

/// Runs each scenario of a group, first with all memory, then with every allocation of its act failing once, alone
/// and together with all later ones. Each run has objects of a new class. An error must be KVO_NO_MEMORY and name
/// class and key; then nothing has changed, and the same call succeeds. A call without an error must do everything,
/// or report what it could not do. Later calls must be unaffected, and nothing may leak. It sets the misuse handler.
fixture_shortage fixture_run_short_of_memory(const char *group);

/// Tries the first uses of a process, each attempt in a forked child. A failure must be an error, and the same call
/// must then succeed.
fixture_shortage fixture_run_first_uses(void);
/// Makes a class that macros define, for the first time. Without memory the program stops.
void fixture_make_class_or_stop(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
