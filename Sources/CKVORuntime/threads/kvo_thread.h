/// Threads and their open changes: frames, which also are hazard pointers.
///
/// A frame is an automatic change from its will phase to the end of its delivery, or one delivery of a manual change.
/// It is on its thread's stack of frames (frames.c). While it exists, its `object` member warns every thread that
/// frees something: do not free what belongs to that object's observations (reclaim.c).
#ifndef KVO_THREAD_H
#define KVO_THREAD_H

#include "kvo_binding.h"
#include "threads/kvo_exceptions.h"
#include "threads/kvo_reclaim.h"

#include <pthread.h>

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_thread kvo_thread;

/// The observers of one key: a registration, a group key, a list, or NULL, with marks in the lowest bits.
typedef uintptr_t kvo_observers;

enum kvo_frame_state {
  KVO_FRAME_FREE = 0,
  KVO_FRAME_OPEN,
  /// Open. Methods of the object's class begin and finish it (announced.c), or a batch does (change.c).
  KVO_FRAME_ANNOUNCED,
  KVO_FRAME_DELIVERING, ///< a change that is being delivered; `id` is its property's
  KVO_FRAME_ANNOUNCING, ///< the class's did method runs, and no observer is called
  KVO_FRAME_ABANDONED,  ///< was open when its object died; can only be popped
  KVO_FRAME_UNOBSERVED, ///< open, but had no observer when it began
  KVO_FRAME_PROTECTS,   ///< not a change: protects an object that is read or called
  KVO_FRAME_SCOPED,     ///< a manual change around a body that runs; `key` is its property's
  KVO_FRAME_BATCH,      ///< collects the changes of its object's keys (batch.c)
  KVO_FRAME_JOINS,      ///< an in-place mutation that is part of another open change (in_place.c)
};

enum kvo_frame_flag {
  KVO_FRAME_RETAINED = 1, ///< the object is retained until the frame is popped
  KVO_FRAME_HAS_OLD = 2,
  KVO_FRAME_HAS_NEW = 4,
  KVO_FRAME_HAS_TICKET = 8,        ///< `ticket` was taken before the new values were read
  KVO_FRAME_CALLS = 16,            ///< `observer` is retained while it is called
  KVO_FRAME_GENERAL_DELIVERY = 32, ///< `general_delivery` is valid, and owned by the frame
  KVO_FRAME_READS = 64,            ///< the key or path that `id` names is being read
  KVO_FRAME_REPORTED = 128,        ///< a shortage of memory during the change has been reported
  KVO_FRAME_TRANSFERRED = 256, ///< `transferred_to` ends the change, which another thread has begun
  KVO_FRAME_FAST_PATH = 512,   ///< a binding's change that began on the fast path (kvo_fast_path.h)
  /// `recipient` was the only one in the will phase (single_recipient.c)
  KVO_FRAME_SINGLE_RECIPIENT = 1024,
  KVO_FRAME_BEGUN = 2048,   ///< an announced change that has begun
  KVO_FRAME_BATCHED = 4096, ///< the change is announced, and a batch has taken it over
  /// A change that did not take place, and notifies only those that other changes have left to it. An announced change
  /// still calls its methods.
  KVO_FRAME_CANCELLED = 8192,
  KVO_FRAME_SILENT = 16384, ///< an announced change for which the class has no method of its own
  KVO_FRAME_ANNOUNCES =
      KVO_FRAME_SILENT, ///< for a batch: the class has methods that are called for each change (E5)
  KVO_FRAME_HAS_MUTATION = 32768, ///< `mutation` is valid, and owned by the frame
  KVO_FRAME_IN_PLACE =
      65536, ///< the property can't be read until the change is closed (in_place.c)
  KVO_FRAME_COPIES =
      131072, ///< with KVO_FRAME_FAST_PATH: the values are copies, which the frame owns
  KVO_FRAME_HAS_BATCH = 262144, ///< `batch` is valid, and owned by the frame
};

