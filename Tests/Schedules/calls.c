// Conditions of each call of an observer.
#include "failure.h"
#include "oracle.h"

// MARK: Values

static __attribute__((noinline)) _Noreturn void fail_value(const registration *registration,
    int64_t number) {
  fail_schedule("wrong value", "registration %s received %lld, which was not stored there",
      describe_registration(registration).text, (long long)number);
}

// Whether a number was stored in a node, or in any for NOWHERE, or was there in the beginning.
static bool was_stored(int node, node_key key, int64_t number) {
  for (int i = 0; i < NODES; i++)
    if ((node == NOWHERE || node == i) && number == first_value(i, key)) return true;
  if (number < FIRST_NUMBER || number >= NUMBERS || !past.stored_as[number]) return false;
  const store *store = &past.stores[past.stored_as[number]];
  return store->key == key && (node == NOWHERE || store->node == node);
}

// The only key whose value the path leads to, or KEYS.
static node_key key_at_end(int path) {
  uint8_t keys = last_keys(path);
  if (!is_followed_by_links(path)) return KEYS;
  return keys == 1 << KEY_VALUE ? KEY_VALUE : keys == 1 << KEY_OTHER ? KEY_OTHER : KEYS;
}

static bool is_tracked_value(int64_t number) {
  if (number >= EVEN) return number == EVEN || was_stored(NOWHERE, KEY_VALUE, number - EVEN);
  return number >= ODD && was_stored(NOWHERE, KEY_OTHER, number - ODD);
}

static bool is_possible_number(int node, int path, int64_t number) {
  bool is_derived = path == PATH_NEAR || path == PATH_FAR || path == PATH_TRACKED;
  if (is_derived && number == NOTHING) return true;
  if (path == PATH_TRACKED) return is_tracked_value(number);
  if (path == PATH_STAMPED) return was_stored(node, KEY_VALUE, number);
  if (path == PATH_STAMP) return was_stored(node, KEY_STAMP, number);
  node_key key = key_at_end(path);
  if (key < KEYS) return was_stored(links_on(path) ? NOWHERE : node, key, number);
  return number >= 0 && number <= 2 * NUMBERS; // a sum or a count
}

void check_value(const registration *registration, const kvo_value *value) {
  int path = registration->path;
  bool has_next = path == PATH_NEXT;
  if (!value) return;
  if (kvo_value_is_nil(value)) {
    if (!has_next && !links_on(path)) fail_value(registration, NOTHING);
  } else if (has_next) {
    int to = node_index((const node *)kvo_value_get_object(value));
    if (to < MIDDLE || to > OTHER_LEAF) fail_value(registration, to);
  } else if (path != PATH_ITEMS) {
    int64_t number = kvo_value_get_int(value);
    if (!is_possible_number(registration->node, path, number)) fail_value(registration, number);
  }
}

int received_by(int path, const kvo_value *value) {
  if (!value || path == PATH_ITEMS) return NOWHERE;
  if (kvo_value_is_nil(value)) return NOTHING;
  if (path == PATH_NEXT) return node_index((const node *)kvo_value_get_object(value));
  return (int)kvo_value_get_int(value);
}

// MARK: The order of values

// The stores of a key, as a range that ends with the store `to`.
static int last_store(int node, node_key key, int to, int thread) {
  for (int i = to; i > 0; i--) {
    const store *store = &past.stores[i];
    bool is_by = thread == NOBODY || store->thread == thread;
    if (store->node == node && store->key == key && is_by) return i;
  }
  return 0;
}

// Whether a store was made in a prior call of a batch, for this key.
static bool is_of_prior_call(const store *store, int batch) {
  const struct call *caller = past.changes[store->change].caller;
  if (!caller || !caller->is_prior || caller->change != batch) return false;
  const registration *called = &past.registrations[caller->registration];
  return called->node == store->node && key_at_end(called->path) == store->key;
}

