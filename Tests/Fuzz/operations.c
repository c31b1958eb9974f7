// Sequences of operations on a few objects: registrations, removals, changes in every way, pairs,
// proxies, new links, deaths, also from within observers, and with memory out. In the end each
// registration has ended once, and no object is left with an observer or a class of its own.
#include "fuzz.h"

#include "fixture_graph.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 4, RECORDS = 32, PAIRS = 6, DEPTH = 3 };

static const char *const paths[] = {"value", "extra", "quiet", "manual", "total", "next", "other",
    "wares", "items", "tags", "next.value", "next.total", "next.next.value", "nextTotal", "both",
    "sum", "circle", "heir.value", "far", "items.@count", "items.@sum.value", "tags.@max.value",
    "other.items", "wares.@avg.value", "grand", "next.other.tags"};
enum { PATHS = sizeof paths / sizeof *paths, KEYS = 10 };

typedef struct record {
  kvo_handle *handle;
  bool is_over; ///< nothing may be told any more
  int ended;
} record;

typedef struct pair {
  graph_node *node; ///< retained
  const char *key;
} pair;

static struct {
  fuzz_input input;
  graph_node *nodes[NODES]; ///< those that live; each has one reference from here
  record records[RECORDS];
  size_t record_count;
  pair pairs[PAIRS];
  size_t pair_count;
  int depth;
} state;

static void operate(void);

static size_t below(size_t limit) { return fuzz_below(&state.input, limit); }
static const char *any_path(void) { return paths[below(PATHS)]; }
static const char *any_key(void) { return paths[below(KEYS)]; }
static kvo_object *object_of(void *node) { return node; }

// MARK: Observers

// What it was told is looked at; then it does something itself.
static void react(const kvo_change *change) {
  char text[16];
  const kvo_value *old = kvo_change_get_old(change), *new = kvo_change_get_new(change);
  if (old) kvo_value_describe(old, text, sizeof text);
  if (new) kvo_value_describe(new, text, sizeof text);
  if (state.depth < DEPTH && below(4) == 1) operate();
}

static void changed(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  const record *record = context;
  (void)object, (void)key_path;
  FUZZ_REQUIRE(!record->is_over);
  FUZZ_REQUIRE(!record->ended);
  react(change);
}

static void ended(void *context) { ((record *)context)->ended++; }

static void took(void *sink_context, const char *level, const char *key_path, kvo_object *object,
    const kvo_change *change, void *context) {
  (void)sink_context, (void)level, (void)key_path, (void)object, (void)context;
  react(change);
}

static void check(kvo_status status, kvo_status allowed, const kvo_error *error) {
  if (!status) return;
  fuzz_check_error(status, error);
  FUZZ_REQUIRE(status == allowed || status == KVO_NO_MEMORY);
}

static void add_callback(graph_node *node) {
  if (state.record_count == RECORDS) return;
  record *record = &state.records[state.record_count++];
  kvo_options options = (kvo_options)below(32);
  kvo_error error = {0};
  kvo_status status = kvo_add_callback(object_of(node), any_path(), options, changed, record, ended,
      &record->handle, &error);
  check(status, KVO_NO_MEMORY, &error);
  FUZZ_REQUIRE(!status == (record->handle != NULL));
}

static void end_callback(void) {
  if (!state.record_count) return;
  record *record = &state.records[below(state.record_count)];
  if (!record->handle) return;
  kvo_handle_invalidate(record->handle);
  record->is_over = true;
  FUZZ_REQUIRE(!kvo_handle_is_valid(record->handle));
}

static void add_observer(graph_node *node, graph_node *observer) {
  kvo_options options = (kvo_options)below(32);
  void *context = (void *)(uintptr_t)below(2);
  kvo_error error = {0};
  kvo_status status =
      kvo_add_observer(object_of(node), object_of(observer), any_path(), options, context, &error);
  check(status, KVO_NO_MEMORY, &error);
}

static void remove_observer(graph_node *node, graph_node *observer) {
  const char *path = any_path();
  size_t context = below(3);
  kvo_error error = {0};
  kvo_status status = context == 2
                          ? kvo_remove_observer(object_of(node), object_of(observer), path, &error)
                          : kvo_remove_observer_with_context(object_of(node), object_of(observer),
                                path, (void *)(uintptr_t)context, &error);
  check(status, KVO_NOT_REGISTERED, &error);
}

