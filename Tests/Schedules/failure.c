// Failures and crashes of the process that runs schedules.
#include "failure.h"

#include "history.h"

#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

outcome *current_outcome;
bool prints_history;

_Noreturn static void end_process(const char *kind) {
  current_outcome->has_failed = true;
  snprintf(current_outcome->kind, sizeof current_outcome->kind, "%s", kind);
  if (prints_history) print_history();
  fflush(stdout);
  _exit(1);
}

_Noreturn void fail_schedule(const char *kind, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(current_outcome->message, sizeof current_outcome->message, format, arguments);
  va_end(arguments);
  end_process(kind);
}

_Noreturn static void crash(int signal) {
  static bool again;
  if (again) _exit(2);
  again = true;
  current_outcome->frame_count = backtrace(current_outcome->frames, FAILURE_FRAMES);
  snprintf(current_outcome->message, sizeof current_outcome->message, "%s in thread %d",
      strsignal(signal), schedule_thread());
  end_process("crash");
}

void catch_crashes(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
  struct sigaction action = {.sa_handler = crash, .sa_flags = SA_NODEFER};
  void *frames[1];
  backtrace(frames, 1); // loads the libraries that it needs
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaction(signals[i], &action, NULL);
}
