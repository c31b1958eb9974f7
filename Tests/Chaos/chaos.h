/// Delays at every atomic operation and lock of the C runtime: included ahead of each of its
/// sources by Scripts/chaos.py. A thread that is delayed there meets what others do in between,
/// which without it happens once in millions.
#ifndef CHAOS_H
#define CHAOS_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Goes on at once, mostly. Else yields, spins or sleeps.
void chaos_point(void);

#ifdef __cplusplus
}
#endif

// A macro's own name is not replaced in what stands for it.
#define __atomic_load_n(place, order) (chaos_point(), __atomic_load_n(place, order))
#define __atomic_store_n(place, value, order) (chaos_point(), __atomic_store_n(place, value, order))
#define __atomic_exchange_n(place, value, order) \
  (chaos_point(), __atomic_exchange_n(place, value, order))
#define __atomic_compare_exchange_n(place, expected, value, weak, success, failure) \
  (chaos_point(), __atomic_compare_exchange_n(place, expected, value, weak, success, failure))
#define __atomic_fetch_add(place, value, order) \
  (chaos_point(), __atomic_fetch_add(place, value, order))
#define __atomic_fetch_sub(place, value, order) \
  (chaos_point(), __atomic_fetch_sub(place, value, order))
#define __atomic_fetch_or(place, value, order) \
  (chaos_point(), __atomic_fetch_or(place, value, order))
#define __atomic_fetch_and(place, value, order) \
  (chaos_point(), __atomic_fetch_and(place, value, order))
#define __atomic_add_fetch(place, value, order) \
  (chaos_point(), __atomic_add_fetch(place, value, order))
#define __atomic_sub_fetch(place, value, order) \
  (chaos_point(), __atomic_sub_fetch(place, value, order))
#define __atomic_thread_fence(order) (chaos_point(), __atomic_thread_fence(order))
#define __atomic_signal_fence(order) (chaos_point(), __atomic_signal_fence(order))

// Before a lock is taken, and after it has been given back.
#define pthread_mutex_lock(mutex) (chaos_point(), pthread_mutex_lock(mutex))
#define pthread_mutex_unlock(mutex)            \
  __extension__({                              \
    int status_ = pthread_mutex_unlock(mutex); \
    chaos_point();                             \
    status_;                                   \
  })

#endif
