/// Accessors in the midst of which something else happens, mostly on another thread.
#ifndef FIXTURE_INTERRUPTED_H
#define FIXTURE_INTERRUPTED_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef enum KVO_CLOSED_ENUM interruption {
  INTERRUPTED_NOWHERE,
  INTERRUPTED_BEFORE_STORE,
  INTERRUPTED_AFTER_STORE,
  INTERRUPTED_AFTER_LOAD, ///< in the getter
} interruption;

/// The storage is atomic.
typedef struct interrupted {
  tracked tracked;
  struct interrupted *KVO_NULLABLE next;
  long value, other;
  interruption where; ///< once: it is nowhere then
  void (*KVO_NULLABLE happens)(void *KVO_NULLABLE context);
  void *KVO_NULLABLE context;
} interrupted;

#define INTERRUPTED_PROPERTIES(PROPERTY)                                    \
  PROPERTY(interrupted, interrupted *KVO_NULLABLE, next, Next, CUSTOM, "@") \
  PROPERTY(interrupted, long, value, Value, CUSTOM)                         \
  PROPERTY(interrupted, long, other, Other, CUSTOM)

KVO_CLASS_INTERFACE(interrupted, INTERRUPTED_PROPERTIES)

/// A subclass with a name of its own, of which nobody has observed anything yet.
const kvo_class *interrupted_fresh_class(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
