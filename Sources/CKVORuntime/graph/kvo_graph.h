/// The observation graph along key paths: nodes, path observations and dependent keys.
///
/// A *link* is a property on a key path that holds the next object, such as `friend` in `friend.name`. A *node* is the
/// runtime's entry for a path at one key of one object, whether the key is a link or the last one: it is an entry among
/// that key's observers. The program sets links; the runtime follows and moves nodes.
///
/// A *path observation* is a key path that is followed from a root. It is a tree of nodes, the first of which is at the
/// root's key. Each node has a child at the next key of each object that it leads to: one object, or the elements of a
/// collection if an operator follows. A path observation serves either a registration, whose own entry is the first
/// node, or a dependent key.
///
/// A *dependent key* holds all path observations by which one key of one object is derived from others. It exists while
/// that key is observed or has nodes itself.
///
/// A change of a key notifies its observers, and it reaches further: to the key of each dependent key that has a path
/// observation with a node there (recipients.c).
///
/// | state | protection |
/// |---|---|
/// | the shape of path observations, tickets, stamps, a path observation's and a dependent key's `ended` | graph lock |
/// | a node's entry in its object's table, a cell's `dependent_key` | that object's lock, under the graph lock |
/// | references | atomic |
#ifndef KVO_GRAPH_H
#define KVO_GRAPH_H

#include "coding/kvo_key_path.h"
#include "tables/kvo_registration.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_path_node kvo_path_node;
typedef struct kvo_dependent_key kvo_dependent_key;
typedef struct kvo_path_cache kvo_path_cache;
typedef struct kvo_delta kvo_delta;
typedef struct kvo_followed_elements kvo_followed_elements;

/// The threads that are working on a path observation or dependent key. They may have placed nodes that they have not
/// followed yet.
typedef struct kvo_active_threads {
  uint32_t count;  ///< number of worklists; atomic
  uint32_t thread; ///< the number of the only thread, or KVO_SEVERAL_THREADS
} kvo_active_threads;
#define KVO_SEVERAL_THREADS UINT32_MAX

typedef struct kvo_path_observation {
  uint32_t references; ///< from its nodes and its dependent key
  bool ended;
  bool is_reported;     ///< it was reported that it can't be followed or read; atomic
  bool is_void;         ///< its first node could not be placed at the last attempt
  bool is_tracked;      ///< it serves a tracked key
  uint64_t inserted_at; ///< for a tracked key: the last ticket issued before its node was placed
  kvo_active_threads followers; ///< worklists that are following its nodes
  const kvo_key_path *path;
  const kvo_accessors *accessors;         ///< the root key's: the derived key, or the path's first
  kvo_object *root;                       ///< an unowned reference
  const kvo_class_operations *operations; ///< the root's
  /// The one it serves; NULL: the first node is the user's.
  kvo_dependent_key *KVO_NULLABLE dependent_key;
  /// Written under the graph lock. Atomic, because in a path observation that serves the user it is read without the
  /// lock (single_recipient.c).
  kvo_path_node *KVO_NULLABLE first;
  /// In the path observation at the last property of a tracked path: the path cache that led there. Set once, under the
  /// graph lock; atomic, because it is read without the lock.
  kvo_path_cache *KVO_NULLABLE path_cache;
} kvo_path_observation;

/// Where a node leads.
enum {
  KVO_LEAF, ///< neither a key nor an operator follows in the path
  /// To a collection whose elements are objects, all at one depth. So the node can be followed by a difference
  /// (node_delta.c).
  KVO_PLAIN_ELEMENTS,
  KVO_ANYWHERE
};

