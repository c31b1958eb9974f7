// Memory reclamation by hazard pointers whose fences the remover pays for (I1).
//
// A delivery publishes its object in a frame, then reads the object's observations. A removal unlinks, then looks at
// all frames. At least one of the two sees the other: the delivery reads what is left after the unlinking, or the
// removal sees the frame and waits, unless the frame began later. That takes a full fence on both sides. The
// delivery's is only a compiler barrier, because the removal calls membarrier(2), which runs the fence in every
// running thread of the process. If the kernel has no membarrier, or begins to refuse it, both sides fence. The
// thread sanitizer sees neither kind of fence, so its builds publish with sequentially consistent stores. While only
// one thread has a record no barrier is needed: all frames are the caller's own.
//
// Retired items that have to wait are in `waiting`, under the limbo lock. The frame that an item waits for is marked:
// `awaited` names the object. The thread that pops a marked frame retries the waiting items of that object under the
// same lock, so it finds all items that were added before the mark. A frame can be popped just before a new mark
// becomes visible, so the frames are scanned again after a fence. A mark may outlive its reason; then the next pop
// retries in vain.
//
// Items of other objects are not retried. So `ended` is called by the thread that ended a registration, or by one
// that was delivering a change of the same object. In a forked child it is also called by the thread that next ends
// something, for items that waited for threads that are gone.
#include "threads/kvo_reclaim.h"

#include "base/kvo_forward.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "threads/kvo_thread.h"

#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif
#ifdef __linux__
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

uint64_t kvo_serial;
bool kvo_fences_are_asymmetric;

static kvo_retired *waiting;
// Deferred frees, batched so that one fence serves many. Usually plain memory, whose release nothing waits for.
static kvo_retired *batch;
static uint32_t batch_count; // atomic

#if defined(__linux__) && !defined(KVO_SANITIZE_THREAD)
static long reclaim_membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

// Whether removers ask the kernel to fence. They go on asking for a while after deliveries have stopped relying on
// it.
static bool kernel_fences; // atomic

__attribute__((constructor(101))) static void choose_fences(void) {
  kvo_fences_are_asymmetric = reclaim_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  kernel_fences = kvo_fences_are_asymmetric;
}

// 0 if a sandbox refuses the clock as well.
static int64_t nanoseconds_now(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now)) return 0;
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// Waits ten milliseconds, or for a million calls if there is no clock. Neither cancellation of the thread nor a
// sandbox ends the wait early.
static void pause_shortly(void) {
  int64_t end = nanoseconds_now() + 10000000;
  for (int i = 0; i < 1000000 && nanoseconds_now() < end; i++) sched_yield();
}

// The program has entered a sandbox that refuses membarrier. From now on each thread fences its hazard pointers
// itself. A hazard pointer that a thread has published before it knows of this may still be in its processor's store
// buffer, but leaves that within a thousandth of the pause, or at an interrupt.
static void do_without_kernel(void) {
  __atomic_store_n(&kvo_fences_are_asymmetric, false, __ATOMIC_SEQ_CST);
  pause_shortly();
  __atomic_store_n(&kernel_fences, false, __ATOMIC_SEQ_CST);
}

static void fence_all_threads(void) {
  if (!__atomic_load_n(&kernel_fences, __ATOMIC_SEQ_CST)) return;
  if (reclaim_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) do_without_kernel();
#ifdef KVO_LATE_HAZARDS
  for (kvo_thread *thread = kvo_thread_first(); thread; thread = kvo_thread_next(thread))
    kvo_show_hazards(thread);
#endif
}
#else
static void choose_fences(void) {}
static void fence_all_threads(void) {}
#endif

static kvo_frame_block *reclaim_topmost(kvo_thread *thread) {
  return __atomic_load_n(&thread->block, __ATOMIC_SEQ_CST);
}

static kvo_frame_block *reclaim_previous(kvo_frame_block *block) {
  return __atomic_load_n(&block->previous, __ATOMIC_SEQ_CST);
}

// A thread without a record has begun no change. If it ends another thread's change, it fences itself.
void kvo_heavy_fence(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (kvo_thread_others_exist()) fence_all_threads();
}

static bool has_threads(void) {
#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
  return !__libc_single_threaded;
#else
  return true;
#endif
}

void kvo_fence_setters(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (has_threads()) fence_all_threads();
}

bool kvo_process_has_threads(void) { return has_threads(); }

#ifdef KVO_LATE_HAZARDS
// Makes a late hazard pointer visible. The frame's thread may end it during this call, and publish another.
static void let_be_seen(kvo_hazard *hazard) {
  kvo_object *object = __atomic_load_n(&hazard->object, __ATOMIC_SEQ_CST);
  if (!object) return;
  __atomic_store_n(&hazard->seen, object, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&hazard->object, __ATOMIC_SEQ_CST) == object) return;
  __atomic_compare_exchange_n(&hazard->seen, &object, NULL, false, __ATOMIC_SEQ_CST,
      __ATOMIC_SEQ_CST);
}

