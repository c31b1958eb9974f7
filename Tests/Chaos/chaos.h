/// Delays at every atomic operation and lock of the C runtime. Scripts/variant.py includes this header before each
/// source. A delayed thread meets interleavings that otherwise occur once in millions of runs.
#ifndef CHAOS_H
#define CHAOS_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Usually returns at once; otherwise yields, spins or sleeps.
void chaos_point(void);

#ifdef __cplusplus
}
#endif

#define POINT_LOAD(place, order) (chaos_point(), __atomic_load_n(place, order))
#define POINT_STORE(place, value, order) (chaos_point(), __atomic_store_n(place, value, order))
#define POINT_CHANGE(place, operation) (chaos_point(), operation)
#define POINT_FENCE(fence, order) (chaos_point(), fence)

// A delay before a lock is taken, and after it has been released.
#define POINT_LOCK(mutex) (chaos_point(), pthread_mutex_lock(mutex))
#define POINT_UNLOCK(mutex)                    \
  __extension__({                              \
    int status_ = pthread_mutex_unlock(mutex); \
    chaos_point();                             \
    status_;                                   \
  })

#include "points.h"

#endif
