/// The runtime's locks. They are taken in the order of their declarations here, with an object's lock after the graph
/// lock. Documentation/Internals/Locks.md has the table: what each protects, and what may happen while it is held.
#ifndef KVO_LOCK_H
#define KVO_LOCK_H

#include "base/kvo_word_hash.h"
#include "kvo_object.h"

#include <pthread.h>

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

#ifdef KVO_CHECK_LOCKS
/// The number of bindings' locks held by this thread under which no other lock may be taken. Debug builds stop if it
/// takes one: a fork would wait for the first lock, and the thread for the fork.
extern __thread uint32_t kvo_innermost_held;
void kvo_check_lock_allowed(void);
#else
KVO_INLINE void kvo_check_lock_allowed(void) {}
#endif

/// A scope that holds a mutex: `KVO_LOCKED(&mutex);` until the block ends.
static inline pthread_mutex_t *kvo_lock_mutex(pthread_mutex_t *mutex) {
  kvo_check_lock_allowed();
  pthread_mutex_lock(mutex);
  return mutex;
}
static inline void kvo_unlock_mutex(pthread_mutex_t *KVO_NONNULL *KVO_NONNULL mutex) {
  pthread_mutex_unlock(*mutex);
}
#define KVO_LOCKED(mutex)                                                          \
  __attribute__((cleanup(kvo_unlock_mutex), unused)) pthread_mutex_t *scope_lock = \
      kvo_lock_mutex(mutex)

extern pthread_mutex_t kvo_define_lock;
extern pthread_mutex_t kvo_class_lock;
extern pthread_mutex_t kvo_graph_lock;
extern pthread_mutex_t kvo_intern_lock;
extern pthread_mutex_t kvo_path_lock;
extern pthread_mutex_t kvo_struct_lock;
extern pthread_mutex_t kvo_call_lock;
extern pthread_mutex_t kvo_closure_lock;
extern pthread_mutex_t kvo_manual_change_lock;
extern pthread_mutex_t kvo_thread_lock;
extern pthread_mutex_t kvo_limbo_lock;

enum { KVO_OBJECT_LOCK_BITS = 6, KVO_OBJECT_LOCKS = 1 << KVO_OBJECT_LOCK_BITS };
typedef struct kvo_object_lock_line {
  pthread_mutex_t mutex;
} __attribute__((aligned(64))) kvo_object_lock_line;
extern kvo_object_lock_line kvo_object_lock_lines[KVO_OBJECT_LOCKS];

/// The index of an object's lock, and the lock at an index.
KVO_INLINE size_t kvo_object_lock_index(const kvo_object *object) {
  return kvo_hash_pointer(object) >> (64 - KVO_OBJECT_LOCK_BITS);
}
KVO_INLINE pthread_mutex_t *kvo_object_lock(size_t index) {
  return &kvo_object_lock_lines[index].mutex;
}

/// The locks of an object and, if there is one, of its observer. Both may have the same lock.
typedef struct kvo_object_locks {
  pthread_mutex_t *first;
  pthread_mutex_t *KVO_NULLABLE second;
} kvo_object_locks;

kvo_object_locks kvo_lock_two_objects(const kvo_object *object, const kvo_object *other);
/// Only the addresses are used: the objects may have been destroyed.
KVO_INLINE kvo_object_locks kvo_lock_objects(const kvo_object *object,
    const kvo_object *KVO_NULLABLE other) {
  if (other) return kvo_lock_two_objects(object, other);
  kvo_check_lock_allowed();
  kvo_object_locks locks = {kvo_object_lock(kvo_object_lock_index(object)), NULL};
  pthread_mutex_lock(locks.first);
  return locks;
}
KVO_INLINE void kvo_unlock_objects(kvo_object_locks *locks) {
  if (locks->second) pthread_mutex_unlock(locks->second);
  pthread_mutex_unlock(locks->first);
}
#define KVO_LOCKED_OBJECTS(object, other)                                             \
  __attribute__((cleanup(kvo_unlock_objects), unused)) kvo_object_locks scope_locks = \
      kvo_lock_objects(object, other)

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
