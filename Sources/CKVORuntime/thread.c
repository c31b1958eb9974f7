// Thread records and their stacks of frames.
//
// | state | protection |
// |---|---|
// | the list of records | grows only; new heads are published by compare-and-swap under the thread lock |
// | frames, top, open_count | their own thread's, but for `object` and `state`, which are atomic |
// | in_use | the thread lock |
//
// Records and blocks are never freed: another thread may be scanning them. A thread that ends
// gives its record back to the pool.
#include "kvo_thread.h"

#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_reclaim.h"

__thread kvo_thread *kvo_this_thread;

static pthread_mutex_t thread_lock = PTHREAD_MUTEX_INITIALIZER;
static kvo_thread *threads;
static uint32_t thread_count;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void end_thread(void *record) {
  kvo_thread *thread = record;
  kvo_this_thread = NULL;
  __atomic_store_n(&thread->in_use, false, __ATOMIC_SEQ_CST);
}

static void make_thread_end(void) { pthread_key_create(&thread_end, end_thread); }

kvo_thread *kvo_thread_first(void) { return __atomic_load_n(&threads, __ATOMIC_SEQ_CST); }

static kvo_thread *take_from_pool_locked(void) {
  for (kvo_thread *thread = threads; thread; thread = thread->next)
    if (!__atomic_load_n(&thread->in_use, __ATOMIC_SEQ_CST)) return thread;
  return NULL;
}

static kvo_thread *make_locked(void) {
  kvo_thread *thread = kvo_alloc_zeroed(sizeof *thread);
  if (!thread) return NULL;
  thread->block = &thread->first;
  thread->top = thread->first.frames;
  thread->next = threads;
  __atomic_store_n(&threads, thread, __ATOMIC_SEQ_CST);
  return thread;
}

kvo_thread *kvo_thread_start(void) {
  pthread_once(&thread_end_once, make_thread_end);
  kvo_thread *thread;
  {
    KVO_LOCKED(&thread_lock);
    thread = take_from_pool_locked();
    if (!thread) thread = make_locked();
    // Sequentially consistent, so that a thread that retires something and counts the threads in
    // use either sees this one, or has unlinked before this one reads.
    if (thread) __atomic_store_n(&thread->in_use, true, __ATOMIC_SEQ_CST);
    if (thread) thread->number = ++thread_count;
  }
  if (!thread) return NULL;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  pthread_setspecific(thread_end, thread);
  return kvo_this_thread = thread;
}

bool kvo_thread_enter_next_block(kvo_thread *thread) {
  kvo_frame_block *next = thread->block->next;
  if (!next) {
    next = kvo_alloc_zeroed(sizeof *next);
    if (!next) return false;
    next->previous = thread->block;
    __atomic_store_n(&thread->block->next, next, __ATOMIC_RELEASE);
  }
  thread->block = next;
  thread->top = next->frames;
  return true;
}

void kvo_thread_shrink(kvo_thread *thread) {
  for (;;) {
    if (thread->top == thread->block->frames) {
      // An access that ended on another thread could not count itself out.
      if (!thread->block->previous) thread->open_count = 0;
      if (!thread->block->previous) return;
      thread->block = thread->block->previous;
      thread->top = thread->block->frames + KVO_FRAMES_PER_BLOCK;
    }
    if (__atomic_load_n(&thread->top[-1].state, __ATOMIC_ACQUIRE) != KVO_FRAME_FREE) return;
    thread->top--;
  }
}

void kvo_frame_pop_slowly(kvo_frame *frame) {
  kvo_thread *thread = frame->thread;
  kvo_object *retained = frame->flags & KVO_FRAME_RETAINED ? frame->object : NULL;
  if (frame->flags & KVO_FRAME_HAS_OLD) kvo_value_destroy(&frame->old_value);
  if (frame->flags & KVO_FRAME_HAS_NEW) kvo_value_destroy(&frame->new_value);
  kvo_end_guard(&frame->object);
  __atomic_store_n(&frame->state, KVO_FRAME_FREE, __ATOMIC_RELEASE);
  if (KVO_LIKELY(thread == kvo_this_thread)) kvo_thread_shrink(thread);
  if (KVO_UNLIKELY(__atomic_load_n(&frame->owes, __ATOMIC_SEQ_CST))) {
    __atomic_store_n(&frame->owes, false, __ATOMIC_SEQ_CST);
    kvo_reclaim_waiting();
  }
  if (retained) kvo_object_release(retained);
}

static bool is_open(const kvo_frame *frame, const kvo_object *object) {
  return __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object &&
         __atomic_load_n(&frame->state, __ATOMIC_RELAXED) == KVO_FRAME_OPEN;
}

static bool block_has_open(const kvo_frame_block *block, const kvo_frame *end,
    const kvo_object *object, uintptr_t id) {
  for (const kvo_frame *frame = end; frame-- > block->frames;)
    if (frame->id == id && is_open(frame, object)) return true;
  return false;
}

bool kvo_thread_has_open(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  if (KVO_LIKELY(!thread->open_count)) return false;
  const kvo_frame *end = thread->top;
  for (const kvo_frame_block *block = thread->block; block; block = block->previous) {
    if (block_has_open(block, end, object, id)) return true;
    if (block->previous) end = block->previous->frames + KVO_FRAMES_PER_BLOCK;
  }
  return false;
}

void kvo_thread_abandon_open(kvo_thread *thread, const kvo_object *object) {
  if (KVO_LIKELY(!thread->open_count)) return;
  kvo_frame *end = thread->top;
  for (kvo_frame_block *block = thread->block; block; block = block->previous) {
    for (kvo_frame *frame = end; frame-- > block->frames;)
      if (is_open(frame, object))
        __atomic_store_n(&frame->state, KVO_FRAME_ABANDONED, __ATOMIC_RELAXED);
    if (block->previous) end = block->previous->frames + KVO_FRAMES_PER_BLOCK;
  }
}
