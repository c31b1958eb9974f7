// Batches (M1): `kvo_coalesce` and, for bindings, `kvo_batch_begin` and `kvo_batch_end`.
//
// A batch is a frame on its thread's stack, which protects its object and keeps it alive. While it is open, each
// observed key that this thread changes becomes a changed key of the frame's one general delivery, in the order of
// first changes. The first change of a key finds the recipients, reads old values and calls prior observers. Recipients
// that an earlier changed key has reached are skipped: their old value is known and they have been called. A later
// change of the key only updates the time of its last change. When the batch ends, the general delivery does for all
// changed keys what it does for one change: it follows paths once, finds the recipients again, reads new values once,
// and calls each recipient once.
//
// A few changed keys are searched linearly; many have a hash index, which is allocated with the batch. If there is no
// memory, which is reported, changes are delivered one by one. So are changes made in a prior call or a getter while
// a changed key is being added.
#include "base/kvo_forward.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "delivery/kvo_general_delivery.h"
#include "kvo_binding.h"
#include "objects/kvo_class_internal.h"

enum { MOST_WITHOUT_INDEX = 8 };

typedef struct kvo_batch {
  kvo_changed_key *last;
  bool is_adding; // a key is being added, with its prior calls: recipients must not move
  uint32_t count; // of changed keys
  uint32_t mask;  // of the index, a power of two less one; 0: no index
  kvo_changed_key *slots[];
} kvo_batch;

// MARK: Changed keys

static kvo_changed_key **batch_slot_of(kvo_batch *batch, uintptr_t id) {
  uint32_t i = (uint32_t)(kvo_hash_word(id) >> 32);
  for (;; i++) {
    kvo_changed_key **slot = &batch->slots[i & batch->mask];
    if (!*slot || (*slot)->id == id) return slot;
  }
}

static kvo_changed_key *batch_find_key(kvo_general_delivery *delivery, uintptr_t id) {
  if (delivery->batch->mask) return *batch_slot_of(delivery->batch, id);
  if (!delivery->batch->count) return NULL;
  kvo_changed_key *changed_key = &delivery->first;
  while (changed_key && changed_key->id != id) changed_key = changed_key->next;
  return changed_key;
}

// The batch's record of a changed key; NULL if there is no batch, or the key has not been changed in it.
static kvo_changed_key *batch_key_in(const kvo_frame *batch, uintptr_t id) {
  bool has_keys = batch && batch->flags & KVO_FRAME_GENERAL_DELIVERY;
  return has_keys ? batch_find_key(batch->general_delivery, id) : NULL;
}

static kvo_batch *make_batch(uint32_t slot_count) {
  kvo_batch *batch = kvo_alloc_zeroed(sizeof *batch + slot_count * sizeof *batch->slots);
  if (batch) batch->mask = slot_count ? slot_count - 1 : 0;
  return batch;
}

// Makes room in the index for one more key. The index has at least twice as many slots as there are changed keys.
static bool batch_make_room(kvo_general_delivery *delivery) {
  kvo_batch *batch = delivery->batch;
  uint32_t slot_count = batch->mask + 1;
  if (batch->count < MOST_WITHOUT_INDEX || (batch->count + 1) * 2 <= slot_count) return true;
  kvo_batch *larger = make_batch(batch->mask ? slot_count * 2 : MOST_WITHOUT_INDEX * 4);
  if (!larger) return false;
  larger->last = batch->last;
  larger->count = batch->count;
  for (kvo_changed_key *changed_key = &delivery->first; changed_key;
      changed_key = changed_key->next)
    *batch_slot_of(larger, changed_key->id) = changed_key;
  delivery->batch = larger;
  kvo_free(batch);
  return true;
}

// The first changed key is stored in the general delivery.
static kvo_changed_key *batch_make_key(kvo_general_delivery *delivery) {
  return delivery->batch->count ? kvo_alloc(sizeof(kvo_changed_key)) : &delivery->first;
}

