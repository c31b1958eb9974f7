/// Names the points at which threads of the C runtime meet: each atomic operation, fence and lock. A header that is
/// included before the sources defines what happens at a point, then includes this one:
///
/// | macro | replaces |
/// |---|---|
/// | `POINT_LOAD(place, order)` | `__atomic_load_n` |
/// | `POINT_STORE(place, value, order)` | `__atomic_store_n` |
/// | `POINT_CHANGE(place, operation)` | the atomic read-modify-write `operation` |
/// | `POINT_FENCE(fence, order)` | `fence`, a call of `__atomic_thread_fence` or `__atomic_signal_fence` |
/// | `POINT_LOCK(mutex)`, `POINT_UNLOCK(mutex)` | `pthread_mutex_lock`, `pthread_mutex_unlock` |
///
/// These macros may call what they replace: the preprocessor does not expand a name within its own expansion.
#ifndef CHAOS_POINTS_H
#define CHAOS_POINTS_H

#include <pthread.h>

#define __atomic_load_n(place, order) POINT_LOAD(place, order)
#define __atomic_store_n(place, value, order) POINT_STORE(place, value, order)
#define __atomic_exchange_n(place, value, order) \
  POINT_CHANGE(place, __atomic_exchange_n(place, value, order))
#define __atomic_compare_exchange_n(place, expected, value, weak, success, failure) \
  POINT_CHANGE(place, __atomic_compare_exchange_n(place, expected, value, weak, success, failure))
#define __atomic_fetch_add(place, value, order) \
  POINT_CHANGE(place, __atomic_fetch_add(place, value, order))
#define __atomic_fetch_sub(place, value, order) \
  POINT_CHANGE(place, __atomic_fetch_sub(place, value, order))
#define __atomic_fetch_or(place, value, order) \
  POINT_CHANGE(place, __atomic_fetch_or(place, value, order))
#define __atomic_fetch_and(place, value, order) \
  POINT_CHANGE(place, __atomic_fetch_and(place, value, order))
#define __atomic_add_fetch(place, value, order) \
  POINT_CHANGE(place, __atomic_add_fetch(place, value, order))
#define __atomic_sub_fetch(place, value, order) \
  POINT_CHANGE(place, __atomic_sub_fetch(place, value, order))
#define __atomic_thread_fence(order) POINT_FENCE(__atomic_thread_fence(order), order)
#define __atomic_signal_fence(order) POINT_FENCE(__atomic_signal_fence(order), __ATOMIC_RELAXED)
#define pthread_mutex_lock(mutex) POINT_LOCK(mutex)
#define pthread_mutex_unlock(mutex) POINT_UNLOCK(mutex)

#endif
