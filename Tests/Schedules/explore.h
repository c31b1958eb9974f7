/// Tries many schedules of one program, in a process of its own.
#ifndef SCHEDULES_EXPLORE_H
#define SCHEDULES_EXPLORE_H

#include "failure.h"
#include "program.h"

/// How many schedules are tried, at most.
typedef struct effort {
  uint32_t at_random; ///< by priority and by chance
  uint32_t singles;   ///< with one switch, at each point
  uint32_t pairs;     ///< with two
} effort;

/// Prepares this process, once.
void prepare_exploring(void);
/// Runs schedules until one fails. The same program, effort and seed are the same schedules, with the same result.
outcome explore(const program *program, const effort *effort, uint64_t seed);

#endif
