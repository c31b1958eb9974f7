// Thread records and their stacks of frames.
//
// | state | protection |
// |---|---|
// | the list of records | grows only; new heads are published under the thread lock |
// | frames, top, open_count, reading_count | their own thread's, but for `object` and `state`, which are atomic |
// | in_use | the thread lock |
//
// Records and blocks are never freed: another thread may be scanning them. A thread that ends
// gives its record back to the pool.
#include "kvo_thread.h"

#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_open_pairs.h"
#include "kvo_reach.h"
#include "kvo_reclaim.h"

__thread kvo_thread *kvo_this_thread;

static kvo_thread *threads;
static uint32_t thread_count;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void end_thread(void *record) {
  kvo_thread *thread = record;
  kvo_open_pairs_end_of_thread(thread);
  kvo_this_thread = NULL;
  kvo_let_guards_be_seen(thread);
  __atomic_store_n(&thread->in_use, false, __ATOMIC_SEQ_CST);
}

static bool has_thread_end;

static void make_thread_end(void) { has_thread_end = !pthread_key_create(&thread_end, end_thread); }

// Which may need memory of the C library's. Where the process has used up all keys, records of
// threads that have ended are not used again.
static bool is_told_of_end(kvo_thread *thread) {
  return !has_thread_end || !pthread_setspecific(thread_end, thread);
}

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

static void begin_locked(kvo_thread *thread) {
  thread->number = ++thread_count;
  kvo_distinct_expect_thread_locked(thread->number);
  kvo_thread_shrink(thread); // frames that have ended elsewhere meanwhile
  thread->bottom = thread->top;
}

kvo_thread *kvo_thread_start(void) {
  pthread_once(&thread_end_once, make_thread_end);
  kvo_thread *thread;
  {
    KVO_LOCKED(&kvo_thread_lock);
    thread = take_from_pool_locked();
    if (!thread) thread = make_locked();
    // Sequentially consistent, so that a thread that retires something and counts the threads in
    // use either sees this one, or has unlinked before this one reads.
    if (thread) __atomic_store_n(&thread->in_use, true, __ATOMIC_SEQ_CST);
    if (thread) begin_locked(thread);
  }
  if (!thread) return NULL;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (is_told_of_end(thread)) return kvo_this_thread = thread;
  __atomic_store_n(&thread->in_use, false, __ATOMIC_SEQ_CST);
  kvo_shortages++;
  return NULL;
}

void kvo_frame_take_over(kvo_frame *frame) {
  frame->flags |= KVO_FRAME_TAKEN_OVER;
  frame->taker = pthread_self();
  __atomic_thread_fence(__ATOMIC_SEQ_CST); // it may have no record by which others count it
}

// This thread, which forked, is in the middle of delivering what another has begun.
static bool is_taken_over(const kvo_frame *frame) {
  return frame->state == KVO_FRAME_DELIVERING && frame->flags & KVO_FRAME_TAKEN_OVER &&
         pthread_equal(frame->taker, pthread_self());
}

static void empty(kvo_frame *frame) {
  kvo_end_guard(&frame->guard);
  frame->owes = NULL;
  frame->state = KVO_FRAME_FREE;
  frame->flags = 0;
}

// Its top may have been halfway from one block to another.
static void empty_stack(kvo_thread *thread) {
  thread->block = &thread->first;
  thread->top = thread->first.frames;
  for (kvo_frame_block *block = &thread->first; block; block = block->next)
    for (kvo_frame *frame = block->frames; frame < block->frames + KVO_FRAMES_PER_BLOCK; frame++) {
      if (!is_taken_over(frame)) {
        empty(frame);
        continue;
      }
      thread->block = block;
      thread->top = frame + 1;
    }
}

// Its pairs stay with their objects, as those of any thread that ends.
static void abandon(kvo_thread *thread) {
  empty_stack(thread);
  kvo_let_guards_be_seen(thread);
  thread->open_count = 0;
  for (kvo_open_pair *pair = thread->pairs; pair; pair = pair->next_of_thread)
    pair->link_of_thread = NULL;
  thread->pairs = NULL;
  thread->in_use = false;
}