static void batch_free_key(kvo_general_delivery *delivery, kvo_changed_key *changed_key) {
  kvo_mutation_destroy(&changed_key->mutation);
  changed_key->mutation.kind = KVO_SETTING;
  if (changed_key != &delivery->first) kvo_free(changed_key);
}

static void batch_append_key(kvo_general_delivery *delivery, kvo_changed_key *changed_key) {
  kvo_batch *batch = delivery->batch;
  if (batch->last) batch->last->next = changed_key;
  batch->last = changed_key;
  batch->count++;
  if (batch->mask) *batch_slot_of(batch, changed_key->id) = changed_key;
}

// `changed_key` must be the last one in the list.
static void batch_remove_key(kvo_general_delivery *delivery, kvo_changed_key *changed_key) {
  kvo_batch *batch = delivery->batch;
  kvo_changed_key *previous = NULL;
  for (kvo_changed_key *other = &delivery->first; other != changed_key; other = other->next)
    previous = other;
  if (previous) previous->next = NULL;
  batch->last = previous;
  batch->count--;
  if (batch->mask) *batch_slot_of(batch, changed_key->id) = NULL;
}

// MARK: Changes

static uint64_t batch_serial_now(void) { return __atomic_load_n(&kvo_serial, __ATOMIC_SEQ_CST); }

// Two mutations of a to-many key are delivered as one setting. The record keeps the elements of the first one, since
// its prior call, or a getter that reads them, may be what makes the second. Then the first is yet to be made, to what
// the second has left (D7).
static void note_again(kvo_changed_key *changed_key, const kvo_batch *batch) {
  changed_key->last_serial = batch_serial_now();
  changed_key->mutation.kind = KVO_SETTING;
  changed_key->mutation.became_setting = batch->is_adding;
}

static void report_separate_deliveries(kvo_object *object) {
  kvo_misuse("No memory to coalesce changes of %s: some are delivered separately.",
      kvo_class_of(object)->name);
}

typedef struct {
  kvo_frame *frame;
  kvo_changed_key *changed_key;
  const kvo_mutation *mutation;
  bool is_added;
} addition;

static void batch_add_key(void *opaque) {
  addition *addition = opaque;
  addition->is_added =
      kvo_change_add_key(addition->frame, addition->changed_key, addition->mutation);
}

// A prior call has thrown, so the change will not be made.
static void end_adding(void *opaque) {
  const addition *addition = opaque;
  kvo_general_delivery *delivery = addition->frame->general_delivery;
  delivery->batch->is_adding = false;
}

static bool batch_add(kvo_frame *frame, uintptr_t id, const kvo_mutation *mutation) {
  kvo_general_delivery *delivery = frame->general_delivery;
  kvo_changed_key *changed_key = batch_make_room(delivery) ? batch_make_key(delivery) : NULL;
  if (!changed_key) return false;
  frame->id = id; // the key that a report names
  *changed_key =
      (kvo_changed_key){.id = id, .mutation.kind = KVO_SETTING, .last_serial = batch_serial_now()};
  batch_append_key(delivery, changed_key);
  delivery->batch->is_adding = true;
  addition addition = {frame, changed_key, mutation, false};
  kvo_unwinding(batch_add_key, end_adding, &addition);
  delivery->batch->is_adding = false;
  if (addition.is_added) return true;
  batch_remove_key(delivery, changed_key);
  batch_free_key(delivery, changed_key);
  return false;
}

static bool batch_begin_general_delivery(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_GENERAL_DELIVERY) return true;
  kvo_batch *batch = make_batch(0);
  kvo_general_delivery *delivery = batch ? kvo_general_delivery_make(frame) : NULL;
  if (kvo_class_of(frame->object)->announces) frame->flags |= KVO_FRAME_ANNOUNCES;
  if (delivery) delivery->batch = batch;
  else kvo_free(batch);
  return delivery;
}

// Reports, once per batch, that memory ran out. No change is lost, but some are delivered one by one.
static void report_shortage_once(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_REPORTED) return;
  frame->flags |= KVO_FRAME_REPORTED;
  report_separate_deliveries(frame->object);
}

