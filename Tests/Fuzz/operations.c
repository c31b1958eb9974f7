// Sequences of operations on a few objects: registrations, removals, all kinds of changes, pairs, proxies, new links
// and deaths, also inside observers and with memory out. Each observer gets what the ledger says. In the end each
// registration has ended once, and no object has an observer or a dynamic class.
#include "operations.h"

#include <string.h>

static const char *const paths[] = {"value", "extra", "quiet", "manual", "total", "next", "other",
    "wares", "items", "tags", "next.value", "next.total", "next.next.value", "nextTotal", "both",
    "sum", "circle", "heir.value", "far", "items.@count", "items.@sum.value", "tags.@max.value",
    "other.items", "wares.@avg.value", "grand", "next.other.tags", "hush", "loud", "ringB", "heir"};
enum { PATHS = sizeof paths / sizeof *paths, NUMBERS = 4, MOST_LOST = 1000 };

ops_state ops;

static bool is_key(const char *path) { return !strchr(path, '.'); }

size_t ops_below(size_t limit) { return fuzz_below(&ops.input, limit); }
const char *ops_key_at(size_t index) { return paths[index]; }
const char *ops_path(void) { return ops.about ? ops.about->path : paths[ops_below(PATHS)]; }
const char *ops_key(void) {
  return ops.about && is_key(ops.about->path) ? ops.about->path : paths[ops_below(OPS_KEYS)];
}
const char *ops_number(void) {
  return ops.about && model_is_stored_number(ops.about->path) ? ops.about->path
                                                              : paths[ops_below(NUMBERS)];
}
kvo_object *ops_object(void *node) { return node; }

void ops_check(kvo_status status, kvo_status allowed, const kvo_error *error) {
  if (!status) return;
  fuzz_check_error(status, error);
  FUZZ_REQUIRE(status == allowed || status == KVO_NO_MEMORY);
}

// MARK: Lives

static void say_last_words(void *context, kvo_object *self) {
  (void)context;
  ops_end_registrations((graph_node *)self);
  ops_lose_pairs((graph_node *)self);
}

static graph_node *create(void) {
  graph_node *node = (graph_node *)kvo_object_create(graph_node_class());
  if (!node) return NULL;
  node->watcher.sink = ops_take;
  node->watcher.sink_context = node;
  node->watcher.tracked.last_words = say_last_words;
  return node;
}

// Nodes linked in a ring would never die.
static void unlink_all(graph_node *node) {
  ops_set_link(node, true, NULL);
  ops_set_link(node, false, NULL);
  ops_set_wares(node, NULL);
  while (node->items.count) ops_remove_item(node, node->items.count - 1);
  while (node->tags.count) ops_change_tag(node, node->tags.nodes[0], false);
}

static bool is_in_pool(const graph_node *node) {
  for (size_t i = 0; i < OPS_NODES; i++)
    if (ops.nodes[i] == node) return true;
  return false;
}

// Releases a node retained by an operation. If it was dropped since, it may have new links.
static void let_go(graph_node *node) {
  if (!is_in_pool(node)) unlink_all(node);
  kvo_object_release(ops_object(node));
}

static void replace_node(graph_node *old) {
  size_t index = 0;
  while (index < OPS_NODES && ops.nodes[index] != old) index++;
  if (index == OPS_NODES) return;
  ops.nodes[index] = NULL;
  let_go(old);
  if (!ops.nodes[index]) ops.nodes[index] = create();
}

// MARK: Operations

// With another number of operations the stored inputs change their meaning. `Scripts/fuzz --sabotage` says which of
// them must be found again.
static void operate_on(graph_node *node, graph_node *second) {
  switch (ops_below(20)) {
  case 0: ops_add_callback(node); break;
  case 1: ops_end_callback(); break;
  case 2: ops_add_observer(node, second); break;
  case 3: ops_remove_observer(node, second); break;
  case 4: ops_set_number(node); break;
  case 5: ops_set_link(node, true, ops_below(4) ? second : NULL); break;
  case 6: ops_set_link(node, false, ops_below(4) ? second : NULL); break;
  case 7: ops_set_collection(node); break;
  case 8: ops_set_by_path(node); break;
  case 9: ops_change_items(node, second); break;
  case 10: ops_change_tag(node, second, ops_below(2)); break;
  case 11: ops_change_by_proxy(node, second); break;
  case 12: ops_open_pair(node); break;
  case 13:
    if (ops.pair_count) ops_close_pair(ops_below(ops.pair_count));
    break;
  case 14: ops_add_group(node); break;
  case 15: ops_remove_all(node); break;
  case 16: ops_bracket(node); break;
  case 17: ops_close_without_will(node); break;
  case 18: ops_set_link_by_key(node, second); break;
  case 19: ops_add_many(node, second); break;
  }
}

