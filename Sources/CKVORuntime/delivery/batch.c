// Batches (M1): `kvo_coalesce` and, for bindings, `kvo_batch_begin` and `kvo_batch_end`.
//
// A batch is a frame on its thread's stack, which protects its object and keeps it alive. While it is open, it records
// each observed key that this thread changes, in the order of first changes. A later change of a key only updates the
// time of its last change.
//
// A key is plain if its only observer is a registration of one or of several keys, which wants neither prior calls nor
// distinct changes, and if the key is not derived. For its first change, the batch reads the old value if the observer
// asks for it, and nothing else. If all keys are plain, and their observers are those of the beginning when the batch
// ends, it reads their new values and calls the observers, key by key.
//
// Otherwise the keys become changed keys of the frame's one general delivery, as soon as one is changed that is not
// plain, or when the batch ends. The first change of such a key finds the recipients, reads old values and calls prior
// observers. Recipients that an earlier changed key has reached are skipped: their old value is known and they have been
// called. When the batch ends, the general delivery does for all changed keys what it does for one change: it follows
// paths once, finds the recipients again, reads new values once, and calls each recipient once.
//
// A few keys are searched linearly; many have a hash index. If there is no memory, which is reported, changes are
// delivered one by one. So are changes made in a prior call or a getter while a key is being added.
#include "base/kvo_forward.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "delivery/kvo_general_delivery.h"
#include "kvo_binding.h"
#include "objects/kvo_class_internal.h"

enum { MOST_WITHOUT_INDEX = 8 };

typedef struct batch_key {
  uintptr_t id;
  kvo_changed_key *changed_key; // NULL: it is plain
  uint64_t serial, last_serial; // `kvo_serial` at its first and at its last change
  bool has_old, has_new;
  kvo_value old_value, new_value;
} batch_key;

typedef struct kvo_batch {
  bool is_adding;  // a key is being added, with its prior calls: recipients must not move
  bool lacks_old;  // an old value that was asked for has not been read
  uint32_t count;  // of keys
  uint32_t mask;   // of the index, a power of two less one; 0: no index
  size_t capacity; // of `keys`
  batch_key *keys;
  uint32_t *index; // positions in `keys` from 1; 0: free
  kvo_changed_key *last;
} kvo_batch;

// MARK: Keys

static uint32_t *batch_slot_of(const kvo_batch *batch, uintptr_t id) {
  uint32_t i = (uint32_t)(kvo_hash_word(id) >> 32);
  for (;; i++) {
    uint32_t *slot = &batch->index[i & batch->mask];
    if (!*slot || batch->keys[*slot - 1].id == id) return slot;
  }
}

static batch_key *batch_find_key(const kvo_batch *batch, uintptr_t id) {
  if (batch->mask) {
    uint32_t position = *batch_slot_of(batch, id);
    return position ? &batch->keys[position - 1] : NULL;
  }
  for (uint32_t i = 0; i < batch->count; i++)
    if (batch->keys[i].id == id) return &batch->keys[i];
  return NULL;
}

static kvo_batch *batch_of(const kvo_frame *frame) {
  return frame && frame->flags & KVO_FRAME_HAS_BATCH ? frame->batch : NULL;
}

// The batch's record of a changed key; NULL if there is no batch, or the key has not been changed in it.
static batch_key *batch_key_in(const kvo_frame *frame, uintptr_t id) {
  const kvo_batch *batch = batch_of(frame);
  return batch ? batch_find_key(batch, id) : NULL;
}

// Makes room in the index for one more key. The index has at least twice as many slots as there are keys.
static bool grow_index(kvo_batch *batch) {
  uint32_t slot_count = batch->mask + 1;
  if (batch->count < MOST_WITHOUT_INDEX || (batch->count + 1) * 2 <= slot_count) return true;
  uint32_t larger_count = batch->mask ? slot_count * 2 : MOST_WITHOUT_INDEX * 4;
  uint32_t *larger = kvo_alloc_zeroed(larger_count * sizeof *larger);
  if (!larger) return false;
  kvo_free(batch->index);
  batch->index = larger;
  batch->mask = larger_count - 1;
  for (uint32_t i = 0; i < batch->count; i++) *batch_slot_of(batch, batch->keys[i].id) = i + 1;
  return true;
}

