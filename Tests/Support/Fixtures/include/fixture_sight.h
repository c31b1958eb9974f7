/// A computed key that a binding tracks, whose getter goes from one object to the next by what it
/// reads there; and what others set just between its being read and being stood at.
#ifndef FIXTURE_SIGHT_H
#define FIXTURE_SIGHT_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Each time that the runtime goes to stand where the getter has just been, that sends it on to the
/// next object. How many sets of what it reads in the end are not told.
int sight_missed_after_rounds(void);
/// A thread that is about to stand where the getter has been meets one that has read it before. How
/// many sets of what it reads in the end are not told, when both have returned.
int sight_missed_beside_another(void);
/// A getter that keeps another object each time. How often it is read for one change of what it
/// reads, when that has been given up; -1 if that is not told, or what it read last not stood at.
int sight_readings_of_restless(void);
/// A thread that has read the key is held up while another one sets what sends the getter elsewhere. How many
/// sets of what is read in the end, when it has been sent back, are not told.
int sight_missed_after_older_reading(void);

/// A key with an at sign, and one that reads a key with a dot, are observed together; both that are stored are
/// changed. How many calls come, and whether the key with a dot is still a key path where it is registered by its name.
int sight_calls_of_divided(bool *is_path);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
