// Which changes `distinct` withholds when several threads set: rule D3 and ordering 15 of
// Documentation/Internals/Memory.md (distinct.c).
//
// Threads set one property, each once, while another one registers the observer. Each change takes a ticket between its
// store and its reading of the new value. It compares with the stored value without a lock, and then stores its own if
// that one is still in place. In the end the stored value is the property's, and no value was delivered twice in a row.
//
// holds:  unmodified
// violated: -DTICKET=0  no tickets: a value that was read earlier is stored later
// violated: -DTICKET=2  the ticket is taken after new is read
// violated: -DTICKET=3  the ticket is taken before the store
// violated: -DATOMIC=0  the comparison is not repeated if another value was stored during it
// violated: -DNOTED=0  a withheld change leaves no ticket
// violated: -DFIRST=0  a registration stores its value over a delivered one
#ifndef TICKET
#define TICKET 1
#endif
#ifndef ATOMIC
#define ATOMIC 1
#endif
#ifndef NOTED
#define NOTED 1
#endif
#ifndef FIRST
#define FIRST 1
#endif

#define SETTERS 3

byte value; // the property's
byte tickets;
bool is_known; // whether a value is stored
byte known, version; // the stored value, and which one it is
byte last_ticket;
byte told = 9; // the value delivered last
byte done;

inline take_ticket() {
#if TICKET
  atomic { tickets++; ticket = tickets }
#else
  skip
#endif
}

inline deliver() {
  assert(told != new);
  told = new;
  is_known = true;
  known = new;
  version++
}

proctype Setter() {
  byte new, ticket, seen, seen_version;
  bool is_equal, is_over;
#if TICKET == 3
  take_ticket();
#endif
  if
  :: value = 0
  :: value = 1
  fi;
#if TICKET == 1
  take_ticket();
#endif
  new = value;
#if TICKET == 2
  take_ticket();
#endif
  do
  :: is_over -> break
  :: else ->
     atomic {
       is_over = ticket < last_ticket;
       is_equal = is_known && known == new;
       seen_version = version
     };
     atomic {
       if
       :: is_over
       :: else ->
          if
          :: ATOMIC && version != seen_version
          :: ticket < last_ticket
          :: else ->
             if
             :: !is_equal || NOTED -> last_ticket = ticket
             :: else
             fi;
             if
             :: is_equal
             :: else -> deliver()
             fi;
             is_over = true
          fi
       fi
     }
  od;
  done++
}

proctype Registrar() {
  byte new, ticket;
  take_ticket();
  new = value;
  atomic {
    if
    :: FIRST && last_ticket
    :: else ->
       last_ticket = ticket;
       is_known = true;
       known = new;
       version++
    fi
  };
  done++
}

init {
  byte i;
  atomic {
    run Registrar();
    for (i : 1 .. SETTERS) { run Setter() }
  };
  done == SETTERS + 1;
  assert(is_known && known == value)
}