/// A change as one observer sees it; laid out as the binding's `kvo_change_parts`.
struct kvo_change {
  kvo_change_kind kind;
  bool is_prior;
  const kvo_value *KVO_NULLABLE old_value;
  const kvo_value *KVO_NULLABLE new_value;
  const kvo_index_set *KVO_NULLABLE indexes;
};
/// A change as a group sees it, with the index of the key (`kvo_change_get_key_index`).
typedef struct kvo_keyed_change {
  kvo_change change;
  uint32_t key_index;
} kvo_keyed_change;

/// Where a key's observers were found: in a cell of a table, or in the object itself.
typedef struct kvo_observer_slot {
  uintptr_t word; ///< the object's observation word
  kvo_observers observers;
  const uintptr_t *KVO_NULLABLE source; ///< the address they were loaded from
  uintptr_t found;                      ///< the word that was found there
} kvo_observer_slot;

struct kvo_frame {
  union {
    kvo_object *KVO_NULLABLE object; ///< the hazard pointer's; NULL when the frame is free
    kvo_hazard hazard;
  };
  kvo_thread *thread; ///< immutable
  uintptr_t id;       ///< the property's, kvo_accessors.id
  /// For a scoped change or an announced change: the key, interned. Atomic, because dumps show it.
  const char *key;
  /// `kvo_serial` when the frame began; atomic. Registrations up to this number were there then, and retirements up
  /// to this number don't wait for the frame. A manual change is as old as its will phase.
  uint64_t serial;
  /// The stamp of its delivery (`kvo_binding_delivery_stamp`); not greater than `serial` if none has been taken.
  uint64_t delivery_stamp;
  uint32_t state; ///< enum kvo_frame_state; atomic, because another thread may end the frame
  uint32_t flags; ///< enum kvo_frame_flag
  const kvo_object *KVO_NULLABLE
      awaited; ///< The object whose retired memory may wait for this frame's pop; atomic.
  kvo_value old_value, new_value;
  /// Used by the fast path. Always a setting: only the pointers to the values are stored, and a group's key index.
  union {
    kvo_change change;
    kvo_keyed_change keyed;
  };
  /// With KVO_FRAME_FAST_PATH. With KVO_FRAME_SINGLE_RECIPIENT only `observers` is used.
  kvo_observer_slot observer_slot;
  union {
    struct kvo_handle
        *KVO_NULLABLE recipient; ///< with KVO_FRAME_SINGLE_RECIPIENT; may have been freed
    /// With KVO_FRAME_HAS_MUTATION: the mutation that the class's methods are called with.
    struct kvo_mutation_record *KVO_NULLABLE mutation;
    struct kvo_batch
        *KVO_NULLABLE batch; ///< with KVO_FRAME_HAS_BATCH: the keys that it has collected
  };
  uint64_t ticket;                   ///< with KVO_FRAME_HAS_TICKET (distinct.c)
  uint64_t serial_at_ticket;         ///< with KVO_FRAME_HAS_TICKET: `kvo_serial` when it was taken
  kvo_object *KVO_NULLABLE observer; ///< with KVO_FRAME_CALLS
  struct kvo_general_delivery *KVO_NULLABLE general_delivery; ///< with KVO_FRAME_GENERAL_DELIVERY
  /// With KVO_FRAME_IN_PLACE (in_place.c): the task that makes the mutation, the delivery of its change that the last
  /// search has found, the next older mutation of any task, and the pointer to this one. Graph lock.
  const void *KVO_NULLABLE task;
  struct kvo_general_delivery *KVO_NULLABLE in_place_delivery;
  kvo_frame *KVO_NULLABLE next_in_place;
  kvo_frame *KVO_NULLABLE *KVO_NULLABLE in_place_slot;
  /// How many changes have joined it since its general delivery began. Atomic, because the frame may have been
  /// transferred to another thread when this one finds it.
  uint32_t joins;
  uint16_t index; ///< index in its block; immutable
  /// Whether its general delivery calls prior observers. It is not transferred to another thread until they have
  /// returned. Only for this thread.
  bool is_in_priors;
  /// A stamp from when the change was transferred to another thread; not greater than `serial` if it was not. Atomic.
  uint64_t transferred_at;
  /// With KVO_FRAME_TRANSFERRED, used by the thread that the frame was transferred to: how many changes of its own
  /// stack it was delivering then, and the frame that was transferred to it before and has not ended.
  uint32_t outer_deliveries;
  kvo_frame *KVO_NULLABLE outer_transferred;
  pthread_t transferred_to; ///< with KVO_FRAME_TRANSFERRED
};

