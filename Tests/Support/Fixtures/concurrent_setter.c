#include "fixture_concurrent_setter.h"

#include "fixture_threads.h"

// Neither thread leaves before both have arrived, so that the second arrival is the other thread's.
static void meet(int *arrivals) {
  fixture_raise(arrivals);
  fixture_await(arrivals, 2);
}

static long concurrent_setter_room_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  concurrent_setter *me = (concurrent_setter *)self;
  meet(&me->arrivals_in_getter);
  return __atomic_load_n(&me->room, __ATOMIC_SEQ_CST);
}

static void concurrent_setter_setRoom_imp(kvo_object *self, const kvo_method *_cmd, long room) {
  (void)_cmd;
  concurrent_setter *me = (concurrent_setter *)self;
  meet(&me->arrivals_in_setter);
  __atomic_store_n(&me->room, room, __ATOMIC_SEQ_CST);
}

KVO_CLASS_IMPLEMENTATION(concurrent_setter, "CMeeting", kvo_root_class, MEETING_PROPERTIES, NULL)

static void set(void *context, int thread) { concurrent_setter_setRoom(context, thread); }

void concurrent_setter_hold(concurrent_setter *concurrent_setter) {
  fixture_run_threads(2, set, concurrent_setter);
}