static bool batch_make_room(kvo_batch *batch) {
  if (batch->count == batch->capacity) {
    size_t needed = batch->count ? batch->count + 1 : MOST_WITHOUT_INDEX;
    batch_key *keys = kvo_grow(batch->keys, batch->count, needed, sizeof *keys, &batch->capacity);
    if (!keys) return false;
    batch->keys = keys;
  }
  return grow_index(batch);
}

static uint64_t batch_serial_now(void) { return __atomic_load_n(&kvo_serial, __ATOMIC_SEQ_CST); }

// There must be room. `serial` was read before the key's observers.
static batch_key *batch_append_key(kvo_batch *batch, uintptr_t id, uint64_t serial) {
  batch_key *key = &batch->keys[batch->count++];
  key->id = id;
  key->changed_key = NULL;
  key->serial = key->last_serial = serial;
  key->has_old = key->has_new = false;
  if (batch->mask) *batch_slot_of(batch, id) = batch->count;
  return key;
}

static void batch_remove_last_key(kvo_batch *batch) {
  if (batch->mask) *batch_slot_of(batch, batch->keys[batch->count - 1].id) = 0;
  batch->count--;
}

static void drop_value(bool *has_value, kvo_value *value) {
  if (!*has_value) return;
  *has_value = false;
  kvo_value_destroy(value);
}

void kvo_batch_destroy(kvo_batch *batch) {
  for (; batch->count; batch->count--) {
    batch_key *key = &batch->keys[batch->count - 1];
    drop_value(&key->has_old, &key->old_value);
    drop_value(&key->has_new, &key->new_value);
  }
  kvo_free(batch->keys);
  kvo_free(batch->index);
  kvo_free(batch);
}

static kvo_batch *batch_make(kvo_frame *frame) {
  kvo_batch *batch = kvo_alloc_zeroed(sizeof *batch);
  if (!batch) return NULL;
  if (kvo_class_of(frame->object)->announces) frame->flags |= KVO_FRAME_ANNOUNCES;
  frame->flags |= KVO_FRAME_HAS_BATCH;
  frame->batch = batch;
  return batch;
}

static void report_separate_deliveries(kvo_object *object) {
  kvo_misuse("No memory to coalesce changes of %s: some are delivered separately.",
      kvo_class_of(object)->name);
}

// Reports, once per batch, that memory ran out. No change is lost, but some are delivered one by one.
static void report_shortage_once(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_REPORTED) return;
  frame->flags |= KVO_FRAME_REPORTED;
  report_separate_deliveries(frame->object);
}

// MARK: Plain keys

// The observers of a derived key are in a list: another key's change may reach them, too.
static bool observers_are_plain(kvo_observers observers) {
  const uint32_t special = KVO_PATH_NODE | KVO_PRIOR | KVO_DISTINCT;
  return !kvo_observers_is_list(observers) && !(kvo_observers_options(observers) & special) &&
         !(kvo_observers_tagged_accessors(observers) & KVO_ACCESSORS_TAG_MASK);
}

// Whether all keys of the batch are plain, and a further one may be recorded as plain.
static bool may_be_plain(const kvo_frame *frame) {
  return !(frame->flags & (KVO_FRAME_GENERAL_DELIVERY | KVO_FRAME_ANNOUNCES));
}

typedef struct {
  kvo_frame *frame;
  kvo_observers observers;
  bool is_read;
} plain_reading;

static void read_old_of_last(void *opaque) {
  plain_reading *reading = opaque;
  kvo_frame *frame = reading->frame;
  batch_key *key = &frame->batch->keys[frame->batch->count - 1];
  uint64_t shortages = kvo_shortages;
  void *recorder = kvo_suspend_recording();
  const kvo_accessors *accessors =
      kvo_accessors_current(kvo_observers_accessors(reading->observers));
  reading->is_read = kvo_change_read(accessors, frame->object, &key->old_value);
  kvo_change_report_shortage(frame, shortages);
  kvo_resume_recording(recorder);
}

static void end_reading(void *opaque) {
  const plain_reading *reading = opaque;
  kvo_batch *batch = reading->frame->batch;
  batch->is_adding = false;
  batch->keys[batch->count - 1].has_old = reading->is_read;
  batch->lacks_old |= !reading->is_read;
}

