/// What must hold, whatever the schedule. Each check fails the schedule if it does not.
#ifndef SCHEDULES_ORACLE_H
#define SCHEDULES_ORACLE_H

#include "history.h"

/// A call as it comes: none after the end, and it has what was asked for.
void check_call(const registration *registration, const call *call, const kvo_change *change);
/// A registration that has just been made: its initial call.
void check_added(const registration *registration);
/// When all threads have returned: each change against each registration.
void check_changes(void);
/// The last read value is the last stored one; then each key is set once more, and each observer called as it should be.
void check_quiet(void);
/// When all has been given back: each end was told once.
void check_ends(void);

/// Notes that something ends a registration from now on, and that it has returned.
void begin_end(registration *registration);
void finish_end(registration *registration);

#endif