enum { KVO_FRAMES_PER_BLOCK = 16 };

/// A part of a stack of frames; never freed.
typedef struct kvo_frame_block {
  /// The block below; atomic. It stays unchanged when the block is taken out, for threads that are walking the stack.
  struct kvo_frame_block *KVO_NULLABLE previous;
  struct kvo_frame_block *KVO_NULLABLE next_spare;
  uintptr_t stack; ///< the thread's stack pointer when the block was entered
  kvo_frame frames[KVO_FRAMES_PER_BLOCK];
} kvo_frame_block;

KVO_INLINE kvo_frame *kvo_frame_block_end(kvo_frame_block *block) {
  return block->frames + KVO_FRAMES_PER_BLOCK;
}
KVO_INLINE kvo_frame_block *kvo_frame_block_of(kvo_frame *frame) {
  char *first = (char *)(frame - frame->index);
  return (kvo_frame_block *)(void *)(first - offsetof(kvo_frame_block, frames));
}
KVO_INLINE bool kvo_frame_is_free(const kvo_frame *frame) {
  return __atomic_load_n(&frame->state, __ATOMIC_ACQUIRE) == KVO_FRAME_FREE;
}
/// Whether the frame's change is being delivered or announced.
KVO_INLINE bool kvo_frame_is_delivering(const kvo_frame *frame) {
  uint32_t state = __atomic_load_n(&frame->state, __ATOMIC_ACQUIRE);
  return state == KVO_FRAME_DELIVERING || state == KVO_FRAME_ANNOUNCING;
}

/// The record of a thread that delivers. It passes to another thread when its own has ended and all of its frames
/// have.
struct kvo_thread {
  /// The next free frame; atomic. Other threads see from it whether there are frames.
  kvo_frame *top;
  kvo_frame *limit;                            ///< the end of its block
  kvo_frame_block *block;                      ///< the block of `top`; atomic
  kvo_thread *KVO_NULLABLE next;               ///< next record that may have frames; atomic
  kvo_thread *KVO_NULLABLE *KVO_NULLABLE link; ///< the pointer to this one; NULL in the pool
  kvo_thread *KVO_NULLABLE next_pooled;
  kvo_frame_block *KVO_NULLABLE spare; ///< blocks taken out of the stack
  uint32_t block_count;                ///< blocks on the stack, without the first
  /// Open automatic changes, in-place mutations that joined one, and batches. Usually 0: then there is no change to
  /// join.
  uint32_t open_count;
  uint32_t batch_count;
  /// The number of the thread that has the record now, from 1; unique. Atomic, because dumps show it.
  uint32_t number;
  uintptr_t owner_bits;   ///< its thread's mark in objects' words (kvo_table.h); immutable
  uint32_t reading_count; ///< frames with KVO_FRAME_READS
  bool in_use;            ///< atomic
  bool has_holes;         ///< frames have been ended by other threads; atomic
  struct kvo_manual_change
      *KVO_NULLABLE manual_changes; ///< its open manual changes; manual_change.c's
  /// The change whose prior observers it calls, the innermost of several. Valid only in such a call.
  const kvo_frame *KVO_NULLABLE prior_frame;
  /// The class's method that it is calling; announced.c's.
  struct kvo_announcing *KVO_NULLABLE announcing;
  /// Open changes of links; open_path_changes.c's. Graph lock; atomic, because the thread checks without the lock
  /// whether there is one.
  struct kvo_general_delivery *KVO_NULLABLE open_links;
  kvo_frame_block first; ///< always the lowest block
};

/// The bits of an object's word that name its owning thread (kvo_table.h); none if no bits of an address are free.
#if defined(__x86_64__) && defined(__linux__)
enum { KVO_OWNER_SHIFT = 48 };
#define KVO_OWNER_BITS (~(uintptr_t)0 << KVO_OWNER_SHIFT)
#else
enum { KVO_OWNER_SHIFT = 0 };
#define KVO_OWNER_BITS ((uintptr_t)0)
#endif
/// This thread's mark in those bits; 0 while it has no record, or none whose number fits.
extern __thread uintptr_t kvo_owner_bits __attribute__((tls_model("initial-exec")));

