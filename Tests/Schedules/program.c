// Generates programs.
//
// Most ops are about one node, and each program leaves out some verbs, so that the others interact. A registration
// has a label, by which other threads end it. An op does nothing if it names a missing registration, or a mortal node
// that its thread has released.
#include "program.h"

#include <string.h>

typedef struct {
  uint64_t random;
  program *program;
  uint8_t labels;
  uint8_t focus;    // a node
  bool is_distinct; // all observers ask for distinct changes
  bool is_in_place; // most changes are mutations in place, and most keys are derived
  bool leaves_out[VERBS];
} generator;

static uint32_t below(generator *generator, uint32_t bound) {
  return random_below(&generator->random, bound);
}

// The weight of each verb; the second number is its weight among the first ops, before the threads start.
static const uint8_t weights[VERBS][2] = {
    [SET] = {16, 0},
    [SET_BY_KEY] = {3, 0},
    [SET_BY_PATH] = {6, 0},
    [SET_BY_HAND] = {4, 0},
    [SET_IN_BRACKET] = {4, 0},
    [SET_IN_PLACE] = {4, 0},
    [CANCEL_IN_PLACE] = {2, 0},
    [LINK_IN_PLACE] = {3, 0},
    [LINK] = {10, 0},
    [BATCH] = {5, 0},
    [BATCH_IN_PLACE] = {2, 0},
    [STAMP] = {2, 0},
    [INSERT] = {3, 0},
    [INSERT_BY_HAND] = {2, 0},
    [REMOVE] = {2, 0},
    [WATCH] = {14, 10},
    [WATCH_KEYS] = {8, 6},
    [OBSERVE] = {6, 4},
    [END] = {8, 0},
    [INVALIDATE] = {5, 0},
    [UNOBSERVE] = {4, 0},
    [REMOVE_ALL] = {8, 0},
    [DROP] = {4, 0},
    [KEEP] = {2, 1},
    [READ] = {2, 0},
    [PASS] = {2, 0},
};

static uint32_t weight(const generator *generator, int verb, bool is_before) {
  return generator->leaves_out[verb] ? 0 : weights[verb][is_before];
}

static int any_path(generator *generator) {
  static const uint8_t derived[] = {PATH_SUM, PATH_NEXT_SUM, PATH_NEAR, PATH_FAR, PATH_TRACKED};
  if (generator->is_in_place && below(generator, 3))
    return derived[below(generator, sizeof derived)];
  return (int)below(generator, PATHS);
}

static bool is_registering(int verb) {
  return verb == WATCH || verb == WATCH_KEYS || verb == OBSERVE;
}

static verb any_mutation(generator *generator) {
  return (verb[]){
      SET_IN_PLACE, CANCEL_IN_PLACE, LINK_IN_PLACE, BATCH_IN_PLACE}[below(generator, 4)];
}

static verb any_verb(generator *generator, bool is_before) {
  uint32_t sum = 0;
  for (int i = 0; i < VERBS; i++) sum += weight(generator, i, is_before);
  uint32_t left = below(generator, sum);
  int verb = 0;
  while (left >= weight(generator, verb, is_before)) left -= weight(generator, verb++, is_before);
  bool mutates =
      generator->is_in_place && !is_registering(verb) && !is_before && below(generator, 3);
  return mutates ? any_mutation(generator) : (enum verb)verb;
}

static uint8_t any_node(generator *generator) {
  return below(generator, 4) ? generator->focus : (uint8_t)below(generator, MORTAL + 1);
}

static int8_t linked_by(generator *generator, int node) {
  if (node >= LEAF && node <= OTHER_LEAF) return NOWHERE;
  if (!below(generator, 5)) return NOWHERE;
  int first = node == ROOT || node == MORTAL ? MIDDLE : LEAF;
  return (int8_t)(first + (int)below(generator, 2));
}

