// Thread records: one for each thread that delivers, with its stack of frames (frames.c).
//
// | state | protection |
// |---|---|
// | the list of records that may have frames | written under the thread lock, walked without one |
// | the pool | the thread lock |
// | `in_use`, `kvo_threads_in_use` | written under the thread lock; atomic |
//
// A record is in the list while its thread lives. It stays there longer if the thread ended with changes open that
// continue on other threads, because a thread that frees something has to find these. After that it goes to the pool,
// and from there to the next thread. So only current records are searched, and there are never more records than
// there were threads and such changes at one time.
//
// A record that is taken out of the list keeps its `next`, and is inserted at the front later. So a thread that walks
// the list and is at a record that is just taken out continues with the records behind it, or again from the front.
// It meets every record that stays. Records are never freed.
#include "threads/kvo_thread.h"

#include "base/kvo_forward.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"

__thread kvo_thread *kvo_this_thread;
static kvo_thread always_busy_thread = {.open_count = 1};
__thread kvo_thread *kvo_fast_path_thread = &always_busy_thread;
__thread uintptr_t kvo_owner_bits;
uint32_t kvo_threads_in_use;

static kvo_thread *threads; // atomic
static kvo_thread *pool;
static uint32_t thread_count;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

// The fork handlers are installed by a constructor in fork.c. A static linker takes only those files of an archive
// that another file refers to, so this reference pulls fork.c in.
__attribute__((used)) static void (*const covers_forks)(void) = kvo_cover_forks;

kvo_thread *kvo_thread_first(void) { return __atomic_load_n(&threads, __ATOMIC_SEQ_CST); }

static void choose_fast_path_thread(void) {
  bool may_use_fast_path = kvo_this_thread && !kvo_recorder;
  kvo_fast_path_thread = may_use_fast_path ? kvo_this_thread : &always_busy_thread;
}

void kvo_set_recorder(void *recorder) {
  kvo_recorder = recorder;
  kvo_recording_word = recorder ? &kvo_recorder : kvo_idle_recording_word();
  choose_fast_path_thread();
}

// MARK: The list and the pool

static void link_locked(kvo_thread *thread) {
  __atomic_store_n(&thread->next, threads, __ATOMIC_SEQ_CST);
  thread->link = &threads;
  if (threads) threads->link = &thread->next;
  __atomic_store_n(&threads, thread, __ATOMIC_SEQ_CST);
}

static void unlink_locked(kvo_thread *thread) {
  kvo_thread *next = thread->next;
  if (next) next->link = thread->link;
  __atomic_store_n(thread->link, next, __ATOMIC_SEQ_CST);
  thread->link = NULL;
}

// The pool uses `next_pooled`, because another thread may still be walking by `next`.
static void thread_release_locked(kvo_thread *thread) {
  if (!thread->link || thread->in_use || !kvo_frames_are_gone(thread)) return;
  unlink_locked(thread);
  thread->next_pooled = pool;
  pool = thread;
}

void kvo_thread_release(kvo_thread *thread) {
  if (__atomic_load_n(&thread->in_use, __ATOMIC_SEQ_CST)) return;
  KVO_LOCKED(&kvo_thread_lock);
  thread_release_locked(thread);
}

static kvo_thread *take_from_pool_locked(void) {
  kvo_thread *thread = pool;
  if (thread) pool = thread->next_pooled;
  return thread;
}

// Makes a record. A record belongs to one thread at a time, so the next thread may take over what the last one owned.
static kvo_thread *make_locked(void) {
  static uint32_t count;
  kvo_thread *thread = kvo_alloc_zeroed(sizeof *thread);
  if (!thread) return NULL;
  kvo_frames_init(thread);
  uintptr_t name = (uintptr_t)++count << KVO_OWNER_SHIFT;
  if (name >> KVO_OWNER_SHIFT == count) thread->owner_bits = name & KVO_OWNER_BITS;
  return thread;
}

// MARK: Threads that begin and end

static void leave_locked(kvo_thread *thread) {
  __atomic_store_n(&thread->in_use, false, __ATOMIC_SEQ_CST);
  __atomic_sub_fetch(&kvo_threads_in_use, 1, __ATOMIC_SEQ_CST);
  thread_release_locked(thread);
}

static void thread_leave(kvo_thread *thread) {
  KVO_LOCKED(&kvo_thread_lock);
  leave_locked(thread);
}

static void thread_end_thread(void *record) {
  kvo_thread *thread = record;
  kvo_manual_changes_end_of_thread(thread);
  if (thread->open_links) kvo_open_path_changes_end_of_thread(thread);
  kvo_this_thread = NULL;
  kvo_fast_path_thread = &always_busy_thread;
  kvo_owner_bits = 0;
  kvo_show_hazards(thread);
  thread_leave(thread);
}

static bool has_thread_end;

static void thread_make_thread_end(void) {
  has_thread_end = !pthread_key_create(&thread_end, thread_end_thread);
}

// Registers for a call at the thread's end, for which the C library may need memory. If the process has used up all
// keys, records of ended threads are not reused.
static bool is_notified_of_end(kvo_thread *thread) {
  return !has_thread_end || !pthread_setspecific(thread_end, thread);
}

// Sequentially consistent, so that a thread that retires something and counts the threads in use either sees this
// one, or has unlinked before this one reads.
static void begin_locked(kvo_thread *thread) {
  __atomic_store_n(&thread->number, ++thread_count, __ATOMIC_RELAXED);
  // The thread that had the record may have ended inside a method, or be gone in a child.
  thread->announcing = NULL;
  link_locked(thread);
  __atomic_add_fetch(&kvo_threads_in_use, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&thread->in_use, true, __ATOMIC_SEQ_CST);
}

kvo_thread *kvo_thread_start(void) {
  pthread_once(&thread_end_once, thread_make_thread_end);
  kvo_thread *thread;
  {
    KVO_LOCKED(&kvo_thread_lock);
    thread = take_from_pool_locked();
    if (!thread) thread = make_locked();
    if (thread) begin_locked(thread);
  }
  if (!thread) return NULL;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (is_notified_of_end(thread)) {
    kvo_owner_bits = thread->owner_bits;
    kvo_this_thread = thread;
    choose_fast_path_thread();
    return thread;
  }
  thread_leave(thread);
  kvo_shortages++;
  return NULL;
}

// MARK: Forks

static void abandon_locked(kvo_thread *thread) {
  kvo_frames_clear_after_fork(thread);
  kvo_show_hazards(thread);
  kvo_manual_changes_abandon_locked(thread);
  kvo_open_path_changes_abandon(thread);
  if (thread->in_use) leave_locked(thread);
  else thread_release_locked(thread);
}

// The child has a single thread: nothing need be atomic.
void kvo_thread_abandon_others(void) {
  for (kvo_thread *next, *thread = threads; thread; thread = next) {
    next = thread->next;
    if (thread != kvo_this_thread) abandon_locked(thread);
  }
}
