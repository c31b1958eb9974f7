/// Shared by the parts of the fuzzer `operations`: the objects, the current operation, and the operations. Each
/// operation takes its parameters from the input.
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "fuzz.h"
#include "ledger.h"

enum { OPS_NODES = 4, OPS_PAIRS = 6, OPS_DEPTH = 3, OPS_KEYS = 10 };

/// The data of a ledger entry. The first entry of a group has the handle.
typedef struct ops_record {
  kvo_handle *handle;
  int ended;
} ops_record;

/// An open pair.
typedef struct ops_pair {
  graph_node *node; ///< not retained
  ledger_change *change;
  bool is_opening; ///< its will is running
} ops_pair;

typedef struct ops_state {
  fuzz_input input;
  graph_node *nodes[OPS_NODES]; ///< the living ones; each is retained once here
  ops_record records[LEDGER_ROOM];
  ops_pair pairs[OPS_PAIRS];
  size_t pair_count;
  int depth;
  const ledger_entry *about; ///< the registration that the current operation is about
} ops_state;

extern ops_state ops;

/// Runs an operation inside an observer, perhaps about a registration.
void ops_operate(const ledger_entry *about);

size_t ops_below(size_t limit);
/// The path or key of the registration that the operation is about, if any, or one that the input chooses. The keys
/// are the first of the paths; a number is a stored one.
const char *ops_path(void);
const char *ops_key(void);
const char *ops_number(void);
const char *ops_key_at(size_t index);
kvo_object *ops_object(void *node);
/// Requires that a call succeeded, or that its error has an allowed status.
void ops_check(kvo_status status, kvo_status allowed, const kvo_error *error);

// Registrations
void ops_add_callback(graph_node *node);
void ops_add_group(graph_node *node);
void ops_end_callback(void);
void ops_add_observer(graph_node *node, graph_node *observer);
void ops_add_many(graph_node *node, graph_node *observer);
void ops_remove_observer(graph_node *node, graph_node *observer);
void ops_remove_all(graph_node *node);
/// Handles a notification of a node as an observer.
void ops_take(void *observer, const char *level, const char *key_path, kvo_object *object,
    const kvo_change *change, void *context);
/// A dying observer still finds its registrations, and removes some of them. The others end by its death.
void ops_end_registrations(graph_node *dying);

// Changes
ledger_change ops_setting(graph_node *node, const char *key);
void ops_begin(ledger_change *change);
void ops_end(ledger_change *change);
void ops_set_number(graph_node *node);
void ops_set_link(graph_node *node, bool is_next, graph_node *to);
void ops_set_link_by_key(graph_node *node, graph_node *to);
void ops_set_wares(graph_node *node, kvo_collection *wares);
void ops_set_collection(graph_node *node);
void ops_set_by_path(graph_node *node);
kvo_collection *ops_some_nodes(kvo_collection_kind kind);

// Mutations
void ops_change_items(graph_node *node, graph_node *item);
void ops_remove_item(graph_node *node, size_t index);
void ops_change_tag(graph_node *node, graph_node *tag, bool is_added);
void ops_change_by_proxy(graph_node *node, graph_node *element);

// Pairs
void ops_bracket(graph_node *node);
void ops_open_pair(graph_node *node);
void ops_close_pair(size_t index);
void ops_close_without_will(graph_node *node);
/// Counts the pairs that a death leaves open, which are reported.
void ops_lose_pairs(const graph_node *dying);

#endif
