/// How a process that runs schedules reports a failure to its parent.
#ifndef SCHEDULES_FAILURE_H
#define SCHEDULES_FAILURE_H

#include "schedule.h"
#include "trace.h"

#include <stdio.h>

enum { FAILURE_FRAMES = 24 };

/// In memory that both processes share.
typedef struct outcome {
  bool has_failed;
  bool is_complete; ///< the process has tried all its schedules
  char kind[32];    ///< the violated condition; a shrunk program must violate it too
  char message[600];
  schedule schedule; ///< the schedule that failed
  trace trace;       ///< its last steps
  size_t blocks;     ///< left by the schedule of a cold program
  uint64_t schedules, points, digest;
  void *frames[FAILURE_FRAMES]; ///< where it crashed
  int frame_count;
} outcome;

extern outcome *current_outcome;
/// Whether the history of a failing schedule is printed.
extern bool prints_history;

/// Ends the process. Only the first failure is reported.
_Noreturn __attribute__((format(printf, 2, 3))) void fail_schedule(const char *kind,
    const char *format, ...);
/// Makes crashes count as failures.
void catch_crashes(void);

#endif
