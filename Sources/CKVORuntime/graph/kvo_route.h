/// The route of a tracked key path of stored properties (route.c).
#ifndef KVO_ROUTE_H
#define KVO_ROUTE_H

#include "graph/kvo_graph.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A property of the path, as it was read.
typedef struct kvo_step {
  const uintptr_t *place; ///< where it is stored
  /// Not for the last: the stored reference, from which the next object follows.
  uintptr_t reference;
  kvo_object *object;                     ///< the object that has it; an unowned reference
  const kvo_class_operations *operations; ///< the object's
  const kvo_class *cls;                   ///< the object's
  uint32_t generation;                    ///< the class's, when the path was last read; atomic
} kvo_step;

/// Immutable, except for the generations.
struct kvo_route {
  uint32_t references; ///< atomic
  uint32_t count;      ///< number of steps; the first step's object is where the path begins
  const kvo_accessors *accessors; ///< the tracked key's
  kvo_step steps[];
};

/// Makes the route of a reading, with one reference. NULL if the reading did not follow a path, or memory is out.
kvo_route *KVO_NULLABLE kvo_route_make(const kvo_derivation *derivation, const kvo_reads *reads);
kvo_route *kvo_route_retain(kvo_route *route);
void kvo_route_release(kvo_route *KVO_NULLABLE route);
/// Renews the generations after the path was read again, by a reading that began at `epoch` of the classes.
void kvo_route_renew(kvo_route *route, uint64_t epoch);
/// Whether reading the path now would visit the same objects. O(its length), no lock.
bool kvo_route_is_current(const kvo_route *route);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
