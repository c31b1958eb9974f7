// The changes that programs make, and their setters.
#include "doing.h"

#include "failure.h"
#include "interpose.h"
#include "kvo_binding.h"
#include "oracle.h"

#include <string.h>

static int number_to_store(void) {
  return doing.wanted = doing.again ? doing.again : next_number();
}

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
      .caller = doing.call,
      .is_of_getter = doing.reads_stamped && doing.change >= 0,
      .is_in_mutation = doing.mutation.is_open && !doing.depth && !doing.reads_stamped,
      .is_nested = doing.depth > 0 || doing.reads_stamped || doing.mutation.is_open};
  return number;
}

// No code of the program runs under a lock (Locks.md).
void check_unlocked(const char *what) {
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

static void stamp(int node) {
  doing.wanted = STAMPS + read_path(node, PATH_VALUE);
  node_setStamp(nodes[node], doing.wanted);
}

static kvo_status set_by_key(int node, const char *path) {
  kvo_value value = kvo_value_int(number_to_store());
  kvo_status status = strchr(path, '.')
                          ? kvo_set_value_for_key_path(object_of(node), path, &value, NULL)
                          : kvo_set_value_for_key(object_of(node), path, &value, NULL);
  kvo_value_destroy(&value);
  return status;
}

static void link_to(int node, int to) {
  doing.wanted = to;
  node_setNext(nodes[node], to == NOWHERE ? NULL : nodes[to]);
}

static void set_by_hand(int node, node_key key) {
  kvo_will_change(object_of(node), path_names[key]);
  store_key(node, key, number_to_store());
  kvo_did_change(object_of(node), path_names[key]);
}

static void set_in_bracket(int node, node_key key) {
  kvo_frame *frame = kvo_scoped_change_begin_named(object_of(node), path_names[key]);
  store_key(node, key, number_to_store());
  if (frame) kvo_scoped_change_end(frame);
  else if (kvo_binding_came_to_be_observed(object_of(node)))
    kvo_scoped_change_notify_late_observers(object_of(node), path_names[key]);
}

// Makes a change in the mutation: of the other number, or of the linked node's number.
static void change_in_mutation(int node, node_key key) {
  op op = {.verb = SET, .node = (uint8_t)node, .to = key == KEY_VALUE ? KEY_OTHER : KEY_VALUE};
  if (key == KEY_NEXT) {
    int next = read_path(node, PATH_NEXT);
    if (next == NOWHERE) return;
    op.node = (uint8_t)next;
  }
  do_change(&op);
}

static void be_in_mutation(int node, node_key key) {
  doing.mutation = (mutation){true, node, doing.change, key, past.changes[doing.change].begin};
  change_in_mutation(node, key);
  doing.mutation.is_open = false;
}

static void store_in_place(int node, node_key key, int to) {
  be_in_mutation(node, key);
  if (key == KEY_NEXT) store_link(node, doing.wanted = to);
  else store_key(node, key, number_to_store());
}

static void mutate(int node, node_key key, int to) {
  kvo_object *object = object_of(node);
  const char *interned = kvo_key_intern(path_names[key]);
  bool is_observed = kvo_binding_is_observed(object);
  kvo_frame *frame =
      is_observed ? kvo_stored_property_will_change_key_in_place(object, interned) : NULL;
  store_in_place(node, key, to);
  if (frame) kvo_stored_property_did_change_key(frame, interned);
  else if (!is_observed && kvo_binding_came_to_be_observed(object))
    kvo_stored_property_notify_late_observers_key(object, interned);
}

static void cancel_mutation(int node, node_key key) {
  const char *interned = kvo_key_intern(path_names[key]);
  kvo_frame *frame = kvo_binding_is_observed(object_of(node))
                         ? kvo_stored_property_will_change_key_in_place(object_of(node), interned)
                         : NULL;
  be_in_mutation(node, key);
  if (frame) kvo_stored_property_cancel_change(frame);
}

static kvo_status change_items(int node, bool inserts) {
  kvo_collection *items;
  kvo_status status = kvo_mutable_array(object_of(node), "items", &items, NULL);
  if (status) return status;
  kvo_value item = kvo_value_int(0);
  status = inserts ? kvo_collection_insert(items, 0, &item, NULL)
                   : kvo_collection_remove_at(items, 0, NULL);
  kvo_object_release((kvo_object *)items);
  return status;
}

static void insert_by_hand(int node) {
  kvo_index_set *indexes = kvo_index_set_create_range(0, 1);
  kvo_will_change_indexes(object_of(node), KVO_INSERTION, indexes, "items");
  insert_item(node);
  kvo_did_change_indexes(object_of(node), KVO_INSERTION, indexes, "items");
  kvo_index_set_destroy(indexes);
}

static void change_together(void *context) {
  const op *op = context;
  for (int i = 0; i < 3; i++) {
    node_key key = i == 1 ? KEY_OTHER : KEY_VALUE;
    if (op->verb == BATCH_IN_PLACE && key == KEY_VALUE) mutate(op->node, key, NOWHERE);
    else set_key(op->node, key);
  }
}

static kvo_status make_change(const op *op) {
  switch (op->verb) {
  case SET: set_key(op->node, op->to); break;
  case SET_BY_KEY: return set_by_key(op->node, path_names[op->to]);
  case SET_BY_PATH: return set_by_key(op->node, "next.value");
  case SET_BY_HAND: set_by_hand(op->node, (node_key)op->to); break;
  case SET_IN_BRACKET: set_in_bracket(op->node, (node_key)op->to); break;
  case CANCEL_IN_PLACE: cancel_mutation(op->node, (node_key)op->to); break;
  case SET_IN_PLACE: mutate(op->node, (node_key)op->to, NOWHERE); break;
  case LINK: link_to(op->node, op->to); break;
  case LINK_IN_PLACE: mutate(op->node, KEY_NEXT, op->to); break;
  case BATCH:
  case BATCH_IN_PLACE:
    kvo_coalesce(object_of(op->node), change_together, (void *)(uintptr_t)op);
    break;
  case STAMP: stamp(op->node); break;
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
  case SET_IN_BRACKET:
  case SET_IN_PLACE:
  case CANCEL_IN_PLACE: return (uint8_t)(1 << op->to);
  case SET_BY_PATH: return 1 << KEY_VALUE;
  case LINK:
  case LINK_IN_PLACE: return 1 << KEY_NEXT;
  case BATCH:
  case BATCH_IN_PLACE: return 1 << KEY_VALUE | 1 << KEY_OTHER;
  case STAMP: return 1 << KEY_STAMP;
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

int do_change(const op *op) {
  int outer = doing.change, wanted = doing.wanted, number = begin_change(op, keys_of(op));
  bool could_leave = doing.may_leave, could_drop = doing.may_drop;
  doing.change = number;
  bool is_first = !doing.depth && !doing.mutation.is_open;
  doing.may_leave = is_first && leaves_nothing_behind(op);
  doing.may_drop = is_first && is_function_of_setter(op);
  kvo_status status = make_change(op);
  past.changes[number].end = schedule_now();
  check_stores(&past.changes[number], status);
  doing.change = outer;
  doing.wanted = wanted;
  doing.may_leave = could_leave;
  doing.may_drop = could_drop;
  return number;
}

// Whether a key may have begun to depend on a property since then, by a registration or a link. It is read at once (E4).
static bool may_have_come_to_depend(const mutation *open) {
  uint64_t since = open->begin;
  for (int i = 0; i < REGISTRATIONS; i++) {
    const registration *registration = &past.registrations[i];
    if (registration->is_made && (!registration->add_end || registration->add_end > since))
      return true;
  }
  for (int i = 0; i < past.change_count; i++) {
    const change *change = &past.changes[i];
    if (change->keys & 1 << KEY_NEXT && i != open->change && (!change->end || change->end > since))
      return true;
  }
  return false;
}

void node_is_read(int node, node_key key) {
  const mutation *open = &doing.mutation;
  bool is_mutated = open->is_open && open->node == node && open->key == key;
  if (is_mutated && !doing.depth && !may_have_come_to_depend(open))
    fail_schedule("read in place", "%s of %s, in a mutation", path_names[key], node_names[node]);
}

// A registration may call the getter, which sets the stamp and so calls the observers of the stamp. Their calls do not
// count for that registration. If one of them calls the getter again, it sets nothing.
void node_is_stamped(int node) {
  if (doing.reads_stamped) return;
  registration *adding = doing.adding;
  doing.adding = NULL;
  doing.reads_stamped = true;
  if (doing.change >= 0) past.changes[doing.change].is_stamped = true;
  do_change(&(op){.verb = STAMP, .node = (uint8_t)node});
  doing.reads_stamped = false;
  doing.adding = adding;
}
