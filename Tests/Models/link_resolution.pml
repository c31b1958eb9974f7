// Several threads follow links. A thread that returns has all of the path followed, and in the end each link leads to
// the object at which the next one is attached.
//
// Models kvo_path_worklist_resolve_node with install_reading and begin_resolution of node_resolution.c, insert_child
// and push_consequences of path_tasks.c, and kvo_active_threads and kvo_path_worklist_take_on of active_threads.c, for a
// path of three keys. Link 0 is at the root, link 1 at the object it leads to (`child`), and `leaf` is the key behind
// link 1. With DERIVED, link 1 is at a derived key, whose dependent key has a link of its own and a leaf behind that.
//
// A thread sets link 0 and follows it, or only follows it, like a registration. A getter may take any time; each step
// under the graph lock is atomic. With SAME all threads set the current object: then each must find all followed when
// it returns. Otherwise the last one to return must.
//
// holds:
// holds: -DSAME=0
// holds: -DDERIVED=1
// violated: -DPRESENCE=0  a child that stays is taken for followed, whatever threads are at the path
// violated: -DEARLY_END=1  a thread stops being counted when it has attached something, not when all is followed
// violated: -DSAME=0 -DCHECKED=0  a child is attached without checking for a later read of the link by another thread
// violated: -DDERIVED=1 -DJOINS=0  a dependent key that another thread is attaching is taken for attached

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

byte target = 1;              // the object that link 0 leads to: the property's storage
byte later[4];                // for each of link 0's tickets: the threads that have taken a later one,
bool passed[4];               // and whether one of those has been installed
byte child;                   // the object of link 1, 0 for none
byte life;                    // the number of this link 1; an ended one does nothing more
bool leaf;                    // whether the key behind link 1 is attached
byte followers, follower;     // threads at the path observation: how many, and which
byte attachers, attacher;     // threads at the dependent key: how many, and which
bool begun, attached, inner;     // the dependent key's state, and whether its own link is attached
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

// Only the order of tickets matters, so no counter grows.
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

// Attaches the dependent key of link 1's key. A thread does this if it finds it unattached, or another thread at it.
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

// Follows link 1, whose property never changes here.
inline follow_child() {
  if
  :: DERIVED -> go_through()
  :: else ->
    skip; // calls its getter
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

// A thread ends with its check.
proctype Thread(byte me; byte object) {
  byte seen, step, mine;
  bool thorough, counted, present, goes;
  if
  :: object != NOBODY -> target = object
  :: else // only registers
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