extern __thread kvo_thread *KVO_NULLABLE kvo_this_thread __attribute__((tls_model("initial-exec")));
/// Equals `kvo_this_thread`, unless reads are being recorded or the thread has no record. Then it points at a dummy
/// with a change permanently open. One load decides whether the fast path is allowed (kvo_fast_path.h).
extern __thread kvo_thread *kvo_fast_path_thread __attribute__((tls_model("initial-exec")));

/// This thread's number; 0 while it has no record.
KVO_INLINE uint32_t kvo_thread_number(void) {
  return kvo_this_thread ? kvo_this_thread->number : 0;
}

/// This thread's record, made or taken from the pool when first needed. NULL if out of memory.
kvo_thread *KVO_NULLABLE kvo_thread_start(void);
KVO_INLINE kvo_thread *KVO_NULLABLE kvo_thread_current(void) {
  kvo_thread *thread = kvo_this_thread;
  return KVO_LIKELY(thread != NULL) ? thread : kvo_thread_start();
}

/// The records that may have frames, linked by `next` (`kvo_thread_next`): those of live threads, and those of
/// threads that ended with changes open that continue on other threads. May be walked without a lock. A record that
/// stays in the list during the walk is met at least once.
kvo_thread *KVO_NULLABLE kvo_thread_first(void);
KVO_INLINE kvo_thread *KVO_NULLABLE kvo_thread_next(const kvo_thread *thread) {
  return __atomic_load_n(&thread->next, __ATOMIC_SEQ_CST);
}
extern uint32_t kvo_threads_in_use; ///< how many threads have a record; atomic
/// Whether any other thread has a record. O(1).
KVO_INLINE bool kvo_thread_others_exist(void) {
  uint32_t own = kvo_this_thread ? 1 : 0;
  return __atomic_load_n(&kvo_threads_in_use, __ATOMIC_SEQ_CST) > own;
}
/// Called when another thread has ended a frame of this record: returns the record to the pool if nothing needs it
/// any more.
void kvo_thread_release(kvo_thread *thread);

/// In a forked child: returns the records of all threads but this one to the pool, with all that they had open.
/// Thread lock and manual change lock held.
void kvo_thread_abandon_others(void);
/// Installs the fork handlers. It runs when the program is loaded.
void kvo_cover_forks(void);

/// Initializes an empty stack.
void kvo_frames_init(kvo_thread *thread);
/// Takes free frames off the stack and returns whether it is empty then.
bool kvo_frames_are_gone(kvo_thread *thread);
/// In a forked child: ends all frames of the record but those that were transferred to this thread.
void kvo_frames_clear_after_fork(kvo_thread *thread);
/// Moves on to the next block, made if necessary, for a change of `object`. False if out of memory.
bool kvo_thread_enter_next_block(kvo_thread *thread, kvo_object *object);
/// Takes free frames off the top. Needed after frames have ended out of order, or at the beginning of a block.
void kvo_thread_shrink(kvo_thread *thread);
/// Frees memory that waited for a frame of this thread which no longer protects the object `awaited`.
void kvo_frame_reclaim_waiters(kvo_frame *frame, const kvo_object *awaited);
/// Transfers a frame to this thread, which ends a change that another thread has begun. The frame stays on that
/// thread's stack, and survives a fork by this thread.
void kvo_frame_transfer(kvo_frame *frame);
/// The frame that was transferred to this thread last and has not ended. If there is one, the thread is in a change
/// although it may have no frame.
extern __thread kvo_frame *KVO_NULLABLE kvo_transferred_frame
    __attribute__((tls_model("initial-exec")));
/// Pops a frame that has values or retains its object, that belongs to another thread, or that something waits for.
void kvo_frame_pop_slowly(kvo_frame *frame);

