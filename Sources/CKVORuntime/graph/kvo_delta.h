/// The elements that a change of a to-many key added and removed, for the nodes at the key: paths/delta.c.
#ifndef KVO_DELTA_H
#define KVO_DELTA_H

#include "graph/kvo_graph.h"
#include "kvo_index_set.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The elements that a change names. The values and indexes belong to the caller, and must live until the delta ends.
typedef struct kvo_named_elements {
  kvo_change_kind kind;
  const kvo_index_set *KVO_NULLABLE indexes; ///< of an ordered key
  /// For a set: the elements that are removed or added. Some of the former may not be members, some of the latter may
  /// be already.
  const kvo_value *KVO_NULLABLE goes, *KVO_NULLABLE comes;
  /// The only inserted element, if it is known; else NULL. Only its address is compared.
  const kvo_object *KVO_NULLABLE inserted;
  bool is_exact; ///< the elements at the indexes after an insertion are the inserted ones
} kvo_named_elements;

/// An unowned reference to an element, with its class, since the element may have died.
typedef struct kvo_element_reference {
  kvo_object *object;
  const kvo_class *cls;
} kvo_element_reference;

/// The elements by which a collection differs from what it was, each as often as it was removed or added.
typedef struct kvo_difference {
  kvo_element_reference *KVO_NULLABLE gone;
  kvo_object *KVO_NONNULL *KVO_NULLABLE came; ///< held by the collection
  size_t gone_count, came_count, total;       ///< `total`: all elements of the collection now
} kvo_difference;

/// Releases the removed elements, and frees both lists. The difference is empty afterwards.
void kvo_difference_end(kvo_difference *difference);

/// Announces a change to a node at the changed key, which takes a ticket. If the node can be followed by a delta, it
/// is added to `*delta`, which is made for the first such node. `delta` may be NULL. Graph lock held.
void kvo_path_node_announce_locked(kvo_path_node *node,
    kvo_delta *KVO_NULLABLE *KVO_NULLABLE delta);
/// Before the change: finds the elements that it says it will remove. Calls getters: no lock held, the object is
/// held.
void kvo_delta_begin(kvo_delta *delta, kvo_object *object, const kvo_named_elements *named);
/// Follows a node at the key by the elements that the change removed and added. Returns false, having done nothing,
/// if the node has to be read again. Calls getters and hooks: no lock held, the object is held.
bool kvo_delta_follow(kvo_delta *delta, kvo_object *object, kvo_path_node *node);
void kvo_delta_end(kvo_delta *KVO_NULLABLE delta);

/// Moves the nodes behind a node by the delta, or else reads again where the node leads. No lock held.
void kvo_path_node_follow_delta(kvo_path_node *node, uint64_t ticket, const kvo_delta *delta);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
