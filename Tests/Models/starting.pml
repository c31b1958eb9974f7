// A thread that is alone asks the kernel for no fence: ordering 3 of Documentation/Internals/Memory.md
// (kvo_thread_start, thread_end_thread and kvo_thread_others_exist).
//
// A thread takes a record, delivers once and returns the record; then another one takes the same record. At the same
// time the first of all threads unlinks something, and fences only the threads that it counts. Reading freed memory
// violates the model.
//
// holds:  unmodified
// violated: -DMARK=0  no fence between marking a record and the first hazard pointer
// violated: -DCOUNT=0  threads are counted before the unlinking
// violated: -DFENCE=0  counted threads are not fenced
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
bool list = true; // whether the table still leads to it
bool freed, is_taken;
bool in_use, hazard;
chan buffer = [4] of { mtype, bool }; // pending stores, of the record's thread
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

// Under the thread lock. Stores reach memory before the record's next thread runs.
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
  :: hazard // it waits, and the thread that ends the hazard pointer frees it: reclamation.pml
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
