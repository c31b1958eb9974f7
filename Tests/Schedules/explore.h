/// Tries many schedules of one program, in a separate process.
#ifndef SCHEDULES_EXPLORE_H
#define SCHEDULES_EXPLORE_H

#include "failure.h"
#include "program.h"

/// The maximum numbers of schedules.
typedef struct effort {
  uint32_t at_random; ///< by priority and at random
  uint32_t singles;   ///< with one switch, at each point
  uint32_t pairs;     ///< with two
} effort;

/// Prepares this process, once.
void prepare_exploring(void);
/// Runs schedules until one fails. The same program, effort and seed give the same schedules and result.
outcome explore(const program *program, const effort *effort, uint64_t seed);

#endif
