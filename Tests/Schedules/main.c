// Tries random programs, or a program from a file, under many schedules. Begin to read here, and go on with program.h
// (what runs), schedule.h (which thread runs next) and oracle.h (what must hold).
//
// Programs are generated from SEED, SEED + 1 and so on until COUNT schedules or programs have been tried; without
// COUNT, endlessly. A program is tried under all its schedules, even if that makes more than COUNT. words.c has the
// format of a file. A failing program is printed with the first schedule under which
// it fails; simple ones are tried first. One that was generated is made smaller before. The status is then 1.
#include "explore.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: schedules [--schedules COUNT] [--programs COUNT] [--seed SEED] [--history] [FILE...]\n"
    "       schedules --words\n"
    "\n"
    "Tries programs of threads under many schedules: random ones from SEED on, until at least COUNT\n"
    "schedules or programs have been tried (the last program under all its schedules), or the\n"
    "programs in files, for which SEED selects the schedules. --history prints what happened where\n"
    "one fails. --words prints the words that a program can have, with their meanings.\n"
    "\n"
    "The last line has the number of schedules, programs and points (the places where threads may\n"
    "switch), and a digest of points and switches, equal for equal runs. The status is 1 if a\n"
    "program fails.\n";

typedef struct {
  uint64_t schedules, programs, seed;
  bool prints_history;
} options;

typedef struct {
  uint64_t schedules, programs, points, digest;
} sums;

static void add(sums *sums, const outcome *outcome) {
  sums->programs++;
  sums->schedules += outcome->schedules;
  sums->points += outcome->points;
  sums->digest = (sums->digest ^ outcome->digest) * 0x100000001B3u;
}

// MARK: Failures

// For a program from a file, and for each smaller one.
static const effort THOROUGH = {
    .at_random = 1200, .singles = {6000, 6000}, .pairs = {12000, 12000}};
static const effort QUICK = {.at_random = 100, .singles = {600, 600}};
// The effort for smaller programs, and the failure that they must have.
static effort shrinking_effort;
static uint64_t shrinking_seed;
static char wanted_kind[sizeof((outcome *)0)->kind];

static bool fails_likewise(const program *program) {
  outcome outcome = explore(program, &shrinking_effort, shrinking_seed);
  return outcome.has_failed && !strcmp(outcome.kind, wanted_kind);
}

static void print_schedule(const schedule *schedule) {
  static const char *const ways[] = {"by list", "by priority", "by chance"};
  static const char *const stores[] = {"seen at once", "seen late", "seen one by one"};
  printf("schedule %s, stores %s", ways[schedule->way], stores[schedule->stores]);
  if (schedule->way == BY_LIST) printf(", thread %u first", schedule->first);
  for (uint32_t i = 0; i < schedule->count; i++) {
    printf(", at point %u", schedule->switches[i].at);
    if (schedule->way == BY_LIST) printf(" thread %u", schedule->switches[i].to);
  }
  printf("\n");
}

static void print_failure(const program *program, const outcome *outcome) {
  char text[PROGRAM_TEXT];
  write_program(program, text);
  printf("%s: %s\n%s", outcome->kind, outcome->message, text);
  print_schedule(&outcome->schedule);
  print_trace(outcome);
  print_frames(outcome);
}

// With a few simple schedules if they suffice, else with those that made the program fail.
static bool can_be_shrunk(const program *failing, const effort *effort, uint64_t seed) {
  shrinking_effort = QUICK;
  shrinking_seed = 1;
  if (fails_likewise(failing)) return true;
  shrinking_effort = *effort;
  shrinking_seed = seed;
  return fails_likewise(failing);
}

static void report(program failing, const outcome *first, const effort *effort,
    const options *options, uint64_t seed) {
  outcome outcome = *first;
  memcpy(wanted_kind, outcome.kind, sizeof wanted_kind);
  if (can_be_shrunk(&failing, effort, seed)) {
    shrink_program(&failing, fails_likewise);
    prints_history = options->prints_history;
    outcome = explore(&failing, &shrinking_effort, shrinking_seed);
    prints_history = false;
  }
  print_failure(&failing, &outcome);
}

