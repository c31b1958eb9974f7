// Conditions of each change: it stores as often as it must, there and what it was asked to.
#include "failure.h"
#include "oracle.h"

void check_store(const change *change, const store *store, int wanted) {
  bool is_elsewhere = store->node != change->root && change->verb != SET_BY_PATH;
  bool is_other = store->value != wanted && store->key != KEY_ITEMS;
  if (is_elsewhere || is_other || store->node == NOWHERE || !(change->keys & 1 << store->key))
    fail_schedule("wrong store", "%s, which began with %s and is to store %d, stores %d there",
        describe_change(change).text, node_names[change->root], wanted, store->value);
}

// Whether other threads may see a link or a number as it was before the change.
static bool sees_what_was(void) { return current_outcome->schedule.stores != STORES_AT_ONCE; }

// Whether the change may have found that its root leads to a node, or nowhere.
static bool may_lead_to(const change *change, int node) {
  bool may = false;
  for (int i = 0; i < past.link_count; i++) {
    const stored_link *link = &past.links[i];
    if (link->node != change->root || link->at > change->end) continue;
    bool is_before = link->at < change->begin && !sees_what_was();
    may = is_before ? link->to == node : may || link->to == node;
  }
  return may;
}

bool may_be_empty(const change *change) {
  int items = first_value(change->root, KEY_ITEMS), fewest = items;
  for (int i = 1; i <= past.store_count; i++) {
    const store *store = &past.stores[i];
    if (store->node != change->root || store->key != KEY_ITEMS) continue;
    items += store->value;
    if (items < fewest) fewest = items;
  }
  return fewest <= 0;
}

static int wanted_stores(const change *change, kvo_status status) {
  if (is_batch(change)) return 3;
  if (change->verb == CANCEL_IN_PLACE) return 0;
  if (change->verb == SET_BY_PATH && !change->stores) return !may_lead_to(change, NOWHERE);
  if (change->verb == REMOVE && (status || !change->stores)) return !may_be_empty(change);
  return 1;
}

void check_stores(const change *change, kvo_status status) {
  int wanted = wanted_stores(change, status);
  bool is_refused = status && change->verb != REMOVE;
  if (is_refused || change->stores != wanted)
    fail_schedule("wrong store", "%s has stored %d times, not %d, with status %d",
        describe_change(change).text, change->stores, wanted, status);
  if (change->verb == SET_BY_PATH && change->stores && !may_lead_to(change, change->node))
    fail_schedule("wrong store", "%s does not lead there", describe_change(change).text);
}
