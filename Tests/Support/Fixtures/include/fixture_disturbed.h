/// Accessors during which something else happens, usually on another thread.
#ifndef FIXTURE_DISTURBED_H
#define FIXTURE_DISTURBED_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef enum KVO_CLOSED_ENUM disturbance {
  DISTURBED_NOWHERE,
  DISTURBED_BEFORE_STORE,
  DISTURBED_AFTER_STORE,
  DISTURBED_AFTER_LOAD, ///< in the getter
} disturbance;

/// The storage is atomic.
typedef struct disturbed {
  tracked tracked;
  struct disturbed *KVO_NULLABLE next;
  long value, other;
  disturbance where; ///< once: then it is reset
  void (*KVO_NULLABLE happens)(void *KVO_NULLABLE context);
  void *KVO_NULLABLE context;
} disturbed;

#define DISTURBED_PROPERTIES(PROPERTY)                                  \
  PROPERTY(disturbed, disturbed *KVO_NULLABLE, next, Next, CUSTOM, "@") \
  PROPERTY(disturbed, long, value, Value, CUSTOM)                       \
  PROPERTY(disturbed, long, other, Other, CUSTOM)

KVO_CLASS_INTERFACE(disturbed, DISTURBED_PROPERTIES)

/// A subclass with a new name, which has never been observed.
const kvo_class *disturbed_fresh_class(void);
/// Another new subclass, whose own keys `twin` and `Twin` share a setter that works like `value`'s.
/// - is_large: they are structs, so that the setter needs a closure; otherwise long.
const kvo_class *disturbed_fresh_class_of_twins(bool is_large);
void disturbed_setTwin(disturbed *self, bool is_large, long twin);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
