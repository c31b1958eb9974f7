// Forking: the child has one thread, and the runtime in good order.
//
// What another thread was changing when the process forked would stay half changed in the child,
// under a lock that nobody gives back. So the forking thread takes every lock before, in their
// order, and gives them back on both sides. In the child the records of the threads that are gone
// return to the pool: what they were delivering is abandoned, and with it what their frames kept
// alive. What waited for such a frame is freed at the next retirement.
//
// The thread sanitizer can't follow a thread that holds more than 64 locks: its builds leave out
// those of which there are many.
#include "kvo_binding.h"
#include "kvo_lock.h"
#include "kvo_reclaim.h"
#include "kvo_thread.h"

typedef int (*lock_action)(pthread_mutex_t *mutex);

static pthread_mutex_t *const outer_locks[] = {&kvo_define_lock, &kvo_class_lock, &kvo_graph_lock};
static pthread_mutex_t *const inner_locks[] = {&kvo_intern_lock, &kvo_path_lock, &kvo_struct_lock,
    &kvo_call_lock, &kvo_closure_lock, &kvo_pairs_lock, &kvo_thread_lock, &kvo_limbo_lock};

static void act_on(pthread_mutex_t *const *locks, size_t count, lock_action act) {
  for (size_t i = 0; i < count; i++) act(locks[i]);
}

// MARK: Locks of bindings

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static kvo_binding_lock *binding_locks;

static void initialize(pthread_mutex_t *mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

void kvo_binding_lock_init(kvo_binding_lock *lock, bool is_outer) {
  initialize(&lock->mutex, is_outer ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  lock->is_outer = is_outer;
  KVO_LOCKED(&list_lock);
  lock->next = binding_locks;
  lock->link = &binding_locks;
  if (lock->next) lock->next->link = &lock->next;
  binding_locks = lock;
}

void kvo_binding_lock_destroy(kvo_binding_lock *lock) {
  {
    KVO_LOCKED(&list_lock);
    *lock->link = lock->next;
    if (lock->next) lock->next->link = lock->link;
  }
  pthread_mutex_destroy(&lock->mutex);
}

void kvo_binding_lock_take(kvo_binding_lock *lock) { pthread_mutex_lock(&lock->mutex); }
void kvo_binding_lock_give_back(kvo_binding_lock *lock) { pthread_mutex_unlock(&lock->mutex); }

static void act_on_bindings(bool outer, lock_action act) {
  for (kvo_binding_lock *lock = binding_locks; lock; lock = lock->next)
    if (lock->is_outer == outer) act(&lock->mutex);
}

// MARK: Before and after

#define ACT_ON(locks, act) act_on(locks, sizeof(locks) / sizeof *(locks), act)

static void act_on_many(lock_action act) {
#ifdef KVO_SANITIZE_THREAD
  (void)act;
#else
  for (size_t i = 0; i < KVO_OBJECT_LOCKS; i++) act(kvo_object_lock(i));
  act_on_bindings(false, act);
#endif
}

static void take_all(void) {
  pthread_mutex_lock(&list_lock);
  act_on_bindings(true, pthread_mutex_lock);
  ACT_ON(outer_locks, pthread_mutex_lock);
  act_on_many(pthread_mutex_lock);
  ACT_ON(inner_locks, pthread_mutex_lock);
}

static void give_all_back(void) {
  ACT_ON(inner_locks, pthread_mutex_unlock);
  act_on_many(pthread_mutex_unlock);
  ACT_ON(outer_locks, pthread_mutex_unlock);
  act_on_bindings(true, pthread_mutex_unlock);
  pthread_mutex_unlock(&list_lock);
}

// A recursive mutex knows its holder by a number that the child's thread does not have.
static int make_recursive_anew(pthread_mutex_t *mutex) {
  initialize(mutex, PTHREAD_MUTEX_RECURSIVE);
  return pthread_mutex_lock(mutex);
}

static void start_child(void) {
  make_recursive_anew(&kvo_define_lock);
  act_on_bindings(true, make_recursive_anew);
  kvo_thread_abandon_others();
  kvo_reclaim_after_fork();
  give_all_back();
}

__attribute__((constructor)) static void cover_forks(void) {
  pthread_atfork(take_all, give_all_back, start_child);
}
