/// The elements that a change of a to-many key added and removed, for the nodes at the key: paths/delta.c.
#ifndef KVO_DELTA_H
#define KVO_DELTA_H

#include "graph/kvo_graph.h"
#include "kvo_index_set.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// What the change says of itself. The values and indexes are the caller's, until the delta ends.
typedef struct kvo_named_elements {
  kvo_change_kind kind;
  const kvo_index_set *KVO_NULLABLE indexes; ///< of an ordered key
  /// Of a set: what goes, or what comes. Some of that may not have been there before, or have been there already.
  const kvo_value *KVO_NULLABLE goes, *KVO_NULLABLE comes;
  /// The only element that is inserted, where it is known; else NULL. It is compared and nothing else.
  const kvo_object *KVO_NULLABLE inserted;
  bool is_exact; ///< what has the indexes of an insertion is what was to be inserted
} kvo_named_elements;

/// A change of a key begins: each node at the key takes a ticket. Those that can be followed by a delta are added to
/// `*delta`, which is made for the first of them, if `delta` is not NULL. Graph lock held.
void kvo_path_node_announce_locked(kvo_path_node *node,
    kvo_delta *KVO_NULLABLE *KVO_NULLABLE delta);
/// Finds the elements that the change says will go, before it is made. Calls getters: no lock held, the object is
/// held.
void kvo_delta_begin(kvo_delta *delta, kvo_object *object, const kvo_named_elements *part);
/// Follows a node at the key by what the change has done. False, with nothing done, if it has to be read. Calls getters
/// and hooks: no lock held, the object is held.
bool kvo_delta_follow(kvo_delta *delta, kvo_object *object, kvo_path_node *node);
void kvo_delta_end(kvo_delta *KVO_NULLABLE delta);

/// Moves the nodes behind a node as the delta says, or reads again where it leads. No lock held.
void kvo_path_node_follow_delta(kvo_path_node *node, uint64_t ticket, const kvo_delta *delta);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