// The child has a single thread: nothing need be atomic.
void kvo_thread_abandon_others(void) {
  for (kvo_thread *thread = threads; thread; thread = thread->next)
    if (thread != kvo_this_thread) abandon(thread);
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

static bool holds(const kvo_frame_block *block, const kvo_frame *top) {
  return top >= block->frames && top <= block->frames + KVO_FRAMES_PER_BLOCK;
}

static void lower(kvo_thread *thread, kvo_frame *top) {
  if (thread->top == thread->bottom) thread->bottom = top;
  thread->top = top;
}

void kvo_thread_shrink(kvo_thread *thread) {
  // It has ended itself what a thread before it had begun.
  if (holds(thread->block, thread->bottom) && thread->bottom > thread->top)
    thread->bottom = thread->top;
  for (;;) {
    if (thread->top == thread->block->frames) {
      // An access that ended on another thread could not count itself out.
      if (!thread->block->previous) thread->open_count = 0;
      if (!thread->block->previous) return;
      lower(thread, thread->block->previous->frames + KVO_FRAMES_PER_BLOCK);
      thread->block = thread->block->previous;
    }
    if (__atomic_load_n(&thread->top[-1].state, __ATOMIC_ACQUIRE) != KVO_FRAME_FREE) return;
    lower(thread, thread->top - 1);
  }
}

void kvo_frame_pay(kvo_frame *frame, const kvo_object *owed) {
  __atomic_store_n(&frame->owes, NULL, __ATOMIC_SEQ_CST);
  kvo_reclaim_waiting(owed);
}

// Ends a frame, whoever's it is. What it owes is taken before its own thread may push it again:
// then the mark is another's. A thread without a record is reached by nobody else's fence.
static const kvo_object *end(kvo_frame *frame) {
  kvo_end_guard(&frame->guard);
  if (KVO_UNLIKELY(frame->thread != kvo_this_thread)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  const kvo_object *owed = __atomic_load_n(&frame->owes, __ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(owed != NULL)) __atomic_store_n(&frame->owes, NULL, __ATOMIC_SEQ_CST);
  __atomic_store_n(&frame->state, KVO_FRAME_FREE, __ATOMIC_RELEASE);
  return owed;
}

KVO_INLINE void pop_with_values(kvo_frame *frame) {
  kvo_thread *thread = frame->thread;
  uint32_t flags = frame->flags;
  kvo_object *object = frame->object;
  if (flags & KVO_FRAME_HAS_OLD) kvo_value_destroy(&frame->old_value);
  if (flags & KVO_FRAME_HAS_NEW) kvo_value_destroy(&frame->new_value);
  if (flags & KVO_FRAME_READS) thread->reading_count--;
  const kvo_object *owed = end(frame);
  if (KVO_LIKELY(thread == kvo_this_thread)) kvo_thread_shrink(thread);
  if (KVO_UNLIKELY(owed != NULL)) kvo_reclaim_waiting(owed);
  if (flags & KVO_FRAME_RETAINED) kvo_object_release(object);
}

// The frame may be pushed again while its parts are let go.
static void pop_with_parts(kvo_frame *frame) {
  kvo_reach *reach = frame->flags & KVO_FRAME_REACH ? frame->reach : NULL;
  kvo_object *observer = frame->flags & KVO_FRAME_CALLS ? frame->observer : NULL;
  pop_with_values(frame);
  if (reach) kvo_reach_release(reach);
  kvo_object_release(observer);
}

void kvo_frame_pop_slowly(kvo_frame *frame) {
  if (KVO_UNLIKELY(frame->flags & (KVO_FRAME_REACH | KVO_FRAME_CALLS))) pop_with_parts(frame);
  else pop_with_values(frame);
}

// The top may lie below the mark already: frames there ended, on other threads.
static bool is_above(const kvo_thread *thread, const kvo_frame *mark) {
  if (holds(thread->block, mark)) return thread->top > mark;
  for (const kvo_frame_block *block = thread->block->previous; block; block = block->previous)
    if (holds(block, mark)) return true;
  return false;
}

void kvo_thread_unwind(kvo_frame *mark) {
  kvo_thread *thread = kvo_this_thread;
  if (!thread) return;
  if (!mark) mark = thread->bottom;
  for (kvo_thread_shrink(thread); is_above(thread, mark); kvo_thread_shrink(thread)) {
    kvo_frame *frame = thread->top - 1;
    uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
    if (state == KVO_FRAME_OPEN || state == KVO_FRAME_ABANDONED || state == KVO_FRAME_LOOKING)
      thread->open_count--;
    kvo_frame_pop_slowly(frame);
  }
}

static bool is_open(const kvo_frame *frame, const kvo_object *object) {
  return __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object &&
         __atomic_load_n(&frame->state, __ATOMIC_RELAXED) == KVO_FRAME_OPEN;
}

static bool is_looking(const kvo_frame *frame, const kvo_object *object) {
  return __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object &&
         __atomic_load_n(&frame->state, __ATOMIC_RELAXED) == KVO_FRAME_LOOKING;
}

static bool has_open(const kvo_frame *lowest, const kvo_frame *end, const kvo_object *object,
    uintptr_t id) {
  for (const kvo_frame *frame = end; frame-- > lowest;)
    if (frame->id == id && is_open(frame, object)) return true;
  return false;
}

// Not among those below the bottom, which are not this thread's own.
bool kvo_thread_has_among_open(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  const kvo_frame *end = thread->top;
  for (const kvo_frame_block *block = thread->block;; block = block->previous) {
    bool is_lowest = holds(block, thread->bottom);
    if (has_open(is_lowest ? thread->bottom : block->frames, end, object, id)) return true;
    if (is_lowest || !block->previous) return false;
    end = block->previous->frames + KVO_FRAMES_PER_BLOCK;
  }
}

static bool block_reads(const kvo_frame_block *block, const kvo_frame *end,
    const kvo_object *object, uintptr_t id) {
  for (const kvo_frame *frame = end; frame-- > block->frames;) {
    bool is_free = __atomic_load_n(&frame->state, __ATOMIC_RELAXED) == KVO_FRAME_FREE;
    bool reads = !is_free && frame->flags & KVO_FRAME_READS && frame->id == id;
    if (reads && __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object) return true;
  }
  return false;
}

bool kvo_thread_is_reading(const kvo_object *object, uintptr_t id) {
  const kvo_thread *thread = kvo_this_thread;
  if (!thread || !thread->reading_count) return false;
  const kvo_frame *end = thread->top;
  for (const kvo_frame_block *block = thread->block; block; block = block->previous) {
    if (block_reads(block, end, object, id)) return true;
    if (block->previous) end = block->previous->frames + KVO_FRAMES_PER_BLOCK;
  }
  return false;
}

void kvo_thread_abandon_open(kvo_thread *thread, const kvo_object *object) {
  if (KVO_LIKELY(!thread->open_count)) return;
  kvo_frame *end = thread->top;
  for (kvo_frame_block *block = thread->block; block; block = block->previous) {
    for (kvo_frame *frame = end; frame-- > block->frames;)
      if (is_open(frame, object) || is_looking(frame, object))
        __atomic_store_n(&frame->state, KVO_FRAME_ABANDONED, __ATOMIC_RELAXED);
    if (block->previous) end = block->previous->frames + KVO_FRAMES_PER_BLOCK;
  }
}
