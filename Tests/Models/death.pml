// An object dies while another thread ends its registrations: the table of the observation word in
// Documentation/Internals/Memory.md (kvo_object_will_die, end_one_locked, kvo_table_trim_locked).
//
// The ending thread does not retain the object. The dying thread reads the word without a lock. If it is 0, the
// object may be freed at once. Otherwise the thread takes the object's lock, which is outside the object, ends the
// remaining registrations, and frees the object. A thread that touches the freed object violates the model.
//
// holds:  unmodified
// violated: -DLAST=0  the word is not cleared last
// violated: -DASK=0  an end does not check, under the lock, that the registration is live
// violated: -DLOCK=0  a dying object with registrations does not wait for the lock
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
byte word = REGISTRATIONS; // the number of registrations in the word; 0: none
bool lives[REGISTRATIONS];

inline touch() { assert(!freed) }

// Ends one registration. Its memory stays, because its handle retains it.
inline end_one(number) {
  lives[number] = false;
  touch(); // reads the registrations
  if
  :: word == 1 ->
#if LAST
     touch(); // restores the dispatch table
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