// The change's thread reads the old value before this store. A batch begins one key after another, and a prior call for
// an earlier one may set a later one.
static int first_store_after_old(const call *call, int node, node_key key) {
  const change *change = &past.changes[call->change];
  for (int i = change->before + 1; i <= past.store_count; i++) {
    const store *store = &past.stores[i];
    bool is_by = is_batch(change)
                     ? store->change == call->change || is_of_prior_call(store, call->change)
                     : store->thread == call->thread;
    if (store->node == node && store->key == key && is_by) return i;
  }
  return past.store_count + 1;
}

// The store that a thread must see at least, when it reads after the store `after`.
static int oldest_seen(int node, node_key key, int after, int thread) {
  bool is_at_once = current_outcome->schedule.stores == STORES_AT_ONCE;
  return last_store(node, key, after, is_at_once ? NOBODY : thread);
}

static void check_age(const registration *registration, const kvo_value *value, int oldest,
    int newest) {
  if (!value) return;
  int64_t number = kvo_value_get_int(value);
  int store = number < FIRST_NUMBER ? 0 : past.stored_as[number];
  if (store < oldest || store > newest)
    fail_schedule("wrong value",
        "registration %s received %lld, which is store %d; it must be from %d to %d",
        describe_registration(registration).text, (long long)number, store, oldest, newest);
}

static int last_store_of(int change, node_key key) {
  for (int i = past.store_count; i > 0; i--)
    if (past.stores[i].change == change && past.stores[i].key == key) return i;
  return 0;
}

// The store that a change's new value must be from at least. A distinct change's is no older than the value at
// registration (D3).
static int oldest_new(const registration *registration, const call *call, node_key key) {
  int stored = last_store_of(call->change, key);
  if (!(registration->options & KVO_DISTINCT)) return stored;
  int registered = oldest_seen(registration->node, key, registration->before, registration->thread);
  return stored > registered ? stored : registered;
}

// Old was read before the change's store if the registration was made before the change. New is read after it.
static void check_ages(const registration *registration, const call *call,
    const kvo_change *record) {
  node_key key = key_at_end(registration->path);
  int node = registration->node;
  if (key == KEYS || links_on(registration->path) || past.stores_again) return;
  const kvo_value *old = kvo_change_get_old(record), *new = kvo_change_get_new(record);
  if (call->change < 0) {
    int oldest = oldest_seen(node, key, registration->before, call->thread);
    check_age(registration, new, oldest, past.store_count);
    return;
  }
  const change *change = &past.changes[call->change];
  bool was_there = registration->add_end && registration->add_end <= change->begin;
  int stored = first_store_after_old(call, node, key);
  check_age(registration, old, oldest_seen(node, key, change->before, call->thread),
      was_there ? stored - 1 : past.store_count);
  check_age(registration, new, oldest_new(registration, call, key), past.store_count);
}

// MARK: Records

static kvo_change_kind kind_of(const registration *registration, const call *call) {
  if (call->change < 0 || registration->path != PATH_ITEMS) return KVO_SETTING;
  return past.changes[call->change].verb == REMOVE ? KVO_REMOVAL : KVO_INSERTION;
}

// Late observers are notified of a mutation as a setting.
static void check_kind(const registration *registration, const call *call,
    const kvo_change *change) {
  kvo_change_kind kind = kvo_change_get_kind(change), wanted = kind_of(registration, call);
  bool may_be_late =
      call->change >= 0 &&
      (!registration->add_end || registration->add_end > past.changes[call->change].begin);
  const kvo_index_set *indexes = kvo_change_get_indexes(change);
  bool is_kind = kind == wanted || (kind == KVO_SETTING && may_be_late);
  bool is_whole = kind == KVO_SETTING
                      ? !indexes
                      : kvo_index_set_count(indexes) == 1 && kvo_index_set_contains(indexes, 0);
  if (!is_kind || !is_whole)
    fail_schedule("wrong record", "registration %s: kind %d with %zu indexes, in place of %d",
        describe_registration(registration).text, kind, kvo_index_set_count(indexes), wanted);
}

