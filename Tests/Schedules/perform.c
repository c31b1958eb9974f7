// The ops of a program, and its observers.
//
// This file has no points of its own, only in what it calls. So its accesses to the history are one step.
#include "perform.h"

#include "arena.h"
#include "base/kvo_memory.h"
#include "failure.h"
#include "history.h"
#include "interpose.h"
#include "kvo_binding.h"
#include "oracle.h"

#include <string.h>

static const program *program_now;
static bool calls_nothing;
static int last_number;
static bool holds[SCHEDULE_THREADS][NODES]; // the mortal nodes

// The state of a thread.
static _Thread_local struct {
  int thread;
  int change;           // an index, or NO_CHANGE
  int wanted;           // what it is to store: a number, or a node
  registration *adding; // the registration whose initial call is pending
  int depth;            // the nesting of observers
  int again;            // what it is to store once more, or 0
  bool may_leave, may_drop;
} doing;

static int next_number(void) { return ++last_number; }
static int number_to_store(void) {
  return doing.wanted = doing.again ? doing.again : next_number();
}
static kvo_object *object(int node) { return &nodes[node]->object; }

bool is_held(int node) {
  if (node != MORTAL && node != MORTAL_WATCHER) return true;
  for (int i = 0; i < program_now->threads; i++)
    if (holds[i][node]) return true;
  return false;
}

static bool may_use(int node) {
  return node == NOWHERE || (node != MORTAL && node != MORTAL_WATCHER) || holds[doing.thread][node];
}

// MARK: Changes

static int begin_change(const op *op, uint8_t keys) {
  if (past.change_count == CHANGES) fail_schedule("no room", "too many changes");
  int number = past.change_count++;
  past.changes[number] = (change){.begin = schedule_now(),
      .thread = doing.thread,
      .root = op->node,
      .node = NOWHERE,
      .before = past.store_count,
      .keys = keys,
      .verb = op->verb,
      .is_nested = doing.depth > 0};
  return number;
}

// No code of the program runs under a lock (Locks.md).
static void check_unlocked(const char *what) {
  if (schedule_locks()) fail_schedule("under a lock", "%s", what);
}

void node_is_stored(int node, node_key key, int value) {
  check_unlocked("a setter");
  if (doing.change == NO_CHANGE) fail_schedule("wrong store", "without a change");
  if (past.store_count == STORES) fail_schedule("no room", "too many stores");
  store *store = &past.stores[++past.store_count];
  *store = (struct store){node, value, doing.change, doing.thread, key, schedule_now()};
  if (key == KEY_NEXT) {
    if (past.link_count == LINKS) fail_schedule("no room", "too many links");
    past.links[past.link_count++] = (stored_link){store->at, node, value};
  } else if (key != KEY_ITEMS && value >= FIRST_NUMBER && value < NUMBERS) {
    past.stored_as[value] = (uint16_t)past.store_count;
  }
  change *change = &past.changes[doing.change];
  check_store(change, store, doing.wanted);
  change->node = node;
  change->stores++;
}

static void set_key(int node, int key) {
  if (key == KEY_VALUE) node_setValue(nodes[node], number_to_store());
  else node_setOther(nodes[node], number_to_store());
}

static kvo_status set_by_key(int node, const char *path) {
  kvo_value value = kvo_value_int(number_to_store());
  kvo_status status = strchr(path, '.')
                          ? kvo_set_value_for_key_path(object(node), path, &value, NULL)
                          : kvo_set_value_for_key(object(node), path, &value, NULL);
  kvo_value_destroy(&value);
  return status;
}

static void link_to(int node, int to) {
  doing.wanted = to;
  node_setNext(nodes[node], to == NOWHERE ? NULL : nodes[to]);
}

static void set_by_hand(int node, node_key key) {
  kvo_will_change(object(node), path_names[key]);
  store_key(node, key, number_to_store());
  kvo_did_change(object(node), path_names[key]);
}

static void set_in_bracket(int node, node_key key) {
  kvo_frame *frame = kvo_scoped_change_begin_named(object(node), path_names[key]);
  store_key(node, key, number_to_store());
  if (frame) kvo_scoped_change_end(frame);
  else if (kvo_binding_came_to_be_observed(object(node)))
    kvo_scoped_change_notify_late_observers(object(node), path_names[key]);
}