static void act(size_t choice, graph_node *node, graph_node *second) {
  if (choice == 15 && ops.depth == 1) fuzz_limit_memory(fuzz_byte(&ops.input));
  if (choice == 14) replace_node(ops_below(2) ? node : second);
  else operate_on(node, second);
  if (ops.depth == 1) fuzz_restore_memory();
}

static const ledger_entry *live_one(const ledger_entry *entry) {
  return entry < fuzz_ledger.entries + fuzz_ledger.count && entry->is_live ? entry : NULL;
}

// Any operation, or one about a registration.
void ops_operate(const ledger_entry *about) {
  const ledger_entry *outer = ops.about;
  size_t choice = ops_below(16);
  if (choice >= 8 && choice < 14) about = fuzz_ledger.entries + ops_below(fuzz_ledger.count + 1);
  about = ops.about = about ? live_one(about) : NULL;
  graph_node *node = about ? about->object : ops.nodes[ops_below(OPS_NODES)];
  graph_node *second = about && about->observer ? about->observer : ops.nodes[ops_below(OPS_NODES)];
  if (node && second) {
    ops.depth++;
    kvo_object_retain(ops_object(node));
    kvo_object_retain(ops_object(second));
    act(choice, node, second);
    let_go(second);
    let_go(node);
    ops.depth--;
  }
  ops.about = outer;
}

// MARK: Checks

static void check_observed(const graph_node *node) {
  for (size_t i = 0; i < OPS_KEYS && !fuzz_ledger.is_short; i++)
    FUZZ_REQUIRE(kvo_is_observed((const kvo_object *)node, ops_key_at(i)) ==
                 ledger_has_observers(node, ops_key_at(i)));
}

static void check_handles(void) {
  for (size_t i = 0; i < fuzz_ledger.count; i++) {
    const ops_record *record = &ops.records[i];
    if (!record->handle) continue;
    FUZZ_REQUIRE(kvo_handle_is_valid(record->handle) == fuzz_ledger.entries[i].is_live);
    FUZZ_REQUIRE(record->ended == !fuzz_ledger.entries[i].is_live);
  }
}

// Between operations the runtime's state equals the ledger.
static void check_all(void) {
  FUZZ_REQUIRE(fuzz_misuses >= fuzz_ledger.misuses || fuzz_ledger.is_short);
  if (fuzz_misuses > fuzz_ledger.misuses) fuzz_ledger.is_short = true;
  for (size_t i = 0; i < OPS_NODES; i++) {
    if (!ops.nodes[i]) continue;
    ledger_check(ops.nodes[i]);
    check_observed(ops.nodes[i]);
  }
  check_handles();
}

static void operate_and_check(void) {
  fuzz_ledger.misuses = fuzz_misuses;
  ops_operate(NULL);
  check_all();
}

static void check_unobserved(kvo_object *object) {
  for (size_t i = 0; i < OPS_KEYS; i++) FUZZ_REQUIRE(!kvo_is_observed(object, ops_key_at(i)));
  FUZZ_REQUIRE(kvo_isa(object) == graph_node_class());
}

static void end_all(void) {
  while (ops.pair_count) ops_close_pair(ops.pair_count - 1);
  for (size_t i = 0; i < fuzz_ledger.count; i++) {
    kvo_handle_release(ops.records[i].handle);
    FUZZ_REQUIRE(ops.records[i].ended == (ops.records[i].handle ? 1 : 0));
    if (!fuzz_ledger.entries[i].observer) fuzz_ledger.entries[i].is_live = false;
  }
  // Includes replaced nodes that others still retain: if memory was out, their paths may lag behind.
  for (size_t i = 0; i < fuzz_ledger.count; i++)
    if (fuzz_ledger.entries[i].is_live) ops_remove_all(fuzz_ledger.entries[i].object);
  for (size_t i = 0; i < OPS_NODES; i++)
    if (ops.nodes[i]) check_unobserved(ops_object(ops.nodes[i]));
  for (size_t i = 0; i < OPS_NODES; i++)
    if (ops.nodes[i]) unlink_all(ops.nodes[i]);
  for (size_t i = 0; i < OPS_NODES; i++) kvo_object_release(ops_object(ops.nodes[i]));
}

// If memory was out for a will and the object then died, an earlier input leaves a will without a did. The next did
// without a will would be matched with it.
static void settle_lost_pairs(void) {
  size_t before = fuzz_misuses;
  for (size_t left = MOST_LOST; fuzz_misuses == before; left--) {
    FUZZ_REQUIRE(left);
    kvo_did_change(ops_object(ops.nodes[0]), ops_key_at(0));
  }
  fuzz_ledger.misuses = fuzz_misuses;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  memset(&ops, 0, sizeof ops);
  memset(&fuzz_ledger, 0, sizeof fuzz_ledger);
  ops.input = (fuzz_input){data, size};
  for (size_t i = 0; i < OPS_NODES; i++) ops.nodes[i] = create();
  settle_lost_pairs();
  while (ops.input.left) operate_and_check();
  end_all();
  return 0;
}
