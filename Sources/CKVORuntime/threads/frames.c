// Stacks of frames, in blocks of sixteen, the newest on top.
//
// | state | protection |
// |---|---|
// | stack contents, spare, open_count, batch_count, reading_count | owned by its thread; once that has ended, the thread lock |
// | top, block, previous | written by that thread, atomic: threads that look for hazard pointers read them |
// | a frame's object, state, serial, awaited | atomic |
//
// Changes usually end in the order in which they nest, and the top goes down. But a Swift task may suspend while it
// mutates a property in place (a suspended access). Such changes end in any order, perhaps on another thread. Frames
// can't be moved, because their address is known elsewhere, so a frame that ends below the top leaves a hole. A block
// that has only holes is taken out of the stack, and is the next one to be used. So every block but the lowest and the
// topmost has an open frame, and a walk of the stack costs no more than what is open.
//
// A block that is taken out keeps its `previous`, and is inserted on top later. So a thread that walks the stack and
// is at a block that is just taken out continues below it, or again from the top. It meets every block that stays.
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "threads/kvo_reclaim.h"
#include "threads/kvo_thread.h"

static void put_on_top(kvo_thread *thread, kvo_frame_block *block) {
  __atomic_store_n(&thread->block, block, __ATOMIC_SEQ_CST);
  thread->limit = block->frames + KVO_FRAMES_PER_BLOCK;
}

static void set_top(kvo_thread *thread, kvo_frame *top) {
  __atomic_store_n(&thread->top, top,
      __ATOMIC_RELEASE); // after all reads under the hazard pointers
}

static void init_frames(kvo_thread *thread, kvo_frame_block *block) {
  for (uint16_t i = 0; i < KVO_FRAMES_PER_BLOCK; i++) {
    block->frames[i].thread = thread;
    block->frames[i].index = i;
    block->frames[i].change.kind = KVO_SETTING;
  }
}

void kvo_frames_init(kvo_thread *thread) {
  init_frames(thread, &thread->first);
  put_on_top(thread, &thread->first);
  thread->top = thread->first.frames;
}

// Whether a block has only holes. Checked from the last frame down: the frames that began last are the most likely to
// be open.
static bool is_needless(const kvo_thread *thread, kvo_frame_block *block) {
  if (block == &thread->first || block == thread->block) return false;
  for (kvo_frame *frame = kvo_frame_block_end(block); frame-- > block->frames;)
    if (!kvo_frame_is_free(frame)) return false;
  return true;
}

static void frame_spare(kvo_thread *thread, kvo_frame_block *block) {
  block->next_spare = thread->spare;
  thread->spare = block;
  thread->block_count--;
}

static void frame_take_out(kvo_thread *thread, kvo_frame_block *above, kvo_frame_block *block) {
  __atomic_store_n(&above->previous, block->previous, __ATOMIC_SEQ_CST);
  frame_spare(thread, block);
}

static void take_out_if_needless(kvo_thread *thread, kvo_frame_block *block) {
  if (KVO_LIKELY(!is_needless(thread, block))) return;
  kvo_frame_block *above = thread->block;
  while (above->previous != block) above = above->previous;
  frame_take_out(thread, above, block);
}

static void take_out_all_needless(kvo_thread *thread) {
  __atomic_store_n(&thread->has_holes, false, __ATOMIC_SEQ_CST);
  kvo_frame_block *above = thread->block;
  for (kvo_frame_block *block; (block = above->previous);) {
    if (is_needless(thread, block)) frame_take_out(thread, above, block);
    else above = block;
  }
}

static void leave_block(kvo_thread *thread) {
  kvo_frame_block *left = thread->block;
  set_top(thread, kvo_frame_block_end(left->previous));
  put_on_top(thread, left->previous);
  frame_spare(thread, left);
}

void kvo_thread_shrink(kvo_thread *thread) {
  for (;;) {
    if (thread->top == thread->block->frames) {
      // An access that ended on another thread could not decrement the counts.
      if (!thread->block->previous) thread->open_count = thread->batch_count = 0;
      if (!thread->block->previous) return;
      leave_block(thread);
    }
    if (!kvo_frame_is_free(thread->top - 1)) return;
    set_top(thread, thread->top - 1);
  }
}

bool kvo_frames_are_gone(kvo_thread *thread) {
  kvo_thread_shrink(thread);
  take_out_all_needless(thread);
  return thread->top == thread->first.frames;
}

static kvo_frame_block *make_block(kvo_thread *thread) {
  kvo_frame_block *block = kvo_alloc_zeroed(sizeof *block);
  if (block) init_frames(thread, block);
  return block;
}

static kvo_frame_block *take_spare(kvo_thread *thread) {
  kvo_frame_block *block = thread->spare;
  if (block) thread->spare = block->next_spare;
  return block;
}

// Whether frames that other threads have ended leave room in the topmost block.
static bool makes_room(kvo_thread *thread) {
  if (!__atomic_load_n(&thread->has_holes, __ATOMIC_SEQ_CST)) return false;
  kvo_thread_shrink(thread);
  take_out_all_needless(thread);
  return thread->top != kvo_frame_block_end(thread->block);
}

