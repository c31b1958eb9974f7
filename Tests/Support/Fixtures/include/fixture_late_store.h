/// Registrations during setters whose stores other threads see late: the property is atomic, and its setter has just
/// written elsewhere.
#ifndef FIXTURE_LATE_STORE_H
#define FIXTURE_LATE_STORE_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Registers `rounds` times for the initial value of an observed property, while another thread sets 1, 2, 3 and so
/// on. Returns how many missed a value between the initial one and the first change.
int late_store_missed_values(int rounds);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
