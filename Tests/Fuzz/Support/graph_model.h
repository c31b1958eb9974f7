/// What the rules say of graph nodes, in the plainest way: what a key path leads to, and whether a
/// change reaches who observes it. Storage is read, nothing is kept, and the runtime is not asked.
#ifndef GRAPH_MODEL_H
#define GRAPH_MODEL_H

#include "fixture_graph.h"

enum { MODEL_ROOM = 24, MODEL_UNRANKED = 1000 };

typedef enum model_kind {
  MODEL_NIL,
  MODEL_NUMBER,
  MODEL_NODE,
  MODEL_ARRAY,
  MODEL_SET,
  MODEL_ERROR,
  MODEL_UNKNOWN ///< more than there is room for, or what the model does not know
} model_kind;

typedef struct model_value {
  model_kind kind;
  double number;
  bool is_integer;               ///< of numbers
  graph_node *nodes[MODEL_ROOM]; ///< borrowed, NULL is nil; of a node the first
  size_t count;
} model_value;

model_value model_of_node(graph_node *node);
/// The elements of a stored collection.
model_value model_of_collection(kvo_collection *collection);
bool model_equal(const model_value *a, const model_value *b);
/// Whether a value is what the model says. What the model does not know, and what there is no
/// memory to look at, is.
bool model_matches(const model_value *expected, const kvo_value *value);
/// The elements of `all` that are, or are not, in `others`.
model_value model_filter(const model_value *all, const model_value *others, bool wanted);

/// Whether no component is empty.
bool model_is_whole(const char *path);
/// Whether the path comes to an empty component, or goes on through a collection without an
/// operator.
bool model_is_broken(graph_node *node, const char *path);
bool model_maps(graph_node *node, const char *path);
/// What a key path leads to, nil where it is broken, an error if there is no such thing.
model_value model_read(graph_node *node, const char *path);
/// What the path leads to but for its last component.
model_value model_read_owner(graph_node *node, const char *path);
/// Whether the path stands at a key of an object, which it leads through or depends on.
bool model_reaches(graph_node *root, const char *path, const graph_node *node, const char *key);

/// Whether a key is a link or a collection: where paths lead changes with it.
bool model_leads_on(const char *key);
/// Whether setters tell of the key.
bool model_is_automatic(const char *key);
/// Whether the key is a number in storage.
bool model_is_stored_number(const char *key);
/// Where among the keys of one object that a change of `key` affects another one comes, by levels
/// and then by name; MODEL_UNRANKED if it is not affected by way of that object alone.
int model_rank(const char *key, const char *affected);

#endif
