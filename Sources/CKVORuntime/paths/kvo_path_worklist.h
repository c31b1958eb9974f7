/// The work of following key paths: a stack of tasks, each of which may add others. path_worklist.c implements the
/// stack, path_tasks.c runs the tasks, node_resolution.c follows single nodes. kvo_graph.h explains nodes and links.
#ifndef KVO_PATH_WORKLIST_H
#define KVO_PATH_WORKLIST_H

#include "base/kvo_memory.h"
#include "graph/kvo_delta.h"
#include "graph/kvo_followed_elements.h"
#include "graph/kvo_graph.h"
#include "values/kvo_collection_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_task {
  enum {
    KVO_ATTACH_PATH,
    KVO_RESOLVE_NODE,
    KVO_APPLY_DELTA,
    KVO_FOLLOW_NODE,
    KVO_INSERT_NODE,
    KVO_TRACK
  } kind;
  bool is_recursive; ///< the existing nodes further along are followed again as well
  kvo_path_observation *KVO_NULLABLE observation; ///< the path observation to attach; a reference
  /// The node to follow, or the parent of the one to place; a reference.
  kvo_path_node *KVO_NULLABLE node;
  /// The path observation's root, or the object to place a node at; a reference.
  kvo_object *KVO_NULLABLE object;
  kvo_dependent_key *KVO_NULLABLE dependent_key; ///< the dependent key to track; a reference
  uint32_t depth, occurrences;                   ///< of the node to place
  /// The reading that found `object`, or the delta's; or how often the key was tracked so far.
  uint64_t ticket;
  const kvo_delta *KVO_NULLABLE delta; ///< to apply to the node
} kvo_task;

/// The objects that a node leads to. The value that was read holds them.
typedef struct kvo_targets {
  kvo_value value;
  kvo_value inner; ///< a collection among the elements, while its own are read
  kvo_elements elements;
  kvo_object *KVO_NULLABLE *KVO_NULLABLE objects; ///< `&only`, or an allocated array
  kvo_object *KVO_NULLABLE only;
  size_t count;
  uint32_t depth; ///< index of the component by which the path continues at the objects
  uint32_t *KVO_NULLABLE depths; ///< the same for each element or object, if they differ; else NULL
  size_t depths_capacity;
  /// The collection's elements, if they can be compared by the next reading.
  kvo_followed_elements *KVO_NULLABLE followed;
  /// Before the collection is read: the elements that the node has followed.
  kvo_followed_elements *KVO_NULLABLE before;
  bool is_plain;    ///< `objects` are all elements of a collection
  bool is_compared; ///< only the `difference` of `followed` was found
} kvo_targets;

typedef struct kvo_path_worklist {
  kvo_task *KVO_NULLABLE tasks;
  size_t count, capacity;
  kvo_task current;
  kvo_targets found;                    ///< of the node that is being followed; empty between nodes
  kvo_reads reads;                      ///< of the key that is being tracked
  uint64_t ticket;                      ///< the ticket of that reading
  kvo_read_result *KVO_NULLABLE result; ///< where to store the value of the key it was begun for
  kvo_retired *KVO_NULLABLE retired;
  /// Dependent keys that this one has begun to attach, linked by `next_own`; references.
  kvo_dependent_key *KVO_NULLABLE own;
  /// Dependent keys that another thread is working on and whose path observations are followed here too; references.
  kvo_dependent_key *KVO_NONNULL *KVO_NULLABLE foreign;
  size_t foreign_count, foreign_capacity;
  /// Whether it has placed a node that a change in progress on another thread may not have found.
  bool has_inserted;
  bool is_counted_active; ///< it is counted in `active_threads`
  bool is_running;        ///< some of its tasks are not done
  bool is_following;      ///< it follows a change, and is not part of a registration
  kvo_active_threads
      *KVO_NULLABLE active_threads; ///< of the path observation or dependent key it was begun for
} kvo_path_worklist;

/// Makes room for `more` tasks. False if out of memory.
bool kvo_path_worklist_make_room(kvo_path_worklist *worklist, size_t more);
/// Pushes a task to follow a node, unless the node is the last of its path.
void kvo_path_worklist_push_resolution(kvo_path_worklist *worklist, kvo_path_node *node,
    bool is_recursive);
/// Pushes a task to apply a delta to a node, which is not the last one of its path.
void kvo_path_worklist_push_delta(kvo_path_worklist *worklist, kvo_path_node *node, uint64_t ticket,
    const kvo_delta *delta);
/// Pushes a task to track a dependent key that has been tracked `again` times already.
void kvo_path_worklist_push_track(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key,
    uint64_t again);
/// Pushes tasks to attach all path observations of a dependent key, or, if it is tracked, a task to track it.
void kvo_path_worklist_push_path_observations(kvo_path_worklist *worklist,
    kvo_dependent_key *dependent_key);
