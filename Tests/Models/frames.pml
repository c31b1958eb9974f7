// Frames that another thread ends than began them, and the records that contain them: orderings 4 and 5 of
// Documentation/Internals/Memory.md, and the paragraphs after 10.
//
//   T1  begins a change on record 0 and ends (kvo_frame_push in kvo_thread.h, thread_end_thread in thread.c)
//   T2  has no record; ends that change (kvo_frame_pop_slowly, frame_end_any, frame_notify_owner in frames.c)
//   T3  starts in between: it reuses record 0 if that is in the pool, and changes the object too
//       (kvo_thread_start in thread.c, kvo_frame_push and kvo_frame_pop in kvo_thread.h)
//   D   changes the object on record 1, which follows record 0 in the list
//   R   unlinks what they read, searches the list, and frees it or leaves it to wait for a frame
//       (reclaim_or_wait, must_wait_locked, frame_protecting, kvo_reclaim_waiting in reclaim.c)
//
// A thread's plain stores (the top, the hazard pointer) pass through its store buffer. R's heavy fence empties the
// buffers of threads with a record; a locked operation empties the thread's own. There is no serial number: frames
// that began later count too, so that a correct free is no accident. Without buffers only the list is modelled; the
// blocks of a stack are removed and reinserted like records.
//
// In the end all is freed, record 0 is in the list only if its thread lives, and freed memory has not been read.
//
// holds: -DTHIRD=0 -DBESIDE=0  no other thread makes changes
// holds: -DBESIDE=0  a third thread reuses the record
// holds: -DBUFFERED=0  and a fourth delivers at the same time
// violated: -DFENCE=0 -DTHIRD=0 -DBESIDE=0  no fence when a thread without a record ends a frame
// violated: -DLOOK=0 -DTHIRD=0 -DBESIDE=0  no second look at a marked frame
// violated: -DSTAYS=0 -DTHIRD=0 -DBESIDE=0  a record leaves the list while it contains a frame
// violated: -DKEEPS=0 -DBUFFERED=0  a record removed from the list loses its next pointer
// violated: -DTOP=0 -DTHIRD=0 -DBESIDE=0  the hazard pointer is published before the top is raised
// violated: -DTELL=0 -DTHIRD=0 -DBESIDE=0  a thread that ends a frame does not check that the owner is alive
#ifndef FENCE
#define FENCE 1
#endif
#ifndef LOOK
#define LOOK 1
#endif
#ifndef STAYS
#define STAYS 1
#endif
#ifndef KEEPS
#define KEEPS 1
#endif
#ifndef TOP
#define TOP 1
#endif
#ifndef TELL
#define TELL 1
#endif
#ifndef THIRD
#define THIRD 1
#endif

#ifndef BESIDE
#define BESIDE 1
#endif
#ifndef BUFFERED
#define BUFFERED 1
#endif

#define NONE 2 // no record
#define G 0    // a store of a hazard pointer
#define H 1    // a store of a top

// Memory: one object, and one block that belongs to it.
bool linked_piece = true, freed = false, waiting = false;
bool hazard[2], top[2], awaited[2];
bool occupied[2]; // frame.state; stored with release, and read only by threads with a fence in between

// Records.
byte head = 0, next[2] = NONE;
bool listed[2] = true, in_use[2] = true, pooled = false;

bool limbo = false, thread_lock = false;
byte done = 0;
chan buffer[3] = [3] of { bit, bit, bool }; // of record 0's thread, of record 1's, of T2
chan handed = [0] of { bit };

inline lock(l) { atomic { !l -> l = true } }
inline unlock(l) { l = false }

#if BUFFERED
inline store(b, kind, r, v) { buffer[b]!kind, r, v }
#else
inline store(b, kind, r, v) { d_step { if :: kind == G -> hazard[r] = v :: else -> top[r] = v fi } }
#endif
inline commit(b) {
  atomic {
    buffer[b]?k, i, v;
    if :: k == G -> hazard[i] = v :: else -> top[i] = v fi;
    k = 0; i = 0; v = 0
  }
}
proctype Processor(byte b) {
  bit k, i;
  bool v;
end:
  do :: commit(b) od
}
inline own_fence(b) { (empty(buffer[b])) }

// The kernel's fence of threads with a record, which R counts. T2 is fenced only along with them.
inline heavy_fence() {
  atomic {
    if
    :: in_use[0] || in_use[1] ->
       do
       :: nempty(buffer[0]) -> commit(0)
       :: nempty(buffer[1]) -> commit(1)
       :: nempty(buffer[2]) -> commit(2)
       :: empty(buffer[0]) && empty(buffer[1]) && empty(buffer[2]) -> break
       od
    :: else -> skip
    fi
  }
}

