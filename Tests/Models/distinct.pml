// Which changes `distinct` may drop when several threads set: rules D3 and I5.
//
// Three threads set one property, each once; a setter may store something else first. The first thread may have begun
// when no other had a record: it then uses no locked instructions. A change whose old equals its new is dropped. But
// a value that was delivered to the observer, or that it read itself in a call, must not stay the last one it knows.
//
// So a change claims the observer before it reads old, unless its thread was the last to claim it. It also notes how
// many deliveries had ended. Its own delivery begins before new is read, and ends when the observer has returned. The
// change is dropped only if no other thread has claimed the observer by the time new is read, and no more deliveries
// have begun than were noted as ended. Then the delivery's beginning is undone.
//
// In the end the call that read last has delivered the current value, and an observer that reads the property in each
// call has read it.
//
// holds: -DALONE=1  the first thread began alone
// holds: -DALONE=0  all use locked instructions
// violated: -DALONE=0 -DCLAIM=0  no claim: a dropped change leaves no trace
// violated: -DALONE=0 -DCLAIM=2  the claim is not made before old is read
// violated: -DALONE=0 -DCLAIM=3  the claim is not checked after new is read
// violated: -DALONE=0 -DCOUNT=0  no counts
// violated: -DALONE=0 -DCOUNT=2  ended deliveries are not noted before old is read
// violated: -DALONE=0 -DCOUNT=3  the delivery does not begin before new is read
// violated: -DALONE=0 -DCOUNT=4  the delivery does not end when the observer returns
// violated: -DALONE=0 -DFENCE=0  counting is no fence before new is read
// violated: -DALONE=1 -DFENCE=2  the first thread has no fence before it reads new when there are others
// violated: -DALONE=1 -DFENCE=3  the second thread does not fence the first, which has begun
// violated: -DALONE=1 -DSHARED  the first thread shares its counts: its plain steps lose others
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
#define OTHERS 0 // indexes of the two sets of counts
#define FIRST 1

mtype = { VALUE, BEGUN, ENDED };
byte value = 1;
byte told = 1, told_as; // value and thread of the call that read last
byte seen = 1;              // the value that the observer, which reads in its calls, has read last
byte reads = 0;
byte claimed; // the thread that has claimed the observer last, from 1
byte begun[2], ended[2];
bool has_others = !ALONE;
chan buffer[SETTERS] = [4] of { mtype, byte }; // pending stores
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

// A thread sees its own pending store.
inline read_into(variable) {
  if
  :: buffer[s]??[VALUE,_] -> variable = latest
  :: else -> variable = value
  fi
}

// A step that loses no other thread's: only the first thread writes its own counts.
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

// The thread's own deliveries enclose this change, and don't count.
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
  :: ALONE && s > 0 -> // this thread gets a record
     has_others = true;
#if FENCE != 3
     empty(buffer[0]) // the kernel fences the first thread
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
