/// The runtime's memory during schedules, in place of its own allocator functions (base/memory.c). Blocks have the
/// same addresses in each run, are counted, and are checked after they have been freed.
#ifndef SCHEDULES_ARENA_H
#define SCHEDULES_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Begins a schedule. With `reuses` a freed block is reused at once, so that new objects have dead ones' addresses;
/// otherwise only after the schedule.
void arena_begin(bool reuses);
/// Ends a schedule. Fails if a freed block has been written to.
void arena_end(void);
/// The number of allocated blocks.
size_t arena_blocks(void);

#endif
