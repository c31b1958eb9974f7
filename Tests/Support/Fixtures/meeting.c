#include "fixture_meeting.h"

#include <sched.h>
#include <time.h>

#include "fixture_threads.h"

enum { PATIENCE = 6 }; // seconds

// Whether both threads were there at once.
static void meet(int *there, bool *met) {
  time_t last = time(NULL) + PATIENCE;
  if (__atomic_add_fetch(there, 1, __ATOMIC_SEQ_CST) == 2)
    __atomic_store_n(met, true, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n(met, __ATOMIC_SEQ_CST) && time(NULL) <= last) sched_yield();
  __atomic_sub_fetch(there, 1, __ATOMIC_SEQ_CST);
}

static long meeting_room_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  meeting *me = (meeting *)self;
  meet(&me->getting, &me->met_in_getter);
  return __atomic_load_n(&me->room, __ATOMIC_SEQ_CST);
}

static void meeting_setRoom_imp(kvo_object *self, const kvo_method *_cmd, long room) {
  (void)_cmd;
  meeting *me = (meeting *)self;
  meet(&me->setting, &me->met_in_setter);
  __atomic_store_n(&me->room, room, __ATOMIC_SEQ_CST);
}

KVO_CLASS_IMPLEMENTATION(meeting, "CMeeting", kvo_root_class, MEETING_PROPERTIES, NULL)

static void set(void *context, int thread) { meeting_setRoom(context, thread); }

void meeting_hold(meeting *meeting) { fixture_run_threads(2, set, meeting); }
