// Following of links by several threads: who returns has all of the path followed, and in the end
// each link leads to where the next one stands.
//
// Modelled are kvo_attachment_resolve_link with install and begin_resolution of link_resolution.c, place_child and
// push_consequences of attachment.c, and kvo_presence and kvo_attachment_starts of sharing.c, for a path of
// three keys: link 0 stands at the root, link 1 at the object that it leads to (`child`), and what
// stands behind link 1 is `leaf`. With DERIVED, link 1 stands at a derived key, whose derivation
// has a link of its own and a leaf behind that. A thread sets link 0 and follows it, or only
// follows it, as who registers does. A getter may take any time; each step under the graph lock is
// atomic. With SAME all set the object that is there already: then each thread must find all
// followed when it returns. Else the last one to return must leave it so.
//
// holds:
// holds: -DSAME=0
// holds: -DDERIVED=1
// violated: -DPRESENCE=0  a child that stays is taken for followed, whoever else is at the path
// violated: -DEARLY_END=1  a thread is no more counted when it has placed something, not when all is followed
// violated: -DSAME=0 -DCHECKED=0  a child is placed without a look whether another thread has read the link later
// violated: -DDERIVED=1 -DJOINS=0  a derivation that another thread is attaching is taken for attached

#ifndef SAME
#define SAME 1
#endif
#ifndef DERIVED
#define DERIVED 0
#endif
#ifndef PRESENCE
#define PRESENCE 1
#endif
#ifndef EARLY_END
#define EARLY_END 0
#endif
#ifndef CHECKED
#define CHECKED 1
#endif
#ifndef JOINS
#define JOINS 1
#endif

#define THREADS 3
#define NOBODY 0
#define SEVERAL 255

byte target = 1;              // where link 0 leads: the property's storage
byte later[4];                // link 0's tickets: which threads have taken a later one than each,
bool passed[4];               // and whether one of those has been installed
byte child;                   // where link 1 stands, 0 for nowhere
byte life;                    // which link 1 it is: one that has ended does nothing more
bool leaf;                    // whether what is behind link 1 stands
byte followers, follower;     // who is at the chain: how many, and of which thread
byte attachers, attacher;           // who is at the derivation, likewise
bool begun, attached, inner;     // the derivation's state, and whether its own link stands
byte returned;

inline enter(count, who) {
  if
  :: count == 0 -> who = me
  :: count > 0 && who != me -> who = SEVERAL
  :: else
  fi;
  count++
}

#define others(count, who) (count > 0 && who != me)

// Only the order of tickets matters: so their number does not grow.
inline issue() {
  later[1] = later[1] | (1 << me);
  later[2] = later[2] | (1 << me);
  later[3] = later[3] | (1 << me);
  later[me] = 0;
  passed[me] = false
}

inline install() {
  passed[1] = passed[1] || (later[1] & (1 << me));
  passed[2] = passed[2] || (later[2] & (1 << me));
  passed[3] = passed[3] || (later[3] & (1 << me))
}

inline look() { present = PRESENCE && (others(followers, follower) || others(attachers, attacher)) }

// The derivation of the key where link 1 stands: gone through by who finds it unattached, or another
// thread at it.
inline go_through() {
  atomic {
    if
    :: !begun -> begun = true; enter(attachers, attacher); goes = true
    :: begun && !attached && JOINS -> enter(attachers, attacher); goes = true
    :: else -> goes = false
    fi
  }
  if
  :: goes ->
    inner = true;
    leaf = true;
    atomic { attached = true; attachers-- }
  :: else
  fi
}

// Link 1 is followed: what it leads to never changes here.
inline follow_child() {
  if
  :: DERIVED -> go_through()
  :: else ->
    skip; // its getter is read
    atomic {
      if
      :: life == mine && child != 0 -> leaf = true
      :: else
      fi
    }
  fi
}

inline follow_link() {
  thorough = false;
  do
  :: atomic {
       if
       :: !counted -> counted = true; enter(followers, follower)
       :: else
       fi;
       issue()
     }
     seen = target;
     atomic {
       if
       :: passed[me] -> thorough = true; step = 0
       :: else ->
         install();
         if
         :: child != 0 && child != seen -> child = 0; leaf = false; life++
         :: else
         fi;
         look();
         if
         :: child == 0 -> step = 1
         :: child != 0 && (thorough || present) -> step = 2; mine = life
         :: else -> step = 3
         fi
       fi
     }
     if
     :: step == 1 ->
       atomic {
         if
         :: CHECKED && passed[me] -> thorough = true; step = 0
         :: else ->
           child = seen; life++; leaf = false; mine = life; step = 2;
           if
           :: EARLY_END && counted -> counted = false; followers--
           :: else
           fi
         fi
       }
     :: else
     fi;
     if
     :: step == 2 -> follow_child(); break
     :: step == 3 -> break
     :: step == 0
     fi
  od;
  atomic {
    if
    :: counted -> followers--
    :: else
    fi
  }
}

// Each thread ends at once with what it checks.
proctype Thread(byte me; byte object) {
  byte seen, step, mine;
  bool thorough, counted, present, goes;
  if
  :: object != NOBODY -> target = object
  :: else // registers
  fi;
  follow_link();
  d_step {
    assert(!SAME || (child == target && leaf));
    returned++;
    assert(returned < THREADS || (child == target && leaf))
  }
}

init {
  atomic {
    run Thread(1, 1);
    run Thread(2, (SAME -> 1 : 2));
    run Thread(3, NOBODY)
  }
}
