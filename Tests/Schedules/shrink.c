// Makes a failing program smaller: without a thread, without an op, with fewer options. A smaller program that still
// fails is kept, until none is left to try.
#include "program.h"

#include <string.h>

typedef struct {
  program *program;
  bool (*fails)(const program *program);
} shrinker;

static bool take_if_it_fails(const shrinker *shrinker, const program *smaller) {
  if (!memcmp(smaller, shrinker->program, sizeof *smaller) || !shrinker->fails(smaller))
    return false;
  *shrinker->program = *smaller;
  return true;
}

static ops *list_of(program *program, int list) {
  return list < 0 ? &program->before : &program->of[list];
}

static void remove_op(ops *ops, int place) {
  ops->count--;
  memmove(ops->list + place, ops->list + place + 1,
      (size_t)(ops->count - place) * sizeof *ops->list);
  memset(&ops->list[ops->count], 0, sizeof *ops->list);
}

static uint8_t without_bit(uint8_t bits, int place) {
  int below = (1 << place) - 1;
  return (uint8_t)((bits & below) | (bits >> 1 & ~below));
}

static bool without_thread(const shrinker *shrinker) {
  for (int thread = 0; thread < shrinker->program->threads && shrinker->program->threads > 1;
      thread++) {
    program smaller = *shrinker->program;
    smaller.threads--;
    memmove(smaller.of + thread, smaller.of + thread + 1,
        (size_t)(smaller.threads - thread) * sizeof *smaller.of);
    memset(&smaller.of[smaller.threads], 0, sizeof *smaller.of);
    smaller.holders = without_bit(smaller.holders, thread);
    if (!smaller.holders) continue;
    if (take_if_it_fails(shrinker, &smaller)) return true;
  }
  return false;
}

static bool without_op(const shrinker *shrinker) {
  for (int list = -1; list < shrinker->program->threads; list++)
    for (int place = list_of(shrinker->program, list)->count; place-- > 0;) {
      program smaller = *shrinker->program;
      remove_op(list_of(&smaller, list), place);
      if (take_if_it_fails(shrinker, &smaller)) return true;
    }
  return false;
}

static bool with_less_of_op(const shrinker *shrinker, int list, int place) {
  program smaller = *shrinker->program;
  op *op = &list_of(&smaller, list)->list[place];
  op->act = ACT_NONE;
  if (take_if_it_fails(shrinker, &smaller)) return true;
  for (int option = 0; option < 5; option++) {
    smaller = *shrinker->program;
    op->options &= (uint8_t)~(1 << option);
    if (take_if_it_fails(shrinker, &smaller)) return true;
  }
  smaller = *shrinker->program;
  if (op->verb == WATCH || op->verb == OBSERVE) op->to = PATH_VALUE;
  if (take_if_it_fails(shrinker, &smaller)) return true;
  smaller = *shrinker->program;
  if (op->verb == SET_BY_KEY || op->verb == SET_BY_HAND || op->verb == SET_IN_BRACKET)
    op->verb = SET;
  if (op->verb == OBSERVE) op->verb = WATCH;
  return take_if_it_fails(shrinker, &smaller);
}

static bool with_less_of_any_op(const shrinker *shrinker) {
  for (int list = -1; list < shrinker->program->threads; list++)
    for (int place = 0; place < list_of(shrinker->program, list)->count; place++)
      if (with_less_of_op(shrinker, list, place)) return true;
  return false;
}

static bool with_fewer_links(const shrinker *shrinker) {
  for (int node = 0; node < NODES; node++) {
    program smaller = *shrinker->program;
    smaller.next[node] = NOWHERE;
    if (take_if_it_fails(shrinker, &smaller)) return true;
  }
  return false;
}

static bool with_fewer_holders(const shrinker *shrinker) {
  for (int thread = 0; thread < shrinker->program->threads; thread++) {
    program smaller = *shrinker->program;
    smaller.holders &= (uint8_t)~(1 << thread);
    if (!smaller.holders) continue;
    if (take_if_it_fails(shrinker, &smaller)) return true;
  }
  return false;
}

static bool run_more_simply(const shrinker *shrinker) {
  for (int way = 0; way < 5; way++) {
    program simpler = *shrinker->program;
    bool *const ways[] = {&simpler.is_cold, &simpler.reuses_memory, &simpler.without_kernel_fences,
        &simpler.is_own, &simpler.come_and_go};
    *ways[way] = false;
    if (take_if_it_fails(shrinker, &simpler)) return true;
  }
  return false;
}

void shrink_program(program *program, bool (*fails)(const struct program *program)) {
  shrinker shrinker = {program, fails};
  while (without_thread(&shrinker) || without_op(&shrinker) || with_less_of_any_op(&shrinker) ||
         with_fewer_links(&shrinker) || with_fewer_holders(&shrinker) ||
         run_more_simply(&shrinker)) {}
}
