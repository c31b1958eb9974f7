// Records the steps of a schedule, and prints those of a failing one. Recording writes only at a switch and at a load
// that misses a store, so it costs nothing beside them. The toolchain's symbolizer finds the source lines.
#include "trace.h"

#include "failure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static trace_step *next_step(void) {
  trace *trace = &current_outcome->trace;
  return &trace->steps[trace->count++ % TRACE_STEPS];
}

void trace_switch(int thread, int next, const char *what, void *const *frame) {
  *next_step() = (trace_step){.point = schedule_points(),
      .thread = thread,
      .other = next,
      .what = what,
      .at = frame ? place_above(frame) : (trace_place){0}};
}

// A loop that waits for the store is one step.
void trace_missed_store(int other, const trace_place *store, void *const *frame) {
  const trace *trace = &current_outcome->trace;
  const trace_step *last = &trace->steps[(trace->count - 1) % TRACE_STEPS];
  trace_place at = place_above(frame);
  if (trace->count && !last->what && last->at.function == at.function) return;
  *next_step() = (trace_step){.point = schedule_points(),
      .thread = schedule_thread(),
      .other = other,
      .at = at,
      .store = *store};
}

// MARK: Source lines

enum { COMMAND = 4096 };

// A command that prints the source lines of addresses, which are added to it.
typedef struct {
  char text[COMMAND];
  int length;
} symbolizer;

static symbolizer make_symbolizer(void) {
  symbolizer made;
  char path[512];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  path[size > 0 ? size : 0] = 0;
  made.length = snprintf(made.text, COMMAND, "llvm-symbolizer -p -s -e '%s'", path);
  return made;
}

static void add_address(symbolizer *symbolizer, const void *address) {
  symbolizer->length += snprintf(symbolizer->text + symbolizer->length,
      COMMAND - (size_t)symbolizer->length, " %#lx", (unsigned long)(uintptr_t)address);
}

// A return address is that of the next instruction.
static void add_place(symbolizer *symbolizer, const trace_place *place) {
  if (!place->function) return;
  add_address(symbolizer, (const char *)place->function - 1);
  add_address(symbolizer, (const char *)place->caller - 1);
}

static void tell_if_missing(int status) {
  if (status) printf("no llvm-symbolizer in PATH\n");
}

void print_frames(const outcome *outcome) {
  if (!outcome->frame_count) return;
  symbolizer symbolizer = make_symbolizer();
  for (int i = 0; i < outcome->frame_count; i++) add_address(&symbolizer, outcome->frames[i]);
  fflush(stdout);
  tell_if_missing(system(symbolizer.text));
}

// MARK: Steps

// Prints one of the symbolizer's lines, "(inlined by) function(types) at file:line:column", as "function, file:line".
static void print_line(char *line) {
  char *by = strstr(line, "by) "), *function = by ? by + 4 : line + strspn(line, " ");
  char *at = strstr(function, " at "), *column = strrchr(function, ':');
  if (!at || !column) return;
  *column = 0;
  printf("%.*s, %s", (int)strcspn(function, "( "), function, at + 4);
}

// Prints where a point is. If that is in a header, also which function of a source file it is part of.
static void print_place(const trace_place *place, FILE *lines) {
  if (!place->function) return;
  char line[1000];
  bool is_first = true, is_in_header = true;
  for (int blocks = 0; blocks < 2 && fgets(line, sizeof line, lines);) {
    if (*line == '\n') {
      blocks++;
    } else if (is_first || (is_in_header && !strstr(line, ".h:"))) {
      is_in_header = is_first && strstr(line, ".h:");
      printf(is_first ? " in " : ", called by ");
      print_line(line);
      is_first = false;
    }
  }
}

static void print_step(const trace_step *step, FILE *lines) {
  printf("  point %u: thread %d ", step->point, step->thread);
  printf(step->what ? "stops %s" : "loads an old value", step->what);
  print_place(&step->at, lines);
  if (!step->what) printf("; it does not see yet what thread %d stored", step->other);
  else if (step->other != NOBODY) printf("; thread %d runs", step->other);
  print_place(&step->store, lines);
  printf("\n");
}

void print_trace(const outcome *outcome) {
  const trace *trace = &outcome->trace;
  uint32_t first = trace->count > TRACE_STEPS ? trace->count - TRACE_STEPS : 0;
  symbolizer symbolizer = make_symbolizer();
  for (uint32_t i = first; i < trace->count; i++) {
    add_place(&symbolizer, &trace->steps[i % TRACE_STEPS].at);
    add_place(&symbolizer, &trace->steps[i % TRACE_STEPS].store);
  }
  fflush(stdout);
  FILE *lines = popen(symbolizer.text, "r");
  if (!lines) return;
  if (first) printf("  after %u other switches and late stores\n", first);
  for (uint32_t i = first; i < trace->count; i++) print_step(&trace->steps[i % TRACE_STEPS], lines);
  tell_if_missing(pclose(lines));
}