// MARK: Changes

static kvo_collection *some_nodes(kvo_collection_kind kind) {
  kvo_value elements[NODES];
  size_t count = 0, chosen = below(1 << NODES);
  for (size_t i = 0; i < NODES; i++)
    if ((chosen >> i & 1) && state.nodes[i])
      elements[count++] = kvo_value_object(object_of(state.nodes[i]));
  kvo_collection *made = kvo_collection_create(kind, elements, count, NULL);
  for (size_t i = 0; i < count; i++) kvo_value_destroy(&elements[i]);
  return made;
}

static void set_collection(graph_node *node) {
  size_t which = below(3);
  kvo_collection *made = some_nodes(which == 1 ? KVO_SET : KVO_ARRAY);
  if (!made) return;
  if (which == 0) graph_node_setItems(node, made);
  else if (which == 1) graph_node_setTags(node, made);
  else graph_node_setWares(node, made);
  kvo_object_release(object_of(made));
}

static void set_number(graph_node *node) {
  double number = (double)below(4);
  switch (below(4)) {
  case 0: graph_node_setValue(node, number); break;
  case 1: graph_node_setExtra(node, number); break;
  case 2: graph_node_setQuiet(node, number); break;
  case 3: graph_node_setManual(node, number); break;
  }
}

static void set_by_path(graph_node *node) {
  kvo_value number = kvo_value_double((double)below(4)), value;
  const char *path = any_path();
  kvo_error error = {0};
  kvo_status status = kvo_set_value_for_key_path(object_of(node), path, &number, &error);
  if (status) fuzz_check_error(status, &error);
  status = kvo_value_for_key_path(object_of(node), path, &value, &error);
  if (status) fuzz_check_error(status, &error);
  kvo_value_destroy(&value);
}

static void change_items(graph_node *node, graph_node *item) {
  size_t count = node->items.count, index = below(count + 1);
  size_t which = below(3);
  if (which == 0) graph_node_insertItem(node, item, index);
  else if (index == count) return;
  else if (which == 1) graph_node_removeItem(node, index);
  else graph_node_replaceItem(node, index, item);
}

static void change_tags(graph_node *node, graph_node *tag) {
  if (below(2)) graph_node_addTag(node, tag);
  else graph_node_removeTag(node, tag);
}

// Through a proxy, which keeps the object until it is let go of.
static void change_by_proxy(graph_node *node, graph_node *element) {
  bool is_set = below(2);
  kvo_collection *proxy, *others = some_nodes(KVO_SET);
  kvo_value value = kvo_value_object(object_of(element));
  kvo_error error = {0};
  kvo_status status =
      is_set ? kvo_mutable_set(object_of(node), "tags", &proxy, &error)
             : kvo_mutable_array(object_of(node), below(2) ? "items" : "wares", &proxy, &error);
  check(status, KVO_NO_MEMORY, &error);
  if (!status) {
    switch (others ? below(6) : 0) {
    case 0: kvo_collection_add(proxy, &value, NULL); break;
    case 1: kvo_collection_remove(proxy, &value, NULL); break;
    case 2: kvo_collection_union(proxy, others, NULL); break;
    case 3: kvo_collection_minus(proxy, others, NULL); break;
    case 4: kvo_collection_intersect(proxy, others, NULL); break;
    case 5: kvo_collection_set(proxy, others, NULL); break;
    }
    kvo_object_release(object_of(proxy));
  }
  kvo_value_destroy(&value);
  kvo_object_release(object_of(others));
}

static void open_pair(graph_node *node) {
  if (state.pair_count == PAIRS) return;
  pair pair = {node, any_key()};
  kvo_object_retain(object_of(node));
  state.pairs[state.pair_count++] = pair;
  kvo_will_change(object_of(node), pair.key);
}

// Any of the open ones: pairs may cross.
static void close_pair(size_t index) {
  pair pair = state.pairs[index];
  memmove(&state.pairs[index], &state.pairs[index + 1], (--state.pair_count - index) * sizeof pair);
  kvo_did_change(object_of(pair.node), pair.key);
  kvo_object_release(object_of(pair.node));
}

