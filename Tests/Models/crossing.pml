// Which changes of one thread may be kept from observers that have asked for distinct ones: rule D3.
//
// An observer follows a path to a value of one of two objects. A thread makes changes of either value, of the
// link, and of the value as a derived key of its own, in which changes of what it is derived from are
// told to nobody. They begin and end in any order, also while the observer is told and before it is called, since
// others are called first; each may store while it is open. A change counts itself at will and notes the count, how
// often telling had begun and ended, and how often the observer had been passed over. At did it keeps quiet if
// old equals new and all but the last are as they were; then it takes its count back. If the observer is not linked
// there any more it is told likewise if it has been passed over since, else the change counts once more,
// so that those around it are told.
//
// When no change is open and nothing is being told, the observer has read the value that is there. Left out is
// what not even an observer of all changes is told: a change that begins where it is not linked, and ends where
// it is.
//
// holds:  as it is
// violated: -DBEGUN=0  the count of changes: the one that ends first keeps quiet about what the other has found
// violated: -DENDED=0  that of tellings that have ended: one may end in a change that has begun in it
// violated: -DCALLED=0  that it counts once more when it is called, if others were called before
// violated: -DLOST=0  that those are told who stand elsewhere now
// violated: -DLOST=2  that a change that has told nobody counts once more
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
#define LINK 2    // its kinds: of the value of object 0 or 1, of the link,
#define DERIVED 3 // or of the value as a key of its own

typedef change {
  byte kind, old, noted_begun, noted_tellings, noted_ended, noted_passed;
  bool is_open, is_noted
};
change changes[CHANGES];
byte next_change; // to begin
byte open_count;
bool is_derived_open;

byte values[2];
byte link_to, stands_at; // the observer follows the link when its change ends
byte known;

byte begun, tellings, ended, passed;
byte telling; // how many are under way, one within another
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

// Others may have been called before, with changes of their own.
inline call() {
#if CALLED
  tellings++;
  ended++;
#endif
  known = value;
  has_read[telling - 1] = true
}

// The observer may have read once more.
inline return_from_call() {
  telling--;
  has_read[telling] = false;
  ended++;
  if
  :: known = value
  :: skip
  fi
}

// Whether a change of that object is open that does not concern the observer.
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
       :: k < 2 && k == link_to && k != stands_at // a path is about to come there
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
