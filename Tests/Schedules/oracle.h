/// Conditions that must hold under every schedule. A violated one fails the schedule.
#ifndef SCHEDULES_ORACLE_H
#define SCHEDULES_ORACLE_H

#include "history.h"

/// Checks a store by a change, which was asked to store that number, or a link to that node.
void check_store(const change *change, const store *store, int wanted);
/// Checks how often a change has stored that has returned.
void check_stores(const change *change, kvo_status status);
/// Whether there may have been no items when the change, a removal, wanted to remove one, or did.
bool may_be_empty(const change *change);
/// Checks a call: at its time, with what was asked for, and with values that were there.
void check_call(const registration *registration, const call *call, const kvo_change *change);
/// Checks a value that is read at a registration's path.
void check_value(const registration *registration, const kvo_value *value);
/// A value of a change of the path, as `read_path` would read it. NOWHERE without one, and for items.
int received_by(int path, const kvo_value *value);
/// Checks the initial call of a new registration.
void check_added(const registration *registration);
/// When all threads have returned: checks each change against each registration.
void check_changes(void);
/// Checks that the last value that each observer has received or read is the property's.
void check_last_values(void);
/// Whether the registration may have missed a change after the one that it was notified of last.
bool may_lack_last(const registration *registration);
/// Checks the last values. Then sets each key once more, to the same number and
/// to another, and checks which observers are called.
void check_quiet(void);
/// When all has been released: checks that each `ended` was called once.
void check_ends(void);

static inline bool is_batch(const change *change) {
  return change->verb == BATCH || change->verb == BATCH_IN_PLACE;
}
static inline bool is_mutation(const change *change) {
  return change->verb == SET_IN_PLACE || change->verb == LINK_IN_PLACE ||
         change->verb == CANCEL_IN_PLACE || change->verb == BATCH_IN_PLACE;
}
static inline bool is_over(const change *change) { return change->end && !change->was_left; }

/// The innermost mutation in place in which a change was made, or NO_CHANGE.
int mutation_around(int change);

/// Records that a registration is being ended, and that the call has returned.
void begin_end(registration *registration);
void finish_end(registration *registration);

#endif
