// Finding frames on a thread's stack: which changes it has open or delivers, and which of them began first.
#include "base/kvo_forward.h"
#include "threads/kvo_thread.h"

// The frame below a position of the stack, and its block; NULL at the end.
static kvo_frame *frame_below(const kvo_frame *place, kvo_frame_block **block) {
  while (place == (*block)->frames) {
    if (!(*block)->previous) return NULL;
    *block = (*block)->previous;
    place = kvo_frame_block_end(*block);
  }
  return (kvo_frame *)(uintptr_t)place - 1;
}

#define FOR_EACH_FRAME(frame, thread)               \
  kvo_frame_block *frame##_block = (thread)->block; \
  for (kvo_frame *frame = (thread)->top; (frame = frame_below(frame, &frame##_block));)

static bool is_in_state(const kvo_frame *frame, const kvo_object *object, uint32_t state) {
  return __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object &&
         __atomic_load_n(&frame->state, __ATOMIC_RELAXED) == state;
}

_Static_assert(KVO_FRAME_ANNOUNCED == KVO_FRAME_OPEN + 1, "is_joinable compares once");

// Whether the frame is an open change of the object that a further change can join.
static bool is_joinable(const kvo_frame *frame, const kvo_object *object) {
  if (__atomic_load_n(&frame->object, __ATOMIC_RELAXED) != object) return false;
  return __atomic_load_n(&frame->state, __ATOMIC_RELAXED) - KVO_FRAME_OPEN <= 1;
}

kvo_frame *kvo_thread_find_open(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  FOR_EACH_FRAME(frame, thread)
  if (frame->id == id && is_joinable(frame, object)) return frame;
  return NULL;
}

bool kvo_thread_join_among_open(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  kvo_frame *frame = kvo_thread_find_open(thread, object, id);
  if (frame) {
    uint32_t joins = __atomic_load_n(&frame->joins, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->joins, joins + 1, __ATOMIC_RELAXED);
  }
  return frame;
}

#ifdef KVO_POISON
bool kvo_thread_protects(const kvo_object *object) {
  const kvo_thread *thread = kvo_this_thread;
  if (kvo_transferred_frame) return true; // one of the frames transferred to it may protect it
  if (!thread) return false;
  FOR_EACH_FRAME(frame, thread)
  if (!kvo_frame_is_free(frame) && __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object)
    return true;
  return false;
}
#endif

kvo_frame *kvo_thread_find_batch(const kvo_thread *thread, const kvo_object *object) {
  FOR_EACH_FRAME(frame, thread)
  if (is_in_state(frame, object, KVO_FRAME_BATCH)) return frame;
  return NULL;
}

static bool frame_reads_key(const kvo_frame *frame, const kvo_object *object, uintptr_t id) {
  return !kvo_frame_is_free(frame) && frame->flags & KVO_FRAME_READS && frame->id == id &&
         __atomic_load_n(&frame->object, __ATOMIC_RELAXED) == object;
}

bool kvo_thread_is_reading(const kvo_object *object, uintptr_t id) {
  const kvo_thread *thread = kvo_this_thread;
  if (!thread || !thread->reading_count) return false;
  FOR_EACH_FRAME(frame, thread)
  if (frame_reads_key(frame, object, id)) return true;
  return false;
}

static void frame_abandon(kvo_frame *frame) {
  __atomic_store_n(&frame->state, KVO_FRAME_ABANDONED, __ATOMIC_RELAXED);
  if (frame->flags & KVO_FRAME_IN_PLACE) kvo_in_place_end(frame);
}

void kvo_thread_abandon_open(kvo_thread *thread, const kvo_object *object) {
  if (KVO_LIKELY(!thread->open_count)) return;
  FOR_EACH_FRAME(frame, thread)
  if (is_joinable(frame, object) || is_in_state(frame, object, KVO_FRAME_UNOBSERVED) ||
      is_in_state(frame, object, KVO_FRAME_JOINS))
    frame_abandon(frame);
}

void kvo_frame_transfer(kvo_frame *frame) {
  frame->flags |= KVO_FRAME_TRANSFERRED;
  frame->outer_transferred = kvo_transferred_frame;
  frame->outer_deliveries = kvo_this_thread ? kvo_thread_count_delivering(kvo_this_thread) : 0;
  kvo_transferred_frame = frame;
  __atomic_store_n(&frame->transferred_at, kvo_binding_stamp(),
      __ATOMIC_RELAXED); // before its state
  frame->transferred_to = pthread_self();
  __atomic_thread_fence(__ATOMIC_SEQ_CST); // this thread may have no record that others count
}

// Whether another thread than the frame's delivers the change.
static bool is_transferred(const kvo_frame *frame) {
  uint64_t transferred_at = __atomic_load_n(&frame->transferred_at, __ATOMIC_RELAXED);
  return transferred_at > __atomic_load_n(&frame->serial, __ATOMIC_RELAXED);
}

static bool is_own_delivery(const kvo_frame *frame) {
  return kvo_frame_is_delivering(frame) && !is_transferred(frame);
}

const kvo_frame *kvo_thread_delivering_before(const kvo_thread *thread, const kvo_frame *later) {
  bool is_before = !later;
  FOR_EACH_FRAME(frame, thread) {
    if (is_before && is_own_delivery(frame)) return frame;
    if (frame == later) is_before = true;
  }
  return NULL;
}

_Static_assert(KVO_FRAME_JOINS == KVO_FRAME_SCOPED + 2,
    "is_open_change compares the ends of a range");

static bool is_open_change(const kvo_frame *frame) {
  uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_ACQUIRE);
  return state - KVO_FRAME_OPEN <= 1 || state == KVO_FRAME_UNOBSERVED ||
         (state >= KVO_FRAME_SCOPED && state <= KVO_FRAME_JOINS);
}

kvo_frame *kvo_thread_open_before(const kvo_thread *thread, kvo_frame *later) {
  kvo_frame_block *block = later ? kvo_frame_block_of(later) : thread->block;
  kvo_frame *frame = later ? later : thread->top;
  while ((frame = frame_below(frame, &block)))
    if (is_open_change(frame)) return frame;
  return NULL;
}

uint32_t kvo_thread_count_delivering(const kvo_thread *thread) {
  uint32_t count = 0;
  FOR_EACH_FRAME(frame, thread)
  count += is_own_delivery(frame);
  return count;
}

// A batch has no key. Another thread may end the scoped change and begin something else at any time, so the state is
// checked again after the key has been read.
static void visit_if_scoped(const kvo_frame *frame, const kvo_object *object,
    kvo_scoped_change_visitor visit, void *context) {
  uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
  if (state != KVO_FRAME_SCOPED && state != KVO_FRAME_BATCH) return;
  if (!is_in_state(frame, object, state)) return;
  uint32_t number = __atomic_load_n(&frame->thread->number, __ATOMIC_RELAXED);
  const char *key =
      state == KVO_FRAME_BATCH ? NULL : __atomic_load_n(&frame->key, __ATOMIC_ACQUIRE);
  if (is_in_state(frame, object, state)) visit(context, key, number);
}

// Visits all frames of each block: the thread's top may be moving from one block to another, and frames above it are
// free.
static void visit_of_thread(const kvo_thread *thread, const kvo_object *object,
    kvo_scoped_change_visitor visit, void *context) {
  const kvo_frame_block *block = __atomic_load_n(&thread->block, __ATOMIC_SEQ_CST);
  for (; block; block = __atomic_load_n(&block->previous, __ATOMIC_SEQ_CST))
    for (size_t i = KVO_FRAMES_PER_BLOCK; i-- > 0;)
      visit_if_scoped(&block->frames[i], object, visit, context);
}

void kvo_frames_visit_scoped_changes(const kvo_object *object, kvo_scoped_change_visitor visit,
    void *context) {
  for (kvo_thread *thread = kvo_thread_first(); thread; thread = kvo_thread_next(thread))
    visit_of_thread(thread, object, visit, context);
}

// MARK: The outermost change

// The thread's outermost frame. NULL if no frame of the lowest block is left because suspended accesses above it go
// on. Then it is unknown which change they belong to.
static const kvo_frame *frame_outermost(kvo_thread *thread) {
  const kvo_frame *end =
      thread->block == &thread->first ? thread->top : kvo_frame_block_end(&thread->first);
  for (const kvo_frame *frame = thread->first.frames; frame < end; frame++) {
    uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_ACQUIRE);
    bool is_over = state == KVO_FRAME_FREE || state == KVO_FRAME_ABANDONED;
    if (!is_over && !is_transferred(frame)) return frame;
  }
  return NULL;
}

// Whether a change had been transferred to this thread before a stamp, and has not ended.
static bool has_transferred_before(uint64_t stamp) {
  const kvo_frame *transferred = kvo_transferred_frame;
  while (transferred && transferred->transferred_at >= stamp)
    transferred = transferred->outer_transferred;
  return transferred;
}

bool kvo_binding_began_before(uint64_t stamp) {
  const kvo_frame *frame = kvo_this_thread ? frame_outermost(kvo_this_thread) : NULL;
  if (frame && __atomic_load_n(&frame->serial, __ATOMIC_SEQ_CST) < stamp) return true;
  return has_transferred_before(stamp);
}

bool kvo_binding_is_collecting(void) { return kvo_this_thread && kvo_this_thread->batch_count; }

uint64_t kvo_binding_stamp(void) { return __atomic_add_fetch(&kvo_serial, 1, __ATOMIC_SEQ_CST); }

// The innermost change that this thread delivers: of its own stack, unless a change of another thread's stack has
// since been transferred to it.
static const kvo_frame *frame_delivering(void) {
  const kvo_thread *thread = kvo_this_thread;
  const kvo_frame *other = kvo_transferred_frame;
  while (other && !kvo_frame_is_delivering(other)) other = other->outer_transferred;
  bool is_newest =
      other && (!thread || kvo_thread_count_delivering(thread) <= other->outer_deliveries);
  if (!thread || is_newest) return other;
  return kvo_thread_delivering_before(thread, NULL);
}

kvo_calling_change kvo_binding_calling_change(bool is_prior) {
  const kvo_frame *prior = is_prior && kvo_this_thread ? kvo_this_thread->prior_frame : NULL;
  const kvo_frame *frame = prior ? prior : frame_delivering();
  if (!frame) return (kvo_calling_change){NULL, 0, 0};
  uint64_t began = __atomic_load_n(&frame->serial, __ATOMIC_RELAXED);
  uint64_t delivered = is_transferred(frame) ? frame->transferred_at : began;
  return (kvo_calling_change){frame->thread, began, delivered};
}

bool kvo_binding_is_made_by_observer(uint64_t stamp) {
  if (!kvo_this_thread) return false;
  uint32_t count = 0;
  FOR_EACH_FRAME(frame, kvo_this_thread)
  if (is_own_delivery(frame) && __atomic_load_n(&frame->serial, __ATOMIC_RELAXED) >= stamp &&
      ++count == 2)
    return true;
  return false;
}

static bool frame_is_change(const kvo_frame *frame, kvo_calling_change change) {
  return frame->thread == change.thread &&
         __atomic_load_n(&frame->serial, __ATOMIC_RELAXED) == change.began;
}

static bool is_on_own_stack(kvo_calling_change change) {
  const kvo_thread *thread = kvo_this_thread;
  if (!thread || thread != change.thread) return false;
  FOR_EACH_FRAME(frame, thread) {
    uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_RELAXED);
    bool is_change = state != KVO_FRAME_FREE && state != KVO_FRAME_PROTECTS;
    if (is_change && !is_transferred(frame) && frame_is_change(frame, change)) return true;
  }
  return false;
}

bool kvo_binding_is_within(kvo_calling_change change) {
  const kvo_frame *other = kvo_transferred_frame;
  while (other && !frame_is_change(other, change)) other = other->outer_transferred;
  return other || is_on_own_stack(change);
}

uint64_t kvo_binding_delivery_stamp(void) {
  kvo_frame *frame = (kvo_frame *)(uintptr_t)frame_delivering();
  if (!frame) return kvo_binding_stamp();
  if (frame->delivery_stamp <= __atomic_load_n(&frame->serial, __ATOMIC_RELAXED))
    frame->delivery_stamp = kvo_binding_stamp();
  return frame->delivery_stamp;
}
