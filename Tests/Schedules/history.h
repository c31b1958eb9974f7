/// The events of a schedule: each change, registration and call, with its time.
#ifndef SCHEDULES_HISTORY_H
#define SCHEDULES_HISTORY_H

#include "program.h"

/// A set, a link or a batch: one change to its observers.
typedef struct change {
  uint64_t begin, end; ///< 0: not yet
  int thread, node;    ///< node: NOWHERE before the first store
  uint8_t keys;        ///< a bit for each
  uint8_t verb;
  bool is_nested; ///< made by an observer, so it may be part of another change
  bool was_left;  ///< the thread, or an observer, ended in it
} change;

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
  uint64_t ended_at; ///< its `ended` function
  int ended, calls_open;
  int last_read; ///< what the observer called last has read
} registration;

typedef struct call {
  int registration, change; ///< change: INITIAL for an initial call, -1 for none
  bool is_prior;
  int thread, read;
  uint64_t at;
} call;

/// A stored link.
typedef struct stored_link {
  uint64_t at;
  int node, to;
} stored_link;

enum { REGISTRATIONS = LABELS * 3, CHANGES = 400, CALLS = 6000, LINKS = 400, INITIAL = -2 };

typedef struct history {
  registration registrations[REGISTRATIONS];
  change changes[CHANGES];
  int change_count;
  call calls[CALLS];
  int call_count;
  stored_link links[LINKS];
  int link_count;
  int removals_open[NODES];        ///< calls of `kvo_remove_all_observers` that have not returned
  uint64_t first_point;            ///< when the threads were started
  int passing_made, passing_ended; ///< short-lived registrations of observers
  int kept, given_back;            ///< associations
  uint8_t stored_by[4096];         ///< the node and key of each stored number, plus one
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
void print_history(void);

#endif
