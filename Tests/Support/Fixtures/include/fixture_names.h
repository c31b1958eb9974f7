/// Names from outside: what they leave behind.
#ifndef FIXTURE_NAMES_H
#define FIXTURE_NAMES_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Bytes that the program has of the allocator.
long fixture_bytes_used(void);

/// What is done with each of many names.
typedef enum names_way {
  NAMES_READ,             ///< a key that nothing answers
  NAMES_READ_PATH,        ///< a key path that leads nowhere
  NAMES_READ_OPERATOR,    ///< one with an operator
  NAMES_READ_BY_HOOK,     ///< a key path that a hook answers
  NAMES_SET_PATH,         ///< setting along a key path that leads nowhere
  NAMES_VALIDATE_PATH,    ///< validating along one
  NAMES_OBSERVE,          ///< observing a key that nothing answers
  NAMES_OBSERVE_PATH,     ///< a key path that leads nowhere
  NAMES_OBSERVE_GROUP,    ///< a key that nothing answers beside one that there is
  NAMES_OBSERVED_PATH,    ///< a key path that there is, observed, told once, and no more
  NAMES_REMOVE,           ///< removing an observer of a key path that is not observed
  NAMES_PROXY,            ///< a mutable proxy for a key that nothing answers
  NAMES_OBSERVED_BY_HOOK, ///< a key that a hook answers, observed, and no more: these are kept
} names_way;

/// Does it with so many different names, when caches are full. How many bytes are left behind; aborts
/// if one that is to fail succeeds, or the other way round.
long names_left_by(names_way way, int count);

/// How many of so many different keys that a hook answers can be observed.
int names_observed_by_hook(int count);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