static kvo_status change_items(int node, bool inserts) {
  kvo_collection *items;
  kvo_status status = kvo_mutable_array(object(node), "items", &items, NULL);
  if (status) return status;
  kvo_value item = kvo_value_int(0);
  status = inserts ? kvo_collection_insert(items, 0, &item, NULL)
                   : kvo_collection_remove_at(items, 0, NULL);
  kvo_object_release((kvo_object *)items);
  return status;
}

static void insert_by_hand(int node) {
  kvo_index_set *indexes = kvo_index_set_create_range(0, 1);
  kvo_will_change_indexes(object(node), KVO_INSERTION, indexes, "items");
  insert_item(node);
  kvo_did_change_indexes(object(node), KVO_INSERTION, indexes, "items");
  kvo_index_set_destroy(indexes);
}

static void change_together(void *context) {
  const op *op = context;
  set_key(op->node, KEY_VALUE);
  set_key(op->node, KEY_OTHER);
  set_key(op->node, KEY_VALUE);
}

static kvo_status make_change(const op *op) {
  switch (op->verb) {
  case SET: set_key(op->node, op->to); break;
  case SET_BY_KEY: return set_by_key(op->node, path_names[op->to]);
  case SET_BY_PATH: return set_by_key(op->node, "next.value");
  case SET_BY_HAND: set_by_hand(op->node, (node_key)op->to); break;
  case SET_IN_BRACKET: set_in_bracket(op->node, (node_key)op->to); break;
  case LINK: link_to(op->node, op->to); break;
  case BATCH: kvo_coalesce(object(op->node), change_together, (void *)(uintptr_t)op); break;
  case INSERT: return change_items(op->node, true);
  case REMOVE: return change_items(op->node, false);
  case INSERT_BY_HAND: insert_by_hand(op->node); break;
  default: break;
  }
  return KVO_OK;
}

static uint8_t keys_of(const op *op) {
  switch (op->verb) {
  case SET:
  case SET_BY_KEY:
  case SET_BY_HAND:
  case SET_IN_BRACKET: return (uint8_t)(1 << op->to);
  case SET_BY_PATH: return 1 << KEY_VALUE;
  case LINK: return 1 << KEY_NEXT;
  case BATCH: return 1 << KEY_VALUE | 1 << KEY_OTHER;
  case INSERT:
  case REMOVE:
  case INSERT_BY_HAND: return 1 << KEY_ITEMS;
  default: return 0;
  }
}

static bool is_function_of_setter(const op *op) { return op->verb == SET || op->verb == LINK; }

// Whether a thread may end in the call, with nothing of this file's left to release or end.
static bool leaves_nothing_behind(const op *op) {
  return op->verb == SET || op->verb == SET_BY_KEY || op->verb == SET_BY_PATH || op->verb == LINK ||
         op->verb == BATCH;
}

static int do_change(const op *op) {
  int outer = doing.change, wanted = doing.wanted, number = begin_change(op, keys_of(op));
  bool could_leave = doing.may_leave, could_drop = doing.may_drop;
  doing.change = number;
  doing.may_leave = leaves_nothing_behind(op) && !doing.depth;
  doing.may_drop = is_function_of_setter(op) && !doing.depth;
  kvo_status status = make_change(op);
  past.changes[number].end = schedule_now();
  check_stores(&past.changes[number], status);
  doing.change = outer;
  doing.wanted = wanted;
  doing.may_leave = could_leave;
  doing.may_drop = could_drop;
  return number;
}

// MARK: Ends of registrations

static void drop(int node) {
  if (!holds[doing.thread][node]) return;
  holds[doing.thread][node] = false;
  for (int i = 0; i < REGISTRATIONS && !is_held(node); i++) {
    registration *registration = &past.registrations[i];
    if (registration->is_made && (registration->node == node || registration->observer == node))
      begin_end(registration);
  }
  kvo_object_release(object(node));
}

static void begin_end_of_all(registration *head) {
  for (int i = 0; i < head->members; i++) begin_end(head + i);
}

static void finish_end_of_all(registration *head) {
  for (int i = 0; i < head->members; i++) finish_end(head + i);
}

// A token belongs to its maker until registering has returned. The initial call may use it (C3).
static bool has_token(const registration *head, const registration *adding) {
  return head->handle && !head->is_taken && (head->add_end || head == adding);
}

static void release(registration *head) {
  if (!head->handle || head->is_taken || head->users) return;
  head->is_taken = true;
  begin_end_of_all(head);
  kvo_handle_release(head->handle);
  finish_end_of_all(head);
}

