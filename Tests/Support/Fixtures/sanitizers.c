#include "fixture_sanitizers.h"

bool fixture_has_thread_sanitizer(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return true;
#endif
#endif
  return false;
}

bool fixture_has_address_sanitizer(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return true;
#endif
#endif
  return false;
}
