// Fork handlers: the child has one thread, and a consistent runtime.
//
// Whatever another thread was changing when the process forked would stay half changed in the child, under a lock
// that is never released. So the forking thread takes every lock before the fork, in their order, and releases them
// on both sides. In the child the records of the threads that are gone return to the pool. What they were delivering
// is abandoned, and so is what their frames kept alive. Memory that waited for such a frame is freed at the next
// retirement.
//
// A binding may make a lock while it holds an outer one. So there are two lists of bindings' locks. The list of the
// outer ones is locked from the beginning of a fork on, the other list together with its locks.
//
// The thread sanitizer can't follow a thread that holds more than 64 locks: in its builds, object locks and bindings'
// inner locks are left out.
#include "base/kvo_lock.h"
#include "kvo_binding.h"
#include "threads/kvo_reclaim.h"
#include "threads/kvo_thread.h"

typedef int (*lock_action)(pthread_mutex_t *mutex);

static pthread_mutex_t *const outer_locks[] = {&kvo_define_lock, &kvo_class_lock, &kvo_graph_lock};
static pthread_mutex_t *const inner_locks[] = {&kvo_intern_lock, &kvo_path_lock, &kvo_struct_lock,
    &kvo_call_lock, &kvo_closure_lock, &kvo_manual_change_lock, &kvo_thread_lock, &kvo_limbo_lock};

static void act_on(pthread_mutex_t *const *locks, size_t count, lock_action act) {
  for (size_t i = 0; i < count; i++) act(locks[i]);
}

// MARK: Locks of bindings

typedef struct {
  pthread_mutex_t mutex;
  kvo_binding_lock *first;
} lock_list;

static lock_list outer_list = {PTHREAD_MUTEX_INITIALIZER, NULL};
static lock_list inner_list = {PTHREAD_MUTEX_INITIALIZER, NULL};

static lock_list *list_of(const kvo_binding_lock *lock) {
  return lock->is_outer ? &outer_list : &inner_list;
}

static void fork_initialize(pthread_mutex_t *mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

void kvo_binding_lock_init(kvo_binding_lock *lock, bool is_outer) {
  fork_initialize(&lock->mutex, is_outer ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  lock->is_outer = is_outer;
  lock_list *list = list_of(lock);
  KVO_LOCKED(&list->mutex);
  lock->next = list->first;
  lock->link = &list->first;
  if (lock->next) lock->next->link = &lock->next;
  list->first = lock;
}

void kvo_binding_lock_destroy(kvo_binding_lock *lock) {
  {
    KVO_LOCKED(&list_of(lock)->mutex);
    *lock->link = lock->next;
    if (lock->next) lock->next->link = lock->link;
  }
  pthread_mutex_destroy(&lock->mutex);
}

#ifdef KVO_CHECK_LOCKS
static void count_held(const kvo_binding_lock *lock, int change) {
  if (!lock->is_outer) kvo_innermost_held += (uint32_t)change;
}
#else
static void count_held(const kvo_binding_lock *lock, int change) { (void)lock, (void)change; }
#endif

void kvo_binding_lock_acquire(kvo_binding_lock *lock) {
  kvo_check_lock_allowed();
  pthread_mutex_lock(&lock->mutex);
  count_held(lock, 1);
}

void kvo_binding_lock_release(kvo_binding_lock *lock) {
  count_held(lock, -1);
  pthread_mutex_unlock(&lock->mutex);
}

static void act_on_list(const lock_list *list, lock_action act) {
  for (kvo_binding_lock *lock = list->first; lock; lock = lock->next) act(&lock->mutex);
}

// MARK: Before and after a fork

#define ACT_ON(locks, act) act_on(locks, sizeof(locks) / sizeof *(locks), act)

static void act_on_many(lock_action act) {
#ifdef KVO_SANITIZE_THREAD
  (void)act;
#else
  for (size_t i = 0; i < KVO_OBJECT_LOCKS; i++) act(kvo_object_lock(i));
  act_on_list(&inner_list, act);
#endif
}

static void fork_take_all(void) {
  pthread_mutex_lock(&outer_list.mutex);
  act_on_list(&outer_list, pthread_mutex_lock);
  ACT_ON(outer_locks, pthread_mutex_lock);
  pthread_mutex_lock(&inner_list.mutex);
  act_on_many(pthread_mutex_lock);
  ACT_ON(inner_locks, pthread_mutex_lock);
}

static void give_all_back(void) {
  ACT_ON(inner_locks, pthread_mutex_unlock);
  act_on_many(pthread_mutex_unlock);
  pthread_mutex_unlock(&inner_list.mutex);
  ACT_ON(outer_locks, pthread_mutex_unlock);
  act_on_list(&outer_list, pthread_mutex_unlock);
  pthread_mutex_unlock(&outer_list.mutex);
}

// A recursive mutex stores its holder's thread number, which differs in the child, so it is initialized again.
static int make_recursive_anew(pthread_mutex_t *mutex) {
  fork_initialize(mutex, PTHREAD_MUTEX_RECURSIVE);
  return pthread_mutex_lock(mutex);
}

static void start_child(void) {
  make_recursive_anew(&kvo_define_lock);
  act_on_list(&outer_list, make_recursive_anew);
  kvo_thread_abandon_others();
  kvo_reclaim_after_fork();
  give_all_back();
}

__attribute__((constructor)) void kvo_cover_forks(void) {
  pthread_atfork(fork_take_all, give_all_back, start_child);
}