static void invalidate(registration *head) {
  head->users++;
  begin_end_of_all(head);
  kvo_handle_invalidate(head->handle);
  finish_end_of_all(head);
  head->users--;
}

static void unobserve(registration *registration) {
  if (!registration->add_end || !may_use(registration->node) || !may_use(registration->observer))
    return;
  bool had_ended = registration->end_end;
  begin_end(registration);
  kvo_status status = kvo_remove_observer_with_context(object(registration->node),
      object(registration->observer), path_names[registration->path], registration, NULL);
  if (status && registration->ends_asked == 1 && !registration->is_unsure)
    fail_schedule("not registered", "registration %d can't be removed", registration->label);
  if (!status && (had_ended || registration->removals++))
    fail_schedule("removed twice", "registration %d", registration->label);
  finish_end(registration);
}

// Registrations made during the call may or may not have ended afterwards.
static void remove_all(int node) {
  registration *met[REGISTRATIONS];
  int count = 0;
  for (int i = 0; i < REGISTRATIONS; i++) {
    registration *registration = &past.registrations[i];
    if (!registration->is_made || registration->node != node) continue;
    if (!registration->add_end) registration->is_unsure = true;
    else begin_end(met[count++] = registration);
  }
  past.removals_open[node]++;
  kvo_remove_all_observers(object(node));
  past.removals_open[node]--;
  for (int i = 0; i < count; i++) finish_end(met[i]);
}

// MARK: Observers

static void pass(int node, const char *path);

static void act_as(registration *registration, bool is_prior) {
  if (calls_nothing || doing.depth > 1) return;
  struct registration *adding = doing.adding;
  doing.adding = NULL; // what it does is not part of that
  switch (registration->act) {
  case ACT_END:
    if (has_token(registration->head, adding)) invalidate(registration->head);
    break;
  case ACT_SET: do_change(&(op){.verb = SET, .node = OTHER_LEAF, .to = KEY_OTHER}); break;
  case ACT_LINK:
    do_change(&(op){.verb = LINK, .node = OTHER_MIDDLE, .to = (int8_t)(LEAF + next_number() % 2)});
    break;
  case ACT_WATCH: pass(LEAF, "value"); break;
  case ACT_DROP:
    if (doing.may_drop && !is_prior && !adding) drop(MORTAL);
    break;
  case ACT_LEAVE:
    if (!doing.may_leave || !program_now->come_and_go || schedule_thread() < 0) break;
    if (doing.change >= 0) past.changes[doing.change].was_left = true;
    registration->calls_open--;
    schedule_leave();
  default: break;
  }
}

static int cause_of_call(const registration *registration) {
  if (!doing.adding || doing.adding->head != registration->head) return doing.change;
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    bool is_of_it = &past.registrations[call->registration] == registration;
    if (is_of_it && call->change == INITIAL) return AFTER_INITIAL;
  }
  return INITIAL;
}

static void is_called(registration *registration, const kvo_change *change) {
  check_unlocked("an observer");
  buffers_fence(
      __ATOMIC_SEQ_CST); // an observer that reads what other threads set takes a lock (I5)
  if (past.call_count == CALLS) fail_schedule("no room", "too many calls");
  int cause = cause_of_call(registration);
  call *call = &past.calls[past.call_count++];
  *call = (struct call){.registration = (int)(registration - past.registrations),
      .change = cause,
      .is_prior = kvo_change_is_prior(change),
      .thread = doing.thread,
      .before = past.store_count,
      .at = schedule_now(),
      .received = received_by(registration->path, kvo_change_get_new(change)),
      .read = is_held(registration->node) ? read_path(registration->node, registration->path)
                                          : NOWHERE};
  if (!call->is_prior && is_held(registration->node)) registration->last_read = call->read;
  check_call(registration, call, change);
  registration->calls_open++;
  doing.depth++;
  struct registration *adding = doing.adding;
  int outer = doing.change;
  act_as(registration, call->is_prior);
  doing.adding = adding;
  doing.change = outer;
  doing.depth--;
  registration->calls_open--;
}

static void check_recipient(const registration *registration, const kvo_object *object,
    const char *key_path) {
  if (object != &nodes[registration->node]->object)
    fail_schedule("wrong object", "registration %s", describe_registration(registration).text);
  if (strcmp(key_path, path_names[registration->path]))
    fail_schedule("wrong key", "registration %s: %s", describe_registration(registration).text,
        key_path);
}