// MARK: Lives

static graph_node *create(void) {
  graph_node *node = (graph_node *)kvo_object_create(graph_node_class());
  if (node) node->watcher.sink = took;
  return node;
}

// Two that are linked in a ring would live for ever.
static void unlink_all(graph_node *node) {
  graph_node_setNext(node, NULL);
  graph_node_setOther(node, NULL);
  graph_node_setWares(node, NULL);
  while (node->items.count) graph_node_removeItem(node, node->items.count - 1);
  while (node->tags.count) graph_node_removeTag(node, node->tags.nodes[0]);
}

static bool is_in_pool(const graph_node *node) {
  for (size_t i = 0; i < NODES; i++)
    if (state.nodes[i] == node) return true;
  return false;
}

// Gives back what an operation has held; what died meanwhile may have got links again.
static void let_go(graph_node *node) {
  if (!is_in_pool(node)) unlink_all(node);
  kvo_object_release(object_of(node));
}

static void replace_node(size_t index) {
  graph_node *old = state.nodes[index];
  state.nodes[index] = NULL;
  let_go(old);
  if (!state.nodes[index]) state.nodes[index] = create();
}

// MARK: All together

static void operate_on(graph_node *node, graph_node *second) {
  switch (below(14)) {
  case 0: add_callback(node); break;
  case 1: end_callback(); break;
  case 2: add_observer(node, second); break;
  case 3: remove_observer(node, second); break;
  case 4: set_number(node); break;
  case 5: graph_node_setNext(node, below(4) ? second : NULL); break;
  case 6: graph_node_setOther(node, below(4) ? second : NULL); break;
  case 7: set_collection(node); break;
  case 8: set_by_path(node); break;
  case 9: change_items(node, second); break;
  case 10: change_tags(node, second); break;
  case 11: change_by_proxy(node, second); break;
  case 12: open_pair(node); break;
  case 13:
    if (state.pair_count) close_pair(below(state.pair_count));
    break;
  }
}

static void operate(void) {
  size_t first = below(NODES), other = below(NODES), choice = below(16);
  graph_node *node = state.nodes[first], *second = state.nodes[other];
  if (!node || !second) return;
  state.depth++;
  kvo_object_retain(object_of(node));
  kvo_object_retain(object_of(second));
  if (choice == 15 && state.depth == 1) fuzz_limit_memory(fuzz_byte(&state.input));
  if (choice == 14) replace_node(first);
  else operate_on(node, second);
  if (state.depth == 1) fuzz_restore_memory();
  let_go(second);
  let_go(node);
  state.depth--;
}

static void count(void *context, const kvo_registration_info *info) {
  (void)info;
  ++*(size_t *)context;
}

static void check_unobserved(kvo_object *object) {
  size_t registrations = 0;
  FUZZ_REQUIRE(!kvo_visit_registrations(object, count, &registrations));
  FUZZ_REQUIRE(!registrations);
  for (size_t i = 0; i < KEYS; i++) FUZZ_REQUIRE(!kvo_is_observed(object, paths[i]));
  FUZZ_REQUIRE(kvo_isa(object) == graph_node_class());
}

static void end_all(void) {
  while (state.pair_count) close_pair(state.pair_count - 1);
  for (size_t i = 0; i < state.record_count; i++) {
    kvo_handle_release(state.records[i].handle);
    FUZZ_REQUIRE(state.records[i].ended == (state.records[i].handle ? 1 : 0));
  }
  for (size_t i = 0; i < NODES; i++)
    if (state.nodes[i]) kvo_remove_all_observers(object_of(state.nodes[i]));
  for (size_t i = 0; i < NODES; i++)
    if (state.nodes[i]) check_unobserved(object_of(state.nodes[i]));
  for (size_t i = 0; i < NODES; i++)
    if (state.nodes[i]) unlink_all(state.nodes[i]);
  for (size_t i = 0; i < NODES; i++) kvo_object_release(object_of(state.nodes[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  memset(&state, 0, sizeof state);
  state.input = (fuzz_input){data, size};
  for (size_t i = 0; i < NODES; i++) state.nodes[i] = create();
  while (state.input.left) operate();
  end_all();
  return 0;
}
