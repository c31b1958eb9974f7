/// The state of the running thread, such as its current change. For the files that perform a program.
///
/// These files have no points of their own, only in what they call. So their accesses to the history are one step.
#ifndef SCHEDULES_DOING_H
#define SCHEDULES_DOING_H

#include "history.h"

/// A mutation in place (E4), while the mutated property can't be read.
typedef struct mutation {
  bool is_open;
  int node, change;
  node_key key;
  uint64_t begin; ///< of the change
} mutation;

/// The state of a thread.
typedef struct doing {
  int thread;
  int change;           ///< an index, or NO_CHANGE
  int wanted;           ///< what it is to store: a number, or a node
  registration *adding; ///< the registration whose initial call is pending
  int depth;            ///< the nesting of observers
  const call *call;     ///< the innermost call of an observer, or NULL
  int again;            ///< what it is to store once more, or 0
  bool reads_stamped;   ///< in the getter that sets the stamp
  mutation mutation;    ///< the one in place that is open
  bool may_leave, may_drop;
} doing_state;
extern _Thread_local doing_state doing;

extern const program *current_program;
/// Set when all threads have returned.
extern bool observers_do_nothing;
/// The mortal nodes that each thread retains.
extern bool holders[SCHEDULE_THREADS][NODES];
/// A number that no property has had.
int next_number(void);

static inline kvo_object *object_of(int node) { return &nodes[node]->object; }
/// Whether the thread may use a node: not a mortal one that it has released.
bool may_use(int node);
/// No code of the program runs under a lock (Locks.md).
void check_unlocked(const char *what);

/// changes.c: makes a change. Returns its index.
int do_change(const op *op);

/// registrations.c: makes and ends registrations.
void make_registrations(const op *op);
bool has_token(const registration *head, const registration *adding);
void release_token(registration *head);
void invalidate_token(registration *head);
void remove_observer(registration *registration);
void remove_all_observers(int node);
void drop_node(int node);

/// passing.c: makes a short-lived registration, and one of a short-lived object.
void make_passing(int node, const char *path);
void pass_object(void);

/// observers.c: the functions of callbacks.
void observer_is_called(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change);
void observer_is_called_for_key(void *context, kvo_object *object, const char *key,
    const kvo_change *change);
void registration_has_ended(void *context);

#endif