static __attribute__((noinline)) void read_old_plainly(kvo_frame *frame, kvo_observers observers) {
  frame->batch->is_adding = true;
  plain_reading reading = {frame, observers, false};
  kvo_unwinding(read_old_of_last, end_reading, &reading);
  end_reading(&reading);
}

static bool add_plain(kvo_frame *frame, uintptr_t id, kvo_observers observers, uint64_t serial) {
  kvo_batch *batch = frame->batch;
  if (!batch_make_room(batch)) return false;
  frame->id = id; // the key that a report names
  batch_append_key(batch, id, serial);
  if (kvo_observers_options(observers) & KVO_OLD) read_old_plainly(frame, observers);
  return true;
}

// MARK: Changed keys of a general delivery

static void put_changed_key(kvo_batch *batch, batch_key *key, kvo_changed_key *changed_key) {
  *changed_key = (kvo_changed_key){
      .id = key->id, .mutation.kind = KVO_SETTING, .last_serial = key->last_serial};
  if (batch->last) batch->last->next = changed_key;
  batch->last = key->changed_key = changed_key;
}

static void put_plain_key(kvo_batch *batch, batch_key *key, kvo_changed_key *changed_key) {
  put_changed_key(batch, key, changed_key);
  changed_key->was_plain = true;
  changed_key->serial = key->serial;
  changed_key->has_old = key->has_old;
  changed_key->old_value = key->old_value;
  key->has_old = false;
}

static void free_spare(kvo_changed_key *spare) {
  while (spare) {
    kvo_changed_key *next = spare->next;
    kvo_free(spare);
    spare = next;
  }
}

static kvo_changed_key *make_spare(size_t count) {
  kvo_changed_key *spare = NULL;
  for (; count; count--) {
    kvo_changed_key *made = kvo_alloc(sizeof *made);
    if (!made) {
      free_spare(spare);
      return NULL;
    }
    made->next = spare;
    spare = made;
  }
  return spare;
}

// Begins the batch's general delivery, with the plain keys as its changed keys. The first one is stored in it. False,
// with nothing changed, if out of memory.
static bool generalize(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_GENERAL_DELIVERY) return true;
  kvo_batch *batch = frame->batch;
  kvo_changed_key *spare = batch->count > 1 ? make_spare(batch->count - 1) : NULL;
  bool is_made = batch->count <= 1 || spare;
  kvo_general_delivery *delivery = is_made ? kvo_general_delivery_make(frame) : NULL;
  if (!delivery) {
    free_spare(spare);
    return false;
  }
  delivery->is_batch = delivery->has_before = true;
  for (uint32_t i = 0; i < batch->count; i++) {
    kvo_changed_key *changed_key = i ? spare : &delivery->first;
    if (i) spare = spare->next;
    put_plain_key(batch, &batch->keys[i], changed_key);
  }
  return true;
}

static kvo_changed_key *make_changed_key(const kvo_frame *frame) {
  return frame->batch->last ? kvo_alloc(sizeof(kvo_changed_key)) : &frame->general_delivery->first;
}

// The last key, whose recipients could not be found.
static void remove_changed_key(kvo_frame *frame, kvo_changed_key *changed_key) {
  kvo_batch *batch = frame->batch;
  batch_remove_last_key(batch);
  batch->last = batch->count ? batch->keys[batch->count - 1].changed_key : NULL;
  if (batch->last) batch->last->next = NULL;
  kvo_mutation_destroy(&changed_key->mutation);
  changed_key->mutation.kind = KVO_SETTING;
  if (changed_key != &frame->general_delivery->first) kvo_free(changed_key);
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
  addition->frame->batch->is_adding = false;
}

static bool add_changed_key(kvo_frame *frame, uintptr_t id, const kvo_mutation *mutation) {
  kvo_batch *batch = frame->batch;
  kvo_changed_key *changed_key = batch_make_room(batch) ? make_changed_key(frame) : NULL;
  if (!changed_key) return false;
  frame->id = id; // the key that a report names
  put_changed_key(batch, batch_append_key(batch, id, batch_serial_now()), changed_key);
  batch->is_adding = true;
  addition addition = {frame, changed_key, mutation, false};
  kvo_unwinding(batch_add_key, end_adding, &addition);
  batch->is_adding = false;
  if (!addition.is_added) remove_changed_key(frame, changed_key);
  return addition.is_added;
}

