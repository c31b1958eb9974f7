/// The events of a schedule: each change, registration and call, with its time.
#ifndef SCHEDULES_HISTORY_H
#define SCHEDULES_HISTORY_H

#include "program.h"

/// A set, a link or a batch: one change to its observers.
typedef struct change {
  uint64_t begin, end; ///< 0: not yet
  int thread;
  int root, node; ///< the op's node; the changed one, or NOWHERE before the first store
  int stores;     ///< how many it has made
  int before;     ///< the last store of any change when it began
  uint8_t keys;   ///< a bit for each
  uint8_t verb;
  /// The call of an observer in which it was made; NULL if in none, or in an initial call.
  const struct call *caller;
  bool is_nested;      ///< made by an observer or a getter, so it may be part of another change
  bool is_in_mutation; ///< made by a mutation in place
  bool is_of_getter;   ///< made by a getter that is called for another change
  bool is_stamped;     ///< a getter has set the stamp within it
  bool was_left;       ///< the thread, or an observer, ended in it
} change;

/// Whether a registration is still there when all threads have returned, as far as its calls have shown.
typedef enum fate { UNKNOWN, STAYED, GONE } fate;

/// A registration. A token for several keys has one for each key.
typedef struct registration {
  bool is_made; ///< registering has begun
  int node, path;
  uint8_t options, act, label;
  int observer;              ///< or NOWHERE
  struct registration *head; ///< of several keys: the first, which has the token
  int members;               ///< the head's number of keys; 1 for others
  kvo_handle *handle;        ///< the head's, until it is released
  int users;                 ///< calls that are using the handle
  bool is_taken;             ///< a thread is releasing it, or has released it
  bool is_unsure;            ///< `kvo_remove_all_observers` was called while it was being made
  int ends_asked;            ///< how often an end was requested
  uint64_t add_begin, add_end, end_begin, end_end;
  int thread;        ///< that makes it
  int before;        ///< the last store when registering began
  uint64_t ended_at; ///< its `ended` function
  int ended, calls_open;
  int removals;     ///< how often `kvo_remove_observer` found it
  uint8_t ended_by; ///< a bit for each thread in which a call that ends it has returned
  fate fate;
  int first_read,
      last_read; ///< what was there at registration, and what the observer called last has read
} registration;

typedef struct call {
  int registration, change; ///< change: an index, or INITIAL and so on
  bool is_prior;
  int thread, read;
  int received, replaced; ///< the new and the old value that the call brought; NOWHERE without one
  int before;             ///< the last store
  uint64_t at;
} call;

/// A store by a setter. Stores are counted from 1, in the order in which they are made; 0 stands for what the nodes
/// began with.
typedef struct store {
  int node, value, change, thread;
  node_key key;
  uint64_t at;
} store;

/// A stored link.
typedef struct stored_link {
  uint64_t at;
  int node, to;
} stored_link;

enum { REGISTRATIONS = LABELS * 3, CHANGES = 400, CALLS = 6000, STORES = 1000, LINKS = 400 };
/// In place of a change: there is none; the initial call; the call after one whose value had been overtaken (D3).
enum { NO_CHANGE = -1, INITIAL = -2, AFTER_INITIAL = -3 };
enum { FIRST_NUMBER = 1000, NUMBERS = 2 * STAMPS };

typedef struct history {
  registration registrations[REGISTRATIONS];
  change changes[CHANGES];
  int change_count;
  call calls[CALLS];
  int call_count;
  store stores[STORES + 1];
  int store_count;
  stored_link links[LINKS];
  int link_count;
  int removals_open[NODES];        ///< calls of `kvo_remove_all_observers` that have not returned
  uint64_t first_point;            ///< when the threads were started
  int passing_made, passing_ended; ///< short-lived registrations of observers
  int kept, given_back;            ///< associations
  bool stores_again;               ///< the oracle sets a property to the value that it has
  uint16_t stored_as[NUMBERS];     ///< the store of each number from FIRST_NUMBER on
} history;

enum { DESCRIPTION = 120 };
typedef struct description {
  char text[DESCRIPTION];
} description;

/// "#1 (middle value old+new)".
description describe_registration(const registration *registration);
/// "thread 0, set middle value".
description describe_change(const change *change);

extern history past;
static inline int number_of(const registration *registration) {
  return (int)(registration - past.registrations);
}
void print_history(void);

#endif
