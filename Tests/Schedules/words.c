// Programs as text. A line is the way in which the program runs, the threads that hold the mortal nodes, a link, or
// an op with its thread:
//
//     runs come-and-go own
//     hold 0 1
//     link root middle
//     before watch root next.value old+new #1 none
//     1 set middle value
//
// An op's verb determines its words. The tables below have all words with their meanings; those of keys are named in
// world.c. `Scripts/prove --schedules` with a file runs a program. The option `--words` of
// `.build/schedules/schedules` prints the tables.
#include "program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name;
  const char *fields; // a letter for each: see `write_field`
  const char *meaning;
} form;

static const form forms[VERBS] = {
    [SET] = {"set", "nk", "by the setter"},
    [SET_BY_KEY] = {"set-by-key", "nk", "by key-value coding"},
    [SET_BY_PATH] = {"set-by-path", "n", "next.value, by key-value coding"},
    [SET_BY_HAND] = {"set-by-hand", "nk", "between will and did"},
    [SET_IN_BRACKET] = {"set-in-bracket", "nk", "in a scoped change"},
    [SET_IN_PLACE] = {"set-in-place", "nk",
        "by a mutation in place that also sets the other number"},
    [CANCEL_IN_PLACE] = {"cancel-in-place", "nk", "begin such a mutation, but store nothing"},
    [LINK_IN_PLACE] = {"link-in-place", "nt",
        "by a mutation in place that also sets the value of the node linked before"},
    [LINK] = {"link", "nt", "set next, by the setter"},
    [BATCH] = {"batch", "n", "set value, other and value again, in a batch"},
    [BATCH_IN_PLACE] = {"batch-in-place", "n",
        "set value, other and value again, in a batch; value by mutations in place"},
    [STAMP] = {"stamp", "n", "set the stamp that belongs to the value"},
    [INSERT] = {"insert", "n", "an item, by a proxy"},
    [INSERT_BY_HAND] = {"insert-by-hand", "n", "an item, between will and did"},
    [REMOVE] = {"remove", "n", "an item, by a proxy"},
    [WATCH] = {"watch", "nkola", "register a callback"},
    [WATCH_KEYS] = {"watch-keys", "nola",
        "register a callback for value, other and next by one token"},
    [OBSERVE] = {"observe", "nkwola", "register an observer object"},
    [END] = {"end", "l", "release the token"},
    [INVALIDATE] = {"invalidate", "l", "invalidate the token"},
    [UNOBSERVE] = {"unobserve", "l", "remove the observer object"},
    [REMOVE_ALL] = {"remove-all", "n", "remove all observers of the node"},
    [DROP] = {"drop", "n", "release the thread's reference to a mortal node"},
    [KEEP] = {"keep", "n", "associate a value with the node, in place of the one before"},
    [READ] = {"read", "nk", "read whether the key is observed, its value, and the dump"},
    [PASS] = {"pass", "", "make an object, observe it, set it, and release it"},
};

// A word without arguments.
typedef struct {
  const char *name, *meaning;
} entry;

static const entry ways[] = {
    {"stay", "the threads outlive the schedule"},
    {"come-and-go", "each thread begins and ends within the schedule"},
    {"own", "thread 0 makes the nodes, and so owns them (Memory.md, 17)"},
    {"without-kernel-fences", "as on a kernel without membarrier(2)"},
    {"reuse", "freed memory is reused at once, so new objects have the addresses of dead ones"},
    {"cold", "each schedule has a process of its own, and is its first"},
};

const char *const node_names[NODES] = {
    "root", "middle", "other-middle", "leaf", "other-leaf", "mortal", "watcher", "mortal-watcher"};
static const char *const node_meanings[NODES] = {"its next may be a middle",
    "its next may be a leaf", "its next may be a leaf", "has no next", "has no next",
    "a root that each thread of hold retains", "an observer object",
    "an observer object that each thread of hold retains; also a middle"};
static const char *const path_meanings[PATHS] = {"a number", "a number", "the linked node",
    "a collection", "a number that belongs to the value", "derived from value and other", "a path",
    "a path", "a path", "a path", "derived from next.value", "derived from next.next.value",
    "the number of items", "derived from value and stamp; its getter sets the stamp",
    "tracked: reads next, its value, and more by whether that is odd"};

