#include "fixture_meeting.h"

#include "fixture_threads.h"

// Neither thread leaves before both have arrived, so that the second arrival is the other thread's.
static void meet(int *arrivals) {
  fixture_raise(arrivals);
  fixture_await(arrivals, 2);
}

static long meeting_room_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  meeting *me = (meeting *)self;
  meet(&me->arrivals_in_getter);
  return __atomic_load_n(&me->room, __ATOMIC_SEQ_CST);
}

static void meeting_setRoom_imp(kvo_object *self, const kvo_method *_cmd, long room) {
  (void)_cmd;
  meeting *me = (meeting *)self;
  meet(&me->arrivals_in_setter);
  __atomic_store_n(&me->room, room, __ATOMIC_SEQ_CST);
}

KVO_CLASS_IMPLEMENTATION(meeting, "CMeeting", kvo_root_class, MEETING_PROPERTIES, NULL)

static void set(void *context, int thread) { meeting_setRoom(context, thread); }

void meeting_hold(meeting *meeting) { fixture_run_threads(2, set, meeting); }
