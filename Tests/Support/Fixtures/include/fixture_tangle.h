/// Random changes that nest and cross on one thread, and what observers of distinct changes know in the end.
#ifndef FIXTURE_TANGLE_H
#define FIXTURE_TANGLE_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef enum KVO_CLOSED_ENUM tangle_way {
  TANGLE_ALONE,  ///< each is its key's only observer, on the object itself
  TANGLE_AMONG,  ///< beside observers of all changes
  TANGLE_PATHS,  ///< along paths that move, and of derived keys
  TANGLE_TOKENS, ///< of several keys at once
} tangle_way;

/// Pairs, suspended accesses and sets of three objects, nested and crossing, from outside and by observers. Returns
/// the first observer whose known value is wrong while no change is open, or NULL. The text is static.
const char *KVO_NULLABLE tangle_find_untold(tangle_way way, uint64_t seed, int steps);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
