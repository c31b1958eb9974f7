/// Small programs that the test executable runs instead of tests if its environment says so. The runtime reads its
/// options when a process starts, so a test of an option needs a process.
#ifndef FIXTURE_PROGRAMS_H
#define FIXTURE_PROGRAMS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The result of a program.
typedef struct fixture_run {
  int exit_code;     ///< -1 if a signal ended it
  int signal;        ///< 0 if it exited by itself
  char errors[4096]; ///< the beginning of what it wrote to stderr
} fixture_run;

/// Runs a program with one more environment variable.
/// - program: "misuse": closes a change that was never opened, and writes "survived";
///   "observe": sets an observed balance three times, and dumps the account;
///   "lead": on its only thread, a setter leads an observed path to its object; writes each value that is delivered;
///   "recursion": sets what it observes until the stack ends, each change after the previous one;
///   "observe-refused": observes it where no closures can be made, and writes the result.
fixture_run fixture_run_program(const char *program, const char *variable, const char *value);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