static const char *const act_names[ACTS] = {
    "none", "end", "set", "link", "watch", "drop", "leave", "register"};
static const char *const act_meanings[ACTS] = {"does nothing", "ends its own registration",
    "sets other of other-leaf", "links other-middle elsewhere",
    "makes a registration and ends it at once", "releases the mortal node", "ends the thread",
    "registers another observer of the node when the registration has ended"};
static const char *const option_names[] = {"new", "old", "initial", "prior", "distinct"};
enum { OPTIONS = sizeof option_names / sizeof *option_names };

// MARK: Writing

typedef struct {
  char *text;
  size_t length;
} writer;

__attribute__((format(printf, 2, 3))) static void write_text(writer *writer, const char *format,
    ...) {
  va_list arguments;
  va_start(arguments, format);
  int length =
      vsnprintf(writer->text + writer->length, PROGRAM_TEXT - writer->length, format, arguments);
  va_end(arguments);
  writer->length += (size_t)length;
  if (writer->length >= PROGRAM_TEXT) writer->length = PROGRAM_TEXT - 1;
}

const char *name_of_verb(uint8_t verb) { return forms[verb].name; }

void write_option_names(uint8_t options, char text[OPTIONS_TEXT]) {
  int length = snprintf(text, OPTIONS_TEXT, "%s", options ? "" : "plain");
  for (int i = 0; i < OPTIONS; i++)
    if (options & 1 << i)
      length += snprintf(text + length, (size_t)(OPTIONS_TEXT - length), "%s%s", length ? "+" : "",
          option_names[i]);
}

static void write_options(writer *writer, uint8_t options) {
  char text[OPTIONS_TEXT];
  write_option_names(options, text);
  write_text(writer, " %s", text);
}

static void write_field(writer *writer, const op *op, char field) {
  switch (field) {
  case 'n': write_text(writer, " %s", node_names[op->node]); break;
  case 'k': write_text(writer, " %s", path_names[op->to]); break;
  case 't': write_text(writer, " %s", op->to == NOWHERE ? "nothing" : node_names[op->to]); break;
  case 'w': write_text(writer, " %s", node_names[op->observer]); break;
  case 'o': write_options(writer, op->options); break;
  case 'l': write_text(writer, " #%d", op->label); break;
  case 'a': write_text(writer, " %s", act_names[op->act]); break;
  default: break;
  }
}

static void write_holders(writer *writer, const program *program) {
  write_text(writer, "hold");
  for (int i = 0; i < program->threads; i++)
    if (program->holders & 1 << i) write_text(writer, " %d", i);
  write_text(writer, "\n");
}

static void write_ops(writer *writer, const char *who, const ops *ops) {
  for (int i = 0; i < ops->count; i++) {
    const op *op = &ops->list[i];
    write_text(writer, "%s %s", who, forms[op->verb].name);
    for (const char *field = forms[op->verb].fields; *field; field++)
      write_field(writer, op, *field);
    write_text(writer, "\n");
  }
}

void write_program(const program *program, char text[PROGRAM_TEXT]) {
  writer writer = {text, 0};
  write_text(&writer, "runs %s%s%s%s%s\n", program->come_and_go ? "come-and-go" : "stay",
      program->is_own ? " own" : "", program->without_kernel_fences ? " without-kernel-fences" : "",
      program->reuses_memory ? " reuse" : "", program->is_cold ? " cold" : "");
  write_holders(&writer, program);
  for (int i = 0; i < NODES; i++)
    if (program->next[i] != NOWHERE)
      write_text(&writer, "link %s %s\n", node_names[i], node_names[program->next[i]]);
  write_ops(&writer, "before", &program->before);
  for (int i = 0; i < program->threads; i++)
    write_ops(&writer, (char[]){(char)('0' + i), 0}, &program->of[i]);
}

// MARK: Listing

static const char *meaning(char field) {
  switch (field) {
  case 'n': return "NODE";
  case 'k': return "KEY";
  case 't': return "NODE|nothing";
  case 'w': return "watcher|mortal-watcher";
  case 'o': return "OPTIONS";
  case 'l': return "#LABEL";
  case 'a': return "ACT";
  default: return "";
  }
}

