/// Lists of retained nodes for `graph_node`.
#ifndef FIXTURE_GRAPH_LIST_H
#define FIXTURE_GRAPH_LIST_H

#include "fixture_graph.h"

/// An index beyond the list does nothing.
void graph_list_insert(graph_list *list, graph_node *node, size_t index);
void graph_list_remove(graph_list *list, size_t index);
void graph_list_replace(graph_list *list, graph_node *node, size_t index);

/// The index, or the count if the node is not in the list.
size_t graph_list_find(const graph_list *list, const graph_node *node);
/// Keeps a set's nodes ordered by their marks, each once, so that the set's order is known.
void graph_list_add_new(graph_list *list, graph_node *node);

/// Retains the new nodes, then releases the stored ones.
void graph_list_assign(graph_list *list, graph_node *const *nodes, size_t count);

/// Releases all nodes.
void graph_list_destroy(graph_list *list);

/// A stored collection of the nodes, owned by the caller.
kvo_collection *graph_list_collection(const graph_list *list, kvo_collection_kind kind);

/// An element of a collection of nodes, valid while the collection lives.
graph_node *graph_collection_node(kvo_collection *collection, size_t index);

#endif
