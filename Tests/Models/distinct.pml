// Which changes may be kept from observers that have asked for distinct ones: rule D3.
//
// Three threads set one property, each once. A change whose old equals its new is not told. But a value
// that another thread has set in between, and told, must not stay the last one told. So each did leaves
// a token at the key's observers before it reads new, and keeps quiet only if the token that was there
// is still the one that it found at its will, before it read old. In the end the call that read last has
// told the value that is there.
//
// holds:  a token is exchanged for another, which is a fence
// violated: -DTOKEN=0  the token
// violated: -DTOKEN=2  that the token is left before new is read
// violated: -DWILL=0  that the token is read before old
// violated: -DFENCE=0  the fences
// violated: -DFENCE=2  that it is one step: two that look and then replace do not see each other
// violated: -DFENCE=3  the fence before the token is looked at
// violated: -DFENCE=4  the fence between the token and new
// violated: -DFENCE=5  the fences of who is alone as far as it knows, while another thread begins
#ifndef TOKEN
#define TOKEN 1
#endif
#ifndef WILL
#define WILL 1
#endif
#ifndef FENCE
#define FENCE 1
#endif

#define SETTERS 3

mtype = { VALUE, MARK };
byte value = 1, token;
byte told = 1; // by the call that read last
bool in_use[SETTERS];
chan buffer[SETTERS] = [2] of { mtype, byte }; // stores that wait
byte ended;

proctype Buffer(byte s) {
  mtype what = VALUE;
  byte stored;
end:
  do
  :: atomic {
       nempty(buffer[s]) -> buffer[s]?what,stored;
       if
       :: what == VALUE -> value = stored
       :: else -> token = stored
       fi;
       what = VALUE;
       stored = 0
     }
  od
}

inline fence() { empty(buffer[s]) }

inline fence_among_others() {
  if
  :: in_use[0] + in_use[1] + in_use[2] > 1 -> fence()
  :: else
  fi
}

// Token 0 is nobody's.
inline leave_token() {
#if FENCE == 1
  atomic { empty(buffer[s]) -> found = token; token = s + 1 }
#else
#if FENCE == 2 || FENCE == 4
  fence();
#elif FENCE == 5
  fence_among_others();
#endif
  found = token;
  buffer[s]!MARK,s + 1;
#if FENCE == 2 || FENCE == 3
  fence()
#elif FENCE == 5
  fence_among_others()
#else
  skip
#endif
#endif
}

// A thread finds what it has stored itself. Whether it tells is decided by what it has read.
inline read_new() {
  atomic {
    if
    :: buffer[s]??[VALUE,_] -> now = number // its own
    :: else -> now = value
    fi;
#if TOKEN != 2
    is_quiet = now == old && found == at_will;
    if
    :: !is_quiet -> told = now
    :: else
    fi
#endif
  }
}

proctype Setter(byte s, number) {
  byte at_will, old, found, now;
  bool is_quiet;
  in_use[s] = true; // with a fence, before anything else: starting.pml
#if WILL
  at_will = token;
  old = value;
#else
  old = value;
  at_will = token;
#endif
  buffer[s]!VALUE,number;
#if TOKEN == 1
  leave_token();
  read_new();
#elif TOKEN == 2
  read_new();
  leave_token();
  atomic {
    is_quiet = now == old && found == at_will;
    if
    :: !is_quiet -> told = now
    :: else
    fi
  }
#else
  fence();
  found = at_will;
  read_new();
#endif
  fence();
  ended++
}

init {
  atomic {
    byte third = 1;
    if
    :: true
    :: third = 2
    fi;
    byte s = 0;
    do
    :: s < SETTERS -> run Buffer(s); s++
    :: s == SETTERS -> break
    od;
    run Setter(0, 2);
    run Setter(1, 1);
    run Setter(2, third)
  }
  ended == SETTERS;
  assert(told == value)
}
