/// Computed keys that a binding tracks. The binding knows by tokens what it reads, and gives the answers while
/// tracking.
#ifndef FIXTURE_TALLY_H
#define FIXTURE_TALLY_H

#include <CKVORuntime.h>

/// Computed, each a `long`: `chosen` is y if `which` is not 0, otherwise x; `total` is x plus the next object's
/// total; `echo` is x, and with `echoes` its getter sets y to it; `both` is x plus y.
typedef struct tally {
  kvo_object object;
  long x, y, which;
  struct tally *next;
  bool echoes;
  int tracked; ///< tracked readings of any of them
  int got;     ///< other readings
} tally;

#define TALLY_PROPERTIES(PROPERTY)            \
  PROPERTY(tally, long, x, X, ASSIGN)         \
  PROPERTY(tally, long, y, Y, ASSIGN)         \
  PROPERTY(tally, long, which, Which, ASSIGN) \
  PROPERTY(tally, struct tally *, next, Next, RETAIN)

KVO_BEGIN_DECLS
KVO_CLASS_INTERFACE(tally, TALLY_PROPERTIES)
KVO_END_DECLS

#endif
