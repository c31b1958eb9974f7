/// What has happened in a schedule: each change, each registration, each call, and when.
#ifndef SCHEDULES_HISTORY_H
#define SCHEDULES_HISTORY_H

#include "program.h"

/// A set, a link, a batch: whatever is one change to its observers.
typedef struct change {
  uint64_t begin, end; ///< 0: not yet
  int thread, node;    ///< node: NOWHERE until something is stored
  uint8_t keys;        ///< a bit for each
  uint8_t verb;
  bool is_nested; ///< made by an observer: it may be part of another one
  bool was_left;  ///< the thread ended in it, or an observer did
} change;

/// A registration; of several keys by one token one for each key.
typedef struct registration {
  bool is_made; ///< its making has begun
  int node, path;
  uint8_t options, act, label;
  int observer;              ///< or NOWHERE
  struct registration *head; ///< of several keys: the first, which has the token
  int members;               ///< of the head: how many; 1 of others
  kvo_handle *handle;        ///< the head's, until it is given back
  int users;                 ///< calls that use the handle now
  bool is_taken;             ///< a thread is giving it back, or has done so
  bool is_unsure;            ///< `kvo_remove_all_observers` came while it was being made
  int ends_asked;            ///< how often something was to end it
  uint64_t add_begin, add_end, end_begin, end_end;
  uint64_t ended_at; ///< its `ended` function
  int ended, calls_open;
  int last_read; ///< what an observer found that was called last
} registration;

typedef struct call {
  int registration, change; ///< change: INITIAL for an initial call, -1 for none
  bool is_prior;
  int thread, read;
  uint64_t at;
} call;

/// A link that was stored.
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
  uint64_t first_point;            ///< when the threads were let go on
  int passing_made, passing_ended; ///< registrations that observers make and remove
  int kept, given_back;            ///< associations
  uint8_t stored_by[4096];         ///< which node and key a number was stored in, plus one
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
