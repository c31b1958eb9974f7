/// Small programs: the ops of each thread, in words that can be written down and read again. words.c lists the words
/// and their meanings.
#ifndef SCHEDULES_PROGRAM_H
#define SCHEDULES_PROGRAM_H

#include "schedule.h"
#include "world.h"

#include <stdio.h>

/// The table `forms` in words.c says what each does.
typedef enum verb {
  SET,
  SET_BY_KEY,
  SET_BY_PATH,
  SET_BY_HAND,
  SET_IN_BRACKET,
  SET_IN_PLACE,
  CANCEL_IN_PLACE,
  LINK_IN_PLACE,
  LINK,
  BATCH,
  BATCH_IN_PLACE,
  STAMP,
  INSERT,
  INSERT_BY_HAND,
  REMOVE,
  WATCH,
  WATCH_KEYS,
  OBSERVE,
  END,
  INVALIDATE,
  UNOBSERVE,
  REMOVE_ALL,
  DROP,
  KEEP,
  READ,
  PASS,
  VERBS
} verb;

/// The action of an observer when it is called (`act_meanings` in words.c).
typedef enum act {
  ACT_NONE,
  ACT_END,
  ACT_SET,
  ACT_LINK,
  ACT_WATCH,
  ACT_DROP,
  ACT_LEAVE,
  ACT_REGISTER,
  ACTS
} act;

typedef struct op {
  uint8_t verb, node;
  int8_t to;       ///< a key, a path, a linked node, an observer
  uint8_t options; ///< kvo_options
  uint8_t label;   ///< of a registration, from 1
  uint8_t act;
  int8_t observer; ///< for OBSERVE: a watcher
} op;

enum { LABELS = 15, MOST_OPS = 8, PROGRAM_TEXT = 4096 };

typedef struct ops {
  op list[MOST_OPS];
  uint8_t count;
} ops;

typedef struct program {
  uint8_t threads;
  bool come_and_go; ///< its threads begin and end within the schedule
  bool is_own;      ///< the first thread makes the nodes, and so owns them (Memory.md, 17)
  bool without_kernel_fences;
  bool reuses_memory; ///< at once, so new objects have the addresses of dead ones
  bool is_cold;       ///< each schedule is the process's first
  uint8_t holders;    ///< a bit for each thread that retains the mortal nodes
  int8_t next[NODES];
  ops before; ///< performed before the threads start
  ops of[SCHEDULE_THREADS];
} program;

/// A random program.
void generate_program(program *program, uint64_t seed);

void write_program(const program *program, char text[PROGRAM_TEXT]);
/// Prints the words that a program's text may use, with their meanings.
void print_words(void);
extern const char *const node_names[NODES];
const char *name_of_verb(uint8_t verb);
enum { OPTIONS_TEXT = 48 };
/// Options in the form of a program's text: "new+old", or "plain".
void write_option_names(uint8_t options, char text[OPTIONS_TEXT]);
/// Returns false, with a message on stderr, if there is no program.
bool read_program(program *program, FILE *file);

/// Makes a program smaller while `fails` holds for it.
void shrink_program(program *program, bool (*fails)(const struct program *program));

#endif