struct kvo_path_node {
  struct kvo_handle entry; ///< must be first: entries with KVO_PATH_NODE are nodes
  kvo_counts counts;       ///< must follow the entry, as in any registration with counts
  kvo_path_observation *observation;
  uint16_t depth;       ///< the index of its component in the path
  uint8_t target;       ///< where it leads: KVO_LEAF and so on; atomic
  bool is_led;          ///< a change has led the path here, after it was registered
  uint32_t occurrences; ///< how often its object is an element of the parent's collection
  uint32_t covered;     ///< the sum of its children's occurrences
  uint32_t shortages;   ///< `kvo_shortages_of_all` when it was read last
  /// The elements to which its children lead, for the next reading; NULL if they are not listed. Graph lock.
  kvo_followed_elements *KVO_NULLABLE followed;
  kvo_path_node *KVO_NULLABLE parent;
  kvo_path_node *KVO_NULLABLE children;
  kvo_path_node *KVO_NULLABLE *KVO_NONNULL last_child; ///< where the next child is linked
  kvo_path_node *KVO_NULLABLE next;                    ///< sibling
  kvo_path_node *KVO_NULLABLE *KVO_NULLABLE slot;      ///< the pointer to this one
  /// Tickets of readings. Several threads may follow a node in any order; the reading that began last wins. A change
  /// of the key takes a ticket as well when it begins.
  uint64_t issued, installed;
};

struct kvo_dependent_key {
  uint32_t references; ///< from its cell and from worklists
  bool ended;          ///< its cell has dropped it
  bool
      is_led; ///< the last search for recipients reached it only through nodes that a change or another thread placed
  bool is_tracked;    ///< its path observations are what the key's getter reads (tracking.c)
  bool is_held;       ///< that search was made while it is held (in_place.c); graph lock
  bool never_settles; ///< each reading read other properties, until tracking gave up
  uint32_t
      index; ///< index in the `kvo_path_nodes` of the change that it was last found for; graph lock
  enum { KVO_UNATTACHED, KVO_BEING_ATTACHED, KVO_ATTACHED } state;
  const void *KVO_NULLABLE attached_by; ///< the worklist that is working on it
  kvo_active_threads active_threads; ///< that one, and others that go through its path observations
  kvo_dependent_key *KVO_NULLABLE next_own; ///< next one that the same worklist has begun
  kvo_dependent_key *KVO_NULLABLE next;     ///< next one that ends with their object
  kvo_dependent_key *KVO_NULLABLE below;    ///< the next on a search's stack
  uint32_t low, high; ///< range of its observers that the search has yet to look at
  kvo_object *object; ///< an unowned reference
  const kvo_class_operations *operations;
  const kvo_accessors *accessors;
  const struct kvo_dependencies *dependencies;
  uint64_t serial; ///< orders keys by when they were first watched
  uint64_t stamp;  ///< stamp of the search for recipients that found it last
  uint64_t behind; ///< what all ways of that search to it lead behind; graph lock
  kvo_dependent_key *KVO_NULLABLE next_path; ///< next tracked path for that search to look at
  uint64_t issued, installed;                ///< tickets of tracking, as in a node
  /// For a tracked one: how often a path observation was placed, and how many of these placements a reading has fenced.
  uint64_t insertions, fenced;
  /// For a settled tracked dependent key: the reads of the reading that was installed last. The next reading takes it.
  /// Graph lock.
  struct kvo_last_reads *KVO_NULLABLE last_reads;
  kvo_path_cache *KVO_NULLABLE path_cache; ///< for a settled path of stored properties; graph lock
  uint32_t count;
  kvo_path_observation *KVO_NONNULL *KVO_NONNULL path_observations;
};

KVO_INLINE bool kvo_path_node_is_leaf(const kvo_path_node *node) {
  return __atomic_load_n(&node->target, __ATOMIC_RELAXED) == KVO_LEAF;
}
KVO_INLINE bool kvo_path_node_is_plain_locked(const kvo_path_node *node) {
  return __atomic_load_n(&node->target, __ATOMIC_RELAXED) == KVO_PLAIN_ELEMENTS;
}
KVO_INLINE void kvo_path_node_set_plain_locked(kvo_path_node *node, bool is_plain) {
  __atomic_store_n(&node->target, is_plain ? KVO_PLAIN_ELEMENTS : KVO_ANYWHERE, __ATOMIC_RELAXED);
}
KVO_INLINE kvo_path_node *KVO_NULLABLE kvo_path_node_of(kvo_registration *entry) {
  return entry->options & KVO_PATH_NODE ? (kvo_path_node *)entry : NULL;
}
/// Whether a registration was made by the user, and is not a node that serves one.
KVO_INLINE bool kvo_registration_is_direct(const kvo_registration *entry) {
  if (!(entry->options & KVO_PATH_NODE)) return true;
  const kvo_path_node *node = (const kvo_path_node *)entry;
  return !node->parent && !node->observation->dependent_key;
}

