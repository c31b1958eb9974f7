/// A computed key that a binding tracks. Its getter follows a chain of objects by what it reads there. Other threads
/// set these just between the read and the registration.
#ifndef FIXTURE_MOVING_READS_H
#define FIXTURE_MOVING_READS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Each time the runtime registers where the getter has read, the getter is sent on to the next object. Returns how
/// many sets of the last property read are not delivered.
int moving_reads_missed_after_rounds(void);
/// A thread about to register where the getter has read overlaps with one that has read it before. Returns how many
/// sets of the last property read are not delivered after both have returned.
int moving_reads_missed_beside_another(void);
/// A getter that reads another object each time. Returns how often it is read for one change before it is given up;
/// -1 if that is not reported, or its last read is not observed.
int moving_reads_readings_of_restless(void);
/// A thread that has read the key is held up while another one sends the getter elsewhere. Returns how many sets of
/// the last property read are not delivered, once the getter has been sent back.
int moving_reads_missed_after_older_reading(void);

/// A key with an @, and one that reads a key with a dot, are observed together, and both stored ones are changed.
/// Returns the calls, and whether the dotted name is still registered as a key path when given as a string.
int moving_reads_calls_of_divided(bool *is_path);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
