// Tracked keys: when several threads read one tracked key, its dependent key ends up with path observations exactly
// where its getter read last, and has been read since each of them was placed.
//
// Models kvo_path_worklist_track with tracking_begin and install_changed of tracking.c, begin_next_round and
// is_settled_locked of tracking_rounds.c, and insert_first and note_inserted_locked of path_tasks.c. The getter reads a
// choice, then the chosen flag, then one of two values by that flag. Path observations 0 and 1 are at the flags, 2 and
// 3 at the values; the choice always has one. Two threads set the choice. A third sets a flag that may have no path
// observation yet: then it does not notify. Each step under the graph lock is atomic. Only the order of tickets is
// modelled.
//
// holds:
// violated: -DAGAIN=0  the key is not read again after its path observations have been placed
// violated: -DFORGETS=1  a thread that reads again forgets path observations made by others and not yet placed

#ifndef AGAIN
#define AGAIN 1
#endif
#ifndef FORGETS
#define FORGETS 0
#endif

#define THREADS 3
#define OBSERVATIONS 4
#define in_set(observation) (observations & (1 << observation))
#define is_placed(observation) (placed & (1 << observation))

bool choice;              // the flag that is read
bool flags[2];
byte observations = 5;    // the dependent key's path observations, from the last reading: flag 0 and the first value
byte placed = 5;          // those that are placed
byte unread;              // with FORGETS: made since the last check
byte fresh;               // placed after the last reading began
byte later[THREADS];      // for each ticket: the threads that have taken a later one
bool passed[THREADS];     // and whether one of those has been installed
byte arrived[THREADS];    // placed since each thread took its ticket
byte returned;

#define read_set(c, f) ((c -> 2 : 1) | (f -> 8 : 4))

inline issue() {
  later[0] = later[0] | (1 << me);
  later[1] = later[1] | (1 << me);
  later[2] = later[2] | (1 << me);
  later[me] = 0;
  passed[me] = false;
  arrived[me] = 0
}

inline install(set) {
  passed[0] = passed[0] || (later[0] & (1 << me));
  passed[1] = passed[1] || (later[1] & (1 << me));
  passed[2] = passed[2] || (later[2] & (1 << me));
  placed = placed & observations & set;
  observations = set;
  fresh = arrived[me] & placed
}

// Places a wanted path observation, unless another thread has done so, or it is no longer in the set.
inline place(observation) {
  wanted = wanted & (15 - (1 << observation));
  if
  :: in_set(observation) && !is_placed(observation) ->
    placed = placed | (1 << observation);
    fresh = fresh | (1 << observation);
    arrived[0] = arrived[0] | (1 << observation);
    arrived[1] = arrived[1] | (1 << observation);
    arrived[2] = arrived[2] | (1 << observation)
  :: else
  fi
}

#define is_settled (placed == observations && fresh == 0)

// Takes a ticket for a reading, unless none is needed.
inline begin() {
  atomic {
    if
    :: !again -> ends = false
    :: again && !AGAIN -> ends = true
    :: again && AGAIN && FORGETS -> ends = !(unread & placed); unread = 0
    :: again && AGAIN && !FORGETS -> ends = is_settled
    fi;
    if
    :: !ends -> issue()
    :: else
    fi
  }
}

inline end_reading() {
  atomic {
    if
    :: passed[me] // another thread has read later
    :: else ->
      unread = (unread & observations & seen) | (seen & (15 - observations));
      install(seen)
    fi;
    wanted = observations & (15 - placed);
    seen = 0;
    again = true
  }
}

inline track() {
  again = false;
  do
  :: begin();
     if
     :: ends -> break
     :: else
     fi;
     seen = choice;
     seen = read_set(seen, flags[seen]);
     end_reading();
     do
     :: atomic { wanted & 8 -> place(3) }
     :: atomic { (wanted & 12) == 4 -> place(2) }
     :: atomic { (wanted & 14) == 2 -> place(1) }
     :: atomic { wanted == 1 -> place(0) }
     :: wanted == 0 -> break
     od
  od;
  atomic {
    later[me] = 0;
    passed[me] = false;
    arrived[me] = 0;
    again = false
  }
}

// Checks the result when the last thread returns.
inline finish() {
  d_step {
    returned++;
    seen = read_set(choice, flags[choice]);
    assert(returned < THREADS || (observations == seen && placed == seen));
    seen = 0
  }
}

proctype Choosing(byte me; bool chosen) {
  byte seen, wanted;
  bool again, ends;
  choice = chosen;
  track();
  finish()
}

// The set notifies, and so tracks, only if there is a path observation at the flag.
proctype Flagging(byte me) {
  byte seen, wanted;
  bool again, ends;
  flags[1] = true;
  if
  :: is_placed(1) -> track()
  :: else
  fi;
  finish()
}

init {
  atomic {
    run Choosing(0, 0);
    run Choosing(1, 1);
    run Flagging(2)
  }
}
