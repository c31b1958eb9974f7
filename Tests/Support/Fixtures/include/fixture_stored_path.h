/// Computed keys that a binding tracks: one that it declares as a path of stored properties, one that has a link.
#ifndef FIXTURE_STORED_PATH_H
#define FIXTURE_STORED_PATH_H

#include <CKVORuntime.h>

/// `behind`, a `long`, is the next object's x, or -1. How often it is tracked depends on changes of the class, so
/// only one test uses it. `sum` is x and the next object's x, `area` the next object's y times its x; `next` is their
/// link.
typedef struct stored_path {
  kvo_object object;
  long x, y;
  struct stored_path *next;
  int tracked; ///< tracked readings of `behind`
} stored_path;

#define TRAIL_PROPERTIES(PROPERTY)          \
  PROPERTY(stored_path, long, x, X, ASSIGN) \
  PROPERTY(stored_path, long, y, Y, ASSIGN) \
  PROPERTY(stored_path, struct stored_path *, next, Next, RETAIN)

KVO_BEGIN_DECLS
KVO_CLASS_INTERFACE(stored_path, TRAIL_PROPERTIES)
KVO_END_DECLS

#endif
