/// Nodes whose accessors of `items` do something else, or more, than they are asked to.
#ifndef FIXTURE_GRAPH_ODD_H
#define FIXTURE_GRAPH_ODD_H

#include "fixture_graph.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef enum KVO_CLOSED_ENUM graph_oddity {
  GRAPH_AT_FRONT, ///< inserts and removes at the front, wherever it is asked to
  GRAPH_BESIDE, ///< inserts, and replaces another element by `other`, calling the accessor for that
  GRAPH_DROPS,  ///< inserts, and removes another element without announcing it
  GRAPH_EXCHANGES,    ///< inserts, and replaces a neighbour by `other` without announcing it
  GRAPH_REMOVES_LAST, ///< removes the last element, wherever it is asked to
} graph_oddity;

typedef struct graph_odd_node {
  graph_node node;
  graph_oddity oddity;
} graph_odd_node;

const kvo_class *graph_odd_node_class(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