/// Releases the references of a task.
void kvo_task_end(kvo_task *task);
/// Call before reading anything: makes visible what was stored by changes that did not find the nodes placed here
/// (I3).
void kvo_path_worklist_fence(kvo_path_worklist *worklist);
/// Reads where a node leads, ends its children at other objects, and pushes tasks to place the missing ones. Calls a
/// getter: no lock held.
void kvo_path_worklist_resolve_node(kvo_path_worklist *worklist, kvo_path_node *node,
    bool is_recursive);
/// Destroys what was read, and empties it. May be called again if an object that dies throws.
void kvo_targets_destroy(kvo_targets *found);
/// Moves the nodes behind a node by a delta, and pushes tasks for those to be placed. Returns false, with nothing
/// changed, if the node has to be read again. No lock held.
bool kvo_path_worklist_apply_delta(kvo_path_worklist *worklist, kvo_path_node *node,
    uint64_t ticket, const kvo_delta *delta);
/// Does so by the difference that a reading has found. The node takes its list of elements.
bool kvo_path_worklist_apply_difference(kvo_path_worklist *worklist, kvo_path_node *node,
    uint64_t ticket, kvo_targets *found);
/// Gives the list of elements that was read to the node, and the node's own to the reading, which frees it.
KVO_INLINE void kvo_swap_followed_locked(kvo_path_node *node, kvo_targets *found) {
  kvo_followed_elements *had = node->followed;
  node->followed = found->followed;
  found->followed = had;
}
/// A node that was there when a change began.
typedef struct kvo_announced_node {
  kvo_path_node *node; ///< held
  uint64_t ticket;
} kvo_announced_node;
/// The elements beside a removed range; their addresses are only compared.
typedef struct kvo_range_neighbours {
  const kvo_object *KVO_NULLABLE before, *KVO_NULLABLE behind;
} kvo_range_neighbours;
struct kvo_delta {
  enum { KVO_DELTA_INVALID, KVO_DELTA_BEGUN, KVO_DELTA_READ } state;
  bool is_known; ///< as `is_exact` of `named`, or by comparing `inserted`
  kvo_announced_node *KVO_NULLABLE nodes;
  size_t count, capacity, next; ///< of the nodes; the one that is followed next
  kvo_named_elements named;
  kvo_difference difference;                     ///< its elements are held by `elements`
  kvo_range_neighbours *KVO_NULLABLE neighbours; ///< of each range of a removal
  kvo_value value;                               ///< the key's, while its elements are read
  kvo_elements elements;                         ///< its elements, which hold the added ones
};
/// Whether there was no shortage of memory since the node was read. After a shortage the node may have missed a
/// change.
KVO_INLINE bool kvo_path_node_misses_nothing_locked(const kvo_path_node *node) {
  return node->shortages == __atomic_load_n(&kvo_shortages_of_all, __ATOMIC_SEQ_CST);
}
/// An object, and how often it occurs.
typedef struct kvo_object_count {
  uintptr_t object; ///< its address; the lowest bit marks it as taken
  uint32_t count;
} kvo_object_count;
/// Fills in each object once, in the order of addresses, and returns their number. `sorted` must have room for all
/// objects.
size_t kvo_count_objects(kvo_object_count *sorted,
    kvo_object *KVO_NONNULL const *KVO_NONNULL objects, size_t count);
/// Takes an object out. Returns NULL if it is not there, or has been taken already.
kvo_object_count *KVO_NULLABLE kvo_object_count_take(kvo_object_count *sorted, size_t count,
    const kvo_object *object);
/// Reads a tracked key and replaces its dependent key's path observations. Then there is a path observation for each
/// property read, by this reading or by one that began later; the caller attaches those that have no node. Calls the
/// getter: no lock held. Returns false if nothing more is to be done: the same was read as last time, the dependent
/// key has ended, or there is no memory.
bool kvo_path_worklist_track(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key);
/// Tracks until all properties that were read have nodes, or gives up. `rounds`: how often it was tracked so far.
void kvo_path_worklist_track_until_settled(kvo_path_worklist *worklist,
    kvo_dependent_key *dependent_key, uint64_t rounds);
/// Keeps the reads, in order, for comparison with the next reading, provided that all of them have nodes. The
/// dependent key is settled; graph lock held.
void kvo_path_worklist_keep_sequence_locked(kvo_path_worklist *worklist,
    kvo_dependent_key *dependent_key);

/// Counts the worklist in its `active_threads`, before it places anything.
void kvo_path_worklist_enter_locked(kvo_path_worklist *worklist);
/// Stops counting the worklist there, and at the dependent keys that it has worked on. `is_torn`: an exception has
/// left something undone.
void kvo_path_worklist_leave(kvo_path_worklist *worklist, bool is_torn);
/// Counts this worklist among those that follow the dependent key's path observations, if it has to: either no thread
/// has done so, or another one is still doing it. False if it need not, or has been counted there already.
bool kvo_path_worklist_take_on(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key);
/// Whether another thread may have placed nodes that it has not followed yet. Graph lock held.
bool kvo_active_threads_have_others_locked(const kvo_active_threads *active);
bool kvo_path_node_has_others_locked(const kvo_path_node *node);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