/// Pushes a frame that protects the object from then on: what is read of the object's observations afterwards is not
/// freed before the frame is popped. NULL if out of memory.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_frame_push_as(kvo_thread *thread, kvo_object *object,
    uint32_t state) {
  bool is_full = thread->top == thread->limit;
  if (KVO_UNLIKELY(is_full) && !kvo_thread_enter_next_block(thread, object)) return NULL;
  kvo_frame *frame = thread->top;
  // Visible no later than the hazard pointer.
  __atomic_store_n(&thread->top, frame + 1, __ATOMIC_RELAXED);
  frame->flags = 0;
  __atomic_store_n(&frame->state, state, __ATOMIC_RELAXED);
  kvo_hazard_publish(&frame->hazard, object);
  __atomic_store_n(&frame->serial, __atomic_load_n(&kvo_serial, __ATOMIC_SEQ_CST),
      __ATOMIC_RELEASE);
  return frame;
}
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_frame_push(kvo_thread *thread, kvo_object *object) {
  return kvo_frame_push_as(thread, object, KVO_FRAME_PROTECTS);
}
/// Pushes a frame that takes over a reference to its object and releases it at its end, even if the program's code
/// throws. Returns NULL, having released the object, if out of memory.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_frame_push_held(kvo_object *object) {
  kvo_thread *thread = kvo_thread_current();
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (frame) frame->flags |= KVO_FRAME_RETAINED;
  else kvo_object_release(object);
  return frame;
}

/// Retains the frame's object until the frame ends, unless the object is dying. Call before the program's own code is
/// called, which may drop the last other reference.
void kvo_frame_hold(kvo_frame *frame);

/// Makes a frame of this thread older than its push.
KVO_INLINE void kvo_frame_backdate(kvo_frame *frame, uint64_t serial) {
  frame->delivery_stamp = 0; // one that an earlier change took might be greater than the serial
  __atomic_store_n(&frame->transferred_at, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&frame->serial, serial, __ATOMIC_RELEASE);
}

/// Ends a frame of this thread: its values and its hazard pointer. Frees what waited for it.
KVO_INLINE void kvo_frame_pop_own(kvo_thread *thread, kvo_frame *frame) {
  if (KVO_UNLIKELY(frame->flags || thread->top != frame + 1)) {
    kvo_frame_pop_slowly(frame);
    return;
  }
  kvo_hazard_end(&frame->hazard);
  __atomic_store_n(&frame->state, KVO_FRAME_FREE, __ATOMIC_RELEASE);
  __atomic_store_n(&thread->top, frame,
      __ATOMIC_RELEASE); // after all reads under the hazard pointer
  if (frame != thread->first.frames) kvo_thread_shrink(thread);
  const kvo_object *awaited = __atomic_load_n(&frame->awaited, __ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(awaited != NULL)) kvo_frame_reclaim_waiters(frame, awaited);
}
/// Ends a frame of any thread. It belongs to another one if an access was suspended and resumed elsewhere.
KVO_INLINE void kvo_frame_pop(kvo_frame *frame) {
  kvo_thread *thread = frame->thread;
  if (KVO_LIKELY(thread == kvo_this_thread)) kvo_frame_pop_own(thread, frame);
  else kvo_frame_pop_slowly(frame);
}

/// Runs `body(context)`, which calls the program's code. If an exception leaves the body, the frames that this thread
/// pushed in it are unwound, then `undo(context)` is called.
KVO_INLINE void kvo_unwinding(void (*body)(void *KVO_NULLABLE context),
    void (*KVO_NULLABLE undo)(void *KVO_NULLABLE context), void *KVO_NULLABLE context) {
#ifdef KVO_EXCEPTIONS
  kvo_run_unwinding(kvo_this_thread ? kvo_this_thread->top : NULL, body, undo, context);
#else
  (void)undo;
  body(context);
#endif
}

/// Runs `body(context)`, which calls the program's code, with the object retained, unless it is dying. That code may
/// drop the last other reference, and the body goes on using the object. Exceptions pass through.
void kvo_with_object_retained(kvo_object *object, void (*body)(void *KVO_NULLABLE context),
    void *KVO_NULLABLE context);

