/// Sets of indexes: where in an ordered collection something was inserted, removed or replaced.
#ifndef KVO_INDEX_SET_H
#define KVO_INDEX_SET_H

#include "kvo_base.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// No such index.
#define KVO_NOT_FOUND SIZE_MAX

/// Indexes in ascending order, each once, kept as ranges. Not synchronised: one that several
/// threads use must not change meanwhile.
typedef struct kvo_index_set kvo_index_set;

/// Indexes from `location` on, `length` of them. Its last one is below KVO_NOT_FOUND.
typedef struct kvo_range {
  size_t location; ///< the first index
  size_t length;   ///< how many indexes there are
} kvo_range;

/// A new set without indexes, which is the caller's to destroy. NULL if memory is out.
kvo_index_set *KVO_NULLABLE kvo_index_set_create(void);
/// A new set with `length` indexes from `location` on, which is the caller's to destroy. NULL if memory is out or the
/// range reaches beyond SIZE_MAX.
kvo_index_set *KVO_NULLABLE kvo_index_set_create_range(size_t location, size_t length);
/// A new set with the indexes of another, which is the caller's to destroy. NULL if memory is out.
kvo_index_set *KVO_NULLABLE kvo_index_set_copy(const kvo_index_set *set);
/// Frees the set. NULL is ignored.
void kvo_index_set_destroy(kvo_index_set *KVO_NULLABLE set);

/// Adds an index; one that is there already is no error. False, with nothing changed, if memory is out or the range
/// reaches beyond SIZE_MAX. O(ranges), O(1) behind the last one.
bool kvo_index_set_add(kvo_index_set *set, size_t index);
/// Adds `length` indexes from `location` on. As `kvo_index_set_add`.
bool kvo_index_set_add_range(kvo_index_set *set, size_t location, size_t length);

/// How many indexes there are. This and the other readers take NULL, which a change that has no indexes gives, for a set
/// without any. O(1).
size_t kvo_index_set_count(const kvo_index_set *KVO_NULLABLE set);
/// Whether the index is one of them. O(log ranges).
bool kvo_index_set_contains(const kvo_index_set *KVO_NULLABLE set, size_t index);
/// The n-th index, from 0; KVO_NOT_FOUND beyond the last. O(log ranges).
size_t kvo_index_set_index(const kvo_index_set *KVO_NULLABLE set, size_t n);
/// Whether both have the same indexes. O(ranges).
bool kvo_index_set_equal(const kvo_index_set *a, const kvo_index_set *b);

/// How many ranges the indexes make: for going through all of them by `kvo_index_set_range`. O(1).
size_t kvo_index_set_range_count(const kvo_index_set *KVO_NULLABLE set);
/// The i-th range, from 0, which is not empty; `i` is below the number of ranges. They ascend and don't touch. O(1).
kvo_range kvo_index_set_range(const kvo_index_set *KVO_NULLABLE set, size_t i);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
