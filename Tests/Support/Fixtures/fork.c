#include <sys/wait.h>
#include <unistd.h>

#include "fixture_sanitizers.h"
#include "fixture_stress.h"
#include "fixture_watchdog.h"

bool fixture_can_fork(void) { return !fixture_has_thread_sanitizer(); }

int fixture_fork(bool (*body)(void *context), void *context) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    fixture_limit_child();
    _exit(body(context) ? 0 : 1);
  }
  int status;
  return waitpid(child, &status, 0) == child ? status : -1;
}