// MARK: Programs

// All schedules with one switch are tried for two programs of five, and all with two for one of twenty. A program has
// 1,000 schedules with one switch on average, but half of the programs have fewer than 600.
static const effort USUAL = {.at_random = 40, .singles = {400, 150}, .pairs = {4000, 0}};
// Each schedule has a process of its own.
static const effort COLD = {.at_random = 10, .singles = {50, 20}};

static bool try_seed(uint64_t seed, const options *options, sums *sums) {
  program program;
  generate_program(&program, seed);
  const effort *effort = program.is_cold ? &COLD : &USUAL;
  outcome outcome = explore(&program, effort, seed);
  add(sums, &outcome);
  if (!outcome.has_failed) return true;
  printf("wrong: seed %llu: ", (unsigned long long)seed);
  report(program, &outcome, effort, options, seed);
  return false;
}

static bool try_file(const char *path, const options *options, sums *sums) {
  program program;
  FILE *file = fopen(path, "r");
  if (!file || !read_program(&program, file)) {
    fprintf(stderr, "%s is no program\n", path);
    exit(2);
  }
  fclose(file);
  prints_history = options->prints_history;
  outcome outcome = explore(&program, &THOROUGH, options->seed);
  prints_history = false;
  add(sums, &outcome);
  if (!outcome.has_failed) return true;
  printf("wrong: %s: ", path);
  print_failure(&program, &outcome);
  return false;
}

// MARK: Options

static const char *value_of(char **arguments, int *place) {
  const char *value = arguments[++*place];
  if (value) return value;
  fprintf(stderr, "%s needs a value\n", arguments[*place - 1]);
  exit(2);
}

static uint64_t number_of(char **arguments, int *place) {
  const char *value = value_of(arguments, place);
  char *end;
  uint64_t number = strtoull(value, &end, 10);
  if (isdigit((unsigned char)*value) && !*end) return number;
  fprintf(stderr, "%s is no number\n", value);
  exit(2);
}

static uint64_t count_of(char **arguments, int *place) {
  uint64_t count = number_of(arguments, place);
  if (count) return count;
  fprintf(stderr, "%s 0 is nothing to try\n", arguments[*place - 1]);
  exit(2);
}

// Returns the index of the first file.
static int read_options(char **arguments, options *options) {
  int place = 1;
  for (; arguments[place] && arguments[place][0] == '-'; place++) {
    const char *name = arguments[place];
    if (!strcmp(name, "--schedules")) options->schedules = count_of(arguments, &place);
    else if (!strcmp(name, "--programs")) options->programs = count_of(arguments, &place);
    else if (!strcmp(name, "--seed")) options->seed = number_of(arguments, &place);
    else if (!strcmp(name, "--history")) options->prints_history = true;
    else if (!strcmp(name, "--words")) print_words(), exit(0);
    else if (!strcmp(name, "--help")) fputs(usage, stdout), exit(0);
    else fprintf(stderr, "there is no option %s\n%s", name, usage), exit(2);
  }
  return place;
}

int main(int count, char **arguments) {
  (void)count;
  options options = {.schedules = UINT64_MAX, .programs = UINT64_MAX, .seed = 1};
  int place = read_options(arguments, &options);
  bool has_files = arguments[place], is_well = true;
  sums sums = {0};
  prepare_exploring();
  for (; arguments[place]; place++)
    is_well = try_file(arguments[place], &options, &sums) && is_well;
  for (uint64_t seed = options.seed; !has_files && is_well && sums.programs < options.programs &&
                                     sums.schedules < options.schedules;
      seed++)
    is_well = try_seed(seed, &options, &sums);
  printf("%llu schedules of %llu programs, %llu points, digest %016llx\n",
      (unsigned long long)sums.schedules, (unsigned long long)sums.programs,
      (unsigned long long)sums.points, (unsigned long long)sums.digest);
  return !is_well;
}
