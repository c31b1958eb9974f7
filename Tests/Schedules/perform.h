/// Runs a program under a schedule, and records its history.
#ifndef SCHEDULES_PERFORM_H
#define SCHEDULES_PERFORM_H

#include "program.h"

/// Fails if a condition of oracle.h is violated.
void run_program(const program *program, const schedule *schedule);

/// Observes each path of a new object, outside a schedule.
void observe_all_paths(void);

/// For the oracle, once all threads have returned: sets a key, or a link to its current value, as a change of its
/// own.
int probe(int node, node_key key);
/// Sets `value` or `other` to the number that it has. NO_CHANGE if none has been set.
int probe_again(int node, node_key key);
/// Whether a node has references left.
bool is_held(int node);

#endif
