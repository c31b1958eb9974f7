/// Runs a program under a schedule, and writes its history.
#ifndef SCHEDULES_PERFORM_H
#define SCHEDULES_PERFORM_H

#include "program.h"

/// Fails if what must hold does not (oracle.h). Returns how many blocks of memory are in use afterwards.
size_t run_program(const program *program, const schedule *schedule);

/// For the oracle, once all is quiet: sets a key, or a link to what it has already, as a change of its own.
int probe(int node, node_key key);
/// Whether a node's last reference has not been given back.
bool is_held(int node);

#endif
