/// Counts the cost of work: instructions with callgrind, and bytes. Scripts/counts.py reads both, and checks them
/// against ceilings.txt.
#ifndef COUNTING_H
#define COUNTING_H

#include <malloc.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

static inline void begin(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

/// - what: with `size`, the figure's name.
/// - count: how often the work was done.
static inline void end(const char *what, size_t size, size_t count) {
  CALLGRIND_STOP_INSTRUMENTATION;
  char name[128];
  snprintf(name, sizeof name, "%s, %zu/%zu", what, size, count);
  CALLGRIND_DUMP_STATS_AT(name);
}

/// Counts work that has been done once before, so that caches filled at first use don't count.
static inline void count_work(const char *what, size_t size, size_t count,
    void (*work)(void *state), void *state) {
  work(state);
  begin();
  work(state);
  end(what, size, count);
}

/// The program's memory, in bytes.
static inline size_t memory(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static inline void tell_memory(const char *what, size_t size, size_t count, size_t bytes) {
  printf("bytes: %s, %zu/%zu: %zu\n", what, size, count, bytes);
  fflush(stdout);
}

/// Changes of every kind; changes.c.
void count_changes(void);
/// Registering and removing; registrations.c.
void count_registrations(void);
/// Bytes; bytes.c.
void count_memory(void);

#endif
