/// Hashes of values, and hash tables for finding a value in an array.
#ifndef KVO_HASH_H
#define KVO_HASH_H

#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The hash of a value; equal values have equal hashes. Numbers are hashed by numeric value, strings by their bytes,
/// objects by identity, collections by contents, structs by members, a binding's values by the binding. Returns false
/// if the value has no hash.
bool kvo_value_hash(const kvo_value *value, uint64_t *hash);

/// A hash index of the values in an array of the caller's. `{0}` is empty. Finding and adding are O(1) as long as all
/// values have hashes, otherwise O(count).
typedef struct kvo_hash_index {
  struct hash_slot *KVO_NULLABLE slots;
  size_t mask;
  size_t count;  ///< the number of values that were added
  bool unhashed; ///< some value has no hash, so the slots are not used any more
} kvo_hash_index;

/// The index of the first equal value among those that were added; SIZE_MAX if there is none.
size_t kvo_hash_index_find(const kvo_hash_index *index, const kvo_value *values,
    const kvo_value *value);
/// Adds the next value, `values[places->count]`, which must not be equal to one that was added. False if out of
/// memory.
bool kvo_hash_index_add(kvo_hash_index *index, const kvo_value *values);
void kvo_hash_index_destroy(kvo_hash_index *index);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