// MARK: Changes

// Two mutations of a to-many key are delivered as one setting. The record keeps the elements of the first one, since
// its prior call, or a getter that reads them, may be what makes the second. Then the first is yet to be made, to what
// the second has left (D7).
static void note_again(batch_key *key, const kvo_batch *batch) {
  key->last_serial = batch_serial_now();
  kvo_changed_key *changed_key = key->changed_key;
  if (!changed_key) return;
  changed_key->last_serial = key->last_serial;
  changed_key->mutation.kind = KVO_SETTING;
  changed_key->mutation.became_setting = batch->is_adding;
}

static bool add_first(kvo_frame *frame, uintptr_t id, const kvo_mutation *mutation) {
  if (!batch_of(frame) && !batch_make(frame)) return false;
  uint64_t serial = batch_serial_now();
  kvo_observers observers =
      !mutation && may_be_plain(frame) ? kvo_object_observers(frame->object, id) : 0;
  if (observers && observers_are_plain(observers)) return add_plain(frame, id, observers, serial);
  return generalize(frame) && add_changed_key(frame, id, mutation);
}

// Records the first change of a key. False if the change is to be delivered by itself.
static bool record_first(kvo_frame *frame, uintptr_t id, const kvo_mutation *mutation) {
  const kvo_batch *batch = batch_of(frame);
  if (batch && batch->is_adding) return false;
  bool added = add_first(frame, id, mutation);
  if (!added) report_shortage_once(frame);
  return added;
}

kvo_frame *kvo_batch_record_slow(kvo_thread *thread, kvo_object *object, uintptr_t id,
    const kvo_mutation *mutation) {
  kvo_frame *frame = kvo_thread_batch(thread, object);
  if (!frame) return NULL;
  batch_key *key = batch_key_in(frame, id);
  if (!key) return record_first(frame, id, mutation) ? frame : NULL;
  note_again(key, frame->batch);
  return frame;
}

// Records the first change of a plain key, if this thread has no change open that the change may join: only batches.
static bool record_plain(const kvo_thread *thread, kvo_frame *frame, uintptr_t id) {
  bool is_adding = frame->batch->is_adding;
  if (thread->open_count != thread->batch_count || is_adding || !may_be_plain(frame)) return false;
  uint64_t serial = batch_serial_now();
  kvo_observers observers = kvo_object_observers(frame->object, id);
  return observers && observers_are_plain(observers) && add_plain(frame, id, observers, serial);
}

static __attribute__((noinline)) bool record_on_top(const kvo_thread *thread, kvo_frame *frame,
    uintptr_t id) {
  batch_key *key = batch_find_key(frame->batch, id);
  if (!key) return record_plain(thread, frame, id);
  note_again(key, frame->batch);
  return true;
}

kvo_frame *kvo_batch_record_on_top(kvo_thread *thread, kvo_object *object, uintptr_t id) {
  if (thread->top == thread->block->frames) return NULL;
  kvo_frame *frame = thread->top - 1;
  bool is_batch = frame->state == KVO_FRAME_BATCH && frame->object == object;
  // If the class announces its changes, its methods have to be called for a further change as well.
  bool has_keys_unannounced =
      (frame->flags & (KVO_FRAME_HAS_BATCH | KVO_FRAME_ANNOUNCES)) == KVO_FRAME_HAS_BATCH;
  return is_batch && has_keys_unannounced && record_on_top(thread, frame, id) ? frame : NULL;
}

bool kvo_batch_will_deliver(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  return batch_key_in(kvo_thread_batch(thread, object), id);
}

void kvo_batch_note_join(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  const kvo_frame *frame = kvo_thread_batch(thread, object);
  batch_key *key = batch_key_in(frame, id);
  const kvo_batch *batch = batch_of(frame);
  bool is_last = key && key == &batch->keys[batch->count - 1];
  if (is_last && batch->is_adding) note_again(key, batch);
}

