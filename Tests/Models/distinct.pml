// Which changes `distinct` withholds when several threads set: rule D3 and ordering 15 of
// Documentation/Internals/Memory.md (distinct.c).
//
// Threads set one property, each once, or insert elements in it, while another one registers the observer, with an
// initial call or without. A change looks for observers before it reads the new value and afterwards, and takes its
// ticket only if it has found one that asks for distinct changes, this one or another one. It is not delivered
// to an observer that has become visible since then (serial.c). An initial call delivers the value that was read for
// it, even if a later one has been delivered; then the present value is compared and delivered like that of a change.
//
// Each change takes a ticket between its store and its reading of the new value. It compares with
// the stored value without a lock, and then stores its own if that one is still in place. Elements are delivered
// without a comparison, and nothing is stored for them. In the end the stored value is the property's, or elements have
// taken it away. After an initial call the value delivered last is the property's. No value was delivered twice in a
// row.
//
// holds:  unmodified
// violated: -DTICKET=0  no tickets: a value that was read earlier is stored later
// violated: -DTICKET=2  the ticket is taken after new is read
// violated: -DTICKET=3  the ticket is taken before the store
// violated: -DATOMIC=0  the comparison is not repeated if another value was stored during it
// violated: -DNOTED=0  the ticket of a withheld change is not stored
// violated: -DFIRST=0  a registration stores its value over a delivered one
// violated: -DELEMENTS=0  the ticket of a change of elements is not stored
// violated: -DLATE=0  a change is delivered to an observer that became visible after its ticket was taken
// violated: -DAGAIN=0  nothing follows an initial call whose value has been overtaken
// violated: -DAGAIN=2  the change that follows it takes no ticket of its own
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
#ifndef ELEMENTS
#define ELEMENTS 1
#endif
#ifndef AGAIN
#define AGAIN 1
#endif

#ifndef LATE
#define LATE 1
#endif

#define SETTERS 2

byte value; // the property's
byte tickets;
bool is_known; // whether a value is stored
byte known, version; // the stored value, and which one it is
byte last_ticket;
byte notified = 9; // the value delivered last
bool has_initial, has_elements;
bool has_other; // whether another observer asks for distinct changes
bool is_visible;
byte serials, serial; // the last serial number, and the observer's
byte done;

inline take_ticket() {
#if TICKET
  atomic { tickets++; ticket = tickets };
#endif
  has_ticket = true;
  counted = serials
}

// Any thread that finds the observer without a number takes one for it.
inline take_serial() {
  atomic {
    if
    :: !serial -> serials++; serial = serials
    :: else
    fi
  }
}

inline deliver() {
  assert(notified != new);
  notified = new;
  is_known = true;
  known = new;
  version++
}

inline compare() {
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
  od
}

inline call() {
  if
  :: is_insertion ->
     atomic {
       notified = 9;
       is_known = false;
       version++;
       has_elements = true;
       if
       :: ELEMENTS && ticket > last_ticket -> last_ticket = ticket
       :: else
       fi
     }
  :: else -> compare()
  fi
}

proctype Setter() {
  byte new, ticket, seen_version, counted;
  bool is_equal, is_over, is_insertion, is_found, has_ticket, is_early;
  if
  :: is_insertion = true
  :: skip
  fi;
#if TICKET == 3
  take_ticket();
#endif
  if
  :: value = 0
  :: value = 1
  fi;
  is_found = is_visible || has_other;
#if TICKET < 2
  if
  :: is_found -> take_ticket()
  :: else
  fi;
#endif
  atomic { new = value; is_early = !is_visible };
#if TICKET == 2
  take_ticket();
#endif
  if
  :: is_visible ->
     take_serial();
     if
     :: !has_ticket || (LATE && serial > counted)
     :: else -> assert(!is_early); call()
     fi
  :: else
  fi;
  done++
}

proctype Registrar() {
  byte new, ticket, seen_version, counted;
  bool is_equal, is_over, has_ticket;
  if
  :: has_initial = true
  :: skip
  fi;
  if
  :: has_other = true
  :: skip
  fi;
  is_visible = true;
  take_serial();
  take_ticket();
  new = value;
  atomic {
    is_over = !AGAIN || (has_initial -> ticket >= last_ticket : !last_ticket);
    if
    :: !has_initial && FIRST && last_ticket
    :: else ->
       is_known = true;
       known = new;
       version++;
       last_ticket = ticket;
       if
       :: has_initial -> notified = new
       :: else
       fi
    fi
  };
  if
  :: is_over
  :: else ->
#if AGAIN == 1
     take_ticket();
#endif
     new = value;
     compare()
  fi;
  done++
}

init {
  byte i;
  atomic {
    run Registrar();
    for (i : 1 .. SETTERS) { run Setter() }
  };
  done == SETTERS + 1;
  assert(is_known || has_elements);
  assert(!is_known || known == value);
  assert(!has_initial || has_elements || notified == value)
}
