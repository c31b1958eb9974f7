// Settings: by setters, by keys and by key paths.
#include "operations.h"

#include <string.h>

void ops_begin(ledger_change *change) {
  ledger_begin(change);
  ledger_push(change);
}

void ops_end(ledger_change *change) {
  ledger_finish(change);
  ledger_pop(change);
}

ledger_change ops_setting(graph_node *node, const char *key) {
  return (ledger_change){.node = node, .key = key, .kind = KVO_SETTING, .is_automatic = true};
}

// By a number's setter. One is silent, and one announces other values manually.
static ledger_change setting_number(graph_node *node, const char *key, double number) {
  ledger_change change = ops_setting(node, key);
  bool is_notified_by_hand = !strcmp(key, "manual") && node->manual != number;
  change.is_by_hand = is_notified_by_hand;
  if (is_notified_by_hand) change.is_automatic = false;
  else change.is_silent = !model_is_automatic(key);
  return change;
}

void ops_set_number(graph_node *node) {
  double number = (double)ops_below(4);
  ledger_change change = setting_number(node, ops_number(), number);
  ops_begin(&change);
  switch (*change.key) {
  case 'v': graph_node_setValue(node, number); break;
  case 'e': graph_node_setExtra(node, number); break;
  case 'q': graph_node_setQuiet(node, number); break;
  case 'm': graph_node_setManual(node, number); break;
  }
  ops_end(&change);
}

void ops_set_link(graph_node *node, bool is_next, graph_node *to) {
  ledger_change change = ops_setting(node, is_next ? "next" : "other");
  ops_begin(&change);
  (is_next ? graph_node_setNext : graph_node_setOther)(node, to);
  ops_end(&change);
}

void ops_set_wares(graph_node *node, kvo_collection *wares) {
  ledger_change change = ops_setting(node, "wares");
  ops_begin(&change);
  graph_node_setWares(node, wares);
  ops_end(&change);
}

kvo_collection *ops_some_nodes(kvo_collection_kind kind) {
  kvo_value elements[OPS_NODES];
  size_t count = 0, chosen = ops_below(1 << OPS_NODES);
  for (size_t i = 0; i < OPS_NODES; i++)
    if ((chosen >> i & 1) && ops.nodes[i])
      elements[count++] = kvo_value_object(ops_object(ops.nodes[i]));
  kvo_collection *made = kvo_collection_create(kind, elements, count, NULL);
  for (size_t i = 0; i < count; i++) kvo_value_destroy(&elements[i]);
  return made;
}

void ops_set_collection(graph_node *node) {
  size_t which = ops_below(3);
  kvo_collection *made = ops_some_nodes(which == 1 ? KVO_SET : KVO_ARRAY);
  if (!made) return;
  if (which == 2) {
    ops_set_wares(node, made);
  } else {
    ledger_change change = ops_setting(node, which ? "tags" : "items");
    if (which) change.kind = 0; // a set's setter may notify of a replacement
    ops_begin(&change);
    (which ? graph_node_setTags : graph_node_setItems)(node, made);
    ops_end(&change);
  }
  kvo_object_release(ops_object(made));
}

static void read_path(graph_node *node, const char *path) {
  kvo_value value;
  kvo_error error = {0};
  kvo_status status = kvo_value_for_key_path(ops_object(node), path, &value, &error);
  model_value expected = model_read(node, path);
  ops_check(status, KVO_NO_MEMORY, &error);
  FUZZ_REQUIRE(status || model_matches(&expected, &value));
  kvo_value_destroy(&value);
}

// Stores a number at the end of the path, if there is an object.
void ops_set_by_path(graph_node *node) {
  double number = (double)ops_below(4);
  const char *path = ops_path(), *dot = strrchr(path, '.'), *key = dot ? dot + 1 : path;
  model_value owner = model_read_owner(node, path);
  bool is_fit = owner.kind == MODEL_NODE && model_is_stored_number(key);
  ledger_change change =
      setting_number(is_fit ? owner.nodes[0] : node, is_fit ? key : "value", number);
  kvo_value value = kvo_value_double(number);
  kvo_error error = {0};
  if (!is_fit) change.is_silent = true;
  ops_begin(&change);
  kvo_status status = kvo_set_value_for_key_path(ops_object(node), path, &value, &error);
  if (status) fuzz_check_error(status, &error);
  change.may_be_silent = status;
  ops_end(&change);
  FUZZ_REQUIRE(!is_fit || !status || status == KVO_NO_MEMORY);
  read_path(node, path);
}

void ops_set_link_by_key(graph_node *node, graph_node *to) {
  ledger_change change = ops_setting(node, ops_below(2) ? "next" : "other");
  kvo_value value = kvo_value_object(ops_object(to));
  kvo_error error = {0};
  ops_begin(&change);
  kvo_status status = kvo_set_value_for_key(ops_object(node), change.key, &value, &error);
  ops_check(status, KVO_NO_MEMORY, &error);
  change.may_be_silent = status;
  ops_end(&change);
  kvo_value_destroy(&value);
}
