/// The class that changes.c, registrations.c and bytes.c observe.
#ifndef NODE_H
#define NODE_H

#include "CKVORuntime.h"
#include "keyed_class.h"

typedef struct node_spot {
  double x, y;
} node_spot;

/// Has a key for each path that a change may take.
typedef struct node {
  kvo_object object;
  double value, other, a, b, c, d;
  node_spot place; ///< interposed by a closure, whatever is forced
  struct node *next;
  kvo_collection *items;
  double twice;         ///< derived from `other`
  double total;         ///< derived from `value`, `a`, `b`, `c` and `d`
  double s, t, u, v, w; ///< all derived from `d`
  struct node **tallied;
  size_t tallied_count; ///< the computed key `tally` reads the values of these
} node;

#define NODE_PROPERTIES(PROPERTY)                                   \
  PROPERTY(node, double, value, Value, ASSIGN)                      \
  PROPERTY(node, double, other, Other, ASSIGN)                      \
  PROPERTY(node, double, a, A, ASSIGN)                              \
  PROPERTY(node, double, b, B, ASSIGN)                              \
  PROPERTY(node, double, c, C, ASSIGN)                              \
  PROPERTY(node, double, d, D, ASSIGN)                              \
  PROPERTY(node, node_spot, place, Place, ASSIGN, "{node_spot=dd}") \
  PROPERTY(node, struct node *, next, Next, RETAIN)                 \
  PROPERTY(node, kvo_collection *, items, Items, RETAIN)            \
  PROPERTY(node, double, twice, Twice, READONLY)                    \
  PROPERTY(node, double, total, Total, READONLY)                    \
  PROPERTY(node, double, s, S, READONLY)                            \
  PROPERTY(node, double, t, T, READONLY)                            \
  PROPERTY(node, double, u, U, READONLY)                            \
  PROPERTY(node, double, v, V, READONLY)                            \
  PROPERTY(node, double, w, W, READONLY)
KVO_CLASS_INTERFACE(node, NODE_PROPERTIES)

/// A subclass, made at the first call for its name. Interposers are chosen at the first observation in a class, so
/// each path has its own.
const kvo_class *node_subclass(const char *name);
node *node_make(const kvo_class *cls);
node **nodes_make(size_t count);
void nodes_release(node **nodes, size_t count);
/// A line of `count` nodes, each linked to the next, which it retains.
node *nodes_make_line(size_t count);

/// Observes all keys of an object by one handle, owned by the caller. Each call adds 1 to `*deliveries`.
kvo_handle *observe_keys(kvo_object *object, const bench_keyed_class *keyed, uint64_t *deliveries);

#endif
