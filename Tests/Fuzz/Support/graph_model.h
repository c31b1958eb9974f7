/// A naive model of the rules for graph nodes: where a key path leads, and which observers a change reaches. It reads
/// storage only, caches nothing, and never calls the runtime.
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
  MODEL_UNKNOWN ///< too large, or outside the model
} model_kind;

typedef struct model_value {
  model_kind kind;
  double number;
  bool is_integer;               ///< for numbers
  graph_node *nodes[MODEL_ROOM]; ///< borrowed, NULL is nil; a single node is the first
  size_t count;
} model_value;

model_value model_of_node(graph_node *node);
/// The elements of a stored collection.
model_value model_of_collection(kvo_collection *collection);
bool model_equal(const model_value *a, const model_value *b);
/// Whether a value is the expected one. True for a value that is outside the model, or can't be read for lack of
/// memory.
bool model_matches(const model_value *expected, const kvo_value *value);
/// The elements of `all` that are, or are not, in `others`.
model_value model_filter(const model_value *all, const model_value *others, bool wanted);

/// Whether the path has no empty component.
bool model_is_whole(const char *path);
/// Whether the path has an empty component, or goes on through a collection without an operator.
bool model_is_broken(graph_node *node, const char *path);
bool model_maps(graph_node *node, const char *path);
/// The value at the end of a key path: nil where it is broken, an error if it can't exist.
model_value model_read(graph_node *node, const char *path);
/// The object that has the path's last key.
model_value model_read_owner(graph_node *node, const char *path);
/// Whether the path goes through, ends at, or depends on the key of the node.
bool model_reaches(graph_node *root, const char *path, const graph_node *node, const char *key);

/// A key of a node.
typedef struct model_place {
  const graph_node *node;
  const char *key;
} model_place;

/// Whether it still does if no path went on from the open places and the keys that depend on them.
bool model_reaches_past(graph_node *root, const char *path, model_place place,
    const model_place *open, size_t open_count);

/// Whether a key is a link or a collection. Changing it moves paths.
bool model_leads_on(const char *key);
/// Whether the key's setter notifies.
bool model_is_automatic(const char *key);
/// Whether the key is a number in storage.
bool model_is_stored_number(const char *key);
/// The position of a key in the order of keys that a change of `key` affects: by level, then by name. MODEL_UNRANKED
/// if it is not affected within one object.
int model_rank(const char *key, const char *affected);

#endif