static void called(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  check_recipient(context, object, key_path);
  is_called(context, change);
}

static void called_for_key(void *context, kvo_object *object, const char *key,
    const kvo_change *change) {
  registration *registration = (struct registration *)context + kvo_change_get_key_index(change);
  check_recipient(registration, object, key);
  is_called(registration, change);
}

void node_observes(kvo_object *observer, const kvo_object *observed, const char *key_path,
    const kvo_change *change, void *context) {
  registration *registration = context;
  if (object(registration->observer) != observer)
    fail_schedule("wrong observer", "another is called");
  check_recipient(registration, observed, key_path);
  is_called(registration, change);
}

static void has_ended(void *context) {
  check_unlocked("an end");
  registration *registration = context;
  for (int i = 0; i < registration->members; i++) {
    struct registration *member = registration + i;
    member->ended_at = schedule_now();
    if (++member->ended > 1) fail_schedule("ended twice", "registration %d", member->label);
    if (member->calls_open) fail_schedule("ended in a call", "registration %d", member->label);
    if (member->add_end && !member->end_begin && !member->is_unsure)
      fail_schedule("ended by itself", "registration %d", member->label);
  }
  if (registration->act == ACT_REGISTER && !calls_nothing && may_use(registration->node) &&
      nodes[registration->node])
    pass(registration->node, "other");
}

// MARK: Registering

static registration *make_registration(const op *op, int member) {
  registration *registration = &past.registrations[(op->label - 1) * 3 + member];
  *registration = (struct registration){.is_made = true,
      .node = op->node,
      .path =
          op->verb == WATCH_KEYS ? (int)(member == 2 ? PATH_NEXT : PATH_VALUE + member) : op->to,
      .options = op->options,
      .act = op->act,
      .label = op->label,
      .observer = op->verb == OBSERVE ? op->observer : NOWHERE,
      .head = registration - member,
      .members = op->verb == WATCH_KEYS && !member ? 3 : 1,
      .is_unsure = past.removals_open[op->node] > 0,
      .before = past.store_count,
      .add_begin = schedule_now()};
  registration->last_read = read_path(registration->node, registration->path);
  return registration;
}

static kvo_status add(const op *op, registration *head) {
  kvo_options options = (kvo_options)op->options;
  if (op->verb == OBSERVE)
    return kvo_add_observer(object(op->node), object(op->observer), path_names[op->to], options,
        head, NULL);
  if (op->verb == WATCH)
    return kvo_add_callback(object(op->node), path_names[op->to], options, called, head, has_ended,
        &head->handle, NULL);
  const char *keys[3];
  for (int i = 0; i < 3; i++) keys[i] = path_names[head[i].path];
  return kvo_add_callback_for_keys(object(op->node), keys, 3, options, called_for_key, head, 0,
      has_ended, &head->handle, NULL);
}

static void watch(const op *op) {
  if (!may_use(op->observer)) return;
  registration *head = make_registration(op, 0);
  if (op->verb == WATCH_KEYS)
    for (int i = 1; i < 3; i++) make_registration(op, i);
  doing.adding = head;
  doing.may_leave = true;
  kvo_status status = add(op, head);
  doing.may_leave = false;
  doing.adding = NULL;
  if (status) fail_schedule("not registered", "%s: status %d", path_names[op->to], status);
  for (int i = 0; i < head->members; i++) head[i].add_end = schedule_now();
  for (int i = 0; i < head->members; i++) check_added(&head[i]);
}

static void is_passing(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)object, (void)key_path, (void)change;
}

static void passing_has_ended(void *context) {
  (void)context;
  past.passing_ended++;
}

// A short-lived registration.
static void pass(int node, const char *path) {
  kvo_handle *handle;
  kvo_status status = kvo_add_callback(object(node), path, KVO_NEW, is_passing, NULL,
      passing_has_ended, &handle, NULL);
  if (status) fail_schedule("not registered", "%s: status %d", path, status);
  past.passing_made++;
  kvo_handle_release(handle);
}

static void make_pass(void) {
  node *passing = (node *)kvo_object_create(node_class());
  kvo_handle *handle;
  kvo_status status = kvo_add_callback(&passing->object, "next.value", KVO_NEW | KVO_INITIAL,
      is_passing, NULL, passing_has_ended, &handle, NULL);
  if (status) fail_schedule("not registered", "a new object: status %d", status);
  past.passing_made++;
  kvo_object_release(&passing->object);
  kvo_handle_release(handle);
}

