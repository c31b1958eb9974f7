/// How a tracked key path of stored properties was gone along; route.c.
#ifndef KVO_ROUTE_H
#define KVO_ROUTE_H

#include "graph/kvo_graph.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A property of the path, as it was read.
typedef struct kvo_step {
  const uintptr_t *place; ///< where it is stored
  uintptr_t reference;    ///< of all but the last: what was stored, the next object's address
  kvo_object *object;     ///< whose it is; an unowned reference
  const kvo_class_operations *operations; ///< the object's
  const kvo_class *cls;                   ///< likewise
  uint32_t generation; ///< of the class, when the path was last gone along; atomic
} kvo_step;

/// Immutable, but for the generations.
struct kvo_route {
  uint32_t references; ///< atomic
  uint32_t count;      ///< of the steps; of the first the object is where the path begins
  const kvo_accessors *accessors; ///< of the tracked key
  kvo_step steps[];
};

/// The route that a reading has gone along, with one reference; NULL if it was none, or memory is out.
kvo_route *KVO_NULLABLE kvo_route_make(const kvo_derivation *derivation, const kvo_reads *reads);
kvo_route *kvo_route_retain(kvo_route *route);
void kvo_route_release(kvo_route *KVO_NULLABLE route);
/// It has been gone along again, by a reading that began at that epoch of the classes.
void kvo_route_renew(kvo_route *route, uint64_t epoch);
/// Whether reading the path now would come by the same objects. O(its length), no lock.
bool kvo_route_is_current(const kvo_route *route);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
