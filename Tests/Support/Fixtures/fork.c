#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture_stress.h"

// In seconds. Fifty forks, more than any test makes, have taken more than ten of them beside other work: each copies
// the tables of all memory.
enum { PATIENCE = 30 };

bool fixture_can_fork(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return false;
#endif
#endif
  return true;
}

// The threads that tests run on may block the signal.
static void set_alarm(void) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  alarm(PATIENCE);
}

int fixture_fork(bool (*body)(void *context), void *context) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    set_alarm();
    _exit(body(context) ? 0 : 1);
  }
  int status;
  return waitpid(child, &status, 0) == child ? status : -1;
}
