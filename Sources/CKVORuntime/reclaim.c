// Reclamation by hazard pointers whose fences the remover pays for.
//
// A delivery publishes its object in a frame, then reads the object's observations. A removal
// unlinks, then looks at all frames. One of the two sees the other: the delivery reads what is
// left after the unlinking, or the removal sees the frame and waits. That takes a full fence on
// either side. The delivery's is a compiler barrier only, because the removal runs membarrier(2),
// which puts the fence into every running thread of the process. Where the kernel has no
// membarrier both sides fence. The thread sanitizer sees neither kind, so its builds publish with
// sequentially consistent stores. While a single thread has a record no barrier is needed: its
// frames are the caller's own.
//
// What has to wait is kept in `waiting`, under the limbo lock. The frame that it waits for is
// marked: `owes` names the object. Whoever pops it tries again with what waits for that object,
// under the same lock: he finds whatever was put there before the mark. A frame that is marked anew
// may have been popped before that could be seen, so the frames are looked at again, after a fence.
// A mark may outlive its reason: the next pop then tries for nothing. Nothing is tried for other
// objects, so `ended` is called by the thread that ended a registration, or by one that was
// delivering a change of the same object.
#include "kvo_reclaim.h"

#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_thread.h"

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

bool kvo_fences_are_asymmetric;

static kvo_retired *waiting;
// What nobody is waiting for, memory mostly, until it is worth a fence.
static kvo_retired *batch;
static uint32_t batch_count; // atomic

#if defined(__linux__) && !defined(KVO_SANITIZE_THREAD)
static long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

