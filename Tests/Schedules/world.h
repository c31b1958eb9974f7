/// The objects that programs observe and change, and which keys the value at a key path depends on.
///
/// Roots lead by `next` to middles, and those to leaves, so there are no rings. Properties are stored atomically, so that any
/// threads may set them (I4).
#ifndef SCHEDULES_WORLD_H
#define SCHEDULES_WORLD_H

#include "CKVORuntime.h"

enum {
  ROOT,
  MIDDLE,
  OTHER_MIDDLE,
  LEAF,
  OTHER_LEAF,
  MORTAL, ///< a root of which each thread has a reference
  WATCHER,
  MORTAL_WATCHER, ///< likewise
  NODES,
  NOWHERE = -1
};

typedef enum node_key { KEY_VALUE, KEY_OTHER, KEY_NEXT, KEY_ITEMS, KEYS } node_key;

enum {
  PATH_VALUE,
  PATH_OTHER,
  PATH_NEXT,
  PATH_ITEMS,
  PATH_SUM, ///< derived from value and other
  PATH_NEXT_VALUE,
  PATH_NEXT_NEXT_VALUE,
  PATH_NEXT_SUM,
  PATH_NEXT_OTHER,
  PATH_NEAR,    ///< derived from next.value
  PATH_FAR,     ///< derived from next.next.value
  PATH_COUNT,   ///< items.@count
  PATH_TRACKED, ///< reads next, its value, and what that leads to
  PATHS
};
extern const char *const path_names[PATHS];

typedef struct node {
  kvo_object object;
  struct node *next;
  int value, other, items;
} node;

#define NODE_PROPERTIES(PROPERTY)                        \
  PROPERTY(node, struct node *, next, Next, CUSTOM, "@") \
  PROPERTY(node, int, value, Value, CUSTOM)              \
  PROPERTY(node, int, other, Other, CUSTOM)
KVO_CLASS_INTERFACE(node, NODE_PROPERTIES)

/// NULL outside the world's life, and for those that have died.
extern node *nodes[NODES];

/// How nodes are linked, as far as a path's dependencies depend on it.
typedef struct links {
  int next[NODES];    ///< or NOWHERE
  bool is_odd[NODES]; ///< its value
} links;

/// Makes the nodes, linked as said.
void make_world(const int8_t next[NODES]);
/// How the nodes are linked now.
links current_links(void);
int node_index(const node *node);

/// What is at the path now, as the calling thread sees it; no point of the schedule.
int read_path(int root, int path);
/// Whether a change of a node's key changes what is at the path.
bool is_affected(int root, int path, const links *links, int changed, node_key key);
/// Whether what the path depends on is known by the links alone.
bool is_followed_by_links(int path);
/// Whether it leads over a link.
bool has_link(int path);

/// Stores as setters do, without notifying.
void store_key(int node, node_key key, int value);
void insert_item(int node);
/// Called by each store: what is to be written into the history.
void node_is_stored(int node, node_key key, int value);
/// Called by observers that are objects.
void node_observes(kvo_object *observer, const kvo_change *change, void *context);

#endif
