// Manual changes.
#include "operations.h"

#include <stdlib.h>
#include <string.h>

static void will(graph_node *node, ledger_change *change) {
  change->is_automatic = false;
  ops_begin(change);
  kvo_will_change(ops_object(node), change->key);
  ledger_pop(change);
}

static void did(graph_node *node, ledger_change *change) {
  ledger_push(change);
  kvo_did_change(ops_object(node), change->key);
  ops_end(change);
}

static ops_pair remove_manual_change(size_t index) {
  ops_pair pair = ops.pairs[index];
  memmove(&ops.pairs[index], &ops.pairs[index + 1], (--ops.pair_count - index) * sizeof pair);
  return pair;
}

static size_t index_of(const ledger_change *change) {
  size_t i = 0;
  while (ops.pairs[i].change != change) i++;
  return i;
}

static size_t last_pair(const graph_node *node, const char *key) {
  size_t i = ops.pair_count;
  while (i-- > 0)
    if (ops.pairs[i].node == node && !strcmp(ops.pairs[i].change->key, key)) break;
  return i;
}

// In a prior call of a setter with a manual pair, the setter's own will is open. A did here would close it, and a
// pair left open here would be closed by the setter's did.
static bool is_being_set_by_hand(const graph_node *node, const char *key) {
  const ledger_change *change = fuzz_ledger.top;
  while (change && (!change->is_by_hand || change->has_begun_finals || change->node != node ||
                       strcmp(change->key, key)))
    change = change->outer;
  return change;
}

// Returns the index of the new pair.
static size_t open_manual_change(graph_node *node, const char *key) {
  ledger_change *change = malloc(sizeof *change);
  FUZZ_REQUIRE(change);
  *change = ops_setting(node, key);
  ops.pairs[ops.pair_count++] = (ops_pair){node, change, true};
  will(node, change);
  size_t index = index_of(change); // pairs before it may have been closed in between
  ops.pairs[index].is_opening = false;
  return index;
}

void ops_open_pair(graph_node *node) {
  if (ops.pair_count == OPS_PAIRS) return;
  const char *key = ops_key();
  if (!is_being_set_by_hand(node, key)) open_manual_change(node, key);
}

static void close_pair(size_t index) {
  ops_pair pair = ops.pairs[index];
  index = last_pair(pair.node, pair.change->key);
  if (ops.pairs[index].is_opening) return;
  pair = remove_manual_change(index);
  kvo_object_retain(ops_object(pair.node));
  did(pair.node, pair.change);
  free(pair.change);
  kvo_object_release(ops_object(pair.node));
}

// Closes any open pair: pairs may cross. Of several for one key, the last opened.
void ops_close_pair(size_t index) {
  const ops_pair *pair = &ops.pairs[index];
  if (!is_being_set_by_hand(pair->node, pair->change->key)) close_pair(index);
}

void ops_bracket(graph_node *node) {
  if (ops.pair_count < OPS_PAIRS) close_pair(open_manual_change(node, ops_key()));
}

void ops_close_without_will(graph_node *node) {
  const char *key = ops_key();
  ledger_change change = ops_setting(node, key);
  if (last_pair(node, key) != SIZE_MAX || fuzz_ledger.is_short) return;
  if (is_being_set_by_hand(node, key)) return;
  change.is_silent = true;
  ops_begin(&change);
  kvo_did_change(ops_object(node), key);
  fuzz_ledger.misuses++;
  ops_end(&change);
}

void ops_lose_pairs(const graph_node *node) {
  for (size_t i = ops.pair_count; i-- > 0;) {
    if (ops.pairs[i].node != node) continue;
    ledger_change *change = remove_manual_change(i).change;
    ledger_lose(change);
    free(change);
    fuzz_ledger.misuses++;
  }
}
