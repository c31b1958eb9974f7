/// How a process that runs schedules tells the one that has forked it what has gone wrong.
#ifndef SCHEDULES_FAILURE_H
#define SCHEDULES_FAILURE_H

#include "schedule.h"

#include <stdio.h>

enum { FAILURE_FRAMES = 24 };

/// In memory that both processes share.
typedef struct outcome {
  bool has_failed;
  char kind[32]; ///< what must hold and did not; a shrunk program fails in the same way
  char message[600];
  schedule schedule; ///< the one that failed
  uint64_t schedules, points, digest;
  void *frames[FAILURE_FRAMES]; ///< where it crashed
  int frame_count;
} outcome;

extern outcome *current_outcome;
/// Whether the history of a schedule that fails is printed.
extern bool prints_history;

/// Ends the process. The first failure is the one that is reported.
_Noreturn __attribute__((format(printf, 2, 3))) void fail_schedule(const char *kind,
    const char *format, ...);
/// Has crashes reported in the same way.
void catch_crashes(void);

#endif
