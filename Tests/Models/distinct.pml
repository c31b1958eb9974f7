// Which changes may be kept from observers that have asked for distinct ones: rules D3 and I5.
//
// Three threads set one property, each once; a setter may store something in passing first. The
// first thread may have begun when no other had a record: it does without locked instructions. A
// change whose old equals its new is not told, but a value that the observer has been told, or has
// read by itself while it was called, must not stay the last one. So a change claims the observer
// at its will, unless its thread has claimed it last anyhow, and notes how often telling it had
// ended, before it reads old. At its did telling it begins before new is read, and ends when it
// has returned. The change keeps quiet only if no other thread has claimed it until it has read new,
// and no more had begun then than had ended at its will; then it takes its beginning back.
//
// In the end the call that read last has told the value that is there, and an observer that reads
// the property whenever it is called has read it.
//
// holds: -DALONE=1  the first thread has begun alone
// holds: -DALONE=0  all have locked instructions
// violated: -DALONE=0 -DCLAIM=0  the claim: who is passed over leaves no trace
// violated: -DALONE=0 -DCLAIM=2  that it is made before old is read
// violated: -DALONE=0 -DCLAIM=3  that it is looked at when new has been read
// violated: -DALONE=0 -DCOUNT=0  the counts
// violated: -DALONE=0 -DCOUNT=2  that what had ended is noted before old is read
// violated: -DALONE=0 -DCOUNT=3  that telling begins before new is read
// violated: -DALONE=0 -DCOUNT=4  that telling ends when the observer has returned
// violated: -DALONE=0 -DFENCE=0  that what counts is a fence, before new is read
// violated: -DALONE=1 -DFENCE=2  the fence of the first thread before it reads new among others
// violated: -DALONE=1 -DFENCE=3  the fence of the second thread, for what the first has begun
// violated: -DALONE=1 -DSHARED  that the first thread counts apart: its plain steps lose another's
#ifndef ALONE
#define ALONE 0
#endif
#ifndef CLAIM
#define CLAIM 1
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef FENCE
#define FENCE 1
#endif

#define SETTERS 3
#define OTHERS 0 // whose counts they are
#define FIRST 1

mtype = { VALUE, BEGUN, ENDED };
byte value = 1;
byte told = 1, told_as; // by the call that read last, which was that one
byte seen = 1;              // by the observer, which reads when it is called
byte reads = 0;
byte claimed; // by that thread, from 1
byte begun[2], ended[2];
bool has_others = !ALONE;
chan buffer[SETTERS] = [4] of { mtype, byte }; // stores that wait
byte done;

#define is_first(s) (ALONE && s == 0)
#ifdef SHARED
#define own(s) OTHERS
#else
#define own(s) (is_first(s) -> FIRST : OTHERS)
#endif

proctype Buffer(byte s) {
  mtype what = VALUE;
  byte stored;
end:
  do
  :: atomic {
       nempty(buffer[s]) -> buffer[s]?what,stored;
       if
       :: what == VALUE -> value = stored
       :: what == BEGUN -> begun[own(s)] = stored
       :: else -> ended[own(s)] = stored
       fi;
       what = VALUE;
       stored = 0
     }
  od
}

inline fence() { empty(buffer[s]) }

// A thread finds what it has stored itself.
inline read_into(variable) {
  if
  :: buffer[s]??[VALUE,_] -> variable = latest
  :: else -> variable = value
  fi
}

// A step by which nobody's is lost: the first thread's counts are written by nobody else.
inline step(what, own_count, from, to) {
#ifdef SHARED
  if
  :: is_first(s) && !has_others ->
     atomic { empty(buffer[s]) -> copy = own_count };
     buffer[s]!what,copy + to - from
  :: else -> atomic { empty(buffer[s]) -> own_count = own_count + to - from }
  fi
#else
  if
  :: is_first(s) -> buffer[s]!what,to
#if FENCE
  :: else -> atomic { empty(buffer[s]) -> own_count = own_count + to - from }
#else
  :: else -> own_count = own_count + to - from
#endif
  fi
#endif
}

inline claim() {
#if CLAIM
  if
  :: claimed != s + 1 -> atomic { empty(buffer[s]) -> claimed = s + 1 }
  :: else
  fi
#else
  skip
#endif
}

// What a thread itself is telling is around this change, and none of what it has to reckon with.
inline note_ended() {
#if COUNT
#ifndef SHARED
  if
  :: !is_first(s) -> noted[FIRST] = ended[FIRST]
  :: else
  fi;
#endif
  noted[OTHERS] = ended[OTHERS]
#else
  skip
#endif
}

inline begin() {
#if COUNT
  step(BEGUN, begun[own(s)], 0, 1);
#endif
  if
  :: FENCE != 2 && is_first(s) && has_others -> fence()
  :: else
  fi
}

inline read_new() {
  atomic { read_into(now); reads++; read_as = reads }
}

inline look_at_claim() {
#if CLAIM
  is_quiet = is_quiet && claimed == s + 1
#else
  skip
#endif
}

inline look_at_counts() {
#if COUNT
#ifndef SHARED
  if
  :: !is_first(s) -> is_quiet = is_quiet && begun[FIRST] == noted[FIRST]
  :: else
  fi;
#endif
  is_quiet = is_quiet && begun[OTHERS] - (own(s) == OTHERS) == noted[OTHERS]
#else
  skip
#endif
}

inline take_back() {
#if COUNT
  step(BEGUN, begun[own(s)], 1, 0)
#else
  skip
#endif
}

inline end_telling() {
#if COUNT
  step(ENDED, ended[own(s)], 0, 1)
#else
  skip
#endif
}

inline tell() {
  atomic {
    if
    :: read_as > told_as -> told = now; told_as = read_as
    :: else
    fi
  }
#if COUNT == 4
  end_telling();
#endif
  atomic { read_into(seen) };
#if COUNT != 4
  end_telling()
#endif
}

proctype Setter(byte s, passing, number) {
  byte noted[2], old, now, latest, read_as;
  bool is_quiet = true;
#ifdef SHARED
  byte copy;
#endif
  if
  :: ALONE && s > 0 -> // it gets a record
     has_others = true;
#if FENCE != 3
     empty(buffer[0]) // the kernel sees to it
#endif
  :: else
  fi;
#if CLAIM != 2
  claim();
#endif
#if COUNT != 2
  note_ended();
#endif
  read_into(old);
#if CLAIM == 2
  claim();
#endif
#if COUNT == 2
  note_ended();
#endif
  if
  :: passing -> latest = passing; buffer[s]!VALUE,passing
  :: else
  fi;
  atomic { latest = number; buffer[s]!VALUE,number };
#if COUNT != 3
  begin();
#endif
#if CLAIM == 3
  look_at_claim();
#endif
  read_new();
#if COUNT == 3
  begin();
#endif
#if CLAIM != 3
  look_at_claim();
#endif
  look_at_counts();
  if
  :: is_quiet && now == old -> take_back()
  :: else -> tell()
  fi;
  fence();
  done++
}

init {
  atomic {
    byte second = 1, third = 1, passing = 0, s = 0;
    if
    :: true
    :: claimed = 1
    fi;
    if
    :: true
    :: third = 2
    fi;
    if
    :: true
    :: passing = 2
    fi;
    do
    :: s < SETTERS -> run Buffer(s); s++
    :: s == SETTERS -> break
    od;
    run Setter(0, 0, 2);
    run Setter(1, passing, 1);
    run Setter(2, 0, third)
  }
  done == SETTERS;
  assert(told == value);
  assert(seen == value)
}
