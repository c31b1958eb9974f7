// The C parts of the runtime's tests, where no Swift can run them: the scenarios that fail each allocation, and the
// stress of many threads for some steps each. The groups and their minimum counts are those of AllocationTests.
#include <stdio.h>

#include "fixture_memory.h"
#include "fixture_stress.h"

static const struct {
  const char *name;
  int least;
} groups[] = {{"class", 1}, {"registration", 19}, {"change", 16}, {"coding", 17}, {"mutation", 35},
    {"removal", 7}, {"shelf", 84}, {"proxy", 57}, {"diagnostics", 7}, {"thread", 14},
    {"nesting", 5}, {"binding", 34}, {"tracking", 21}, {"fork", 6}};

enum { GROUPS = sizeof groups / sizeof *groups, STEPS = 400 };

static bool is_well(const char *name, int least, fixture_shortage tried) {
  bool well = tried.wrong == 0 && tried.failures >= tried.scenarios && tried.scenarios >= least;
  if (!well)
    fprintf(stderr, "%s: %d scenarios, %d failures of memory, %d wrong\n", name, tried.scenarios,
        tried.failures, tried.wrong);
  return well;
}

static int run_out_of_memory(void) {
  int failed = !is_well("first uses", 1, fixture_run_first_uses());
  for (int i = 0; i < GROUPS; i++) {
    fixture_shortage tried = fixture_run_short_of_memory(groups[i].name);
    failed += !is_well(groups[i].name, groups[i].least, tried);
  }
  return failed;
}

// Where each registration may end before the next set, a scenario may make no call.
static int stress(void) {
  int failed = 0;
  uint64_t calls = 0;
  for (int i = 0; i < stress_scenario_count(); i++) {
    stress_result result = stress_run(i, STEPS, 1);
    calls += result.calls;
    if (result.wrong == 0 && result.sets > 0) continue;
    failed++;
    fprintf(stderr, "%s: %s (%llu sets)\n", stress_scenario(i), result.problem,
        (unsigned long long)result.sets);
  }
  if (!calls) fprintf(stderr, "no observer is called\n");
  return failed + !calls;
}

int main(void) {
  int failed = run_out_of_memory() + stress();
  printf("%d failed\n", failed);
  return failed > 0;
}
