/// Many threads on the same objects and keys, with every call accounted for.
///
/// Each scenario's threads do at random what the rules allow, as fast as they can. A fault is a call that is lost,
/// doubled, or made after its registration has ended, or an end that is reported twice or never. Faults are counted,
/// and the first is described. Debug and stress builds poison freed memory, so that reading it crashes.
#ifndef FIXTURE_STRESS_H
#define FIXTURE_STRESS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct stress_result {
  uint64_t sets, calls, registrations;
  uint64_t wrong;
  char problem[160]; ///< the first fault, "" if there was none
} stress_result;

int stress_scenario_count(void);
const char *stress_scenario(int number);
/// Runs a scenario until each thread has taken `steps` steps. `seed` seeds the threads' random numbers.
stress_result stress_run(int number, unsigned steps, uint64_t seed);

/// Whether this build can test forks: the thread sanitizer can't.
bool fixture_can_fork(void);
/// Forks, and runs `body(context)` in the child, which then exits without running the parent's exit handlers. Returns
/// the child's status from `waitpid`, -1 if there is none. The watchdog aborts a hanging child.
int fixture_fork(bool (*body)(void *KVO_NULLABLE context), void *KVO_NULLABLE context);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
