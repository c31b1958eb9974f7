/// A computed key that a binding tracks and declares as a path of stored properties.
#ifndef FIXTURE_TRAIL_H
#define FIXTURE_TRAIL_H

#include <CKVORuntime.h>

/// `behind`, a `long`, is the next object's x, or -1. How often it is tracked depends on changes of the class, so
/// only one test uses it.
typedef struct trail {
  kvo_object object;
  long x;
  struct trail *next;
  int tracked; ///< tracked readings of `behind`
} trail;

#define TRAIL_PROPERTIES(PROPERTY)    \
  PROPERTY(trail, long, x, X, ASSIGN) \
  PROPERTY(trail, struct trail *, next, Next, RETAIN)

KVO_BEGIN_DECLS
KVO_CLASS_INTERFACE(trail, TRAIL_PROPERTIES)
KVO_END_DECLS

#endif
