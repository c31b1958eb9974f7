/// Hashes of values, and finding a value among many.
#ifndef KVO_HASH_H
#define KVO_HASH_H

#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A hash that equal values share: of numbers by worth, of strings, objects by identity,
/// collections by contents, structs by members, a binding's values by what the binding says. False
/// for what has none.
bool kvo_value_hash(const kvo_value *value, uint64_t *hash);

/// Where values stand in an array that the caller keeps. `{0}` is empty. Finding and adding are
/// O(1) as long as all values have hashes, else O(count).
typedef struct kvo_places {
  struct kvo_place *KVO_NULLABLE slots;
  size_t mask;
  size_t count;  ///< values taken in
  bool unhashed; ///< some of them has no hash: nothing is in the slots any more
} kvo_places;

/// Where the first equal one among the values taken in stands; SIZE_MAX if none does.
size_t kvo_places_find(const kvo_places *places, const kvo_value *values, const kvo_value *value);
/// Takes in the next value, `values[places->count]`, not equal to one that is in. False if memory
/// is out.
bool kvo_places_add(kvo_places *places, const kvo_value *values);
void kvo_places_destroy(kvo_places *places);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
