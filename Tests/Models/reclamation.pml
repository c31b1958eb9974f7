// Freeing memory that a delivery may still be reading: orderings 1, 2, 4, 5 and 8 of Documentation/Internals/Memory.md
// (reclaim.c, kvo_reclaim.h, kvo_frame_push and kvo_frame_pop).
//
// Two deliverers each have a frame, which they reuse. A remover replaces and empties the lists of two objects. A
// deliverer's plain stores are pending in its processor's buffer and reach memory in order, at any time. Reading
// freed memory, freeing twice, or never freeing something violates the model.
//
// holds:  the remover makes the kernel fence all threads
// holds: -DRETIRED=3 -DDELIVERERS=1  the same, with more to free and one deliverer
// holds: -DFENCES=1 -DRETIRED=3  the kernel has no such call, and each thread fences itself
// holds: -DFENCES=3 -DRETIRED=1  the kernel starts to refuse the call
// violated: -DFENCES=0  no fences
// violated: -DUNLINKED=0  no fence of the remover after unlinking
// violated: -DFENCES=1 -DPUBLISHED=0  no fence of the deliverer after its hazard pointer
// violated: -DFENCES=1 -DEND=0  no fence of the deliverer after the end of its hazard pointer
// violated: -DFENCES=3 -DPAUSE=0  no pause of the thread that is refused the call first
// violated: -DLOOK=0  no second look at a marked frame
// violated: -DLOOK=1  no fence before the second look
// violated: -DNUMBER=1  a deliverer reads the table before the number
// violated: -DNUMBER=2  a remover raises the number before unlinking
// violated: -DLOCKED=0  reclaiming does not wait for a thread that has marked
#ifndef DELIVERERS
#define DELIVERERS 2
#endif
#ifndef RETIRED
#define RETIRED 2
#endif
#ifndef FENCES
#define FENCES 2
#endif
#ifndef UNLINKED
#define UNLINKED 1
#endif
#ifndef PUBLISHED
#define PUBLISHED 1
#endif
#ifndef END
#define END 1
#endif
#ifndef PAUSE
#define PAUSE 1
#endif
#ifndef LOOK
#define LOOK 2
#endif
#ifndef NUMBER
#define NUMBER 0
#endif
#ifndef LOCKED
#define LOCKED 1
#endif

#define NOBODY 2
#define ITEMS 4
// Items 1 and 2 are successive lists of object 1; item 3 is a list of object 2.
#define OBJECT_OF(item) (1 + item / 3)

byte list[3];   // for each object: the item that its table leads to
bool freed[ITEMS], waits[ITEMS];
byte since[ITEMS];
byte serial;    // kvo_serial
bool limbo;     // the lock
byte hazard[2], number[2], awaited[2]; // of the frames: the values in memory
byte ended;

// MARK: Pending stores

mtype = { HAZARD, SERIAL };
chan buffer[2] = [4] of { mtype, byte };
bool kernel_fences = true, fences_are_asymmetric = true;
byte late[2]; // pending stores of each thread when the call was refused

inline arrive(d) {
  buffer[d]?what,stored;
  if
  :: what == HAZARD -> hazard[d] = stored
  :: else -> number[d] = stored
  fi;
  if
  :: late[d] -> late[d]--
  :: else
  fi;
  stored = 0
}

proctype Buffer(byte d) {
  mtype what = HAZARD;
  byte stored;
end:
  do
  :: atomic { nempty(buffer[d]) -> arrive(d); what = HAZARD }
  od
}

inline fence_of(d) { empty(buffer[d]) }

inline arrive_all() {
  do
  :: nempty(buffer[0]) -> arrive(0)
  :: empty(buffer[0]) && nempty(buffer[1]) -> arrive(1)
  :: empty(buffer[0]) && empty(buffer[1]) -> break
  od;
  what = HAZARD
}

inline heavy_fence() {
#if FENCES == 2
  atomic { arrive_all() }
#elif FENCES == 3
  if
  :: atomic { kernel_fences && fences_are_asymmetric -> arrive_all() }
  :: atomic { kernel_fences ->
       fences_are_asymmetric = false;
#if PAUSE
       late[0] = len(buffer[0]);
       late[1] = len(buffer[1])
#endif
     };
     (!late[0] && !late[1]);
     kernel_fences = false
  :: !kernel_fences
  fi
#else
  skip
#endif
}

