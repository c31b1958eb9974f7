/// The objects that programs observe and change, and the keys on which a key path depends.
///
/// Roots lead by `next` to middles, and those to leaves, so there are no rings. Properties are stored atomically, so
/// that any threads may set them (I4).
#ifndef SCHEDULES_WORLD_H
#define SCHEDULES_WORLD_H

#include "CKVORuntime.h"

enum {
  ROOT,
  MIDDLE,
  OTHER_MIDDLE,
  LEAF,
  OTHER_LEAF,
  MORTAL, ///< a root that each thread retains
  WATCHER,
  MORTAL_WATCHER, ///< a middle that each thread retains
  NODES,
  NOWHERE = -1
};

typedef enum node_key { KEY_VALUE, KEY_OTHER, KEY_NEXT, KEY_ITEMS, KEY_STAMP, KEYS } node_key;

enum {
  PATH_VALUE,
  PATH_OTHER,
  PATH_NEXT,
  PATH_ITEMS,
  PATH_STAMP, ///< a number that belongs to the value
  PATH_SUM,   ///< derived from value and other
  PATH_NEXT_VALUE,
  PATH_NEXT_NEXT_VALUE,
  PATH_NEXT_SUM,
  PATH_NEXT_OTHER,
  PATH_NEAR,  ///< derived from next.value
  PATH_FAR,   ///< derived from next.next.value
  PATH_COUNT, ///< items.@count
  PATH_STAMPED, ///< the value; its getter sets the stamp that belongs to it, and both are its dependencies
  PATH_TRACKED, ///< reads next, its value, and the value of the node after that
  PATHS
};
extern const char *const path_names[PATHS];

typedef struct node {
  kvo_object object;
  struct node *next;
  int value, other, items, stamp;
} node;

#define NODE_PROPERTIES(PROPERTY)                        \
  PROPERTY(node, struct node *, next, Next, CUSTOM, "@") \
  PROPERTY(node, int, value, Value, CUSTOM)              \
  PROPERTY(node, int, other, Other, CUSTOM)              \
  PROPERTY(node, int, stamp, Stamp, CUSTOM)
KVO_CLASS_INTERFACE(node, NODE_PROPERTIES)

/// NULL outside the world's life, and for dead nodes.
extern node *nodes[NODES];

/// How nodes are linked, as far as a path's dependencies need it.
typedef struct links {
  int next[NODES];    ///< or NOWHERE
  bool is_odd[NODES]; ///< its value
} links;

/// Makes the nodes, with these links.
void make_world(const int8_t next[NODES]);
/// The current links of the nodes.
links current_links(void);
int node_index(const node *node);

/// The value at the path that the calling thread sees. Not a point of the schedule.
int read_path(int root, int path);
/// Whether a change of a node's key changes the value at the path.
bool is_affected(int root, int path, const links *links, int changed, node_key key);
/// Whether the links alone determine what the path depends on.
bool is_followed_by_links(int path);
/// The number of links on the path.
int links_on(int path);
/// The keys, a bit for each, on which the path depends in the node that its links lead to.
uint8_t last_keys(int path);
/// A value that the nodes begin with.
int first_value(int node, node_key key);
/// The value of derived keys and tracked ones that lead nowhere, and what is added to those of tracked ones.
/// STAMPS is added to a value for its stamp.
enum { STAMPS = 4096, NOTHING = -1, ODD = 100000, EVEN = 200000 };

/// Stores as the setters do, without notifying.
void store_key(int node, node_key key, int value);
void store_link(int node, int to);
void insert_item(int node);
/// Called by each store, to record it in the history.
void node_is_stored(int node, node_key key, int value);
/// Called by each getter of a stored property, except for those that a tracked key reads.
void node_is_read(int node, node_key key);
/// Called by the getter that sets the stamp.
void node_is_stamped(int node);
/// Called by observer objects.
void node_observes(kvo_object *observer, const kvo_object *object, const char *key_path,
    const kvo_change *change, void *context);

#endif