/// Fills in the error for a path that continues through a plain collection, at the component `behind`.
kvo_status kvo_key_path_refuse_collection(const kvo_key_path *path, uint32_t behind,
    const kvo_class *cls, kvo_error *KVO_NULLABLE error);
/// Walks the path from the component `depth` of the object on, reading the current values. Fails if the path can't be
/// followed: KVO_UNDEFINED_KEY, KVO_INVALID_KEY_PATH, KVO_NO_MEMORY. No lock held.
kvo_status kvo_key_path_walk(kvo_object *object, const kvo_key_path *path, uint32_t depth,
    kvo_error *KVO_NULLABLE error);
/// Whether the path has no further key after the node.
KVO_INLINE bool kvo_path_node_is_last(const kvo_path_node *node) {
  const kvo_key_path *path = node->observation->path;
  return path->components[node->depth].next_key == path->count;
}

/// Makes a path observation from a living root, with one reference. NULL if out of memory.
kvo_path_observation *KVO_NULLABLE kvo_path_observation_make(kvo_object *root,
    const kvo_key_path *path, const kvo_accessors *accessors,
    kvo_dependent_key *KVO_NULLABLE dependent_key);
void kvo_path_observation_release(kvo_path_observation *observation);
/// Initializes the part of a node that is not its entry. That part must be zeroed.
void kvo_path_node_init(kvo_path_node *node, kvo_path_observation *observation, uint32_t depth);
/// Adds a reference to a path observation.
void kvo_path_observation_retain(kvo_path_observation *observation);
/// Appends a node to the children of its parent. `child->parent` must be set before the node can be found at its key.
/// Graph lock held.
void kvo_path_node_add_child_locked(kvo_path_node *parent, kvo_path_node *child);

/// Reports that a path can't be followed, once for each path observation. The path counts as broken there.
void kvo_path_observation_report(kvo_path_observation *observation, const kvo_error *error);
/// Reports, once for each path observation, that an observed path leads to a value that can't be read. It is delivered
/// as nil.
void kvo_path_observation_report_unread(kvo_path_observation *observation, const kvo_error *error);

/// Follows the path from a registration's first node, and attaches the dependent key of its key if there is one, which
/// is released. Calls getters and hooks: no lock held. The caller retains the object.
void kvo_path_attach(kvo_path_node *KVO_NULLABLE first,
    kvo_dependent_key *KVO_NULLABLE dependent_key);
/// Reads again where a node leads, and moves the nodes further along. No lock held.
void kvo_path_node_follow(kvo_path_node *node);

/// A property that a tracked key's getter read.
typedef struct kvo_read {
  kvo_object *object;                     ///< a reference
  const char *key;                        ///< interned
  const void *KVO_NULLABLE token;         ///< the binding's token for the key, if it has given one
  const void *KVO_NULLABLE storage;       ///< for a path's property: where it is stored
  const kvo_class_operations *operations; ///< the object's
} kvo_read;

/// The properties that one reading read, in order. Holds the memory of the objects, not their lives.
typedef struct kvo_last_reads {
  size_t count;
  kvo_read reads[];
} kvo_last_reads;
void kvo_last_reads_free(kvo_last_reads *KVO_NULLABLE last_reads);

