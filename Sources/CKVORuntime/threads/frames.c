// Stacks of frames: blocks of sixteen, the newest on top.
//
// | state | protection |
// |---|---|
// | what is on the stack, spare, open_count, batch_count, reading_count | its own thread's; the thread lock when that has ended |
// | top, block, previous | written likewise, atomic: read by threads that look for hazard pointers |
// | of a frame object, state, serial, awaited | atomic |
//
// Changes mostly end in the order in which they nest: then the top comes down. Accesses that are
// suspended end in any order, and frames can't be moved, since others know them by their address.
// What ends below the top leaves a hole. A block that has nothing but holes is taken out of the
// stack and is the next that is needed. So every block but the lowest and the topmost has a frame
// that is open, and what is gone through is what is open now.
//
// A block that is taken out keeps its `previous`, and is put in again on top. So a thread that has come to
// one that is just taken out goes on below it, or once more from the top, and meets each that stays.
#include "base/kvo_memory.h"
#include "base/kvo_upcalls.h"
#include "threads/kvo_reclaim.h"
#include "threads/kvo_thread.h"

static void put_on_top(kvo_thread *thread, kvo_frame_block *block) {
  __atomic_store_n(&thread->block, block, __ATOMIC_SEQ_CST);
  thread->limit = block->frames + KVO_FRAMES_PER_BLOCK;
}

