/// Small programs: the ops of each thread, in words that can be written down and read again. words.c lists the words.
#ifndef SCHEDULES_PROGRAM_H
#define SCHEDULES_PROGRAM_H

#include "schedule.h"
#include "world.h"

#include <stdio.h>

typedef enum verb {
  SET,         ///< a key, by its setter
  SET_BY_KEY,  ///< by key-value coding
  SET_BY_PATH, ///< next.value, by key-value coding
  SET_BY_HAND, ///< between will and did
  SET_IN_BRACKET,
  SET_IN_PLACE,    ///< a number, whose mutation sets the other number
  CANCEL_IN_PLACE, ///< the same, but the number stays
  LINK_IN_PLACE,   ///< to another node, in a mutation that sets the value of the node before
  LINK,            ///< to another node, or to none
  BATCH,           ///< value, other and value again, in a batch
  BATCH_IN_PLACE,  ///< the same, value by mutations in place
  STAMP,           ///< a node with the stamp that belongs to its value
  INSERT,          ///< an item, by a proxy
  INSERT_BY_HAND,
  REMOVE,     ///< an item, by a proxy
  WATCH,      ///< registers a callback
  WATCH_KEYS, ///< value, other and next by one token
  OBSERVE,    ///< registers an observer object
  END,        ///< releases a token
  INVALIDATE, ///< a token
  UNOBSERVE,  ///< removes an observer
  REMOVE_ALL, ///< observers of a node
  DROP,       ///< the thread's reference to a mortal node
  KEEP,       ///< an association, replacing the old one
  READ,       ///< whether a key is observed, the value at a path, the dump
  PASS,       ///< makes an object, observes it, sets it, and releases it
  VERBS
} verb;

/// The action of an observer when it is called.
typedef enum act {
  ACT_NONE,
  ACT_END,      ///< ends its own registration
  ACT_SET,      ///< sets a key of a leaf
  ACT_LINK,     ///< links the other middle elsewhere
  ACT_WATCH,    ///< makes a short-lived registration
  ACT_DROP,     ///< releases the mortal node
  ACT_LEAVE,    ///< ends the thread
  ACT_REGISTER, ///< in `ended`: registers another observer of the node
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
  bool reuses_memory;
  bool is_cold;    ///< each schedule is the process's first
  uint8_t holders; ///< a bit for each thread that retains the mortal nodes
  int8_t next[NODES];
  ops before; ///< performed before the threads start
  ops of[SCHEDULE_THREADS];
} program;

/// A random program.
void generate_program(program *program, uint64_t seed);

void write_program(const program *program, char text[PROGRAM_TEXT]);
/// Prints the words that a program's text may use.
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
