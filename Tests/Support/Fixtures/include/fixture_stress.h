/// Many threads on the same objects and keys, whose every call is accounted for.
///
/// Each scenario's threads do what the rules allow at random, as fast as they can. What is found
/// wrong (a call that is lost or doubled, one that comes after its registration has ended, an end
/// that is told twice or never) is counted and the first of it described. What would be read after
/// it has been freed is poison in debug and stress builds, and crashes.
#ifndef FIXTURE_STRESS_H
#define FIXTURE_STRESS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct stress_result {
  uint64_t sets, calls, registrations;
  uint64_t wrong;
  char problem[160]; ///< the first that was wrong, "" if nothing was
} stress_result;

int stress_scenario_count(void);
const char *stress_scenario(int number);
/// Runs one until each thread has taken so many steps. `seed` begins the threads' random numbers.
stress_result stress_run(int number, unsigned steps, uint64_t seed);

/// Whether the runtime covers forks in this build: not with the thread sanitizer.
bool fixture_can_fork(void);
/// Forks, and runs `body(context)` in the child, which then ends without running anything that the
/// parent has planned for its exit. Returns the child's status as `waitpid` gives it, -1 if there is
/// none. A child that hangs is aborted by the watchdog.
int fixture_fork(bool (*body)(void *KVO_NULLABLE context), void *KVO_NULLABLE context);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