static void set_top(kvo_thread *thread, kvo_frame *top) {
  __atomic_store_n(&thread->top, top,
      __ATOMIC_RELEASE); // after what was read under the hazard pointers
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

static kvo_frame *end_of(kvo_frame_block *block) { return block->frames + KVO_FRAMES_PER_BLOCK; }

static kvo_frame_block *block_of(kvo_frame *frame) {
  char *first = (char *)(frame - frame->index);
  return (kvo_frame_block *)(void *)(first - offsetof(kvo_frame_block, frames));
}

static bool is_free(const kvo_frame *frame) {
  return __atomic_load_n(&frame->state, __ATOMIC_ACQUIRE) == KVO_FRAME_FREE;
}

// From the last on, since those that began last are mostly open longest.
static bool is_needless(const kvo_thread *thread, kvo_frame_block *block) {
  if (block == &thread->first || block == thread->block) return false;
  for (kvo_frame *frame = end_of(block); frame-- > block->frames;)
    if (!is_free(frame)) return false;
  return true;
}

static void spare(kvo_thread *thread, kvo_frame_block *block) {
  block->next_spare = thread->spare;
  thread->spare = block;
  thread->block_count--;
}

static void take_out(kvo_thread *thread, kvo_frame_block *above, kvo_frame_block *block) {
  __atomic_store_n(&above->previous, block->previous, __ATOMIC_SEQ_CST);
  spare(thread, block);
}

static void take_out_if_needless(kvo_thread *thread, kvo_frame_block *block) {
  if (KVO_LIKELY(!is_needless(thread, block))) return;
  kvo_frame_block *above = thread->block;
  while (above->previous != block) above = above->previous;
  take_out(thread, above, block);
}

static void take_out_all_needless(kvo_thread *thread) {
  __atomic_store_n(&thread->has_holes, false, __ATOMIC_SEQ_CST);
  kvo_frame_block *above = thread->block;
  for (kvo_frame_block *block; (block = above->previous);) {
    if (is_needless(thread, block)) take_out(thread, above, block);
    else above = block;
  }
}

static void leave_block(kvo_thread *thread) {
  kvo_frame_block *left = thread->block;
  set_top(thread, end_of(left->previous));
  put_on_top(thread, left->previous);
  spare(thread, left);
}

void kvo_thread_shrink(kvo_thread *thread) {
  for (;;) {
    if (thread->top == thread->block->frames) {
      // An access that ended on another thread could not count itself out.
      if (!thread->block->previous) thread->open_count = thread->batch_count = 0;
      if (!thread->block->previous) return;
      leave_block(thread);
    }
    if (!is_free(thread->top - 1)) return;
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

// Whether what has ended elsewhere leaves room on the topmost block.
static bool makes_room(kvo_thread *thread) {
  if (!__atomic_load_n(&thread->has_holes, __ATOMIC_SEQ_CST)) return false;
  kvo_thread_shrink(thread);
  take_out_all_needless(thread);
  return thread->top != end_of(thread->block);
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

__thread uint32_t kvo_taken_over;

void kvo_frame_take_over(kvo_frame *frame) {
  frame->flags |= KVO_FRAME_TAKEN_OVER;
  kvo_taken_over++;
  frame->taker = pthread_self();
  __atomic_thread_fence(__ATOMIC_SEQ_CST); // it may have no record by which others count it
}

void kvo_frame_reclaim_waiters(kvo_frame *frame, const kvo_object *awaited) {
  __atomic_store_n(&frame->awaited, NULL, __ATOMIC_SEQ_CST);
  kvo_reclaim_waiting(awaited);
}

// Ends a frame of any thread. What waits for it is taken before its own thread may push it again:
// then the mark is another's. A thread without a record is reached by nobody else's fence.
static const kvo_object *end(kvo_frame *frame) {
  kvo_hazard_end(&frame->hazard);
  if (KVO_UNLIKELY(frame->thread != kvo_this_thread)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  const kvo_object *awaited = __atomic_load_n(&frame->awaited, __ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(awaited != NULL)) __atomic_store_n(&frame->awaited, NULL, __ATOMIC_SEQ_CST);
  __atomic_store_n(&frame->state, KVO_FRAME_FREE, __ATOMIC_RELEASE);
  return awaited;
}

// Tells the frame's thread that it has ended, and only then looks whether that thread still lives: a thread
// tells its own end before it looks at its frames.
static void tell_owner(kvo_thread *thread) {
  __atomic_store_n(&thread->has_holes, true, __ATOMIC_SEQ_CST);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  kvo_thread_let_go(thread);
}

static void tidy_up(kvo_thread *thread, kvo_frame *ended) {
  if (KVO_UNLIKELY(thread != kvo_this_thread)) {
    tell_owner(thread);
    return;
  }
  if (KVO_UNLIKELY(thread->top != ended + 1)) take_out_if_needless(thread, block_of(ended));
  kvo_thread_shrink(thread);
}

KVO_INLINE void pop_with_values(kvo_frame *frame) {
  kvo_thread *thread = frame->thread;
  uint32_t flags = frame->flags;
  kvo_object *object = frame->object;
  if (flags & KVO_FRAME_HAS_OLD) kvo_value_destroy(&frame->old_value);
  if (flags & KVO_FRAME_HAS_NEW) kvo_value_destroy(&frame->new_value);
  if (flags & KVO_FRAME_READS) thread->reading_count--;
  const kvo_object *awaited = end(frame);
  if (flags & KVO_FRAME_TAKEN_OVER) kvo_taken_over--;
  tidy_up(thread, frame);
  if (KVO_UNLIKELY(awaited != NULL)) kvo_reclaim_waiting(awaited);
  if (flags & KVO_FRAME_RETAINED) kvo_object_release(object);
}

// Reached where an exception ends the frame, on the thread that was telling.
static void end_tellings(kvo_frame *frame, struct kvo_propagation *propagation) {
  kvo_distinct_end(&frame->telling);
  if (propagation) kvo_propagation_end_tellings(propagation);
}

// The frame may be pushed again while its parts are let go.
static void pop_with_parts(kvo_frame *frame) {
  struct kvo_propagation *propagation =
      frame->flags & KVO_FRAME_PROPAGATES ? frame->propagation : NULL;
  if (frame->flags & KVO_FRAME_TELLS) end_tellings(frame, propagation);
  struct kvo_mutation_record *part = frame->flags & KVO_FRAME_HAS_PART ? frame->announced : NULL;
  kvo_object *observer = frame->flags & KVO_FRAME_CALLS ? frame->observer : NULL;
  pop_with_values(frame);
  if (propagation) kvo_propagation_release(propagation);
  if (part) kvo_mutation_free(part);
  kvo_object_release(observer);
}

void kvo_frame_pop_slowly(kvo_frame *frame) {
  const uint32_t parts =
      KVO_FRAME_PROPAGATES | KVO_FRAME_CALLS | KVO_FRAME_TELLS | KVO_FRAME_HAS_PART;
  if (KVO_UNLIKELY(frame->flags & parts)) pop_with_parts(frame);
  else pop_with_values(frame);
}

// MARK: Unwinding

static kvo_frame_block *block_with(const kvo_thread *thread, const kvo_frame *place) {
  kvo_frame_block *block = thread->block;
  while (block && !(place >= block->frames && place <= end_of(block))) block = block->previous;
  return block;
}

// Where what lay below the mark has ended meanwhile, as suspended accesses may, the top may be below
// it already, or its block taken out.
static bool is_above(const kvo_thread *thread, const kvo_frame *mark) {
  const kvo_frame_block *marked = block_with(thread, mark);
  return marked && (thread->block != marked || thread->top > mark);
}

static bool is_counted(uint32_t state) {
  return state == KVO_FRAME_OPEN || state == KVO_FRAME_ANNOUNCED || state == KVO_FRAME_ABANDONED ||
         state == KVO_FRAME_LOOKING || state == KVO_FRAME_BATCH;
}

void kvo_thread_unwind(kvo_frame *mark) {
  kvo_thread *thread = kvo_this_thread;
  if (!thread) return;
  if (!mark) mark = thread->first.frames;
  for (kvo_thread_shrink(thread); is_above(thread, mark); kvo_thread_shrink(thread)) {
    kvo_frame *frame = thread->top - 1;
    uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
    if (is_counted(state)) thread->open_count--;
    if (state == KVO_FRAME_BATCH) thread->batch_count--;
    kvo_frame_pop_slowly(frame);
  }
}

static bool is_told(const kvo_frame *frame) {
  uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
  return state == KVO_FRAME_DELIVERING || state == KVO_FRAME_ANNOUNCING;
}

// In a child: this thread, which forked, is in the middle of delivering or announcing what another has begun.
static bool is_taken_over(const kvo_frame *frame) {
  return is_told(frame) && frame->flags & KVO_FRAME_TAKEN_OVER &&
         pthread_equal(frame->taker, pthread_self());
}

static void empty(kvo_frame *frame) {
  kvo_hazard_end(&frame->hazard);
  frame->awaited = NULL;
  frame->state = KVO_FRAME_FREE;
  frame->flags = 0;
}

static void empty_block(kvo_frame_block *block) {
  for (kvo_frame *frame = block->frames; frame < end_of(block); frame++)
    if (!is_taken_over(frame)) empty(frame);
}

// Its top may have been halfway from one block to another.
void kvo_frames_abandon(kvo_thread *thread) {
  for (kvo_frame_block *block = thread->block; block; block = block->previous) empty_block(block);
  thread->top = end_of(thread->block);
  thread->open_count = thread->batch_count = 0;
}

// MARK: What is on the stack

// The frame below a place of the stack, and its block; NULL at the end.
static kvo_frame *below(const kvo_frame *place, kvo_frame_block **block) {
  while (place == (*block)->frames) {
    if (!(*block)->previous) return NULL;
    *block = (*block)->previous;
    place = end_of(*block);
  }
  return (kvo_frame *)(uintptr_t)place - 1;
}

#define FOR_EACH_FRAME(frame, thread)               \
  kvo_frame_block *frame##_block = (thread)->block; \
  for (kvo_frame *frame = (thread)->top; (frame = below(frame, &frame##_block));)

static bool is_in_state(const kvo_frame *frame, const kvo_object *object, uint32_t state) {
  return __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object &&
         __atomic_load_n(&frame->state, __ATOMIC_RELAXED) == state;
}

_Static_assert(KVO_FRAME_ANNOUNCED == KVO_FRAME_OPEN + 1, "is_open compares once");

static bool is_open(const kvo_frame *frame, const kvo_object *object) {
  if (__atomic_load_n(&frame->object, __ATOMIC_RELAXED) != object) return false;
  return __atomic_load_n(&frame->state, __ATOMIC_RELAXED) - KVO_FRAME_OPEN <= 1;
}

bool kvo_thread_has_among_open(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  FOR_EACH_FRAME(frame, thread)
  if (frame->id == id && is_open(frame, object)) return true;
  return false;
}

#ifdef KVO_POISON
bool kvo_thread_protects(const kvo_object *object) {
  const kvo_thread *thread = kvo_this_thread;
  if (kvo_taken_over) return true; // it may be by one of those
  if (!thread) return false;
  FOR_EACH_FRAME(frame, thread)
  if (!is_free(frame) && __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object) return true;
  return false;
}
#endif

kvo_frame *kvo_thread_find_batch(const kvo_thread *thread, const kvo_object *object) {
  FOR_EACH_FRAME(frame, thread)
  if (is_in_state(frame, object, KVO_FRAME_BATCH)) return frame;
  return NULL;
}

static bool reads(const kvo_frame *frame, const kvo_object *object, uintptr_t id) {
  return !is_free(frame) && frame->flags & KVO_FRAME_READS && frame->id == id &&
         __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object;
}

bool kvo_thread_is_reading(const kvo_object *object, uintptr_t id) {
  const kvo_thread *thread = kvo_this_thread;
  if (!thread || !thread->reading_count) return false;
  FOR_EACH_FRAME(frame, thread)
  if (reads(frame, object, id)) return true;
  return false;
}

void kvo_thread_abandon_open(kvo_thread *thread, const kvo_object *object) {
  if (KVO_LIKELY(!thread->open_count)) return;
  FOR_EACH_FRAME(frame, thread)
  if (is_open(frame, object) || is_in_state(frame, object, KVO_FRAME_LOOKING))
    __atomic_store_n(&frame->state, KVO_FRAME_ABANDONED, __ATOMIC_RELAXED);
}

const kvo_frame *kvo_thread_told_before(const kvo_thread *thread, const kvo_frame *later) {
  bool is_before = !later;
  FOR_EACH_FRAME(frame, thread) {
    if (is_before && is_told(frame)) return frame;
    if (frame == later) is_before = true;
  }
  return NULL;
}

uint32_t kvo_thread_count_told(const kvo_thread *thread) {
  uint32_t count = 0;
  FOR_EACH_FRAME(frame, thread)
  count += is_told(frame);
  return count;
}

// A batch has no key. Another thread may end the bracket and begin something else meanwhile, so it is looked at again
// after its key has been read.
static void visit_if_bracket(const kvo_frame *frame, const kvo_object *object,
    void (*visit)(void *context, const char *key, uint32_t thread), void *context) {
  uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
  if (state != KVO_FRAME_BRACKET && state != KVO_FRAME_BATCH) return;
  if (!is_in_state(frame, object, state)) return;
  uint32_t number = __atomic_load_n(&frame->thread->number, __ATOMIC_RELAXED);
  const char *key =
      state == KVO_FRAME_BATCH ? NULL : __atomic_load_n(&frame->key, __ATOMIC_ACQUIRE);
  if (is_in_state(frame, object, state)) visit(context, key, number);
}

// Its top may be on its way from one block to another. What lies above it is free.
static void visit_of_thread(const kvo_thread *thread, const kvo_object *object,
    void (*visit)(void *context, const char *key, uint32_t thread), void *context) {
  const kvo_frame_block *block = __atomic_load_n(&thread->block, __ATOMIC_SEQ_CST);
  for (; block; block = __atomic_load_n(&block->previous, __ATOMIC_SEQ_CST))
    for (size_t i = KVO_FRAMES_PER_BLOCK; i-- > 0;)
      visit_if_bracket(&block->frames[i], object, visit, context);
}

void kvo_frames_visit_brackets(const kvo_object *object,
    void (*visit)(void *context, const char *key, uint32_t thread), void *context) {
  for (kvo_thread *thread = kvo_thread_first(); thread; thread = kvo_thread_next(thread))
    visit_of_thread(thread, object, visit, context);
}

// MARK: What a thread is at

// NULL where none of the lowest block is left, below accesses that were suspended: then what they belong to is not
// known any more.
static const kvo_frame *outermost(kvo_thread *thread) {
  const kvo_frame *end = thread->block == &thread->first ? thread->top : end_of(&thread->first);
  for (const kvo_frame *frame = thread->first.frames; frame < end; frame++) {
    uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_ACQUIRE);
    if (state != KVO_FRAME_FREE && state != KVO_FRAME_ABANDONED) return frame;
  }
  return NULL;
}

bool kvo_binding_began_before(uint64_t stamp) {
  const kvo_frame *frame = kvo_this_thread ? outermost(kvo_this_thread) : NULL;
  return frame && __atomic_load_n(&frame->serial, __ATOMIC_SEQ_CST) < stamp;
}

bool kvo_binding_is_collecting(void) { return kvo_this_thread && kvo_this_thread->batch_count; }

uint64_t kvo_binding_stamp(void) { return __atomic_add_fetch(&kvo_serial, 1, __ATOMIC_SEQ_CST); }