void kvo_show_hazards(kvo_thread *thread) {
  for (kvo_frame_block *block = reclaim_topmost(thread); block; block = reclaim_previous(block))
    for (size_t i = 0; i < KVO_FRAMES_PER_BLOCK; i++) let_be_seen(&block->frames[i].hazard);
}

static kvo_object *object_seen(const kvo_thread *thread, const kvo_hazard *hazard) {
  return __atomic_load_n(thread == kvo_this_thread ? &hazard->object : &hazard->seen,
      __ATOMIC_SEQ_CST);
}
#else
void kvo_show_hazards(kvo_thread *thread) { (void)thread; }

static kvo_object *object_seen(const kvo_thread *thread, const kvo_hazard *hazard) {
  (void)thread;
  return __atomic_load_n(&hazard->object, __ATOMIC_SEQ_CST);
}
#endif

// The hazard pointer is read before the serial. If the frame is reused in between, the serial is the later one, and
// whatever the frame protected before is over.
static bool reclaim_concerns(const kvo_frame *frame, const kvo_thread *thread,
    const kvo_retired *retired) {
  return object_seen(thread, &frame->hazard) == retired->hazard &&
         __atomic_load_n(&frame->serial, __ATOMIC_ACQUIRE) < kvo_retired_since(retired);
}

static kvo_frame *frame_in_block(kvo_frame_block *block, const kvo_frame *top,
    const kvo_thread *thread, const kvo_retired *retired) {
  kvo_frame *end = block->frames + KVO_FRAMES_PER_BLOCK;
  if (top >= block->frames && top < end) end = block->frames + (top - block->frames);
  for (kvo_frame *frame = block->frames; frame < end; frame++)
    if (reclaim_concerns(frame, thread, retired)) return frame;
  return NULL;
}

// The top is raised before a frame's hazard pointer is published, and lowered after it has ended. So after the fence,
// a frame that matters is in the stack and below the top for as long as it matters.
static kvo_frame *frame_of_thread(kvo_thread *thread, const kvo_retired *retired) {
  const kvo_frame *top = __atomic_load_n(&thread->top, __ATOMIC_SEQ_CST);
  if (KVO_LIKELY(top == thread->first.frames)) return NULL;
  for (kvo_frame_block *block = reclaim_topmost(thread); block; block = reclaim_previous(block)) {
    kvo_frame *frame = frame_in_block(block, top, thread, retired);
    if (frame) return frame;
  }
  return NULL;
}

// A frame that protects the object and was there when this item was retired, or NULL. The search includes frames of
// threads that have ended: a frame may outlive its thread if a language resumes an access on another thread.
static kvo_frame *frame_protecting(const kvo_retired *retired) {
  for (kvo_thread *thread = kvo_thread_first(); thread; thread = kvo_thread_next(thread)) {
    kvo_frame *frame = frame_of_thread(thread, retired);
    if (frame) return frame;
  }
  return NULL;
}

// The values that the registrations stored are moved to `taken`. The caller releases them last, because an object that
// dies with one may throw.
static void reclaim_all(kvo_retired *chain, struct kvo_known **taken) {
  for (kvo_retired *next; chain; chain = next) {
    next = kvo_retired_next(chain);
    if (kvo_retired_get_kind(chain) == KVO_RETIRED_MEMORY) kvo_free(chain);
    else kvo_registration_reclaim(chain, taken);
  }
}

static void reclaim_push(kvo_retired **chain, kvo_retired *retired) {
  kvo_retired_set_next(retired, *chain);
  *chain = retired;
}

// Whether a frame protects the item. Marks that frame: something waits for it.
static bool must_wait_locked(const kvo_retired *retired) {
  for (;;) {
    kvo_frame *frame = frame_protecting(retired);
    if (!frame) return false;
    const kvo_object *awaited =
        __atomic_exchange_n(&frame->awaited, retired->hazard, __ATOMIC_SEQ_CST);
    if (awaited == retired->hazard) return true;
    kvo_heavy_fence();
  }
}

// Splits a chain: items that must wait are added to `waiting`, the others are returned and may be freed.
static kvo_retired *wait_if_protected_locked(kvo_retired *chain) {
  kvo_retired *free = NULL;
  for (kvo_retired *next; chain; chain = next) {
    next = kvo_retired_next(chain);
    reclaim_push(must_wait_locked(chain) ? &waiting : &free, chain);
  }
  return free;
}

// A frame that has counted this retirement began when all of the chain had been unlinked. Neighbours usually belong
// to one object, and an object that was unprotected at the fence cannot become protected later, so it is looked up
// only once.
static void reclaim_or_wait(kvo_retired *chain, struct kvo_known **taken) {
  uint64_t since = __atomic_add_fetch(&kvo_serial, 1, __ATOMIC_SEQ_CST);
  kvo_heavy_fence();
  kvo_retired *free = NULL, *protected = NULL;
  const kvo_object *unprotected = NULL;
  for (kvo_retired *next; chain; chain = next) {
    next = kvo_retired_next(chain);
    kvo_retired_set(chain, since, kvo_retired_get_kind(chain));
    bool is_protected = chain->hazard != unprotected && frame_protecting(chain);
    if (!is_protected) unprotected = chain->hazard;
    reclaim_push(is_protected ? &protected : &free, chain);
  }
  if (protected) {
    KVO_LOCKED(&kvo_limbo_lock);
    protected = wait_if_protected_locked(protected);
  }
  reclaim_all(free, taken);
  reclaim_all(protected, taken);
}

