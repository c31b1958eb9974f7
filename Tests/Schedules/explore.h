/// Tries many schedules of one program, in a separate process.
#ifndef SCHEDULES_EXPLORE_H
#define SCHEDULES_EXPLORE_H

#include "failure.h"
#include "program.h"

/// How many of some schedules are tried: all if there are no more than `all`, otherwise so many, evenly spread.
typedef struct share {
  uint32_t all, otherwise;
} share;

/// The schedules that are tried.
typedef struct effort {
  uint32_t at_random; ///< by priority and at random
  share singles;      ///< with one switch, at any point and to any thread that may run there
  share pairs;        ///< with two
} effort;

/// Prepares this process, once.
void prepare_exploring(void);
/// Runs schedules until one fails. The same program, effort and seed give the same schedules and result.
outcome explore(const program *program, const effort *effort, uint64_t seed);

#endif