bool kvo_batch_change_became_setting(const kvo_frame *change) {
  const kvo_frame *frame =
      kvo_this_thread ? kvo_thread_batch(kvo_this_thread, change->object) : NULL;
  const batch_key *key = batch_key_in(frame, change->id);
  const kvo_changed_key *changed_key = key ? key->changed_key : NULL;
  return changed_key && changed_key->mutation.became_setting && !frame->batch->is_adding;
}

// MARK: Delivering plain keys

// Whether the observers are plain, and were there when the batch began. Also finds out whether one wants new values.
static bool are_still_plain(const kvo_frame *frame, bool *wants_new) {
  const kvo_batch *batch = frame->batch;
  if (frame->flags & KVO_FRAME_GENERAL_DELIVERY || batch->lacks_old) return false;
  for (uint32_t i = 0; i < batch->count; i++) {
    kvo_observers observers = kvo_object_observers(frame->object, batch->keys[i].id);
    if (!observers) continue;
    if (!observers_are_plain(observers)) return false;
    if (kvo_registration_is_late(kvo_observers_single(observers), frame)) return false;
    *wants_new |= (kvo_observers_options(observers) & KVO_NEW) != 0;
  }
  return true;
}

static void read_new_plainly(kvo_frame *frame, batch_key *key) {
  kvo_observers observers = kvo_object_observers(frame->object, key->id);
  if (!observers || !(kvo_observers_options(observers) & KVO_NEW)) return;
  uint64_t shortages = kvo_shortages;
  frame->id = key->id; // the key that a report names
  const kvo_accessors *accessors = kvo_accessors_current(kvo_observers_accessors(observers));
  key->has_new = kvo_change_read(accessors, frame->object, &key->new_value);
  kvo_change_report_shortage(frame, shortages);
}

// Gives the values back, which are destroyed with the batch: an object that dies with one may throw.
static void take_values_back(kvo_frame *frame, batch_key *key) {
  key->has_old = frame->flags & KVO_FRAME_HAS_OLD;
  key->has_new = frame->flags & KVO_FRAME_HAS_NEW;
  if (key->has_old) key->old_value = frame->old_value;
  if (key->has_new) key->new_value = frame->new_value;
  frame->flags &= ~(uint32_t)(KVO_FRAME_HAS_OLD | KVO_FRAME_HAS_NEW);
}

// The observers are looked up again, since a getter or an earlier observer may have changed them.
static void deliver_plain_key(kvo_frame *frame, batch_key *key) {
  kvo_observers observers = kvo_object_observers(frame->object, key->id);
  if (!observers) return;
  frame->id = key->id;
  if (key->has_old) {
    frame->old_value = key->old_value;
    frame->flags |= KVO_FRAME_HAS_OLD;
  }
  if (key->has_new) {
    frame->new_value = key->new_value;
    frame->flags |= KVO_FRAME_HAS_NEW;
  }
  key->has_old = key->has_new = false;
  kvo_change_deliver_final(frame, observers);
  take_values_back(frame, key);
}

static void deliver_plain_keys(kvo_frame *frame, bool wants_new) {
  kvo_batch *batch = frame->batch;
  void *recorder = kvo_suspend_recording();
  for (uint32_t i = 0; wants_new && i < batch->count; i++) read_new_plainly(frame, &batch->keys[i]);
  for (uint32_t i = 0; i < batch->count; i++) deliver_plain_key(frame, &batch->keys[i]);
  kvo_resume_recording(recorder);
}

// A thread that registers at this time sees the stored values, or its registration is found after the fence (I3). If
// there is no memory for a general delivery, only observers that were there from the beginning are called.
static __attribute__((noinline)) void batch_deliver_all(kvo_frame *frame) {
  bool wants_new = false;
  kvo_light_fence();
  bool are_plain = are_still_plain(frame, &wants_new);
  if (!are_plain && generalize(frame)) {
    kvo_change_finish(frame);
    return;
  }
  for (uint32_t i = 0; !are_plain && i < frame->batch->count; i++)
    kvo_change_report_undelivered(frame->object, frame->batch->keys[i].id);
  deliver_plain_keys(frame, wants_new || !are_plain);
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
  const kvo_batch *batch = batch_of(frame);
  if (batch && batch->count) batch_deliver_all(frame);
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
