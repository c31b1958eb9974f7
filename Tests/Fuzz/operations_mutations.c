// Mutations of collections: by accessors, and through proxies.
#include "operations.h"

static ledger_change mutation(graph_node *node, const char *key, kvo_change_kind kind,
    size_t index) {
  ledger_change change = ops_setting(node, key);
  model_value before = model_read(node, key);
  change.kind = kind;
  change.index = index;
  if (index < before.count && kind != KVO_INSERTION) {
    change.goes = model_of_node(before.nodes[index]);
    change.goes.kind = MODEL_ARRAY;
  }
  return change;
}

// The model does not follow longer collections. Operations inside an observer's call may add elements as well.
static bool is_long(graph_node *node, const char *key) {
  model_value list = model_read(node, key);
  return list.kind == MODEL_UNKNOWN || list.count > MODEL_ROOM - 2 * OPS_NODES;
}

void ops_remove_item(graph_node *node, size_t index) {
  ledger_change change = mutation(node, "items", KVO_REMOVAL, index);
  ops_begin(&change);
  graph_node_removeItem(node, index);
  ops_end(&change);
}

void ops_change_items(graph_node *node, graph_node *item) {
  size_t index = ops_below(node->items.count + 1), which = ops_below(3);
  if (which ? index == node->items.count : is_long(node, "items")) return;
  if (which == 1) return ops_remove_item(node, index);
  ledger_change change = mutation(node, "items", which ? KVO_REPLACEMENT : KVO_INSERTION, index);
  ops_begin(&change);
  if (which) graph_node_replaceItem(node, index, item);
  else graph_node_insertItem(node, item, index);
  ops_end(&change);
}

static ledger_change set_mutation(graph_node *node, kvo_set_mutation how, model_value operand) {
  static const kvo_change_kind kinds[] = {[KVO_UNION] = KVO_INSERTION,
      [KVO_MINUS] = KVO_REMOVAL,
      [KVO_INTERSECT] = KVO_REMOVAL,
      [KVO_SET_SET] = KVO_REPLACEMENT};
  ledger_change change = ops_setting(node, "tags");
  model_value tags = model_read(node, "tags");
  change.kind = kinds[how];
  change.goes = model_filter(&tags, &operand, how == KVO_MINUS);
  return change;
}

void ops_change_tag(graph_node *node, graph_node *tag, bool is_added) {
  ledger_change change = set_mutation(node, is_added ? KVO_UNION : KVO_MINUS, model_of_node(tag));
  ops_begin(&change);
  (is_added ? graph_node_addTag : graph_node_removeTag)(node, tag);
  ops_end(&change);
}

// The result for an index beyond the array.
static kvo_status bounds(size_t index, size_t end) {
  return index < end ? KVO_OK : KVO_INDEX_OUT_OF_BOUNDS;
}

// Inserts or removes one element through a proxy, if the index is in range and memory lasts.
static void change_element(graph_node *node, kvo_collection *proxy, const char *key,
    const kvo_value *element, bool is_new) {
  size_t count = model_read(node, key).count, index = ops_below(3), calls = fuzz_ledger.calls;
  ledger_change change = mutation(node, key, is_new ? KVO_INSERTION : KVO_REMOVAL, index);
  ops_begin(&change);
  kvo_status status = is_new ? kvo_collection_insert(proxy, index, element, NULL)
                             : kvo_collection_remove_at(proxy, index, NULL);
  change.may_be_silent = status;
  ops_end(&change);
  if (status == KVO_NO_MEMORY || calls != fuzz_ledger.calls)
    return; // or operations inside the calls did more
  model_value now = model_read(node, key);
  FUZZ_REQUIRE(status == bounds(index, count + is_new));
  FUZZ_REQUIRE(now.count == (status      ? count
                                : is_new ? count + 1
                                         : count - 1) ||
               now.kind == MODEL_UNKNOWN);
}

// Changes several elements or none, which may be no change.
static void change_elements(graph_node *node, kvo_collection *proxy, const char *key,
    const kvo_value *element, kvo_collection *others, size_t which) {
  ledger_change change = ops_setting(node, key);
  kvo_status status = KVO_OK;
  change.kind = 0;
  ops_begin(&change);
  switch (which) {
  case 0: status = kvo_collection_add(proxy, element, NULL); break;
  case 1: status = kvo_collection_remove(proxy, element, NULL); break;
  case 2: status = kvo_collection_union(proxy, others, NULL); break;
  case 3: status = kvo_collection_minus(proxy, others, NULL); break;
  case 4: status = kvo_collection_set(proxy, others, NULL); break;
  }
  model_value after = model_read(node, key);
  change.may_be_silent = status || model_equal(&change.before, &after);
  ops_end(&change);
}

static void change_array(graph_node *node, kvo_collection *proxy, const char *key,
    const kvo_value *element, kvo_collection *others) {
  size_t which = ops_below(7);
  if (which < 5) change_elements(node, proxy, key, element, others, which);
  else change_element(node, proxy, key, element, which == 5);
}

static void change_set(graph_node *node, kvo_collection *proxy, graph_node *element,
    kvo_collection *others) {
  kvo_value value = kvo_value_object(ops_object(element));
  kvo_status status = KVO_OK;
  size_t which = ops_below(6);
  kvo_set_mutation how = which < 2 ? (kvo_set_mutation)which + 1 : (kvo_set_mutation)which - 1;
  ledger_change change =
      set_mutation(node, how, which < 2 ? model_of_node(element) : model_of_collection(others));
  ops_begin(&change);
  switch (which) {
  case 0: status = kvo_collection_add(proxy, &value, NULL); break;
  case 1: status = kvo_collection_remove(proxy, &value, NULL); break;
  case 2: status = kvo_collection_union(proxy, others, NULL); break;
  case 3: status = kvo_collection_minus(proxy, others, NULL); break;
  case 4: status = kvo_collection_intersect(proxy, others, NULL); break;
  case 5: status = kvo_collection_set(proxy, others, NULL); break;
  }
  change.may_be_silent = status;
  ops_end(&change);
  kvo_value_destroy(&value);
}

// Through a proxy, which retains the object until it is released.
void ops_change_by_proxy(graph_node *node, graph_node *element) {
  size_t which = ops_below(3);
  const char *key = (const char *[]){"items", "tags", "wares"}[which];
  kvo_collection *proxy, *others = ops_some_nodes(KVO_SET);
  kvo_value value = kvo_value_object(ops_object(element));
  kvo_error error = {0};
  kvo_status status = which == 1 ? kvo_mutable_set(ops_object(node), key, &proxy, &error)
                                 : kvo_mutable_array(ops_object(node), key, &proxy, &error);
  ops_check(status, KVO_NO_MEMORY, &error);
  if (!status && !is_long(node, key)) {
    if (others && which == 1) change_set(node, proxy, element, others);
    else if (others) change_array(node, proxy, key, &value, others);
  }
  if (!status) kvo_object_release(ops_object(proxy));
  kvo_value_destroy(&value);
  kvo_object_release(ops_object(others));
}
