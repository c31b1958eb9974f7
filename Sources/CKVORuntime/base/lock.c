// The locks; kvo_lock.h says what each protects. Object locks: 64 mutexes, each on its own cache line, chosen by the
// object's address. Two are taken in the order of their indexes, so that threads with the same two objects can't
// deadlock.
#include "base/kvo_lock.h"

#ifdef KVO_CHECK_LOCKS
#include <stdio.h>
#include <stdlib.h>

__thread uint32_t kvo_innermost_held;

void kvo_check_lock_allowed(void) {
  if (!kvo_innermost_held) return;
  fputs("KVORuntime: a thread takes a lock while it holds a binding's lock that allows no other\n",
      stderr);
  abort();
}
#endif

kvo_object_lock_line kvo_object_lock_lines[KVO_OBJECT_LOCKS] = {
    [0 ... KVO_OBJECT_LOCKS - 1] = {PTHREAD_MUTEX_INITIALIZER}};

pthread_mutex_t kvo_define_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t kvo_class_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_graph_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_intern_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_path_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_struct_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_call_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_closure_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_manual_change_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_thread_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_limbo_lock = PTHREAD_MUTEX_INITIALIZER;

kvo_object_locks kvo_lock_two_objects(const kvo_object *object, const kvo_object *other) {
  kvo_check_lock_allowed();
  size_t a = kvo_object_lock_index(object), b = kvo_object_lock_index(other);
  kvo_object_locks locks = {kvo_object_lock(a < b ? a : b), NULL};
  pthread_mutex_lock(locks.first);
  if (a == b) return locks;
  locks.second = kvo_object_lock(a < b ? b : a);
  pthread_mutex_lock(locks.second);
  return locks;
}