inline light_fence(d) {
#if FENCES == 1
  fence_of(d)
#elif FENCES == 3
  if
  :: fences_are_asymmetric
  :: !fences_are_asymmetric -> fence_of(d)
  fi
#else
  skip
#endif
}

// MARK: Freeing

inline release(item) {
  atomic { assert(!freed[item]); freed[item] = true }
}

// Sets `frame` to one that protects the item's object and is old enough. Reads hazard pointers first, then numbers.
inline find_frame(item) {
  frame = 0;
  do
  :: frame < NOBODY && hazard[frame] == OBJECT_OF(item) ->
     if
     :: number[frame] < since[item] -> break
     :: else -> frame++
     fi
  :: frame < NOBODY && hazard[frame] != OBJECT_OF(item) -> frame++
  :: frame == NOBODY -> break
  od
}

// Sets `frame` to one that will free the item, or to NOBODY.
inline mark_frame(item) {
  do
  :: find_frame(item);
     if
     :: frame == NOBODY -> break
     :: else
     fi;
     atomic { is_marked = awaited[frame] == OBJECT_OF(item); awaited[frame] = OBJECT_OF(item) };
     if
     :: is_marked -> break
     :: else
     fi;
#if LOOK == 0
     break;
#elif LOOK == 2
     heavy_fence()
#endif
  od;
  is_marked = false
}

inline lock() {
#if LOCKED
  atomic { !limbo -> limbo = true }
#else
  skip
#endif
}

inline wait_or_release(item) {
  mark_frame(item);
  if
  :: frame == NOBODY -> release(item)
  :: else -> waits[item] = true
  fi;
  frame = 0
}

inline retire(item) {
#if NUMBER != 2
  atomic { serial++; since[item] = serial };
#endif
#if UNLINKED
  heavy_fence();
#endif
  find_frame(item);
  if
  :: frame == NOBODY -> frame = 0; release(item)
  :: else -> lock(); wait_or_release(item); limbo = false
  fi
}

// Takes out the items that wait for the object, and frees or requeues each.
inline reclaim_waiters(d, object) {
  fence_of(d);
  awaited[d] = 0;
  lock();
  heavy_fence();
  item = 1;
  do
  :: item < ITEMS && waits[item] && OBJECT_OF(item) == object ->
     waits[item] = false;
     wait_or_release(item);
     item++
  :: item < ITEMS && !(waits[item] && OBJECT_OF(item) == object) -> item++
  :: item == ITEMS -> break
  od;
  item = 0;
  limbo = false
}

// MARK: Processes

proctype Deliverer(byte d, first, second) {
  byte object = first, seen, count, was_awaited, item, frame, stored;
  bool is_marked;
  mtype what = HAZARD;
  do
  :: buffer[d]!HAZARD,object;
#if PUBLISHED
     light_fence(d);
#endif
#if NUMBER == 1
     seen = list[object];
     count = serial;
     buffer[d]!SERIAL,count;
#else
     count = serial;
     buffer[d]!SERIAL,count;
     seen = list[object];
#endif
     assert(!freed[seen]); // anything may have happened in between
     atomic { buffer[d]!HAZARD,0; seen = 0; count = 0 };
#if END
     light_fence(d);
#endif
     was_awaited = awaited[d];
     if
     :: was_awaited -> reclaim_waiters(d, was_awaited); was_awaited = 0
     :: else
     fi;
     if
     :: second -> object = second; second = 0
     :: else -> break
     fi
  od;
  fence_of(d);
  ended++
}

inline unlink(item, by) {
#if NUMBER == 2
  atomic { serial++; since[item] = serial };
#endif
  list[OBJECT_OF(item)] = by
}

proctype Remover() {
  byte frame, stored;
  bool is_marked;
  mtype what = HAZARD;
#if RETIRED > 1
  unlink(3, 0);
  retire(3);
#endif
  unlink(1, 2);
  retire(1);
#if RETIRED == 3
  unlink(2, 0);
  retire(2);
#endif
  ended++
}

init {
  atomic {
    list[1] = 1;
    list[2] = 3;
    run Buffer(0);
    run Buffer(1);
    run Deliverer(0, 2, 1);
#if DELIVERERS == 2
    run Deliverer(1, 1, 0);
#endif
    run Remover()
  }
  ended == DELIVERERS + 1;
  assert(freed[1] + freed[2] + freed[3] == RETIRED)
}
