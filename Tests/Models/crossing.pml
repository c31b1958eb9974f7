// Which changes of one thread `distinct` may drop: rule D3.
//
// An observer follows a path to a value of one of two objects. A thread changes either value, the link, and the value
// as a derived key of its own, inside which changes of the source do not notify. Changes begin and end in any order,
// also during a delivery and before the observer's call, since others are called first. Each may store while it is
// open.
//
// Before a change begins it counts itself. It notes the count, how often deliveries have begun and ended, and how
// often a change was dropped for the observer. When it ends, it is dropped if old equals new and all but the last of
// these are unchanged; then it takes its count back. If the observer's path no longer leads there, and a change was
// dropped for it since, it is notified under the same rule. Otherwise the change counts once more, so that the
// enclosing ones are delivered.
//
// When no change is open and none is being delivered, the observer has read the current value. The model omits what
// even an observer of all changes does not get: a change that begins where the path does not lead, and ends where it
// does.
//
// holds:  unmodified
// violated: -DBEGUN=0  without the count of changes: one is dropped though another showed a value
// violated: -DENDED=0  without the count of ended deliveries: one may end in a change that began in it
// violated: -DCALLED=0  without counting the call again, if others were called before
// violated: -DLOST=0  without notifying observers whose path has moved
// violated: -DLOST=2  without counting a change once more that notified no observer
#ifndef BEGUN
#define BEGUN 1
#endif
#ifndef ENDED
#define ENDED 1
#endif
#ifndef CALLED
#define CALLED 1
#endif
#ifndef LOST
#define LOST 1
#endif

#define CHANGES 3
#define LINK 2    // kinds of changes: 0 and 1 are of the value of that object, LINK is of the link,
#define DERIVED 3 // DERIVED is of the value as a key of its own

typedef change {
  byte kind, old, noted_begun, noted_tellings, noted_ended, noted_passed;
  bool is_open, is_noted
};
change changes[CHANGES];
byte next_change; // the next one to begin
byte open_count;
bool is_derived_open;

byte values[2];
byte link_to, stands_at; // the observer's path follows the link when the link's change ends
byte known;

byte begun, tellings, ended, passed;
byte telling; // the number of nested deliveries
bool has_read[CHANGES];

#define value values[link_to]
#define is_told_of(k) (k == DERIVED || (!is_derived_open && (k == LINK || k == stands_at)))

inline begin(k) {
  changes[next_change].kind = k;
  changes[next_change].is_open = true;
  open_count++;
  if
  :: is_told_of(k) ->
     changes[next_change].is_noted = true;
     begun++;
     changes[next_change].noted_begun = begun;
     changes[next_change].noted_tellings = tellings;
     changes[next_change].noted_ended = ended;
     changes[next_change].noted_passed = passed;
     changes[next_change].old = value
  :: else
  fi;
  if
  :: k == DERIVED -> is_derived_open = true
  :: else
  fi;
  next_change++
}

#if BEGUN == 1
#define is_last(c) (begun == changes[c].noted_begun)
#else
#define is_last(c) true
#endif
#define is_untold(c) (tellings == changes[c].noted_tellings)
#if ENDED
#define is_within(c) (ended == changes[c].noted_ended)
#else
#define is_within(c) true
#endif
#define is_as_noted(c) (is_last(c) && is_untold(c) && is_within(c))

inline judge(c) {
  if
  :: changes[c].old == value && is_as_noted(c) ->
     begun--;
     passed++
  :: else ->
     tellings++;
     has_read[telling] = false;
     telling++
  fi
}

inline count_lost() {
#if LOST == 1
  begun++
#else
  skip
#endif
}

inline end(c) {
  changes[c].is_open = false;
  open_count--;
  if
  :: changes[c].kind == LINK -> stands_at = link_to
  :: changes[c].kind == DERIVED -> is_derived_open = false
  :: else
  fi;
  if
  :: !changes[c].is_noted
  :: changes[c].is_noted && is_told_of(changes[c].kind) -> judge(c)
  :: else ->
     if
     :: LOST && passed != changes[c].noted_passed -> judge(c)
     :: else -> count_lost()
     fi
  fi
}

// Other observers may have been called before, and have made changes.
inline call() {
#if CALLED
  tellings++;
  ended++;
#endif
  known = value;
  has_read[telling - 1] = true
}

// The observer may have read again.
inline return_from_call() {
  telling--;
  has_read[telling] = false;
  ended++;
  if
  :: known = value
  :: skip
  fi
}

// Whether a change of that object is open that began while the observer was not linked there.
#define is_alien(c, k) (changes[c].is_open && !changes[c].is_noted && changes[c].kind == k)
#define is_of(c, k) (changes[c].is_open && changes[c].kind == k)
#define has_alien(k) (is_alien(0, k) || is_alien(1, k) || is_alien(2, k))
#define is_open(k) (is_of(0, k) || is_of(1, k) || is_of(2, k))

init {
  byte c, k;
  do
  :: atomic { next_change < CHANGES && !is_derived_open ->
       select(k : 0 .. 3);
       if
       :: k < 2 && k == link_to && k != stands_at // a path is about to reach it
       :: else -> begin(k)
       fi
     }
  :: atomic { open_count ->
       select(c : 0 .. (CHANGES - 1));
       if
       :: changes[c].is_open -> end(c)
       :: else
       fi
     }
  :: atomic { is_open(0) -> values[0] = 1 - values[0] }
  :: atomic { is_open(1) -> values[1] = 1 - values[1] }
  :: atomic { is_open(LINK) && !has_alien(1 - link_to) -> link_to = 1 - link_to }
  :: atomic { telling && !has_read[telling - 1] -> call() }
  :: atomic { telling && has_read[telling - 1] -> return_from_call() }
  :: atomic { next_change == CHANGES && !open_count && !telling -> break }
  od;
  assert(known == value)
}
