// Batches (M1): `kvo_coalesce` and, for bindings, `kvo_batch_begin` and `kvo_batch_end`.
//
// A batch is a frame on its thread's stack, which protects its object and keeps it alive. While it is open, each
// observed key that this thread changes becomes a root of the frame's one propagation, in the order of first changes.
// The first change of a key finds the recipients, reads old values and calls prior observers. Recipients that an
// earlier root has reached are skipped: their old value is known and they have been called. A later change of the key
// only updates the time of its last change. When the batch ends, the propagation does for all roots what it does for
// one change: it follows links once, finds the recipients again, reads new values once, and calls each recipient
// once.
//
// A few roots are searched linearly; many have a hash index, which is allocated with the batch. If memory is out,
// which is reported, changes are delivered one by one. So are changes made in a prior call or a getter while a root
// is being added.
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "base/kvo_upcalls.h"
#include "delivery/kvo_propagation.h"
#include "kvo_binding.h"
#include "objects/kvo_class_internal.h"

enum { FEW_ROOTS = 8 };

typedef struct kvo_batch {
  kvo_root *last;
  bool is_adding; // a root is being added: recipients must not move
  uint32_t count; // of roots
  uint32_t mask;  // of the index, a power of two less one; 0 for few roots
  kvo_root *places[];
} kvo_batch;

// MARK: Roots

static kvo_root **place_of(kvo_batch *batch, uintptr_t id) {
  uint32_t i = (uint32_t)((uint64_t)id * 0x9E3779B97F4A7C15u >> 32);
  for (;; i++) {
    kvo_root **place = &batch->places[i & batch->mask];
    if (!*place || (*place)->id == id) return place;
  }
}

static kvo_root *find_root(kvo_propagation *propagation, uintptr_t id) {
  if (propagation->batch->mask) return *place_of(propagation->batch, id);
  if (!propagation->batch->count) return NULL;
  kvo_root *root = &propagation->first;
  while (root && root->id != id) root = root->next;
  return root;
}

static kvo_batch *make_batch(uint32_t places) {
  kvo_batch *batch = kvo_alloc_zeroed(sizeof *batch + places * sizeof *batch->places);
  if (batch) batch->mask = places ? places - 1 : 0;
  return batch;
}

// The index has at least twice as many slots as there are roots.
static bool make_room(kvo_propagation *propagation) {
  kvo_batch *batch = propagation->batch;
  uint32_t places = batch->mask + 1;
  if (batch->count < FEW_ROOTS || (batch->count + 1) * 2 <= places) return true;
  kvo_batch *larger = make_batch(batch->mask ? places * 2 : FEW_ROOTS * 4);
  if (!larger) return false;
  larger->last = batch->last;
  larger->count = batch->count;
  for (kvo_root *root = &propagation->first; root; root = root->next)
    *place_of(larger, root->id) = root;
  propagation->batch = larger;
  kvo_free(batch);
  return true;
}

// The first root is stored in the propagation.
static kvo_root *make_root(kvo_propagation *propagation) {
  return propagation->batch->count ? kvo_alloc(sizeof(kvo_root)) : &propagation->first;
}

static void free_root(kvo_propagation *propagation, kvo_root *root) {
  kvo_mutation_destroy(&root->mutation);
  root->mutation.kind = KVO_SETTING;
  if (root != &propagation->first) kvo_free(root);
}

static void append_root(kvo_propagation *propagation, kvo_root *root) {
  kvo_batch *batch = propagation->batch;
  if (batch->last) batch->last->next = root;
  batch->last = root;
  batch->count++;
  if (batch->mask) *place_of(batch, root->id) = root;
}

// `root` must be the last one in the list.
static void take_out_root(kvo_propagation *propagation, kvo_root *root) {
  kvo_batch *batch = propagation->batch;
  kvo_root *previous = NULL;
  for (kvo_root *other = &propagation->first; other != root; other = other->next) previous = other;
  if (previous) previous->next = NULL;
  batch->last = previous;
  batch->count--;
  if (batch->mask) *place_of(batch, root->id) = NULL;
}

// MARK: Changes

static uint64_t now(void) { return __atomic_load_n(&kvo_serial, __ATOMIC_SEQ_CST); }

// Two mutations of a to-many key are delivered as one setting.
static void note_again(kvo_root *root) {
  root->last_serial = now();
  if (root->mutation.kind == KVO_SETTING) return;
  kvo_mutation_destroy(&root->mutation);
  root->mutation.kind = KVO_SETTING;
}

static void report_single(kvo_object *object) {
  kvo_misuse("No memory to coalesce changes of %s: some are told by themselves.",
      kvo_class_of(object)->name);
}

typedef struct {
  kvo_frame *frame;
  kvo_root *root;
  const kvo_mutation *mutation;
  bool is_added;
} addition;

static void add_root(void *opaque) {
  addition *addition = opaque;
  addition->is_added = kvo_change_add_root(addition->frame, addition->root, addition->mutation);
}

