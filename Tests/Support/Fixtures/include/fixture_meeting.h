/// A property in whose accessors two threads can meet.
#ifndef FIXTURE_MEETING_H
#define FIXTURE_MEETING_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct meeting {
  kvo_object object;
  long room;                                  ///< atomic storage
  int arrivals_in_setter, arrivals_in_getter; ///< two or more: the threads have met there
} meeting;

#define MEETING_PROPERTIES(PROPERTY) PROPERTY(meeting, long, room, Room, CUSTOM)
KVO_CLASS_INTERFACE(meeting, MEETING_PROPERTIES)

/// Two threads set the property at once. Each waits for the other in the setter, and in the getter that reads an
/// observer's old value.
void meeting_hold(meeting *meeting);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