static void check_presence(const registration *registration, const call *call,
    const kvo_change *change) {
  kvo_change_kind kind = kvo_change_get_kind(change);
  bool has_old = kvo_change_get_old(change), has_new = kvo_change_get_new(change);
  bool wants_old =
      registration->options & KVO_OLD && call->change != INITIAL && kind != KVO_INSERTION;
  bool wants_new = registration->options & KVO_NEW && !call->is_prior && kind != KVO_REMOVAL;
  if (has_old != wants_old || has_new != wants_new)
    fail_schedule("wrong record", "registration %s: a call of kind %d%s has %s old and %s new",
        describe_registration(registration).text, kind, call->is_prior ? ", prior," : "",
        has_old ? "an" : "no", has_new ? "a" : "no");
}

static void fail_call(const char *kind, const registration *registration) {
  fail_schedule(kind, "registration %s", describe_registration(registration).text);
}

// Whether a change calls before it has stored. A batch delivers what it has begun also if the thread ends in a prior
// call, and a removal calls if there are no items left when it is to store.
static bool is_early(const change *change) {
  bool stores_nothing =
      change->verb == CANCEL_IN_PLACE || (change->verb == REMOVE && may_be_empty(change));
  return !change->stores && !change->was_left && !stores_nothing;
}

// Whether the registration's end had returned before the change stored. The observers are looked for after that (I2).
static bool ended_before_store(const registration *registration, int change) {
  if (!registration->end_end || registration->is_unsure) return false;
  for (int i = past.store_count; i > 0; i--)
    if (past.stores[i].change == change) return registration->end_end <= past.stores[i].at;
  return false;
}

// When the call has begun: after the last look at its registration (I2). A change looks at the object's word, at its
// cell and at the head of several keys, each at a point, and calls. An initial call follows a look at once.
static uint64_t beginning_of(const call *call) {
  return call->change < 0 ? call->at : schedule_went_on(2);
}

// Whether an end has returned, so that no new call begins. An observer object is retained before its call, with many
// points, so only the ends of its own thread are certain.
static bool has_ended(const registration *registration, const call *call) {
  if (registration->ended) return true;
  if (registration->observer != NOWHERE) return registration->ended_by & 1 << call->thread;
  return registration->end_end && registration->end_end < beginning_of(call);
}

// Whether the call comes at a time at which there are calls.
static void check_time(const registration *registration, const call *call) {
  bool is_of_change = call->change >= 0;
  if (has_ended(registration, call)) fail_call("called after the end", registration);
  if (call->change == NO_CHANGE) fail_call("called without a change", registration);
  if (is_of_change && !call->is_prior && ended_before_store(registration, call->change))
    fail_call("called after the end", registration);
  if (call->is_prior && (call->change == INITIAL || !(registration->options & KVO_PRIOR)))
    fail_call("called before a change", registration);
  if (is_of_change && !call->is_prior && is_early(&past.changes[call->change]))
    fail_call("called before the store", registration);
}

void check_call(const registration *registration, const call *call, const kvo_change *change) {
  check_time(registration, call);
  check_kind(registration, call, change);
  check_presence(registration, call, change);
  check_value(registration, kvo_change_get_old(change));
  check_value(registration, kvo_change_get_new(change));
  check_ages(registration, call, change);
}

static int count_calls(const registration *registration, int change) {
  int calls = 0, number = number_of(registration);
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    calls += call->change == change && call->registration == number && !call->is_prior;
  }
  return calls;
}

// The call after the initial one is that of an overtaken value, so it is made once, and only with distinct.
static void check_after_initial(const registration *registration) {
  int calls = count_calls(registration, AFTER_INITIAL);
  if (calls > (registration->options & KVO_DISTINCT ? 1 : 0))
    fail_schedule("initial calls", "registration %s has had %d calls after the initial one",
        describe_registration(registration).text, calls);
}

void check_added(const registration *registration) {
  check_after_initial(registration);
  int calls = count_calls(registration, INITIAL);
  int wanted = registration->options & KVO_INITIAL ? 1 : 0;
  if (calls == wanted || (calls < wanted && (registration->end_begin || registration->is_unsure)))
    return;
  fail_schedule("initial calls", "registration %s has had %d, not %d",
      describe_registration(registration).text, calls, wanted);
}