// Half of them ask only for old and new, for which the runtime has fast paths. Distinct changes need several observed
// changes to go wrong, so in some programs all observers ask for them.
static uint8_t any_options(generator *generator) {
  uint8_t options = (uint8_t)below(generator, 32);
  if (generator->is_distinct) return options | KVO_DISTINCT | KVO_NEW;
  if (below(generator, 2)) return options & (KVO_OLD | KVO_NEW);
  return below(generator, 3) ? options & (uint8_t)~KVO_DISTINCT : options;
}

static uint8_t any_act(generator *generator) {
  if (below(generator, 3)) return ACT_NONE;
  uint8_t act = (uint8_t)below(generator, ACTS);
  return act == ACT_LEAVE && !generator->program->come_and_go ? ACT_NONE : act;
}

static op any_op(generator *generator, bool is_before) {
  op op = {.verb = (uint8_t)any_verb(generator, is_before), .node = any_node(generator)};
  if (is_registering(op.verb) && generator->labels == LABELS) op.verb = SET;
  switch (op.verb) {
  case SET:
  case SET_BY_KEY:
  case SET_BY_HAND:
  case SET_IN_BRACKET:
  case SET_IN_PLACE:
  case CANCEL_IN_PLACE: op.to = (int8_t)below(generator, 2); break;
  case LINK:
  case LINK_IN_PLACE:
    if (op.node >= LEAF && op.node <= OTHER_LEAF) op.node = ROOT;
    op.to = linked_by(generator, op.node);
    break;
  case WATCH:
  case WATCH_KEYS:
  case OBSERVE:
    op.label = ++generator->labels;
    op.to = (int8_t)(op.verb == WATCH_KEYS ? PATH_VALUE : any_path(generator));
    op.options = any_options(generator);
    op.act = any_act(generator);
    op.observer = op.verb == OBSERVE ? (int8_t)(WATCHER + (int)below(generator, 2)) : NOWHERE;
    if (op.verb == OBSERVE && op.act != ACT_SET && op.act != ACT_LINK) op.act = ACT_NONE;
    break;
  case END:
  case INVALIDATE:
  case UNOBSERVE:
    op.label = (uint8_t)(1 + below(generator, generator->labels ? generator->labels : 1));
    break;
  case DROP: op.node = below(generator, 3) ? MORTAL : MORTAL_WATCHER; break;
  case READ: op.to = (int8_t)below(generator, PATHS); break;
  default: break;
  }
  return op;
}

static void add_ops(generator *generator, ops *ops, uint32_t count, bool is_before) {
  while (ops->count < count) ops->list[ops->count++] = any_op(generator, is_before);
}

void generate_program(program *program, uint64_t seed) {
  memset(program, 0, sizeof *program);
  generator generator = {.random = random_state(seed), .program = program};
  for (int i = 0; i < VERBS; i++)
    generator.leaves_out[i] = i != SET && i != WATCH && below(&generator, 3) == 0;
  generator.focus = (uint8_t[]){ROOT, ROOT, MORTAL, MIDDLE}[below(&generator, 4)];
  generator.is_distinct = below(&generator, 6) == 0;
  generator.is_in_place = below(&generator, 6) == 0;
  program->threads = (uint8_t)(below(&generator, 4) ? 2 : 3);
  program->holders = (uint8_t)(1 + below(&generator, (1u << program->threads) - 1));
  program->come_and_go = below(&generator, 2);
  program->is_own = below(&generator, 2);
  program->without_kernel_fences = below(&generator, 8) == 0;
  program->reuses_memory = below(&generator, 4) == 0;
  program->is_cold = below(&generator, 12) == 0;
  for (int i = 0; i < NODES; i++)
    program->next[i] = i >= WATCHER ? NOWHERE : linked_by(&generator, i);
  add_ops(&generator, &program->before, below(&generator, 4), true);
  for (int i = 0; i < program->threads; i++)
    add_ops(&generator, &program->of[i], 1 + below(&generator, 1 + below(&generator, 4)), false);
}
