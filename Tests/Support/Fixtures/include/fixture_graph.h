/// Nodes of a graph, with properties of every kind that key-value observing distinguishes. `GraphClass` in
/// TestSupport describes the same class as data, key by key.
#ifndef FIXTURE_GRAPH_H
#define FIXTURE_GRAPH_H

#include "fixture_watcher.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct graph_node graph_node;

/// A list of nodes, each retained once per occurrence.
typedef struct graph_list {
  graph_node *KVO_NONNULL *KVO_NULLABLE nodes;
  size_t count;
} graph_list;

/// A node can be an observer as well.
struct graph_node {
  watcher watcher;
  double value;
  double extra;
  double quiet;  ///< automatic notification is off
  double manual; ///< off as well: the setter has a manual pair, if the value differs
  graph_node *KVO_NULLABLE next;
  graph_node *KVO_NULLABLE other;
  kvo_collection *KVO_NULLABLE wares; ///< an array, with only a setter
  graph_list items;                   ///< key `items`: the accessors of an array
  graph_list tags;                    ///< key `tags`: the accessors of a set
  size_t item_reads;                  ///< how many elements of `items` were read
};

#define GRAPH_NODE_PROPERTIES(PROPERTY)                                \
  PROPERTY(graph_node, double, value, Value, ASSIGN)                   \
  PROPERTY(graph_node, double, extra, Extra, ASSIGN)                   \
  PROPERTY(graph_node, double, quiet, Quiet, ASSIGN)                   \
  PROPERTY(graph_node, double, manual, Manual, CUSTOM)                 \
  PROPERTY(graph_node, graph_node *KVO_NULLABLE, next, Next, RETAIN)   \
  PROPERTY(graph_node, graph_node *KVO_NULLABLE, other, Other, RETAIN) \
  PROPERTY(graph_node, kvo_collection *KVO_NULLABLE, wares, Wares, RETAIN)

KVO_CLASS_INTERFACE(graph_node, GRAPH_NODE_PROPERTIES)

// The accessors of `items` and `tags`, called through the dispatch table. An index beyond the list does nothing.
void graph_node_setItems(graph_node *self, kvo_collection *items);
void graph_node_insertItem(graph_node *self, graph_node *item, size_t index);
void graph_node_removeItem(graph_node *self, size_t index);
void graph_node_replaceItem(graph_node *self, size_t index, graph_node *item);
void graph_node_insertItems(graph_node *self, kvo_collection *items, const kvo_index_set *indexes);
void graph_node_removeItems(graph_node *self, const kvo_index_set *indexes);
void graph_node_replaceItems(graph_node *self, const kvo_index_set *indexes, kvo_collection *items);
void graph_node_setTags(graph_node *self, kvo_collection *tags);
void graph_node_addTag(graph_node *self, graph_node *tag);
void graph_node_removeTag(graph_node *self, graph_node *tag);
void graph_node_addTags(graph_node *self, kvo_collection *tags);
void graph_node_removeTags(graph_node *self, kvo_collection *tags);
void graph_node_intersectTags(graph_node *self, kvo_collection *tags);

// Stores without notifying.
void graph_node_store_next(graph_node *self, graph_node *KVO_NULLABLE next);
void graph_node_store_other(graph_node *self, graph_node *KVO_NULLABLE other);
void graph_node_store_wares(graph_node *self, kvo_collection *KVO_NULLABLE wares);
void graph_node_store_items(graph_node *self, graph_node *KVO_NONNULL const *KVO_NULLABLE nodes,
    size_t count);
void graph_node_store_tags(graph_node *self, graph_node *KVO_NONNULL const *KVO_NULLABLE nodes,
    size_t count);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