bool kvo_thread_enter_next_block(kvo_thread *thread, kvo_object *object) {
  if (makes_room(thread)) return true;
  uintptr_t stack = kvo_depth_check(thread, object);
  kvo_frame_block *next = take_spare(thread);
  if (!next && !(next = make_block(thread))) return false;
  next->stack = stack;
  thread->block_count++;
  __atomic_store_n(&next->previous, thread->block, __ATOMIC_SEQ_CST);
  put_on_top(thread, next);
  set_top(thread, next->frames);
  return true;
}

// MARK: Ending

__thread kvo_frame *kvo_transferred_frame;

// Other frames may have been transferred to this thread since.
static void remove_transferred(kvo_frame *frame) {
  kvo_frame **link = &kvo_transferred_frame;
  while (*link && *link != frame) link = &(*link)->outer_transferred;
  if (*link) *link = frame->outer_transferred;
}

void kvo_frame_reclaim_waiters(kvo_frame *frame, const kvo_object *awaited) {
  __atomic_store_n(&frame->awaited, NULL, __ATOMIC_SEQ_CST);
  kvo_reclaim_waiting(awaited);
}

// Ends a frame of any thread. `awaited` is taken before the frame's thread can push the frame again, since one that is
// set after that belongs to the new use. A thread without a record is not reached by another thread's fence, so it
// fences itself.
static const kvo_object *frame_end_any(kvo_frame *frame) {
  kvo_hazard_end(&frame->hazard);
  if (KVO_UNLIKELY(frame->thread != kvo_this_thread)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  const kvo_object *awaited = __atomic_load_n(&frame->awaited, __ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(awaited != NULL)) __atomic_store_n(&frame->awaited, NULL, __ATOMIC_SEQ_CST);
  __atomic_store_n(&frame->state, KVO_FRAME_FREE, __ATOMIC_RELEASE);
  return awaited;
}

// Records at the frame's thread that the frame has ended, and only then checks whether that thread still lives. A
// thread that ends does the reverse: it records its end before it looks at its frames.
static void frame_notify_owner(kvo_thread *thread) {
  __atomic_store_n(&thread->has_holes, true, __ATOMIC_SEQ_CST);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  kvo_thread_release(thread);
}

static void tidy_up(kvo_thread *thread, kvo_frame *ended) {
  if (KVO_UNLIKELY(thread != kvo_this_thread)) {
    frame_notify_owner(thread);
    return;
  }
  if (KVO_UNLIKELY(thread->top != ended + 1))
    take_out_if_needless(thread, kvo_frame_block_of(ended));
  kvo_thread_shrink(thread);
}

// Returns the object, if the frame retained it: the caller releases it, after what waited for the frame has been freed.
KVO_INLINE kvo_object *end_with_values(kvo_frame *frame, const kvo_object **awaited) {
  kvo_thread *thread = frame->thread;
  uint32_t flags = frame->flags;
  kvo_object *object = frame->object;
  if (flags & KVO_FRAME_HAS_OLD) kvo_value_destroy(&frame->old_value);
  if (flags & KVO_FRAME_HAS_NEW) kvo_value_destroy(&frame->new_value);
  if (flags & KVO_FRAME_READS) thread->reading_count--;
  if (flags & KVO_FRAME_TRANSFERRED) remove_transferred(frame);
  *awaited = frame_end_any(frame);
  tidy_up(thread, frame);
  return flags & KVO_FRAME_RETAINED ? object : NULL;
}

// A frame to be popped, and what it holds besides its values.
typedef struct {
  kvo_frame *frame;          // NULL: it has ended
  const kvo_object *awaited; // unless NULL, what waits for this object is yet to be freed
  kvo_object *object, *observer;
  struct kvo_general_delivery *delivery; // a reference to release
  struct kvo_general_delivery
      *unreferenced; // its last reference has been released; to be destroyed
  struct kvo_mutation_record *mutation;
  struct kvo_batch *batch;
} popping;

static void frame_drop(kvo_object **slot) {
  kvo_object *dropped = *slot;
  *slot = NULL;
  if (dropped) kvo_object_release(dropped);
}

// Called again if an object that dies throws: nothing is released twice.
static void frame_pop_rest(void *opaque) {
  popping *popping = opaque;
  if (popping->frame) popping->object = end_with_values(popping->frame, &popping->awaited);
  popping->frame = NULL;
  const kvo_object *awaited = popping->awaited;
  popping->awaited = NULL;
  if (awaited) kvo_reclaim_waiting(awaited);
  frame_drop(&popping->object);
  struct kvo_general_delivery *delivery = popping->delivery;
  popping->delivery = NULL;
  if (delivery && kvo_general_delivery_drop(delivery)) popping->unreferenced = delivery;
  if (popping->unreferenced) kvo_general_delivery_destroy(popping->unreferenced);
  popping->unreferenced = NULL;
  if (popping->mutation) kvo_mutation_free(popping->mutation);
  popping->mutation = NULL;
  if (popping->batch) kvo_batch_destroy(popping->batch);
  popping->batch = NULL;
  frame_drop(&popping->observer);
}

// The frame's parts are copied first, because the frame may be pushed again while they are released.
static void pop_with_parts(kvo_frame *frame) {
  uint32_t flags = frame->flags;
  if (KVO_UNLIKELY(frame->is_in_priors)) frame->is_in_priors = false; // an exception has left them
  popping popping = {.frame = frame,
      .observer = flags & KVO_FRAME_CALLS ? frame->observer : NULL,
      .delivery = flags & KVO_FRAME_GENERAL_DELIVERY ? frame->general_delivery : NULL,
      .mutation = flags & KVO_FRAME_HAS_MUTATION ? frame->mutation : NULL,
      .batch = flags & KVO_FRAME_HAS_BATCH ? frame->batch : NULL};
  kvo_until_done(frame_pop_rest, &popping);
}

static __attribute__((noinline)) void reclaim_and_release(const kvo_object *awaited,
    kvo_object *held) {
  popping popping = {.awaited = awaited, .object = held};
  kvo_until_done(frame_pop_rest, &popping);
}

// For a frame that holds its object, its observer or neither, but not both.
static void pop_with_one(kvo_frame *frame) {
  const kvo_object *awaited;
  kvo_object *observer = frame->flags & KVO_FRAME_CALLS ? frame->observer : NULL;
  kvo_object *object = end_with_values(frame, &awaited), *held = object ? object : observer;
  if (KVO_UNLIKELY(awaited != NULL)) reclaim_and_release(awaited, held);
  else if (held) kvo_object_release(held);
}

void kvo_frame_pop_slowly(kvo_frame *frame) {
  const uint32_t parts = KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_HAS_MUTATION | KVO_FRAME_HAS_BATCH;
  const uint32_t both = KVO_FRAME_CALLS | KVO_FRAME_RETAINED;
  uint32_t flags = frame->flags;
  if (KVO_UNLIKELY(flags & parts || (flags & both) == both)) pop_with_parts(frame);
  else pop_with_one(frame);
}

// MARK: Unwinding

static kvo_frame_block *block_with(const kvo_thread *thread, const kvo_frame *place) {
  kvo_frame_block *block = thread->block;
  while (block && !(place >= block->frames && place <= kvo_frame_block_end(block)))
    block = block->previous;
  return block;
}

// Suspended accesses below the earlier top may have ended by now. Then the top may already be below it, or its block
// may be taken out.
static bool is_above(const kvo_thread *thread, const kvo_frame *earlier) {
  const kvo_frame_block *block = block_with(thread, earlier);
  return block && (thread->block != block || thread->top > earlier);
}

// Whether frames in this state are counted in `open_count`.
static bool is_counted(uint32_t state) {
  return state == KVO_FRAME_OPEN || state == KVO_FRAME_ANNOUNCED || state == KVO_FRAME_ABANDONED ||
         state == KVO_FRAME_UNOBSERVED || state == KVO_FRAME_BATCH || state == KVO_FRAME_JOINS;
}

void kvo_thread_unwind(kvo_frame *earlier_top) {
  kvo_thread *thread = kvo_this_thread;
  if (!thread) return;
  if (!earlier_top) earlier_top = thread->first.frames;
  for (kvo_thread_shrink(thread); is_above(thread, earlier_top); kvo_thread_shrink(thread)) {
    kvo_frame *frame = thread->top - 1;
    uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
    if (is_counted(state)) thread->open_count--;
    if (state == KVO_FRAME_BATCH) thread->batch_count--;
    if (frame->flags & KVO_FRAME_IN_PLACE) kvo_in_place_end(frame);
    kvo_frame_pop_slowly(frame);
  }
}

// In a forked child: whether the forking thread is in the middle of delivering or announcing a change that another
// thread began.
static bool is_transferred_to_this_thread(const kvo_frame *frame) {
  return kvo_frame_is_delivering(frame) && frame->flags & KVO_FRAME_TRANSFERRED &&
         pthread_equal(frame->transferred_to, pthread_self());
}

// In a forked child: whether the forking thread closes the mutation, which its task has begun on another thread.
static bool is_mutation_of_task(const kvo_frame *frame) {
  return frame->flags & KVO_FRAME_IN_PLACE && kvo_in_place_is_of_task_locked(frame);
}

static void frame_empty(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_IN_PLACE) kvo_in_place_end_locked(frame);
  kvo_hazard_end(&frame->hazard);
  frame->awaited = NULL;
  frame->is_in_priors = false;
  frame->state = KVO_FRAME_FREE;
  frame->flags = 0;
}

static void empty_block(kvo_frame_block *block) {
  for (kvo_frame *frame = block->frames; frame < kvo_frame_block_end(block); frame++)
    if (!is_transferred_to_this_thread(frame) && !is_mutation_of_task(frame)) frame_empty(frame);
}

// At the fork the record's top may have been moving from one block to another, so it is reset.
void kvo_frames_clear_after_fork(kvo_thread *thread) {
  for (kvo_frame_block *block = thread->block; block; block = block->previous) empty_block(block);
  thread->top = kvo_frame_block_end(thread->block);
  thread->open_count = thread->batch_count = thread->reading_count = 0;
}