static void give_back(void *value) {
  (void)value;
  past.given_back++;
}

static void keep(int node) {
  static char key;
  past.kept++;
  if (kvo_object_associate(object(node), &key, &key, give_back, NULL))
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
  if (kvo_value_for_key_path(object(node), path_names[path], &value, NULL))
    fail_schedule("not read", "%s of %s", path_names[path], node_names[node]);
  check_value(&reading, &value);
  kvo_value_destroy(&value);
  int key = path < PATH_SUM ? path : PATH_SUM;
  bool is_observed = kvo_is_observed(object(node), path_names[key]);
  if (!is_observed && is_observed_throughout(node, key, begin))
    fail_schedule("not observed", "%s of %s", path_names[key], node_names[node]);
  kvo_free(kvo_copy_debug_dump(object(node)));
}

// MARK: Programs

static void perform(const op *op) {
  registration *labelled = op->label ? &past.registrations[(op->label - 1) * 3] : NULL;
  switch (op->verb) {
  case END:
    if (labelled->is_made && has_token(labelled, NULL)) release(labelled);
    return;
  case INVALIDATE:
    if (labelled->is_made && has_token(labelled, NULL)) invalidate(labelled);
    return;
  case UNOBSERVE:
    if (labelled->is_made && labelled->observer != NOWHERE) unobserve(labelled);
    return;
  case DROP: drop(op->node); return;
  case PASS: make_pass(); return;
  default: break;
  }
  if (!may_use(op->node)) return;
  switch (op->verb) {
  case WATCH:
  case WATCH_KEYS:
  case OBSERVE: watch(op); return;
  case REMOVE_ALL: remove_all(op->node); return;
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

// The first thread that holds the mortal nodes performs the first ops.
static void hand_out(void) {
  memset(holds, 0, sizeof holds);
  for (int i = program_now->threads; i-- > 0;) {
    if (!(program_now->holders & 1 << i)) continue;
    holds[i][MORTAL] = holds[i][MORTAL_WATCHER] = true;
    kvo_object_retain(object(MORTAL));
    kvo_object_retain(object(MORTAL_WATCHER));
    doing.thread = i;
  }
  kvo_object_release(object(MORTAL));
  kvo_object_release(object(MORTAL_WATCHER));
}

static void build(void) {
  begin(0);
  make_world(program_now->next);
  for (int i = 0; i < NODES; i++)
    past.links[past.link_count++] = (stored_link){0, i, program_now->next[i]};
  hand_out();
  perform_all(&program_now->before);
}

static void run_thread(uint32_t thread) {
  if (thread == 0) {
    schedule_hold();
    if (program_now->is_own) build();
    past.first_point = schedule_now();
    schedule_let_go();
  }
  begin((int)thread);
  perform_all(&program_now->of[thread]);
  drop(MORTAL);
  drop(MORTAL_WATCHER);
}

// A thread that ended early has not released what it holds.
static void drop_all(void) {
  for (int i = 0; i < program_now->threads; i++) {
    begin(i);
    drop(MORTAL);
    drop(MORTAL_WATCHER);
  }
  begin(0);
}

int probe(int node, node_key key) {
  op op = {.verb = SET, .node = (uint8_t)node, .to = (int8_t)key};
  if (key == KEY_NEXT) op.verb = LINK, op.to = (int8_t)node_index(nodes[node]->next);
  if (key == KEY_ITEMS) op.verb = INSERT;
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
    if (past.registrations[i].is_made) release(&past.registrations[i]);
  for (int i = 0; i < MORTAL; i++) nodes[i]->next = NULL;
  for (int i = 0; i < NODES; i++)
    if (is_held(i)) kvo_object_release(object(i));
}

static void audit(void) {
  drop_all();
  calls_nothing = true;
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
  if (!program_now->come_and_go) function();
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
  calls_nothing = false;
}

void run_program(const program *program, const schedule *schedule) {
  program_now = program;
  current_outcome->schedule = *schedule;
  begin_history();
  arena_begin(program->reuses_memory);
  if (!program->is_own) run_apart(build);
  schedule_run(schedule, program->threads, program->come_and_go, run_thread);
  run_apart(audit);
  arena_end();
}
