// An object dies while another thread ends its registrations: the table of the observation word in
// Documentation/Internals/Memory.md (kvo_object_will_die, end_one_locked, kvo_table_trim_locked).
//
// The ending thread holds no reference to the object. The dying thread looks at the word without a lock: 0 lets it free the
// object at once; otherwise it takes the object's lock, which is not in the object, ends what is left, and frees it.
// Whoever touches the object when it is freed ends the model.
//
// holds:  as it is
// violated: -DLAST=0  that the word is cleared after all else
// violated: -DASK=0  that an end asks, under the lock, whether the registration still lives
// violated: -DLOCK=0  that a dying object with something at it waits for the lock
#ifndef LAST
#define LAST 1
#endif
#ifndef ASK
#define ASK 1
#endif
#ifndef LOCK
#define LOCK 1
#endif
#define REGISTRATIONS 2

bool freed, is_locked;
byte word = REGISTRATIONS; // how many hang there; 0: nothing does
bool lives[REGISTRATIONS];

inline touch() { assert(!freed) }

// One end. The registration itself stays: somebody holds it.
inline end_one(number) {
  lives[number] = false;
  touch(); // what hangs there is read
  if
  :: word == 1 ->
#if LAST
     touch(); // the dispatch table is put back
     word = 0
#else
     word = 0;
     touch()
#endif
  :: else ->
     word = word - 1
  fi
}

inline take() { atomic { !is_locked -> is_locked = true } }
inline give_back() { is_locked = false }

proctype Ending(byte mine) {
  take();
  if
#if ASK
  :: !lives[mine] -> skip
  :: lives[mine] -> end_one(mine)
#else
  :: true -> end_one(mine)
#endif
  fi;
  give_back()
}

proctype Dying() {
  byte number = 0;
  touch();
  if
  :: word == 0 -> skip
  :: else ->
#if LOCK
     take();
#endif
     do
     :: number < REGISTRATIONS ->
        if
        :: lives[number] -> end_one(number)
        :: else -> skip
        fi;
        number++
     :: else -> break
     od;
#if LOCK
     give_back()
#endif
  fi;
  freed = true
}

init {
  atomic {
    lives[0] = true;
    lives[1] = true;
    run Ending(0);
    run Ending(1);
    run Dying()
  }
}
