#include "fixture_memory.h"

#ifdef KVO_FAILING_MEMORY
extern _Thread_local int64_t kvo_allocations_left; // the runtime's

bool fixture_limit_memory(int64_t count) {
  kvo_allocations_left = count < 0 ? INT64_MAX : count;
  return true;
}
#else
bool fixture_limit_memory(int64_t count) {
  (void)count;
  return false;
}
#endif