/// The value that a reading of a tracked key returned.
typedef struct kvo_read_result {
  kvo_value value;
  bool is_read;
  uint64_t ticket; ///< the reading's
} kvo_read_result;
/// Destroys the value, if there is one.
void kvo_read_result_destroy(kvo_read_result *result);
/// Reads a tracked key again, and follows the properties that it now reads. Stores the value of the last reading in
/// `*result`, which is zeroed before, if the key's observers want it. No lock held.
void kvo_dependent_key_follow(kvo_dependent_key *dependent_key, kvo_read_result *result);
/// Whether a new reading of a tracked key would read the same properties as the last one. It can tell only for a path
/// of stored properties, from memory; otherwise false.
bool kvo_dependent_key_is_current(kvo_dependent_key *dependent_key);

/// Records what a tracked key's getter reads. As long as they match the last reading's, in the same order, they are
/// only compared. After the first difference each read becomes an item. At the end of the reading the items are
/// sorted by object and key, without duplicates.
struct kvo_reads {
  kvo_read *KVO_NULLABLE items;
  size_t count, capacity;
  bool ran_out_of_memory; ///< memory ran out
  kvo_last_reads
      *KVO_NULLABLE expected; ///< the last reading's reads; NULL after the first difference
  size_t matched;             ///< how many of these have been read again
  kvo_last_reads *KVO_NULLABLE sequence; ///< the items in the order of reading, without references
  kvo_read_result *KVO_NULLABLE result;  ///< where to store the getter's value
  size_t path_length;         ///< the length of a path of stored properties; 0: not such a path
  ptrdiff_t reference_offset; ///< from a stored reference of such a path to the object's header
  uint64_t epoch;             ///< the classes' epoch (kvo_class_epoch) when the reading began
  kvo_path_cache *KVO_NULLABLE path_cache; ///< the path cache along `sequence`
};
void kvo_reads_destroy(kvo_reads *reads);

/// Removes an entry from the graph. For a node, also removes all nodes further along and whatever only they needed.
/// Graph lock held; the entry itself may have ended already.
void kvo_entry_end_locked(kvo_registration *entry, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Removes all path observations of a dependent key whose cell has dropped it, and whatever only they needed. Graph
/// lock held.
void kvo_dependent_key_end_locked(kvo_dependent_key *dependent_key,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Makes a dependent key for a key of a living object; it is not in its cell yet. `*made` is NULL if the key is not
/// derived. Asks the class; no lock held. False if out of memory.
bool kvo_dependent_key_make(kvo_object *object, const kvo_accessors *accessors,
    kvo_dependent_key *KVO_NULLABLE *KVO_NONNULL made);
kvo_dependent_key *kvo_dependent_key_retain(kvo_dependent_key *dependent_key);
void kvo_dependent_key_release(kvo_dependent_key *KVO_NULLABLE dependent_key);
/// Stores the dependent key in the list of its key's observers. Graph and object lock held.
void kvo_dependent_key_install_locked(kvo_dependent_key *dependent_key, kvo_table *table,
    kvo_list *list);
/// Marks a dependent key that is no longer in its list as ended. Graph and object lock held.
void kvo_dependent_key_mark_ended_locked(kvo_table *table, kvo_dependent_key *dependent_key);

/// Whether a registration observes the key, or a derived key that is needed depends on it. Graph lock held. Usually
/// O(1), at worst O(what depends on it, directly or not).
bool kvo_dependent_key_is_needed_locked(kvo_dependent_key *dependent_key);
/// Removes a dependent key from its cell, and marks it as ended. The caller gets the cell's reference. False if it is
/// in no cell. Graph lock held.
bool kvo_dependent_key_remove_from_cell_locked(kvo_dependent_key *dependent_key);
/// A new stamp, for marking what a search has found. Graph lock held.
uint64_t kvo_graph_next_stamp_locked(void);

/// Makes new dependent keys for those observed keys of a retained object whose dependencies have changed. No lock held.
void kvo_object_refresh_dependent_keys(kvo_object *object);
/// Makes new dependent keys for all observed objects of the class after a dependency was added. Returns false, with
/// nothing changed, if out of memory. No lock held.
bool kvo_dependent_keys_extend(const kvo_class *cls);
/// Makes new dependent keys for all observed objects of the class whose keys' dependencies have changed. No lock held.
void kvo_dependent_keys_refresh(const kvo_class *cls);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
