/// Names from outside: what they leave behind.
#ifndef FIXTURE_NAMES_H
#define FIXTURE_NAMES_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The bytes that the program has allocated.
long fixture_bytes_used(void);

/// The use of each of many names.
typedef enum names_way {
  NAMES_READ,             ///< a key that nothing answers
  NAMES_READ_PATH,        ///< a key path that leads nowhere
  NAMES_READ_OPERATOR,    ///< one with an operator
  NAMES_READ_BY_HOOK,     ///< a key path that a hook answers
  NAMES_SET_PATH,         ///< setting along an unknown key path
  NAMES_VALIDATE_PATH,    ///< validating along an unknown key path
  NAMES_OBSERVE,          ///< observing an unknown key
  NAMES_OBSERVE_PATH,     ///< observing an unknown key path
  NAMES_OBSERVE_GROUP,    ///< observing an unknown key together with a known one
  NAMES_OBSERVED_PATH,    ///< observing a known key path, one notification, and the end
  NAMES_REMOVE,           ///< removing an observer of a key path that is not observed
  NAMES_PROXY,            ///< a mutable proxy for an unknown key
  NAMES_OBSERVED_BY_HOOK, ///< observing a key that a hook answers, and the end: these are kept
} names_way;

/// Uses this many different names once caches are full. Returns the bytes left behind. Aborts if a use that must fail
/// succeeds, or the reverse.
long names_left_by(names_way way, int count);

/// How many of this many different keys that a hook answers can be observed.
int names_observed_by_hook(int count);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