/// Called before and after prior observers of a change are called. The first returns what is passed to the second.
KVO_INLINE const kvo_frame *KVO_NULLABLE kvo_thread_begin_priors(const kvo_frame *frame) {
  const kvo_frame *outer = frame->thread->prior_frame;
  frame->thread->prior_frame = frame;
  return outer;
}
KVO_INLINE void kvo_thread_end_priors(const kvo_frame *frame, const kvo_frame *KVO_NULLABLE outer) {
  frame->thread->prior_frame = outer;
}

/// If this thread has an automatic change of the property open, counts a further change as one that joins it (`joins`)
/// and returns true.
bool kvo_thread_join_among_open(const kvo_thread *thread, const kvo_object *object, uintptr_t id);
KVO_INLINE bool kvo_thread_join_open(const kvo_thread *thread, const kvo_object *object,
    uintptr_t id) {
  return KVO_UNLIKELY(thread->open_count) && kvo_thread_join_among_open(thread, object, id);
}
/// The frame of this thread's open automatic change of the property, or NULL.
kvo_frame *KVO_NULLABLE kvo_thread_find_open(const kvo_thread *thread, const kvo_object *object,
    uintptr_t id);
#ifdef KVO_POISON
/// Whether a frame of this thread protects the object, or one transferred to it may.
bool kvo_thread_protects(const kvo_object *object);
#endif
kvo_frame *KVO_NULLABLE kvo_thread_find_batch(const kvo_thread *thread, const kvo_object *object);
/// The frame of this thread's batch of the object (batch.c), or NULL.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_thread_batch(const kvo_thread *thread,
    const kvo_object *object) {
  return KVO_UNLIKELY(thread->batch_count) ? kvo_thread_find_batch(thread, object) : NULL;
}
/// Destroys the new value of a frame of this thread, if it has one.
KVO_INLINE void kvo_frame_forget_new(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_HAS_NEW) kvo_value_destroy(&frame->new_value);
  frame->flags &= ~(uint32_t)KVO_FRAME_HAS_NEW;
}
/// Marks a frame of this thread: a derived key or path of its object, named by `id`, is being read. Its getter may
/// set what it reads.
KVO_INLINE void kvo_frame_reads(kvo_frame *frame, uintptr_t id) {
  frame->id = id;
  frame->flags |= KVO_FRAME_READS;
  frame->thread->reading_count++;
}
/// Whether this thread is reading the key or path `id` of the object.
bool kvo_thread_is_reading(const kvo_object *object, uintptr_t id);
/// Abandons the open changes of an object that dies inside them, because a callback of a nested change released it.
/// The code that closes them later must not touch the object or join a change of a new object at its address.
void kvo_thread_abandon_open(kvo_thread *thread, const kvo_object *object);
/// The newest change whose observers or methods are being called, among those that began before `later`, or among all
/// if that is NULL. NULL if there is none. Only changes that the thread has begun and not left to another one.
const kvo_frame *KVO_NULLABLE kvo_thread_delivering_before(const kvo_thread *thread,
    const kvo_frame *KVO_NULLABLE later);
/// The newest change that is open, of any kind, among those that began before `later`, or among all if that is NULL.
/// NULL if there is none.
kvo_frame *KVO_NULLABLE kvo_thread_open_before(const kvo_thread *thread,
    kvo_frame *KVO_NULLABLE later);
/// Calls `visit` for each scoped change of the object (scoped_change.c) whose body runs, on any thread, with its key
/// and the thread's number. The key is NULL for a batch (batch.c). Scoped changes that begin or end during the call may
/// be missed.
typedef void (*kvo_scoped_change_visitor)(void *KVO_NULLABLE context, const char *KVO_NULLABLE key,
    uint32_t thread);
void kvo_frames_visit_scoped_changes(const kvo_object *object, kvo_scoped_change_visitor visit,
    void *KVO_NULLABLE context);
/// How many changes are being delivered or announced.
uint32_t kvo_thread_count_delivering(const kvo_thread *thread);
/// An upper bound of the number of frames. O(1).
KVO_INLINE uint32_t kvo_thread_depth_at_most(const kvo_thread *thread) {
  return (thread->block_count + 1) * KVO_FRAMES_PER_BLOCK;
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
