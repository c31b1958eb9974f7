// The owner of an object's observations: ordering 17 of Documentation/Internals/Memory.md (kvo_table.h, kvo_retire).
//
// Two threads do the same: register at one of two keys of an object with an initial call, remove, change, or notify
// what they have found under the lock, as changes along paths do. The thread that makes the first registration owns
// the object. It frees what it removes without looking for readers on other threads, until another thread shares the
// object. The store of a hazard pointer is pending in its processor's buffer until it reaches memory, or the kernel
// fences the thread. A thread that reads freed memory, or is called after its registration was freed, violates the
// model.
//
// holds:  unmodified
// holds: -DSTEPS=3 -DKINDS=2  more steps of registering and changing
// violated: -DSHARES=0  a change does not share first
// violated: -DINITIAL=0  a registration does not share first
// violated: -DFOUND=0  finding observers under the lock does not share first
// violated: -DTAKES=1  a thread becomes the owner though there are registrations
// violated: -DLOOKS=0  shared registrations are freed while a hazard pointer is left
// violated: -DFENCE=0  no fence by the kernel before that
// violated: -DAGAIN=0  a change that has shared does not read the registrations again
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

#define ITEMS 6
#define NOBODY 2

// The object's word, written only under the lock. 0 at a key means no registration.
byte owner = NOBODY;
byte hangs[2];
bool lock;

// The registrations.
bool live[ITEMS], freed[ITEMS];
byte made;

bool hazard[2];             // the values in memory
bool stored[2], waits[2];  // each thread's last store, and whether it is pending

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

// Makes the object shared, under the lock.
inline share() {
  if
  :: owner != me && owner != NOBODY -> owner = NOBODY
  :: else
  fi
}

// A call of the observer. Its registration must not be freed during it.
inline call(item) {
  assert(!freed[item]);
  skip;
  assert(!freed[item])
}

inline register() {
  store_hazard(true);
  take();
  if
  :: INITIAL -> share()
  :: else
  fi;
  if
  :: made + 1 < ITEMS && (hangs[0] == 0 || hangs[1] == 0) ->
    made++;
    item = made;
    if
    :: TAKES || (hangs[0] == 0 && hangs[1] == 0) -> owner = me
    :: else
    fi;
    live[item] = true;
    if
    :: hangs[0] == 0 -> hangs[0] = item
    :: else -> hangs[1] = item
    fi
  :: else -> item = 0
  fi;
  give_back();
  if
  :: item && live[item] -> call(item)
  :: else
  fi;
  store_hazard(false)
}

inline remove(key) {
  take();
  item = hangs[key];
  is_own = owner == me;
  if
  :: item ->
    live[item] = false;
    hangs[key] = 0;
    if
    :: hangs[0] == 0 && hangs[1] == 0 -> owner = NOBODY
    :: else
    fi
  :: else
  fi;
  give_back();
  if
  :: item && !is_own && LOOKS ->
    if
    :: FENCE -> atomic { arrive(0); arrive(1) }
    :: else
    fi;
    !hazard[1 - me]
  :: else
  fi;
  if
  :: item -> freed[item] = true
  :: else
  fi
}

// Reads the word without the lock, then the registration that it leads to.
inline change(key) {
  store_hazard(true);
  atomic { is_own = owner == me || owner == NOBODY; item = hangs[key] }
  if
  :: !is_own && SHARES ->
    take();
    share();
    if
    :: AGAIN -> item = hangs[key]
    :: else
    fi;
    give_back()
  :: else
  fi;
  if
  :: item ->
    assert(!freed[item]);
    if
    :: live[item] -> call(item)
    :: else
    fi
  :: else
  fi;
  store_hazard(false)
}

// Retains the registration found under the lock, and checks under the hazard pointer that it is live.
inline tell(key) {
  take();
  if
  :: FOUND -> share()
  :: else
  fi;
  item = hangs[key];
  give_back();
  store_hazard(true);
  if
  :: item && live[item] -> call(item)
  :: else
  fi;
  store_hazard(false)
}

proctype thread(byte me) {
  byte step, item;
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

// Pending stores reach memory at any time.
active proctype memory() {
end:
  do
  :: atomic { waits[0] -> arrive(0) }
  :: atomic { waits[1] -> arrive(1) }
  od
}

init { atomic { run thread(0); run thread(1) } }
