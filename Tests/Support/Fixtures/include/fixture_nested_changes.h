/// Random changes that nest and cross on one thread, and what observers of distinct changes know in the end.
#ifndef FIXTURE_NESTED_CHANGES_H
#define FIXTURE_NESTED_CHANGES_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef enum KVO_CLOSED_ENUM nested_changes_way {
  NESTED_CHANGES_ALONE,  ///< each is its key's only observer, on the object itself
  NESTED_CHANGES_AMONG,  ///< beside observers of all changes
  NESTED_CHANGES_PATHS,  ///< along paths that move, and of derived keys
  NESTED_CHANGES_TOKENS, ///< of several keys at once
} nested_changes_way;

/// Pairs, suspended accesses and sets of three objects, nested and crossing, from outside and by observers. Returns
/// the first observer whose known value is wrong while no change is open, or NULL. The text is static.
const char *KVO_NULLABLE nested_changes_find_missed(nested_changes_way way, uint64_t seed,
    int steps);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
