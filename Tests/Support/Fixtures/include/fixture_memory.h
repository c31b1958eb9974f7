/// Memory that runs out.
#ifndef FIXTURE_MEMORY_H
#define FIXTURE_MEMORY_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Lets `count` more allocations of the runtime on this thread succeed, then none; a negative count
/// lets all. False where the build has no way to do so, as a release build.
bool fixture_limit_memory(int64_t count);
/// Lets `count` more succeed, then one fail, then all succeed.
void fixture_fail_allocation(int64_t count);
/// Whether an allocation has failed since.
bool fixture_memory_ran_out(void);

/// What is left of a limit, while it does not hold.
typedef struct fixture_memory_limit {
  int64_t allocations, failures;
} fixture_memory_limit;

fixture_memory_limit fixture_lift_memory_limit(void);
void fixture_restore_memory_limit(fixture_memory_limit limit);

/// What trying scenarios came to.
typedef struct fixture_shortage {
  int scenarios;
  int failures; ///< allocations that were made to fail
  int wrong;    ///< runs that went wrong, each of which wrote a line to stderr
} fixture_shortage;

/// Runs each scenario of a group, first with all memory, then with every allocation of its act
/// failing once, alone and with all that follow it. Each run has objects of a class of its own.
/// What must be so: an error says KVO_NO_MEMORY and names class and key, all is as before, and the
/// same call then succeeds; what has no error does all that it should, or reports what it could not
/// do; what follows goes on as if nothing had been; and nothing is left over. It sets the misuse
/// handler.
fixture_shortage fixture_run_short_of_memory(const char *group);

/// Tries what is done for the first time in a process, each attempt in a forked child, in the same
/// way: an error, and the same call then succeeds.
fixture_shortage fixture_run_first_uses(void);
/// Makes a class that macros define, for the first time. Where memory is out the program stops.
void fixture_make_class_or_stop(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
