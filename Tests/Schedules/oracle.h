/// Conditions that must hold under every schedule. A violated one fails the schedule.
#ifndef SCHEDULES_ORACLE_H
#define SCHEDULES_ORACLE_H

#include "history.h"

/// Checks a call: not after the end, and with what was asked for.
void check_call(const registration *registration, const call *call, const kvo_change *change);
/// Checks the initial call of a new registration.
void check_added(const registration *registration);
/// When all threads have returned: checks each change against each registration.
void check_changes(void);
/// Checks that the last value read is the last one stored. Then sets each key once more, and checks that each
/// observer is called.
void check_quiet(void);
/// When all has been released: checks that each `ended` was called once.
void check_ends(void);

/// Records that a registration is being ended, and that the call has returned.
void begin_end(registration *registration);
void finish_end(registration *registration);

#endif
