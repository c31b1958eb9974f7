/// Passes every atomic operation, fence and lock of the C runtime to the scheduler. Scripts/checks/schedules includes
/// it before each source.
#ifndef SCHEDULES_INTERPOSE_H
#define SCHEDULES_INTERPOSE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Each call keeps its own source line.
#define SCHEDULE_PLACE __attribute__((nomerge))

/// Points where the scheduler may switch threads. Outside a schedule these only do what they replace. `what` says of a
/// thread that stops here what it does: "before a fence".
SCHEDULE_PLACE void schedule_point(const char *what);
SCHEDULE_PLACE int schedule_lock(pthread_mutex_t *mutex);
SCHEDULE_PLACE int schedule_unlock(pthread_mutex_t *mutex);
/// Runs the function without a switch, so that no thread waits for another outside the scheduler.
int schedule_once(pthread_once_t *once, void (*function)(void));
/// membarrier(2), the runtime's only system call by number: empties all store buffers.
long schedule_system_call(long number, ...);

/// Simulated store buffers (buffers.c): called before a store, after a load, before a read-modify-write, at a fence.
SCHEDULE_PLACE void buffers_store(const void *place, size_t size, int order);
SCHEDULE_PLACE void buffers_load(const void *place, void *value, size_t size);
void buffers_change(const void *place, size_t size);
void buffers_fence(int order);

#ifdef __cplusplus
}
#endif

// The type of the object at a place, without const.
#ifdef __cplusplus
#define LOADED_TYPE(place) __remove_cv(__typeof__(*(place)))
#else
#define LOADED_TYPE(place) __typeof__((void)0, *(place))
#endif

#define POINT_LOAD(place, order)                                   \
  __extension__({                                                  \
    schedule_point("before an atomic load");                       \
    LOADED_TYPE(place) loaded_ = __atomic_load_n(place, order);    \
    buffers_load((const void *)(place), &loaded_, sizeof loaded_); \
    loaded_;                                                       \
  })
#define POINT_STORE(place, value, order)                          \
  __extension__({                                                 \
    LOADED_TYPE(place) stored_ = (value);                         \
    schedule_point("before an atomic store");                     \
    buffers_store((const void *)(place), sizeof *(place), order); \
    __atomic_store_n(place, stored_, order);                      \
  })
#define POINT_CHANGE(place, operation)                      \
  __extension__({                                           \
    schedule_point("before a read-modify-write");           \
    buffers_change((const void *)(place), sizeof *(place)); \
    operation;                                              \
  })
#define POINT_FENCE(fence, order)     \
  __extension__({                     \
    schedule_point("before a fence"); \
    buffers_fence(order);             \
    fence;                            \
  })
#define POINT_LOCK(mutex) schedule_lock(mutex)
#define POINT_UNLOCK(mutex) schedule_unlock(mutex)
#define pthread_once(once, function) schedule_once(once, function)
#define syscall(...) schedule_system_call(__VA_ARGS__)

#include "../Chaos/points.h"

#endif