static void print_word(const char *name, const char *meaning) {
  printf("  %-21s  %s\n", name, meaning);
}

static void print_list(const char *title, const char *const *names, const char *const *meanings,
    int count) {
  printf("\n%s:\n", title);
  for (int i = 0; i < count; i++) print_word(names[i], meanings[i]);
}

static void print_ways(void) {
  printf("The way in which the program runs:\n"
         "  runs stay|come-and-go [own] [without-kernel-fences] [reuse] [cold]\n\n");
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) print_word(ways[i].name, ways[i].meaning);
}

static void print_forms(void) {
  printf("\nAn op. Ops of `before` are done before the threads run:\n"
         "  before|THREAD VERB WORD...\n\n");
  for (int verb = 0; verb < VERBS; verb++) {
    char words[64];
    int length = snprintf(words, sizeof words, "%s", forms[verb].name);
    for (const char *field = forms[verb].fields; *field; field++)
      length += snprintf(words + length, sizeof words - (size_t)length, " %s", meaning(*field));
    printf("  %-59s%s\n", words, forms[verb].meaning);
  }
}

void print_words(void) {
  print_ways();
  printf("\nThe threads that retain the mortal nodes, 0 by default:\n  hold THREAD...\n");
  printf("\nThe next of a node before the program runs:\n  link NODE NODE\n");
  print_forms();
  printf("\nTHREAD: 0 to %d\nLABEL: 1 to %d, names a registration\n", SCHEDULE_THREADS - 1, LABELS);
  printf("OPTIONS: plain, or joined by +:");
  for (int i = 0; i < OPTIONS; i++) printf(" %s", option_names[i]);
  printf("\n");
  print_list("NODE", node_names, node_meanings, NODES);
  print_list("KEY", path_names, path_meanings, PATHS);
  print_list("ACT, the action of an observer when it is called", act_names, act_meanings, ACTS);
}

// MARK: Reading

static int place_of(const char *word, const char *const *names, int count) {
  for (int i = 0; i < count; i++)
    if (!strcmp(word, names[i])) return i;
  return -1;
}

static bool read_options(const char *word, uint8_t *options) {
  char copy[64];
  snprintf(copy, sizeof copy, "%s", word);
  if (!strcmp(copy, "plain")) return true;
  char *rest;
  for (char *name = strtok_r(copy, "+", &rest); name; name = strtok_r(NULL, "+", &rest)) {
    int option = place_of(name, option_names, OPTIONS);
    if (option < 0) return false;
    *options |= (uint8_t)(1 << option);
  }
  return true;
}

// The number that a word is; -1 if it is not one from `least` to `most`.
static int read_number(const char *word, int least, int most) {
  char *end;
  long number = strtol(word, &end, 10);
  return *word >= '0' && *word <= '9' && !*end && number >= least && number <= most ? (int)number
                                                                                    : -1;
}

static bool read_field(op *op, char field, const char *word) {
  int place = -1;
  switch (field) {
  case 'n': op->node = (uint8_t)(place = place_of(word, node_names, NODES)); break;
  case 'k': op->to = (int8_t)(place = place_of(word, path_names, PATHS)); break;
  case 't':
    op->to = (int8_t)place_of(word, node_names, NODES);
    return op->to >= 0 || !strcmp(word, "nothing");
  case 'w': op->observer = (int8_t)(place = place_of(word, node_names, NODES)); break;
  case 'o': return read_options(word, &op->options);
  case 'l':
    op->label = (uint8_t)(place = *word == '#' ? read_number(word + 1, 1, LABELS) : -1);
    break;
  case 'a': op->act = (uint8_t)(place = place_of(word, act_names, ACTS)); break;
  default: break;
  }
  return place >= 0;
}

static const char *next_word(char **rest) { return strtok_r(NULL, " \n", rest); }

