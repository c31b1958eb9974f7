/// A property in whose accessors two threads can meet.
#ifndef FIXTURE_CONCURRENT_SETTER_H
#define FIXTURE_CONCURRENT_SETTER_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct concurrent_setter {
  kvo_object object;
  long room;                                  ///< atomic storage
  int arrivals_in_setter, arrivals_in_getter; ///< two or more: the threads have met there
} concurrent_setter;

#define MEETING_PROPERTIES(PROPERTY) PROPERTY(concurrent_setter, long, room, Room, CUSTOM)
KVO_CLASS_INTERFACE(concurrent_setter, MEETING_PROPERTIES)

/// Two threads set the property at once. Each waits for the other in the setter, and in the getter that reads an
/// observer's old value.
void concurrent_setter_hold(concurrent_setter *concurrent_setter);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