// Records the first change of a key. False if the change is to be delivered by itself.
static bool record_first(kvo_frame *frame, uintptr_t id, const kvo_mutation *mutation) {
  bool is_adding =
      frame->flags & KVO_FRAME_GENERAL_DELIVERY && frame->general_delivery->batch->is_adding;
  if (is_adding) return false;
  bool added = batch_begin_general_delivery(frame) && batch_add(frame, id, mutation);
  if (!added) report_shortage_once(frame);
  return added;
}

kvo_frame *kvo_batch_record_slow(kvo_thread *thread, kvo_object *object, uintptr_t id,
    const kvo_mutation *mutation) {
  kvo_frame *frame = kvo_thread_batch(thread, object);
  if (!frame) return NULL;
  kvo_changed_key *changed_key = batch_key_in(frame, id);
  if (!changed_key) return record_first(frame, id, mutation) ? frame : NULL;
  note_again(changed_key, frame->general_delivery->batch);
  return frame;
}

kvo_frame *kvo_batch_record_again_slow(kvo_thread *thread, kvo_object *object, uintptr_t id) {
  if (thread->top == thread->block->frames) return NULL;
  kvo_frame *frame = thread->top - 1;
  bool is_batch = frame->state == KVO_FRAME_BATCH && frame->object == object;
  // If the class announces its changes, its methods have to be called for a further change as well.
  bool has_keys_unannounced = (frame->flags & (KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_ANNOUNCES)) ==
                              KVO_FRAME_GENERAL_DELIVERY;
  if (!is_batch || !has_keys_unannounced) return NULL;
  kvo_changed_key *changed_key = batch_find_key(frame->general_delivery, id);
  if (!changed_key) return NULL;
  note_again(changed_key, frame->general_delivery->batch);
  return frame;
}

bool kvo_batch_will_deliver(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  return batch_key_in(kvo_thread_batch(thread, object), id);
}

void kvo_batch_note_join(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  const kvo_frame *frame = kvo_thread_batch(thread, object);
  kvo_changed_key *changed_key = batch_key_in(frame, id);
  const kvo_batch *batch = changed_key ? frame->general_delivery->batch : NULL;
  if (batch && batch->is_adding && batch->last == changed_key) note_again(changed_key, batch);
}

bool kvo_batch_change_became_setting(const kvo_frame *change) {
  const kvo_frame *frame =
      kvo_this_thread ? kvo_thread_batch(kvo_this_thread, change->object) : NULL;
  const kvo_changed_key *changed_key = batch_key_in(frame, change->id);
  bool is_in_priors = changed_key && frame->general_delivery->batch->is_adding;
  return changed_key && changed_key->mutation.became_setting && !is_in_priors;
}

// MARK: Beginning and ending

kvo_frame *kvo_batch_begin(void *header) {
  kvo_object *object = header;
  kvo_thread *thread = kvo_thread_current();
  if (thread && kvo_thread_batch(thread, object)) return NULL;
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (!frame) {
    report_separate_deliveries(object);
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
  bool any = frame->flags & KVO_FRAME_GENERAL_DELIVERY && frame->general_delivery->batch->count;
  if (any) kvo_change_finish(frame);
  kvo_frame_pop(frame);
}

typedef struct {
  void (*body)(void *context);
  void *context;
  kvo_frame *frame;
} coalescing;

static void batch_run_body(void *opaque) {
  const coalescing *coalescing = opaque;
  coalescing->body(coalescing->context);
}

static void batch_deliver(void *opaque) { kvo_batch_end(((coalescing *)opaque)->frame); }

static void batch_give_up(void *opaque) { kvo_frame_pop(((coalescing *)opaque)->frame); }

static void batch_end_coalescing(void *opaque) {
  if (((coalescing *)opaque)->frame) kvo_unwinding(batch_deliver, batch_give_up, opaque);
}

void kvo_coalesce(kvo_object *object, void (*body)(void *context), void *context) {
  coalescing coalescing = {body, context, kvo_batch_begin(object)};
  kvo_finally(batch_run_body, batch_end_coalescing, &coalescing);
}
