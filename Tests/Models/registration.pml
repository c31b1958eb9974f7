// A registration while others set: ordering 9 of Documentation/Internals/Memory.md, and rule I3 (kvo_change_open,
// change_finish, the dispatch of setters, kvo_entry_insert, kvo_deliver_initial).
//
// Two threads set a property, each once, and a third registers for it with an initial call (or follows a link, which
// reads as well). Initially the setters may be plain or interposed, the object swizzled or not, and the key observed
// by another observer or not at all. A setter that finds no observer opens no change. So a caller checks afterwards
// whether the dispatch still leads to the function it called, and an interposer that has opened no change looks for
// observers again. A setter may also be in a bracket, which opens a change without looking at the isa. In the end the
// new observer must know the last value, from its initial call or another, and no call that is asked for old lacks it.
// Once it has been called for a set, it is called for each set that begins later.
//
// holds:  a registration makes the kernel fence all threads
// holds: -DFENCES=1  the kernel has no such call, and each thread fences itself
// violated: -DFENCES=0  no fences
// violated: -DFENCES=1 -DBARE=0  no fence of a setter that has opened no change
// violated: -DCOUNT=1  no fence of threads without a record
// violated: -DINITIAL=0  the initial value is read before the fence
// violated: -DPLACED=0  a registration reads before it is inserted
// violated: -DSWAPPED=0  the registration is inserted before the isa is swapped
// violated: -DLOOK=0  no check of the dispatch after the call
// violated: -DKEPT=0  no second look of an interposer that has opened no change
// violated: -DEMPTY=0  no empty change for an observer that asks for an old value that was not read
#ifndef FENCES
#define FENCES 2
#endif
#ifndef BARE
#define BARE 1
#endif
#ifndef COUNT
#define COUNT 0
#endif
#ifndef INITIAL
#define INITIAL 1
#endif
#ifndef PLACED
#define PLACED 1
#endif
#ifndef SWAPPED
#define SWAPPED 1
#endif
#ifndef LOOK
#define LOOK 1
#endif
#ifndef KEPT
#define KEPT 1
#endif
#ifndef EMPTY
#define EMPTY 1
#endif

byte value;
bool is_interposed; // the slot of the class's dynamic subclass
bool is_swizzled;   // the object's isa
bool is_observed;   // by another observer, which does not ask for old
bool is_placed;     // the new registration
bool knows[3];      // the values delivered to it
bool is_called;     // it has been called for a set
bool has_record[2];
chan buffer[2] = [1] of { byte }; // the setter's pending store
byte ended;

proctype Buffer(byte s) {
end:
  do
  :: atomic { nempty(buffer[s]) -> buffer[s]?value }
  od
}

inline arrive(s) {
  if
  :: nempty(buffer[s]) && (has_record[s] || !COUNT) -> buffer[s]?value
  :: else
  fi
}

inline heavy_fence() {
#if FENCES == 2
  atomic { arrive(0); arrive(1) }
#else
  skip
#endif
}

inline light_fence(s) {
#if FENCES == 1
  empty(buffer[s])
#else
  skip
#endif
}

// A thread sees its own pending store.
inline read(s, into) {
  atomic {
    if
    :: nempty(buffer[s]) -> buffer[s]?<into>
    :: else -> into = value
    fi
  }
}

// The new observer asks for old. If no other had asked before the change, it gets an empty change.
inline tell(s) {
  assert(has_old || EMPTY);
  read(s, now);
  knows[now] = true;
  is_called = true;
  calls = true
}

inline look_for_observers(s) {
  if
  :: is_placed -> tell(s)
  :: else
  fi
}

inline dispatch(swizzled, interposed) {
  swizzled = is_swizzled;
  if
  :: swizzled -> interposed = is_interposed
  :: else
  fi
}

proctype Setter(byte s, number) {
  bool swizzled, interposed, swizzled_now, interposed_now, is_open, has_old, was_called, calls;
  byte now;
  was_called = is_called;
  if
  :: dispatch(swizzled, interposed)
  :: interposed = true // a bracket
  fi;
  if
  :: interposed ->
     has_record[s] = true;
     has_old = is_placed;
     is_open = has_old || is_observed
  :: else
  fi;
  buffer[s]!number;
  if
  :: is_open || BARE -> light_fence(s)
  :: else
  fi;
  if
  :: is_open || (interposed && KEPT) -> look_for_observers(s)
  :: !interposed && LOOK ->
     dispatch(swizzled_now, interposed_now);
     if
     :: swizzled_now != swizzled || interposed_now != interposed -> look_for_observers(s)
     :: else
     fi
  :: else
  fi;
  assert(calls || !was_called);
  empty(buffer[s]);
  ended++
}

inline place() {
  is_interposed = true; // under the class lock
#if SWAPPED
  is_swizzled = true; // these two under the object's lock
  is_placed = true
#else
  is_placed = true;
  is_swizzled = true
#endif
}

proctype Registrar() {
  byte initial;
#if PLACED && INITIAL
  place();
  heavy_fence();
  initial = value;
#elif PLACED
  place();
  initial = value;
  heavy_fence();
#else
  heavy_fence();
  initial = value;
  place();
#endif
  knows[initial] = true;
  ended++
}

init {
  atomic {
    if
    :: true
    :: is_interposed = true
    :: is_swizzled = true
    :: is_interposed = true; is_swizzled = true
    :: is_interposed = true; is_swizzled = true; is_observed = true
    fi;
    run Buffer(0);
    run Buffer(1);
    run Setter(0, 1);
    run Setter(1, 2);
    run Registrar()
  }
  ended == 3;
  assert(knows[value])
}