// MARK: Batches

static bool all_can_wait(const kvo_retired *chain) {
  for (; chain; chain = kvo_retired_next(chain))
    if (kvo_retired_get_kind(chain) == KVO_RETIRED_REPORTING) return false;
  return true;
}

static void add_to_batch_locked(kvo_retired *chain) {
  uint32_t count = batch_count;
  for (kvo_retired *next; chain; chain = next, count++) {
    next = kvo_retired_next(chain);
    reclaim_push(&batch, chain);
  }
  __atomic_store_n(&batch_count, count, __ATOMIC_RELAXED);
}

// Adds a chain to the batch and returns NULL. If the batch is full then, or must be freed anyway, it returns all of
// it.
static kvo_retired *join_batch(kvo_retired *chain, bool must_go) {
  KVO_LOCKED(&kvo_limbo_lock);
  add_to_batch_locked(chain);
  if (!must_go && batch_count < KVO_BATCH) return NULL;
  chain = batch;
  batch = NULL;
  __atomic_store_n(&batch_count, 0, __ATOMIC_RELAXED);
  return chain;
}

// Whether this thread is in no change, not even in one that another thread began.
static bool is_idle(const kvo_thread *thread) {
  return thread->top == thread->first.frames && !kvo_transferred_frame;
}

// Whether no other thread can be in a change, because there is no other record. False if there is a batch: then the
// caller goes on, and frees the batch too.
static bool reclaim_is_alone(const kvo_thread *thread) {
  return kvo_thread_first() == thread && !kvo_thread_next(thread) &&
         !__atomic_load_n(&batch_count, __ATOMIC_RELAXED);
}

static bool is_own(const kvo_retired *chain) {
  while (chain && kvo_retired_is_own(chain)) chain = kvo_retired_next(chain);
  return !chain;
}

// Whether the batch is full. It stays full only in a forked child, where it may hold items that waited for the
// parent's threads; the next retirement frees them.
static bool must_go(void) {
  return KVO_UNLIKELY(__atomic_load_n(&batch_count, __ATOMIC_RELAXED) >= KVO_BATCH);
}

// Whether nothing reads the chain: either only this thread could, or this thread is the only one. In the latter case,
// a thread that publishes a hazard pointer from now on does not find what has been unlinked.
static bool reclaim_is_free(const kvo_retired *chain) {
  const kvo_thread *thread = kvo_this_thread;
  if (!thread || !is_idle(thread)) return false;
  if (KVO_LIKELY(is_own(chain)) && !must_go()) return true;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return reclaim_is_alone(thread);
}

static void reclaim_batch_or_wait(kvo_retired *chain, struct kvo_known **taken) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  bool alone = !kvo_thread_others_exist();
  if (!alone || __atomic_load_n(&batch_count, __ATOMIC_RELAXED))
    chain = join_batch(chain, alone || !all_can_wait(chain));
  if (chain) reclaim_or_wait(chain, taken);
}

void kvo_retire(kvo_retired *chain) {
  struct kvo_known *taken = NULL;
  if (!chain) return;
  if (KVO_LIKELY(reclaim_is_free(chain))) reclaim_all(chain, &taken);
  else reclaim_batch_or_wait(chain, &taken);
  if (KVO_UNLIKELY(taken != NULL)) kvo_distinct_release(taken);
}

void kvo_reclaim_after_fork(void) {
  choose_fences();
  kvo_retired *all = waiting;
  waiting = NULL;
  // Items that this thread's frames protect go on waiting.
  kvo_retired *free = wait_if_protected_locked(all);
  if (!free) return;
  add_to_batch_locked(free);
  // Counted as full, because some items may report their end and can't wait.
  __atomic_store_n(&batch_count, KVO_BATCH, __ATOMIC_RELAXED);
}

// Takes the items that wait for an object out of `waiting`.
static kvo_retired *take_waiting_locked(const kvo_object *hazard) {
  kvo_retired *taken = NULL, *before = NULL;
  for (kvo_retired *next, *retired = waiting; retired; retired = next) {
    next = kvo_retired_next(retired);
    if (retired->hazard != hazard) {
      before = retired;
      continue;
    }
    if (before) kvo_retired_set_next(before, next);
    else waiting = next;
    reclaim_push(&taken, retired);
  }
  return taken;
}

void kvo_reclaim_waiting(const kvo_object *hazard) {
  kvo_retired *free;
  struct kvo_known *taken = NULL;
  {
    KVO_LOCKED(&kvo_limbo_lock);
    kvo_heavy_fence();
    free = wait_if_protected_locked(take_waiting_locked(hazard));
  }
  reclaim_all(free, &taken);
  if (KVO_UNLIKELY(taken != NULL)) kvo_distinct_release(taken);
}
