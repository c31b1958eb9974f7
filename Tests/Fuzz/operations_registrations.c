// Observers: callbacks, groups of them, and observer objects.
#include "operations.h"

#include <string.h>

enum { GROUP = 3, MANY = 24 };

static ops_record *record_of(const ledger_entry *entry) {
  return &ops.records[entry - fuzz_ledger.entries];
}

// MARK: Observers

// Sometimes runs an operation: any one, or one about the registration that was called or about the next one.
static void react(const ledger_entry *entry) {
  size_t choice = ops.depth < OPS_DEPTH ? ops_below(8) : 0;
  if (choice == 1) ops_operate(NULL);
  if (choice == 2) ops_operate(entry);
  if (choice == 3) ops_operate(entry + 1);
}

static void changed(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  ledger_entry *entry = context;
  FUZZ_REQUIRE(object == ops_object(entry->object));
  FUZZ_REQUIRE(!strcmp(key_path, entry->path));
  FUZZ_REQUIRE(!record_of(entry)->ended);
  ledger_called(entry, change);
  react(entry);
}

static void ended(void *context) { record_of(context)->ended++; }

void ops_take(void *observer, const char *level, const char *key_path, kvo_object *object,
    const kvo_change *change, void *context) {
  (void)level;
  react(ledger_observed(observer, (graph_node *)object, key_path, context, change));
}

// MARK: Registrations

// A registration that has been made has had its initial call.
static void check_registration(ledger_entry *entry, kvo_status status, const kvo_error *error) {
  ops_check(status, KVO_NO_MEMORY, error);
  if (status) entry->is_live = false;
  else
    FUZZ_REQUIRE(!entry->is_being_made || !entry->is_live || fuzz_misuses != fuzz_ledger.misuses);
  ledger_added(entry);
}

void ops_add_callback(graph_node *node) {
  kvo_options options = (kvo_options)ops_below(32);
  ledger_entry *entry =
      ledger_add((ledger_entry){.object = node, .path = ops_path(), .options = options});
  if (!entry) return;
  kvo_error error = {0};
  kvo_handle **handle = &record_of(entry)->handle;
  entry->context = entry;
  kvo_status status = kvo_add_callback(ops_object(node), entry->path, options, changed, entry,
      ended, handle, &error);
  check_registration(entry, status, &error);
  FUZZ_REQUIRE(!status == (*handle != NULL));
}

// Several keys with one handle, which the first entry holds. Their initial calls run no operations, because some keys
// are not registered yet.
void ops_add_group(graph_node *node) {
  kvo_options options = (kvo_options)ops_below(32);
  ledger_entry *entries = fuzz_ledger.entries + fuzz_ledger.count;
  const char *keys[GROUP];
  if (fuzz_ledger.count + GROUP > LEDGER_ROOM) return;
  for (size_t i = 0; i < GROUP; i++) {
    keys[i] = ops_key();
    ledger_entry *entry =
        ledger_add((ledger_entry){.object = node, .path = keys[i], .options = options});
    entry->context = entry;
    entry->group = entries;
  }
  kvo_error error = {0};
  kvo_handle **handle = &record_of(entries)->handle;
  ops.depth += OPS_DEPTH;
  kvo_status status = kvo_add_callback_for_keys(ops_object(node), keys, GROUP, options, changed,
      entries, sizeof *entries, ended, handle, &error);
  ops.depth -= OPS_DEPTH;
  for (size_t i = 0; i < GROUP; i++) check_registration(&entries[i], status, &error);
  FUZZ_REQUIRE(!status == (*handle != NULL));
}

void ops_end_callback(void) {
  if (!fuzz_ledger.count) return;
  size_t index =
      ops.about ? (size_t)(ops.about - fuzz_ledger.entries) : ops_below(fuzz_ledger.count);
  ledger_entry *entry = &fuzz_ledger.entries[index];
  if (entry->group) entry = entry->group;
  if (!record_of(entry)->handle) return;
  kvo_handle_invalidate(record_of(entry)->handle);
  FUZZ_REQUIRE(!kvo_handle_is_valid(record_of(entry)->handle));
  ledger_end(entry);
}

void ops_add_observer(graph_node *node, graph_node *observer) {
  kvo_options options = (kvo_options)ops_below(32);
  void *context = (void *)(uintptr_t)ops_below(2);
  ledger_entry *entry = ledger_add((ledger_entry){.object = node,
      .path = ops_path(),
      .options = options,
      .observer = observer,
      .context = context});
  if (!entry) return;
  kvo_error error = {0};
  kvo_status status = kvo_add_observer(ops_object(node), ops_object(observer), entry->path, options,
      context, &error);
  check_registration(entry, status, &error);
}

void ops_add_many(graph_node *node, graph_node *observer) {
  for (size_t i = ops_below(MANY); i-- > 0;) ops_add_observer(node, observer);
}

void ops_remove_observer(graph_node *node, graph_node *observer) {
  const char *path = ops_path();
  size_t choice = ops_below(3);
  void *context = (void *)(uintptr_t)choice;
  ledger_entry *entry = ledger_find(node, observer, path, choice == 2 ? NULL : &context);
  kvo_error error = {0};
  kvo_status status =
      choice == 2 ? kvo_remove_observer(ops_object(node), ops_object(observer), path, &error)
                  : kvo_remove_observer_with_context(ops_object(node), ops_object(observer), path,
                        context, &error);
  FUZZ_REQUIRE(status == (entry ? KVO_OK : KVO_NOT_REGISTERED));
  if (entry) ledger_end(entry);
  else fuzz_check_error(status, &error);
}

void ops_remove_all(graph_node *node) {
  // First, because observers may die with values that are kept for them.
  ledger_end_of_node(node, false);
  kvo_remove_all_observers(ops_object(node));
}

void ops_end_registrations(graph_node *node) {
  for (size_t i = 0; i < fuzz_ledger.count; i += 2) {
    ledger_entry *entry = &fuzz_ledger.entries[i];
    if (!entry->is_live || entry->observer != node || entry->object == node) continue;
    FUZZ_REQUIRE(!kvo_remove_observer_with_context(ops_object(entry->object), ops_object(node),
        entry->path, entry->context, NULL));
    ledger_end(ledger_find(entry->object, node, entry->path, &entry->context));
  }
  ledger_end_of_node(node, true);
}