static bool read_op(ops *ops, char **rest) {
  const char *name = next_word(rest);
  if (!name || ops->count == MOST_OPS) return false;
  for (int verb = 0; verb < VERBS; verb++) {
    if (strcmp(name, forms[verb].name)) continue;
    op *op = &ops->list[ops->count++];
    *op = (struct op){.verb = (uint8_t)verb, .observer = NOWHERE};
    for (const char *field = forms[verb].fields; *field; field++) {
      const char *word = next_word(rest);
      if (!word || !read_field(op, *field, word)) return false;
    }
    return true;
  }
  return false;
}

static bool read_ways(program *program, char **rest) {
  for (const char *word; (word = next_word(rest));) {
    if (!strcmp(word, "come-and-go")) program->come_and_go = true;
    else if (!strcmp(word, "own")) program->is_own = true;
    else if (!strcmp(word, "without-kernel-fences")) program->without_kernel_fences = true;
    else if (!strcmp(word, "reuse")) program->reuses_memory = true;
    else if (!strcmp(word, "cold")) program->is_cold = true;
    else if (strcmp(word, "stay")) return false;
  }
  return true;
}

static bool read_link(program *program, char **rest) {
  const char *from = next_word(rest), *to = next_word(rest);
  if (!from || !to) return false;
  int node = place_of(from, node_names, NODES), next = place_of(to, node_names, NODES);
  if (node < 0 || next < 0) return false;
  program->next[node] = (int8_t)next;
  return true;
}

static bool read_holders(program *program, char **rest) {
  program->holders = 0;
  for (const char *word; (word = next_word(rest));) {
    int thread = read_number(word, 0, SCHEDULE_THREADS - 1);
    if (thread < 0) return false;
    program->holders |= (uint8_t)(1 << thread);
  }
  return program->holders;
}

static bool read_words(program *program, const char *first, char **rest) {
  if (!strcmp(first, "runs")) return read_ways(program, rest);
  if (!strcmp(first, "hold")) return read_holders(program, rest);
  if (!strcmp(first, "link")) return read_link(program, rest);
  if (!strcmp(first, "before")) return read_op(&program->before, rest);
  int thread = read_number(first, 0, SCHEDULE_THREADS - 1);
  if (thread < 0) return false;
  if (thread >= program->threads) program->threads = (uint8_t)(thread + 1);
  return read_op(&program->of[thread], rest);
}

static bool read_line(program *program, char *line) {
  char *rest;
  const char *first = strtok_r(line, " \n", &rest);
  if (!first || *first == '/') return true;
  return read_words(program, first, &rest) && !next_word(&rest);
}

// Adds the labels of ops to those made or used. Returns false if one is made twice.
static bool add_labels(const ops *ops, uint32_t *made, uint32_t *used) {
  for (int i = 0; i < ops->count; i++) {
    uint8_t verb = ops->list[i].verb;
    bool uses = verb == END || verb == INVALIDATE || verb == UNOBSERVE;
    uint32_t label = ops->list[i].label ? 1u << ops->list[i].label : 0;
    if (!uses && *made & label) {
      fprintf(stderr, "not understood: two ops make the registration #%d\n", ops->list[i].label);
      return false;
    }
    *(uses ? used : made) |= label;
  }
  return true;
}

// An op that ends a registration which no op makes does nothing.
static bool has_its_registrations(const program *program) {
  uint32_t made = 0, used = 0;
  bool is_well = add_labels(&program->before, &made, &used);
  for (int i = 0; i < program->threads; i++)
    is_well = is_well && add_labels(&program->of[i], &made, &used);
  for (int label = 1; label <= LABELS; label++)
    if (used & ~made & 1u << label)
      fprintf(stderr, "not understood: no op makes the registration #%d\n", label);
  return is_well && !(used & ~made);
}

bool read_program(program *program, FILE *file) {
  memset(program, 0, sizeof *program);
  memset(program->next, NOWHERE, sizeof program->next);
  program->holders = 1;
  char line[200], copy[200];
  // A printed failure has its schedule below the program.
  for (int number = 1; fgets(line, sizeof line, file) && strncmp(line, "schedule ", 9); number++) {
    snprintf(copy, sizeof copy, "%s", line);
    if (read_line(program, line)) continue;
    fprintf(stderr, "not understood, see --words: line %d, %s", number, copy);
    return false;
  }
  return program->threads > 0 && has_its_registrations(program);
}
