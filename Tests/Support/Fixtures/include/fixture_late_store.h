/// Registrations that meet setters whose stores other threads see late: where a property is atomic
/// and its setter has written elsewhere just before.
#ifndef FIXTURE_LATE_STORE_H
#define FIXTURE_LATE_STORE_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Registers so many times for the initial value of an observed property while another thread sets
/// 1, 2, 3 and so on. How many missed a value between the initial one and the first change.
int late_store_missed_values(int rounds);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
