// Who is alone asks the kernel for no fence: ordering 3 of Documentation/Internals/Memory.md
// (kvo_thread_start, end_thread and other_threads_exist).
//
// A thread takes a record, delivers once and gives the record back; another takes the same one then.
// Meanwhile the first of all threads unlinks something, and fences only those that it counts. Whoever
// is let read what is freed ends the model.
//
// holds:  as it is
// violated: -DMARK=0  the fence between marking a record and the first hazard pointer
// violated: -DCOUNT=0  that threads are counted behind the unlinking
// violated: -DFENCE=0  the fence of those that were counted
#ifndef MARK
#define MARK 1
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef FENCE
#define FENCE 1
#endif

mtype = { IN_USE, HAZARD };
bool list = true; // whether the table leads to it still
bool freed, is_taken;
bool in_use, hazard;
chan buffer = [4] of { mtype, bool }; // stores that wait, of whose record it is
byte ended;

inline arrive() {
  buffer?what,stored;
  if
  :: what == IN_USE -> in_use = stored
  :: else -> hazard = stored
  fi;
  stored = false
}

proctype Buffer() {
  mtype what = HAZARD;
  bool stored;
end:
  do
  :: atomic { nempty(buffer) -> arrive(); what = HAZARD }
  od
}

inline fence() { empty(buffer) }

// The thread lock, and what a processor has stored before it is given to another thread.
inline take_record() {
  atomic { !is_taken -> is_taken = true };
  buffer!IN_USE,true;
#if MARK
  fence()
#endif
}

inline give_record_back() {
  buffer!IN_USE,false;
  fence();
  is_taken = false
}

proctype Deliverer() {
  bool seen;
  take_record();
  buffer!HAZARD,true;
  seen = list;
  assert(!seen || !freed);
  buffer!HAZARD,false;
  give_record_back();
  ended++
}

proctype Remover() {
  bool stored, others;
  mtype what = HAZARD;
#if COUNT
  list = false;
  others = in_use;
#else
  others = in_use;
  list = false;
#endif
#if FENCE
  if
  :: others ->
     atomic {
       do
       :: nempty(buffer) -> arrive()
       :: empty(buffer) -> break
       od;
       what = HAZARD
     }
  :: else
  fi;
#endif
  if
  :: hazard // it waits, and whoever ends the hazard pointer frees it: reclamation.pml
  :: else -> freed = true
  fi;
  ended++
}

init {
  atomic {
    run Buffer();
    run Deliverer();
    run Deliverer();
    run Remover()
  }
  ended == 3
}