inline read_piece() { if :: linked_piece -> assert(!freed); skip; assert(!freed) :: else -> skip fi }

inline push(r) {
#if TOP
  store(r, H, r, true);
#endif
  occupied[r] = true;
  store(r, G, r, true);
  read_piece();
#if !TOP
  store(r, H, r, true)
#endif
}

// Finds a frame that protects the object: `found` is its record. Walks the list without a lock.
inline look() {
  at = head;
  found = NONE;
  do
  :: at == NONE || found != NONE -> break
  :: else ->
     seen = top[at];
     if :: seen && hazard[at] -> found = at :: else -> skip fi;
     if :: found == NONE -> at = next[at] :: else -> skip fi
  od;
  at = NONE; seen = false
}

// Runs under the limbo lock.
inline must_wait() {
  do
  :: look();
     if :: found == NONE -> waits = false; break :: else -> skip fi;
     d_step { marked = awaited[found]; awaited[found] = true };
     if :: marked -> waits = true; break :: else -> skip fi;
#if LOOK
     heavy_fence()
#else
     waits = true; break
#endif
  od;
  marked = false; found = NONE
}

inline free_piece() { atomic { assert(!freed); freed = true } }

inline reclaim_waiters(b) {
  lock(limbo);
  own_fence(b);
  heavy_fence();
  if
  :: waiting ->
     must_wait();
     if :: waits -> skip :: else -> waiting = false; free_piece() fi
  :: else -> skip
  fi;
  waits = false;
  unlock(limbo)
}

// By the frame's own thread, on the fast path.
inline pop(r) {
  store(r, G, r, false);
  occupied[r] = false;
  store(r, H, r, false);
  was_awaited = awaited[r];
  if :: was_awaited -> own_fence(r); awaited[r] = false; reclaim_waiters(r) :: else -> skip fi;
  was_awaited = false
}

// Runs under the thread lock.
inline let_go() {
  if
  :: listed[0] && !in_use[0] && (!STAYS || !occupied[0]) ->
     top[0] = false;
     if :: head == 0 -> head = next[0] :: else -> next[1] = next[0] fi;
#if !KEEPS
     next[0] = NONE;
#endif
     listed[0] = false; pooled = true
  :: else -> skip
  fi
}

proctype T1() {
  push(0);
  own_fence(0);
  lock(thread_lock);
  in_use[0] = false;
  handed!0;
  let_go();
  unlock(thread_lock);
  done++
}

proctype T2() {
  byte at = NONE, found = NONE;
  bool seen, marked, waits, was_awaited, lives;
  bit k, i;
  bool v;
  handed?k;
  read_piece();
#if !TELL
  lives = in_use[0] || occupied[0];
#endif
  store(2, G, 0, false);
#if FENCE
  own_fence(2);
#endif
  was_awaited = awaited[0];
  if :: was_awaited -> own_fence(2); awaited[0] = false :: else -> skip fi;
  own_fence(2); // for the state: the store reads it after this
  occupied[0] = false;
#if TELL
  lives = in_use[0];
#endif
  if :: lives -> skip :: else -> lock(thread_lock); let_go(); unlock(thread_lock) fi;
  if :: was_awaited -> reclaim_waiters(2) :: else -> skip fi;
  done++
}

proctype T3() {
  byte at = NONE, found = NONE;
  bool seen, marked, waits, was_awaited, has;
  bit k, i;
  bool v;
  lock(thread_lock);
  if
  :: pooled -> pooled = false; has = true; next[0] = head; head = 0; listed[0] = true; in_use[0] = true
  :: else -> skip
  fi;
  unlock(thread_lock);
  if :: has -> push(0); pop(0); own_fence(0) :: else -> skip fi;
  done++
}

proctype D() {
  byte at = NONE, found = NONE;
  bool seen, marked, waits, was_awaited;
  bit k, i;
  bool v;
  push(1);
  read_piece();
  pop(1);
  own_fence(1);
  done++
}

proctype R() {
  byte at = NONE, found = NONE;
  bool seen, marked, waits;
  bit k, i;
  bool v;
  linked_piece = false;
  heavy_fence();
  look();
  if
  :: found == NONE -> free_piece()
  :: else ->
     lock(limbo);
     must_wait();
     if :: waits -> waiting = true :: else -> skip fi;
     unlock(limbo);
     if :: waits -> skip :: else -> free_piece() fi
  fi;
  done++
}

init {
  atomic {
    next[0] = 1;
#if BUFFERED
    run Processor(0); run Processor(1); run Processor(2);
#endif
    run T1(); run T2(); run R();
#if BESIDE
    run D();
#else
    in_use[1] = false;
    done++;
#endif
#if THIRD
    run T3()
#else
    done++
#endif
  };
  (done == 5);
  assert(freed);
  assert(listed[0] == in_use[0])
}
