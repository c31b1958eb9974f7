/// The path cache of a tracked key path of stored properties (path_cache.c).
#ifndef KVO_PATH_CACHE_H
#define KVO_PATH_CACHE_H

#include "graph/kvo_graph.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A property of the path, as it was read.
typedef struct kvo_path_cache_step {
  const uintptr_t *storage; ///< where it is stored
  /// Not for the last: the stored reference, from which the next object follows.
  uintptr_t reference;
  kvo_object *object;                     ///< the object that has it; an unowned reference
  const kvo_class_operations *operations; ///< the object's
  const kvo_class *cls;                   ///< the object's
  uint32_t generation;                    ///< the class's, when the path was last read; atomic
} kvo_path_cache_step;

/// Immutable, except for the generations.
struct kvo_path_cache {
  uint32_t references; ///< atomic
  uint32_t count;      ///< number of steps; the first step's object is where the path begins
  const kvo_accessors *accessors; ///< the tracked key's
  kvo_path_cache_step steps[];
};

/// Makes the path cache of a reading, with one reference. NULL if the reading did not follow a path, or there is no
/// memory.
kvo_path_cache *KVO_NULLABLE kvo_path_cache_make(const kvo_dependent_key *dependent_key,
    const kvo_reads *reads);
kvo_path_cache *kvo_path_cache_retain(kvo_path_cache *cache);
void kvo_path_cache_release(kvo_path_cache *KVO_NULLABLE cache);
/// Renews the generations after the path was read again, by a reading that began at `epoch` of the classes.
void kvo_path_cache_renew(kvo_path_cache *cache, uint64_t epoch);
/// Whether reading the path now would visit the same objects. O(its length), no lock.
bool kvo_path_cache_is_current(const kvo_path_cache *cache);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
