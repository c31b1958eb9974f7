#include "fixture_memory.h"

#ifdef KVO_FAILING_MEMORY
extern _Thread_local int64_t kvo_allocations_left, kvo_failures_left; // the runtime's

bool fixture_limit_memory(int64_t count) {
  kvo_allocations_left = count < 0 ? INT64_MAX : count;
  kvo_failures_left = INT64_MAX;
  return true;
}

void fixture_fail_allocation(int64_t count) { fixture_fail_allocations(count, 1); }

void fixture_fail_allocations(int64_t count, int64_t failures) {
  fixture_limit_memory(count);
  kvo_failures_left = failures;
}

bool fixture_memory_ran_out(void) { return kvo_allocations_left < 0; }

fixture_memory_limit fixture_lift_memory_limit(void) {
  fixture_memory_limit limit = {kvo_allocations_left, kvo_failures_left};
  fixture_limit_memory(-1);
  return limit;
}

void fixture_restore_memory_limit(fixture_memory_limit limit) {
  kvo_allocations_left = limit.allocations;
  kvo_failures_left = limit.failures;
}
#else
bool fixture_limit_memory(int64_t count) {
  (void)count;
  return false;
}

void fixture_fail_allocation(int64_t count) { (void)count; }

void fixture_fail_allocations(int64_t count, int64_t failures) { (void)count, (void)failures; }

bool fixture_memory_ran_out(void) { return false; }

fixture_memory_limit fixture_lift_memory_limit(void) { return (fixture_memory_limit){0, 0}; }

void fixture_restore_memory_limit(fixture_memory_limit limit) { (void)limit; }
#endif
