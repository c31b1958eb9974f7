/// The switches of a schedule, and the loads that missed a store, with their places in the sources.
#ifndef SCHEDULES_TRACE_H
#define SCHEDULES_TRACE_H

#include <stdint.h>

enum { TRACE_STEPS = 24 };

/// The return addresses of a point's function and of its caller.
typedef struct trace_place {
  void *function, *caller;
} trace_place;

/// A switch, or a load that does not see another thread's store yet.
typedef struct trace_step {
  uint32_t point;
  int thread, other; ///< other: the thread that runs next, or NOBODY; or the one that has stored
  const char *what;  ///< what the thread does; NULL: it loads
  trace_place at, store;
} trace_step;

enum { NOBODY = -1 };

/// The last steps of a schedule, in a ring.
typedef struct trace {
  uint32_t count;
  trace_step steps[TRACE_STEPS];
} trace;

/// The place where the function with this frame was called. All that passes points has frame pointers.
static inline trace_place place_above(void *const *frame) {
  return (trace_place){frame[1], ((void *const *)frame[0])[1]};
}

/// Records a step of the running schedule.
void trace_switch(int thread, int next, const char *what, void *const *frame);
void trace_missed_store(int other, const trace_place *store, void *const *frame);

struct outcome;
/// Prints the steps, a line for each.
void print_trace(const struct outcome *outcome);
/// Prints where a crash happened.
void print_frames(const struct outcome *outcome);

#endif
