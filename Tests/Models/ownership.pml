// Whose an object's observations are: ordering 17 of Documentation/Internals/Memory.md (kvo_table.h, kvo_retire).
//
// Two threads do the same: register at one of two keys of an object and are called with its value,
// remove, change, or tell what they have found under the lock, as changes along paths do. The thread that hangs
// the first one there owns the object, and frees what it takes off without looking for readers elsewhere,
// until another thread shares it. The store of a hazard pointer waits in its processor's buffer until it comes into
// memory, or the kernel fences the thread. A thread that reads what has been freed, or is called when it has
// been, ends the model.
//
// holds:  as it is
// holds: -DSTEPS=3 -DKINDS=2  with more steps of registering and changing
// violated: -DSHARES=0  that a change shares first
// violated: -DINITIAL=0  that who registers shares first
// violated: -DFOUND=0  that who finds observers under the lock shares first
// violated: -DTAKES=1  that only who finds nothing there becomes the owner
// violated: -DLOOKS=0  that what is shared is freed when no hazard pointer is left
// violated: -DFENCE=0  that the kernel fences before that
// violated: -DAGAIN=0  that a change that has shared reads again what hangs there
#ifndef STEPS
#define STEPS 2
#endif
#ifndef KINDS
#define KINDS 4
#endif
#ifndef SHARES
#define SHARES 1
#endif
#ifndef INITIAL
#define INITIAL 1
#endif
#ifndef FOUND
#define FOUND 1
#endif
#ifndef TAKES
#define TAKES 0
#endif
#ifndef LOOKS
#define LOOKS 1
#endif
#ifndef FENCE
#define FENCE 1
#endif
#ifndef AGAIN
#define AGAIN 1
#endif

#define PIECES 6
#define NOBODY 2

// The object's word, of which the lock's holder alone changes anything: 0 at a key is nothing.
byte owner = NOBODY;
byte hangs[2];
bool lock;

// Of each registration.
bool live[PIECES], freed[PIECES];
byte made;

bool hazard[2];             // as memory has them
bool stored[2], waits[2];  // what a thread has stored last, and whether memory has it not yet

inline take() { atomic { !lock -> lock = true } }
inline give_back() { lock = false }

inline store_hazard(value) {
  atomic { stored[me] = value; waits[me] = true }
}
inline arrive(t) {
  if
  :: waits[t] -> hazard[t] = stored[t]; waits[t] = false
  :: else
  fi
}

// What the lock is held for.
inline share() {
  if
  :: owner != me && owner != NOBODY -> owner = NOBODY
  :: else
  fi
}

// A call of the observer, while which it must not be freed.
inline call(piece) {
  assert(!freed[piece]);
  skip;
  assert(!freed[piece])
}

inline register() {
  store_hazard(true);
  take();
  if
  :: INITIAL -> share()
  :: else
  fi;
  if
  :: made + 1 < PIECES && (hangs[0] == 0 || hangs[1] == 0) ->
    made++;
    piece = made;
    if
    :: TAKES || (hangs[0] == 0 && hangs[1] == 0) -> owner = me
    :: else
    fi;
    live[piece] = true;
    if
    :: hangs[0] == 0 -> hangs[0] = piece
    :: else -> hangs[1] = piece
    fi
  :: else -> piece = 0
  fi;
  give_back();
  if
  :: piece && live[piece] -> call(piece)
  :: else
  fi;
  store_hazard(false)
}

inline remove(key) {
  take();
  piece = hangs[key];
  is_own = owner == me;
  if
  :: piece ->
    live[piece] = false;
    hangs[key] = 0;
    if
    :: hangs[0] == 0 && hangs[1] == 0 -> owner = NOBODY
    :: else
    fi
  :: else
  fi;
  give_back();
  if
  :: piece && !is_own && LOOKS ->
    if
    :: FENCE -> atomic { arrive(0); arrive(1) }
    :: else
    fi;
    !hazard[1 - me]
  :: else
  fi;
  if
  :: piece -> freed[piece] = true
  :: else
  fi
}

// Reads the word at once, then what it leads to.
inline change(key) {
  store_hazard(true);
  atomic { is_own = owner == me || owner == NOBODY; piece = hangs[key] }
  if
  :: !is_own && SHARES ->
    take();
    share();
    if
    :: AGAIN -> piece = hangs[key]
    :: else
    fi;
    give_back()
  :: else
  fi;
  if
  :: piece ->
    assert(!freed[piece]);
    if
    :: live[piece] -> call(piece)
    :: else
    fi
  :: else
  fi;
  store_hazard(false)
}

// What is found is held, so that its memory stays, and asked whether it is live under the hazard pointer.
inline tell(key) {
  take();
  if
  :: FOUND -> share()
  :: else
  fi;
  piece = hangs[key];
  give_back();
  store_hazard(true);
  if
  :: piece && live[piece] -> call(piece)
  :: else
  fi;
  store_hazard(false)
}

proctype thread(byte me) {
  byte step, piece;
  bool is_own;
  do
  :: step < STEPS ->
    step++;
    if
    :: register()
    :: change(0)
    :: KINDS > 2 -> remove(0)
    :: KINDS > 2 -> tell(0)
    fi;
    remove(0)
  :: else -> break
  od
}

// Stores come into memory at any time.
active proctype memory() {
end:
  do
  :: atomic { waits[0] -> arrive(0) }
  :: atomic { waits[1] -> arrive(1) }
  od
}

init { atomic { run thread(0); run thread(1) } }