// A prior call has thrown, so the change will not be made.
static void stay_as_it_was(void *opaque) {
  const addition *addition = opaque;
  kvo_propagation *propagation = addition->frame->propagation;
  propagation->batch->is_adding = false;
}

static bool add(kvo_frame *frame, uintptr_t id, const kvo_mutation *mutation) {
  kvo_propagation *propagation = frame->propagation;
  kvo_root *root = make_room(propagation) ? make_root(propagation) : NULL;
  if (!root) return false;
  frame->id = id; // the key that a report names
  *root = (kvo_root){.id = id, .mutation.kind = KVO_SETTING, .last_serial = now()};
  append_root(propagation, root);
  propagation->batch->is_adding = true;
  addition addition = {frame, root, mutation, false};
  kvo_unwinding(add_root, stay_as_it_was, &addition);
  propagation->batch->is_adding = false;
  if (addition.is_added) return true;
  take_out_root(propagation, root);
  free_root(propagation, root);
  return false;
}

static bool begin_propagation(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_PROPAGATES) return true;
  kvo_batch *batch = make_batch(0);
  kvo_propagation *propagation = batch ? kvo_propagation_make(frame) : NULL;
  if (kvo_class_of(frame->object)->announces) frame->flags |= KVO_FRAME_ANNOUNCES;
  if (propagation) propagation->batch = batch;
  else kvo_free(batch);
  return propagation;
}

// No change is lost, but some are delivered one by one. Reported once per batch.
static void report(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_REPORTED) return;
  frame->flags |= KVO_FRAME_REPORTED;
  report_single(frame->object);
}

static bool takes_first(kvo_frame *frame, uintptr_t id, const kvo_mutation *mutation) {
  bool is_adding = frame->flags & KVO_FRAME_PROPAGATES && frame->propagation->batch->is_adding;
  if (is_adding) return false;
  bool added = begin_propagation(frame) && add(frame, id, mutation);
  if (!added) report(frame);
  return added;
}

kvo_frame *kvo_batch_taking_change(kvo_thread *thread, kvo_object *object, uintptr_t id,
    const kvo_mutation *mutation) {
  kvo_frame *frame = kvo_thread_batch(thread, object);
  if (!frame) return NULL;
  kvo_root *root = frame->flags & KVO_FRAME_PROPAGATES ? find_root(frame->propagation, id) : NULL;
  if (!root) return takes_first(frame, id, mutation) ? frame : NULL;
  note_again(root);
  return frame;
}

kvo_frame *kvo_batch_taking_again(kvo_thread *thread, kvo_object *object, uintptr_t id) {
  if (thread->top == thread->block->frames) return NULL;
  kvo_frame *frame = thread->top - 1;
  bool is_batch = frame->state == KVO_FRAME_BATCH && frame->object == object;
  bool takes =
      (frame->flags & (KVO_FRAME_PROPAGATES | KVO_FRAME_ANNOUNCES)) == KVO_FRAME_PROPAGATES;
  if (!is_batch || !takes) return NULL;
  kvo_root *root = find_root(frame->propagation, id);
  if (!root) return NULL;
  note_again(root);
  return frame;
}

bool kvo_batch_tells(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  const kvo_frame *frame = kvo_thread_batch(thread, object);
  return frame && frame->flags & KVO_FRAME_PROPAGATES && find_root(frame->propagation, id);
}

// MARK: Beginning and ending

kvo_frame *kvo_batch_begin(void *header) {
  kvo_object *object = header;
  kvo_thread *thread = kvo_thread_current();
  if (thread && kvo_thread_batch(thread, object)) return NULL;
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (!frame) {
    report_single(object);
    return NULL;
  }
  if (!kvo_class_of(object)->operations->try_retain(object)) { // it is dying
    kvo_frame_pop(frame);
    return NULL;
  }
  frame->flags |= KVO_FRAME_RETAINED;
  frame->id = 0;
  __atomic_store_n(&frame->state, KVO_FRAME_BATCH, __ATOMIC_RELEASE);
  thread->open_count++;
  thread->batch_count++;
  return frame;
}

void kvo_batch_end(kvo_frame *frame) {
  frame->thread->open_count--;
  frame->thread->batch_count--;
  __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
  bool any = frame->flags & KVO_FRAME_PROPAGATES && frame->propagation->batch->count;
  if (any) kvo_change_finish(frame);
  kvo_frame_pop(frame);
}

typedef struct {
  void (*body)(void *context);
  void *context;
  kvo_frame *frame;
} coalescing;

static void run(void *opaque) {
  const coalescing *coalescing = opaque;
  coalescing->body(coalescing->context);
}

static void tell(void *opaque) { kvo_batch_end(((coalescing *)opaque)->frame); }

static void give_up(void *opaque) { kvo_frame_pop(((coalescing *)opaque)->frame); }

static void end(void *opaque) {
  if (((coalescing *)opaque)->frame) kvo_unwinding(tell, give_up, opaque);
}

void kvo_coalesce(kvo_object *object, void (*body)(void *context), void *context) {
  coalescing coalescing = {body, context, kvo_batch_begin(object)};
  kvo_finally(run, end, &coalescing);
}
