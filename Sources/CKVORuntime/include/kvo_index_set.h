/// Sets of indexes: the places in an ordered collection where elements were inserted, removed or replaced.
#ifndef KVO_INDEX_SET_H
#define KVO_INDEX_SET_H

#include "kvo_base.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The result of a search that found no index.
#define KVO_NOT_FOUND SIZE_MAX

/// A set of indexes in ascending order, stored as ranges. It is not synchronised: while several threads use it, none
/// may change it.
typedef struct kvo_index_set kvo_index_set;

/// A range of `length` indexes that starts at `location`. Its last index is below KVO_NOT_FOUND.
typedef struct kvo_range {
  size_t location; ///< the first index
  size_t length;   ///< how many indexes there are
} kvo_range;

/// Creates an empty set, which the caller destroys. NULL if out of memory.
kvo_index_set *KVO_NULLABLE kvo_index_set_create(void);
/// Creates a set with `length` indexes from `location` on, which the caller destroys. NULL if out of memory, or if
/// the range reaches beyond SIZE_MAX.
kvo_index_set *KVO_NULLABLE kvo_index_set_create_range(size_t location, size_t length);
/// Copies a set. The caller destroys the copy. NULL if out of memory. O(ranges).
kvo_index_set *KVO_NULLABLE kvo_index_set_copy(const kvo_index_set *set);
/// Frees the set. NULL is ignored.
void kvo_index_set_destroy(kvo_index_set *KVO_NULLABLE set);

/// Adds an index, which may be in the set already. Returns false, with the set unchanged, if out of memory or the
/// index is SIZE_MAX. O(ranges); O(1) after the last range.
bool kvo_index_set_add(kvo_index_set *set, size_t index);
/// Adds `length` indexes from `location` on. Returns false, with the set unchanged, if out of memory or the range
/// reaches beyond SIZE_MAX. O(ranges); O(1) after the last range.
bool kvo_index_set_add_range(kvo_index_set *set, size_t location, size_t length);

/// The number of indexes. This function and the other readers treat NULL, which a change without indexes returns, as
/// an empty set. O(1).
size_t kvo_index_set_count(const kvo_index_set *KVO_NULLABLE set);
/// Whether the set contains an index. O(log ranges).
bool kvo_index_set_contains(const kvo_index_set *KVO_NULLABLE set, size_t index);
/// The n-th index, counted from 0; KVO_NOT_FOUND beyond the last. O(log ranges).
size_t kvo_index_set_index(const kvo_index_set *KVO_NULLABLE set, size_t n);
/// Whether two sets have the same indexes. O(ranges).
bool kvo_index_set_equal(const kvo_index_set *a, const kvo_index_set *b);

/// The number of ranges in the set, for an iteration by `kvo_index_set_range`. O(1).
size_t kvo_index_set_range_count(const kvo_index_set *KVO_NULLABLE set);
/// The i-th range, counted from 0; `i` must be below the number of ranges. Ranges are not empty, ascend, and don't
/// touch. O(1).
kvo_range kvo_index_set_range(const kvo_index_set *KVO_NULLABLE set, size_t i);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
