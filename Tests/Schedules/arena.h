/// The runtime's memory while schedules run, in place of its own seam (base/memory.c): blocks lie at the same addresses in
/// each run, are counted, and are watched when they have been freed.
#ifndef SCHEDULES_ARENA_H
#define SCHEDULES_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Begins a schedule. `reuses`: a freed block is handed out again at once, so that new objects have dead ones' addresses;
/// else only after the schedule.
void arena_begin(bool reuses);
/// Ends it: fails if a freed block has been written to.
void arena_end(void);
/// Blocks that are in use.
size_t arena_blocks(void);

#endif
