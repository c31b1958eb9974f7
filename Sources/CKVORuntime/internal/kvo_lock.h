/// The runtime's locks and their order.
///
/// | lock | protects |
/// |---|---|
/// | class lock | making and changing classes: methods, ivars, subclasses, dynamic subclasses |
/// | graph lock | links, chains and derivations (kvo_graph.h): what stands where along key paths |
/// | object lock (one of 64 stripes, by the object's address) | an object's observation table, its isa, the list of registrations that it made |
/// | intern lock (intern.c) | the set of interned strings |
/// | pairs lock (manual.c) | each thread's list of changes by hand that it has open |
/// | thread lock (thread.c) | the list of thread records |
/// | limbo lock (reclaim.c) | what could not be freed yet |
/// | struct, call and closure lock (struct.c, call.c, ffi.c) | interned struct types, calls, closures |
/// | path lock (key_path.c) | interned key paths; no other lock is taken under it |
/// | define lock (property.c), recursive | one definition by macros at a time |
///
/// Order: define lock, class lock, then any of intern, struct, call and closure lock; graph lock,
/// then object locks, two of them by stripe. No object lock is held while any other of these is taken, and none but the
/// define lock, which covers a class's `setup`, while code of the user runs.
#ifndef KVO_LOCK_H
#define KVO_LOCK_H

#include "kvo_object.h"

#include <pthread.h>

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A scope that holds a mutex: `KVO_LOCKED(&mutex);` until the block ends.
static inline pthread_mutex_t *kvo_lock_mutex(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  return mutex;
}
static inline void kvo_unlock_mutex(pthread_mutex_t *KVO_NONNULL *KVO_NONNULL mutex) {
  pthread_mutex_unlock(*mutex);
}
#define KVO_LOCKED(mutex)                                                          \
  __attribute__((cleanup(kvo_unlock_mutex), unused)) pthread_mutex_t *scope_lock = \
      kvo_lock_mutex(mutex)

extern pthread_mutex_t kvo_class_lock;
extern pthread_mutex_t kvo_graph_lock;

enum { KVO_OBJECT_LOCKS = 64 };
/// Which of them is an object's, and each of them.
size_t kvo_object_lock_index(const kvo_object *object);
pthread_mutex_t *kvo_object_lock(size_t index);

/// The locks of an object and, if there is one, of its observer. They may share a stripe.
typedef struct kvo_object_locks {
  pthread_mutex_t *first;
  pthread_mutex_t *KVO_NULLABLE second;
} kvo_object_locks;

/// Only the addresses are used: the objects may be dead.
kvo_object_locks kvo_lock_objects(const kvo_object *object, const kvo_object *KVO_NULLABLE other);
void kvo_unlock_objects(kvo_object_locks *locks);
#define KVO_LOCKED_OBJECTS(object, other)                                             \
  __attribute__((cleanup(kvo_unlock_objects), unused)) kvo_object_locks scope_locks = \
      kvo_lock_objects(object, other)

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