__attribute__((constructor)) static void choose_fences(void) {
  kvo_fences_are_asymmetric = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

static void fence_all_threads(void) {
  for (kvo_thread *thread = kvo_thread_first(); thread; thread = thread->next)
    kvo_let_guards_be_seen(thread);
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
static void choose_fences(void) {}
static void fence_all_threads(void) {}
#endif

static bool other_threads_exist(void) {
  for (kvo_thread *thread = kvo_thread_first(); thread; thread = thread->next)
    if (thread != kvo_this_thread && __atomic_load_n(&thread->in_use, __ATOMIC_SEQ_CST))
      return true;
  return false;
}

// Orders this thread's earlier stores before its later loads, and every frame that is published
// before its thread's reads.
static void heavy_fence(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (kvo_fences_are_asymmetric && other_threads_exist()) fence_all_threads();
}

#ifdef KVO_LATE_GUARDS
// The frame's thread may end the guard meanwhile, and begin another.
static void let_be_seen(kvo_guard *guard) {
  kvo_object *object = __atomic_load_n(&guard->object, __ATOMIC_SEQ_CST);
  if (!object) return;
  __atomic_store_n(&guard->seen, object, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&guard->object, __ATOMIC_SEQ_CST) == object) return;
  __atomic_compare_exchange_n(&guard->seen, &object, NULL, false, __ATOMIC_SEQ_CST,
      __ATOMIC_SEQ_CST);
}

void kvo_let_guards_be_seen(kvo_thread *thread) {
  kvo_frame_block *block = &thread->first;
  for (; block; block = __atomic_load_n(&block->next, __ATOMIC_ACQUIRE))
    for (size_t i = 0; i < KVO_FRAMES_PER_BLOCK; i++) let_be_seen(&block->frames[i].guard);
}

static kvo_object *object_seen(const kvo_thread *thread, const kvo_guard *guard) {
  return __atomic_load_n(thread == kvo_this_thread ? &guard->object : &guard->seen,
      __ATOMIC_SEQ_CST);
}
#else
void kvo_let_guards_be_seen(kvo_thread *thread) { (void)thread; }

static kvo_object *object_seen(const kvo_thread *thread, const kvo_guard *guard) {
  (void)thread;
  return __atomic_load_n(&guard->object, __ATOMIC_SEQ_CST);
}
#endif

static kvo_frame *frame_in_block(kvo_frame_block *block, const kvo_object *object,
    const kvo_thread *thread) {
  for (kvo_frame *frame = block->frames; frame < block->frames + KVO_FRAMES_PER_BLOCK; frame++)
    if (object_seen(thread, &frame->guard) == object) return frame;
  return NULL;
}

static kvo_frame *frame_of_thread(kvo_thread *thread, const kvo_object *object) {
  if (thread == kvo_this_thread && thread->top == thread->first.frames) return NULL;
  kvo_frame_block *block = &thread->first;
  for (; block; block = __atomic_load_n(&block->next, __ATOMIC_ACQUIRE)) {
    kvo_frame *frame = frame_in_block(block, object, thread);
    if (frame) return frame;
  }
  return NULL;
}

// A frame that guards the object, or NULL. Records in the pool are looked at as well: a frame
// may outlive its thread when a language resumes an access elsewhere.
static kvo_frame *frame_guarding(const kvo_object *object) {
  for (kvo_thread *thread = kvo_thread_first(); thread; thread = thread->next) {
    kvo_frame *frame = frame_of_thread(thread, object);
    if (frame) return frame;
  }
  return NULL;
}

static void reclaim_all(kvo_retired *chain) {
  for (kvo_retired *next; chain; chain = next) {
    next = chain->next;
    chain->reclaimer->reclaim(chain);
  }
}

static void push(kvo_retired **chain, kvo_retired *retired) {
  retired->next = *chain;
  *chain = retired;
}

// Whether a frame guards the object that is marked: something waits for it.
static bool must_wait_locked(const kvo_object *object) {
  for (;;) {
    kvo_frame *frame = frame_guarding(object);
    if (!frame) return false;
    if (__atomic_exchange_n(&frame->owes, object, __ATOMIC_SEQ_CST) == object) return true;
    heavy_fence();
  }
}

// Splits a chain into what must wait, which is put there, and what may be freed, which is returned.
static kvo_retired *wait_if_guarded_locked(kvo_retired *chain) {
  kvo_retired *free = NULL;
  for (kvo_retired *next; chain; chain = next) {
    next = chain->next;
    push(must_wait_locked(chain->guard) ? &waiting : &free, chain);
  }
  return free;
}

static void free_memory(kvo_retired *retired) { kvo_free(retired); }
const kvo_reclaimer kvo_memory_reclaimer = {free_memory, true};

// The fence has been made.
static void reclaim_or_wait(kvo_retired *chain) {
  kvo_retired *free = NULL, *guarded = NULL;
  for (kvo_retired *next; chain; chain = next) {
    next = chain->next;
    push(frame_guarding(chain->guard) ? &guarded : &free, chain);
  }
  if (guarded) {
    KVO_LOCKED(&kvo_limbo_lock);
    guarded = wait_if_guarded_locked(guarded);
  }
  reclaim_all(free);
  reclaim_all(guarded);
}

// MARK: Batches

static bool all_can_wait(const kvo_retired *chain) {
  for (; chain; chain = chain->next)
    if (!chain->reclaimer->can_wait) return false;
  return true;
}

static void add_to_batch_locked(kvo_retired *chain) {
  uint32_t count = batch_count;
  for (kvo_retired *next; chain; chain = next, count++) {
    next = chain->next;
    push(&batch, chain);
  }
  __atomic_store_n(&batch_count, count, __ATOMIC_RELAXED);
}

// Puts a chain into the batch, unless the batch is full with it or has to go anyway: then returns
// both.
static kvo_retired *join_batch(kvo_retired *chain, bool must_go) {
  KVO_LOCKED(&kvo_limbo_lock);
  add_to_batch_locked(chain);
  if (!must_go && batch_count < KVO_BATCH) return NULL;
  chain = batch;
  batch = NULL;
  __atomic_store_n(&batch_count, 0, __ATOMIC_RELAXED);
  return chain;
}

void kvo_retire(kvo_retired *chain) {
  if (!chain) return;
  bool alone = !other_threads_exist();
  if (!alone || __atomic_load_n(&batch_count, __ATOMIC_RELAXED))
    chain = join_batch(chain, alone || !all_can_wait(chain));
  if (!chain) return;
  heavy_fence();
  reclaim_or_wait(chain);
}

void kvo_reclaim_after_fork(void) {
  choose_fences();
  add_to_batch_locked(waiting);
  waiting = NULL;
}

// Takes what waits for an object out of `waiting`.
static kvo_retired *take_waiting_locked(const kvo_object *guard) {
  kvo_retired *taken = NULL, **link = &waiting;
  while (*link) {
    kvo_retired *retired = *link;
    if (retired->guard != guard) {
      link = &retired->next;
      continue;
    }
    *link = retired->next;
    push(&taken, retired);
  }
  return taken;
}

void kvo_reclaim_waiting(const kvo_object *guard) {
  kvo_retired *free;
  {
    KVO_LOCKED(&kvo_limbo_lock);
    heavy_fence();
    free = wait_if_guarded_locked(take_waiting_locked(guard));
  }
  reclaim_all(free);
}
