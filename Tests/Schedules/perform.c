// Performs a program: makes its objects, runs its threads, and has the result checked.
#include "perform.h"

#include "arena.h"
#include "base/kvo_memory.h"
#include "doing.h"
#include "failure.h"
#include "oracle.h"

#include <string.h>

_Thread_local doing_state doing;
const program *current_program;
bool observers_do_nothing, holders[SCHEDULE_THREADS][NODES];
static int last_number;

int next_number(void) { return ++last_number; }

bool is_held(int node) {
  if (node != MORTAL && node != MORTAL_WATCHER) return true;
  for (int i = 0; i < current_program->threads; i++)
    if (holders[i][node]) return true;
  return false;
}

bool may_use(int node) {
  return node == NOWHERE || (node != MORTAL && node != MORTAL_WATCHER) ||
         holders[doing.thread][node];
}

// MARK: Ops

static void give_back(void *value) {
  (void)value;
  past.given_back++;
}

static void keep(int node) {
  static char key;
  past.kept++;
  if (kvo_object_associate(object_of(node), &key, &key, give_back, NULL))
    fail_schedule("not kept", "an association of %s", node_names[node]);
}

static bool is_observed_throughout(int node, int path, uint64_t since) {
  for (int i = 0; i < REGISTRATIONS; i++) {
    const registration *registration = &past.registrations[i];
    bool was_there = registration->add_end && registration->add_end < since;
    if (registration->node == node && registration->path == path && was_there &&
        !registration->end_begin && !registration->is_unsure)
      return true;
  }
  return false;
}

static void read_node(int node, int path) {
  const registration reading = {.node = node, .path = path};
  uint64_t begin = schedule_now();
  kvo_value value;
  if (kvo_value_for_key_path(object_of(node), path_names[path], &value, NULL))
    fail_schedule("not read", "%s of %s", path_names[path], node_names[node]);
  check_value(&reading, &value);
  kvo_value_destroy(&value);
  int key = path < PATH_SUM ? path : PATH_SUM;
  bool is_observed = kvo_is_observed(object_of(node), path_names[key]);
  if (!is_observed && is_observed_throughout(node, key, begin))
    fail_schedule("not observed", "%s of %s", path_names[key], node_names[node]);
  kvo_free(kvo_copy_debug_dump(object_of(node)));
}

static void perform(const op *op) {
  registration *labelled = op->label ? &past.registrations[(op->label - 1) * 3] : NULL;
  switch (op->verb) {
  case END:
    if (labelled->is_made && has_token(labelled, NULL)) release_token(labelled);
    return;
  case INVALIDATE:
    if (labelled->is_made && has_token(labelled, NULL)) invalidate_token(labelled);
    return;
  case UNOBSERVE:
    if (labelled->is_made && labelled->observer != NOWHERE) remove_observer(labelled);
    return;
  case DROP: drop_node(op->node); return;
  case PASS: pass_object(); return;
  default: break;
  }
  if (!may_use(op->node)) return;
  switch (op->verb) {
  case WATCH:
  case WATCH_KEYS:
  case OBSERVE: make_registrations(op); return;
  case REMOVE_ALL: remove_all_observers(op->node); return;
  case KEEP: keep(op->node); return;
  case READ: read_node(op->node, op->to); return;
  default: do_change(op);
  }
}

static void perform_all(const ops *ops) {
  for (int i = 0; i < ops->count; i++) perform(&ops->list[i]);
}

static void begin(int thread) {
  memset(&doing, 0, sizeof doing);
  doing.thread = thread;
  doing.change = NO_CHANGE;
}

// The first thread that holders the mortal nodes performs the first ops.
static void hand_out(void) {
  memset(holders, 0, sizeof holders);
  for (int i = current_program->threads; i-- > 0;) {
    if (!(current_program->holders & 1 << i)) continue;
    holders[i][MORTAL] = holders[i][MORTAL_WATCHER] = true;
    kvo_object_retain(object_of(MORTAL));
    kvo_object_retain(object_of(MORTAL_WATCHER));
    doing.thread = i;
  }
  kvo_object_release(object_of(MORTAL));
  kvo_object_release(object_of(MORTAL_WATCHER));
}

static void build(void) {
  begin(0);
  make_world(current_program->next);
  for (int i = 0; i < NODES; i++)
    past.links[past.link_count++] = (stored_link){0, i, current_program->next[i]};
  hand_out();
  perform_all(&current_program->before);
}

static void run_thread(uint32_t thread) {
  if (thread == 0) {
    schedule_hold();
    if (current_program->is_own) build();
    past.first_point = schedule_now();
    schedule_let_go();
  }
  begin((int)thread);
  perform_all(&current_program->of[thread]);
  drop_node(MORTAL);
  drop_node(MORTAL_WATCHER);
}

// A thread that ended early has not released what it holders.
static void drop_all(void) {
  for (int i = 0; i < current_program->threads; i++) {
    begin(i);
    drop_node(MORTAL);
    drop_node(MORTAL_WATCHER);
  }
  begin(0);
}

int probe(int node, node_key key) {
  op op = {.verb = SET, .node = (uint8_t)node, .to = (int8_t)key};
  if (key == KEY_NEXT) op.verb = LINK, op.to = (int8_t)node_index(nodes[node]->next);
  if (key == KEY_ITEMS) op.verb = INSERT;
  if (key == KEY_STAMP) op.verb = STAMP;
  return do_change(&op);
}

int probe_again(int node, node_key key) {
  doing.again = read_path(node, key == KEY_VALUE ? PATH_VALUE : PATH_OTHER);
  past.stores_again = true;
  int number = doing.again < FIRST_NUMBER ? NO_CHANGE : probe(node, key);
  past.stores_again = false;
  doing.again = 0;
  return number;
}

static void end_world(void) {
  for (int i = 0; i < REGISTRATIONS; i++)
    if (past.registrations[i].is_made) release_token(&past.registrations[i]);
  for (int i = 0; i < MORTAL; i++) nodes[i]->next = NULL;
  for (int i = 0; i < NODES; i++)
    if (is_held(i)) kvo_object_release(object_of(i));
}

static void audit(void) {
  drop_all();
  observers_do_nothing = true;
  check_changes();
  check_quiet();
  end_world();
  check_ends();
}

static void *call_apart(void *function) {
  (*(void (**)(void))function)();
  return NULL;
}

// Runs on a thread that has ended afterwards, if the program's threads have.
static void run_apart(void (*function)(void)) {
  pthread_t thread;
  if (!current_program->come_and_go) function();
  else if (pthread_create(&thread, NULL, call_apart, &function))
    fail_schedule("no thread", "the system makes no more threads");
  else pthread_join(thread, NULL);
}

static void begin_history(void) {
  memset(past.registrations, 0, sizeof past.registrations);
  memset(past.stored_as, 0, sizeof past.stored_as);
  memset(past.removals_open, 0, sizeof past.removals_open);
  past.change_count = past.call_count = past.store_count = past.link_count = 0;
  past.passing_made = past.passing_ended = past.kept = past.given_back = 0;
  last_number = FIRST_NUMBER;
  observers_do_nothing = false;
}

void run_program(const program *program, const schedule *schedule) {
  current_program = program;
  current_outcome->schedule = *schedule;
  begin_history();
  arena_begin(program->reuses_memory);
  if (!program->is_own) run_apart(build);
  schedule_run(schedule, program->threads, program->come_and_go, run_thread);
  run_apart(audit);
  arena_end();
}
