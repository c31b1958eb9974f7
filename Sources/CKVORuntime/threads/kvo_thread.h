/// Threads and the changes that they have open: frames, which are hazard pointers as well.
///
/// A frame is one automatic change from its will to the end of its delivery, or one delivery of a
/// change by hand. It lies on its thread's stack of frames (frames.c). While it is there, its
/// `object` member tells every thread that frees something: leave alone what belongs to that
/// object's observations (reclaim.c).
#ifndef KVO_THREAD_H
#define KVO_THREAD_H

#include "kvo_binding.h"
#include "threads/kvo_exceptions.h"
#include "threads/kvo_reclaim.h"

#include <pthread.h>

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_thread kvo_thread;

/// The observers of one key: a registration, a seat, a list, or NULL, with marks in the lowest bits.
typedef uintptr_t kvo_observers;

/// Which threads count how often an observer is told: the first thread, and all others together (distinct.c).
enum { KVO_TELLER_SORTS = 2 };
/// What one change knows of one observer since its will.
typedef struct kvo_distinction {
  uint64_t claim;    ///< the observer's last claim at will
  uint32_t tellings; ///< how often telling the observer had begun, of which it knows, and had ended
  uint32_t begun;    ///< how many changes had begun and not passed it over, this one among them
} kvo_distinction;
/// One telling of such an observer, from its did until the observer has returned.
typedef struct kvo_telling kvo_telling;
struct kvo_telling {
  struct kvo_handle *KVO_NULLABLE registration; ///< NULL: it has ended
  uint32_t sort;                                ///< of the thread that does it
  kvo_telling *KVO_NULLABLE next;               ///< the one of its thread that began before it
  kvo_telling *KVO_NULLABLE *KVO_NULLABLE link; ///< what points at this one
};

enum kvo_frame_state {
  KVO_FRAME_FREE = 0,
  KVO_FRAME_OPEN,
  KVO_FRAME_ANNOUNCED, ///< is open, and methods of the object's class begin and finish it (announced.c)
  KVO_FRAME_DELIVERING, ///< a change that is being told: `id` is its property's
  KVO_FRAME_ANNOUNCING, ///< one of which the class's method for the did runs, and no observer is called
  KVO_FRAME_ABANDONED, ///< was open when its object died: only to be popped
  KVO_FRAME_LOOKING,   ///< is open, but had no observer when it began
  KVO_FRAME_PROTECTS,  ///< is no change: it protects objects that are being read or called
  KVO_FRAME_BRACKET,   ///< a change by hand around a body that runs: `key` is its property's
  KVO_FRAME_BATCH,     ///< collects the changes of its object's keys (batch.c)
};

enum kvo_frame_flag {
  KVO_FRAME_RETAINED = 1, ///< the object is held until the frame is popped
  KVO_FRAME_HAS_OLD = 2,
  KVO_FRAME_HAS_NEW = 4,
  KVO_FRAME_TELLS = 8,        ///< `telling`, or some of the propagation's, may not have ended
  KVO_FRAME_CALLS = 16,       ///< `observer` is held while it is called
  KVO_FRAME_PROPAGATES = 32,  ///< `propagation` is the frame's
  KVO_FRAME_READS = 64,       ///< what `id` names is being read
  KVO_FRAME_REPORTED = 128,   ///< that memory was out for some of the change has been reported
  KVO_FRAME_TAKEN_OVER = 256, ///< `taker` ends the change, which another thread has begun
  KVO_FRAME_SHORT = 512,      ///< a binding's change that has begun the short way (kvo_short.h)
  KVO_FRAME_SINGLE_RECIPIENT = 1024, ///< `recipient` alone was found at will (single_recipient.c)
  KVO_FRAME_BEGUN = 2048,            ///< an announced change that has begun
  KVO_FRAME_BATCHED = 4096,          ///< one that a batch has taken instead
  KVO_FRAME_CANCELLED = 8192,        ///< one that came to nothing
  KVO_FRAME_SILENT = 16384,          ///< one for which the class has no method of its own
  KVO_FRAME_ANNOUNCES =
      KVO_FRAME_SILENT, ///< of a batch: the class has methods, which are called for each change (E5)
  KVO_FRAME_HAS_PART = 32768, ///< `announced` is the frame's
};

/// One change as one observer sees it: laid out as the binding's `kvo_change_parts`.
struct kvo_change {
  kvo_change_kind kind;
  bool is_prior;
  const kvo_value *KVO_NULLABLE old_value;
  const kvo_value *KVO_NULLABLE new_value;
  const kvo_index_set *KVO_NULLABLE indexes;
};
/// One as a group sees it, which is told which of its keys it is of (`kvo_change_get_key_index`).
typedef struct kvo_keyed_change {
  kvo_change change;
  uint32_t key_index;
} kvo_keyed_change;

/// Where a key's observers are: in a cell of a table, or at the object itself.
typedef struct kvo_place {
  uintptr_t word; ///< the object's
  kvo_observers observers;
  const uintptr_t *KVO_NULLABLE source; ///< where they were found,
  uintptr_t found;                      ///< and as what
} kvo_place;

struct kvo_frame {
  union {
    kvo_object *KVO_NULLABLE object; ///< of the hazard pointer: NULL when the frame is free
    kvo_hazard hazard;
  };
  kvo_thread *thread; ///< immutable
  uintptr_t id;       ///< of the property, kvo_accessors.id
  const char
      *key; ///< of a bracket and of an announced change: interned; atomic, since dumps show it
  uint64_t
      serial;     ///< registrations up to this one were there when the frame began, and retirements
                  ///< up to this one don't concern it (kvo_serial); atomic. A change by hand is as
                  ///< old as its will
  uint32_t state; ///< enum kvo_frame_state, atomic: another thread may end the frame
  uint16_t flags; ///< enum kvo_frame_flag
  uint16_t index; ///< in its block; immutable
  const kvo_object *KVO_NULLABLE
      awaited; ///< atomic: what is retired of that object may wait for this frame's pop
  kvo_value old_value, new_value;
  /// The short way's, a setting, of which only the values' places are stored; for a group the index as well.
  union {
    kvo_change change;
    kvo_keyed_change keyed;
  };
  kvo_place place; ///< with KVO_FRAME_SHORT; of it `observers` with KVO_FRAME_SINGLE_RECIPIENT
  union {
    struct kvo_handle
        *KVO_NULLABLE recipient; ///< with KVO_FRAME_SINGLE_RECIPIENT; may have been freed
    struct kvo_mutation_record
        *KVO_NULLABLE announced; ///< with KVO_FRAME_HAS_PART: what the class's methods are given
  };
  kvo_distinction distinction;                      ///< of an observer with `KVO_DISTINCT`
  kvo_telling telling;                              ///< with KVO_FRAME_TELLS
  kvo_object *KVO_NULLABLE observer;                ///< with KVO_FRAME_CALLS
  struct kvo_propagation *KVO_NULLABLE propagation; ///< with KVO_FRAME_PROPAGATES
  pthread_t taker;                                  ///< with KVO_FRAME_TAKEN_OVER
};

enum { KVO_FRAMES_PER_BLOCK = 16 };

/// Part of a stack, never freed.
typedef struct kvo_frame_block {
  /// The block below; atomic. Stays as it is when the block is taken out, for threads that are just
  /// looking through the stack.
  struct kvo_frame_block *KVO_NULLABLE previous;
  struct kvo_frame_block *KVO_NULLABLE next_spare;
  uintptr_t stack; ///< where the thread's own stack was when it came here
  kvo_frame frames[KVO_FRAMES_PER_BLOCK];
} kvo_frame_block;

/// One per thread that delivers. It goes to another thread when its own has ended and all of its
/// frames have.
struct kvo_thread {
  kvo_frame *top;         ///< the next free frame; atomic: others see by it that there is none
  kvo_frame *limit;       ///< the end of its block
  kvo_frame_block *block; ///< where `top` lies; atomic likewise
  kvo_thread *KVO_NULLABLE next; ///< in the list of those that may have frames; atomic
  kvo_thread *KVO_NULLABLE *KVO_NULLABLE link; ///< what points at this one; NULL in the pool
  kvo_thread *KVO_NULLABLE next_pooled;
  kvo_frame_block *KVO_NULLABLE spare; ///< taken out of the stack
  uint32_t block_count;                ///< of the stack, without the first
  /// Automatic changes not yet closed, and batches: mostly none, then there is none to join.
  uint32_t open_count;
  uint32_t batch_count;
  /// Of the thread that has the record now, from 1; no two threads share one. Atomic: dumps show it.
  uint32_t number;
  uintptr_t owner_bits;   ///< of its thread, in words of objects (kvo_table.h); immutable
  uint32_t reading_count; ///< frames with KVO_FRAME_READS
  bool in_use;            ///< atomic
  bool has_holes;         ///< frames have ended elsewhere meanwhile; atomic
  kvo_telling *KVO_NULLABLE tellings;       ///< of observers with `KVO_DISTINCT`, by this thread
  struct kvo_open_pair *KVO_NULLABLE pairs; ///< changes by hand that it has open; manual.c's
  struct kvo_announcing *KVO_NULLABLE announcing; ///< the method that it calls; announced.c's
  /// Changes of links that are open; open_links.c's. Graph lock; atomic, since the thread looks without it whether there is one.
  struct kvo_propagation *KVO_NULLABLE open_links;
  kvo_frame_block first; ///< always the lowest
};

/// The bits of an object's word that name a thread (kvo_table.h); none where no bits of an address are free.
#if defined(__x86_64__) && defined(__linux__)
enum { KVO_OWNER_SHIFT = 48 };
#define KVO_OWNER_BITS (~(uintptr_t)0 << KVO_OWNER_SHIFT)
#else
enum { KVO_OWNER_SHIFT = 0 };
#define KVO_OWNER_BITS ((uintptr_t)0)
#endif
/// This thread's name there; 0 while it has no record, or none that fits.
extern __thread uintptr_t kvo_owner_bits __attribute__((tls_model("initial-exec")));

extern __thread kvo_thread *KVO_NULLABLE kvo_this_thread __attribute__((tls_model("initial-exec")));
/// The same while nothing is recorded; else, and where there is no record, one that has a change open always.
/// So one look tells whether a change may go the short way (kvo_short.h).
extern __thread kvo_thread *kvo_short_thread __attribute__((tls_model("initial-exec")));

/// This thread's number, 0 while it has no record.
KVO_INLINE uint32_t kvo_thread_number(void) {
  return kvo_this_thread ? kvo_this_thread->number : 0;
}

/// This thread's record, made or taken from the pool at first need. NULL if memory is out.
kvo_thread *KVO_NULLABLE kvo_thread_start(void);
KVO_INLINE kvo_thread *KVO_NULLABLE kvo_thread_current(void) {
  kvo_thread *thread = kvo_this_thread;
  return KVO_LIKELY(thread != NULL) ? thread : kvo_thread_start();
}

/// The records that may have frames, linked by `next` (`kvo_thread_next`): those of threads that
/// live, and those of threads that ended with changes open that go on elsewhere. May be walked
/// without a lock; what has been there since before is met at least once.
kvo_thread *KVO_NULLABLE kvo_thread_first(void);
KVO_INLINE kvo_thread *KVO_NULLABLE kvo_thread_next(const kvo_thread *thread) {
  return __atomic_load_n(&thread->next, __ATOMIC_SEQ_CST);
}
extern uint32_t kvo_threads_in_use; ///< how many threads have a record; atomic
/// Whether another thread than this one has a record. O(1).
KVO_INLINE bool kvo_thread_others_exist(void) {
  uint32_t own = kvo_this_thread ? 1 : 0;
  return __atomic_load_n(&kvo_threads_in_use, __ATOMIC_SEQ_CST) > own;
}
/// A frame of this record has ended on another thread: it may have been the last that needed the record.
void kvo_thread_let_go(kvo_thread *thread);

/// In a forked child: the records of all threads but this one return to the pool, with all that
/// they had open. Thread and pairs lock held.
void kvo_thread_abandon_others(void);
/// Has forks covered. It runs when the program is loaded.
void kvo_cover_forks(void);

/// An empty stack.
void kvo_frames_init(kvo_thread *thread);
/// Whether nothing is left on the stack, of which free frames are taken off first.
bool kvo_frames_are_gone(kvo_thread *thread);
/// In a forked child: ends all frames but those that this thread has taken over.
void kvo_frames_abandon(kvo_thread *thread);
/// Goes on to the next block, made if need be, for a change of that object. False if memory is out.
bool kvo_thread_enter_next_block(kvo_thread *thread, kvo_object *object);
/// Takes free frames off the top, where they ended out of order or a block begins.
void kvo_thread_shrink(kvo_thread *thread);
/// Frees what waited for a frame of this thread's that no longer protects the object.
void kvo_frame_reclaim_waiters(kvo_frame *frame, const kvo_object *awaited);
/// This thread ends a change that another has begun. Should it fork meanwhile, the frame goes on.
void kvo_frame_take_over(kvo_frame *frame);
/// How many of those this thread is at: it is in a change, although none of its own frames is.
extern __thread uint32_t kvo_taken_over __attribute__((tls_model("initial-exec")));
/// What a pop does if the frame has values or holds its object, belongs to another thread, or if
/// something waits for it.
void kvo_frame_pop_slowly(kvo_frame *frame);

/// A new frame on top, which protects the object from now on: what is read of the object's
/// observations afterwards is not freed before the frame is popped. NULL if memory is out.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_frame_push_as(kvo_thread *thread, kvo_object *object,
    uint32_t state) {
  bool is_full = thread->top == thread->limit;
  if (KVO_UNLIKELY(is_full) && !kvo_thread_enter_next_block(thread, object)) return NULL;
  kvo_frame *frame = thread->top;
  __atomic_store_n(&thread->top, frame + 1, __ATOMIC_RELAXED); // seen where the hazard pointer is
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
/// A frame of this thread's that takes over a reference to its object, which ends with it, also should the user's code
/// throw. NULL if memory is out: then the reference has been given back.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_frame_push_held(kvo_object *object) {
  kvo_thread *thread = kvo_thread_current();
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (frame) frame->flags |= KVO_FRAME_RETAINED;
  else kvo_object_release(object);
  return frame;
}

/// Holds the frame's object until the frame ends, unless it is dying: the program's own code is about to be called, and
/// may drop the last other reference to it.
void kvo_frame_hold(kvo_frame *frame);

/// Ends a frame of this thread's: its values and its hazard pointer, and frees what waited for it.
KVO_INLINE void kvo_frame_pop_own(kvo_thread *thread, kvo_frame *frame) {
  if (KVO_UNLIKELY(frame->flags || thread->top != frame + 1)) {
    kvo_frame_pop_slowly(frame);
    return;
  }
  kvo_hazard_end(&frame->hazard);
  __atomic_store_n(&frame->state, KVO_FRAME_FREE, __ATOMIC_RELEASE);
  __atomic_store_n(&thread->top, frame,
      __ATOMIC_RELEASE); // after what was read under the hazard pointer
  if (frame != thread->first.frames) kvo_thread_shrink(thread);
  const kvo_object *awaited = __atomic_load_n(&frame->awaited, __ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(awaited != NULL)) kvo_frame_reclaim_waiters(frame, awaited);
}
/// The same of any frame. It may belong to another thread (an access that was suspended and resumed
/// elsewhere).
KVO_INLINE void kvo_frame_pop(kvo_frame *frame) {
  kvo_thread *thread = frame->thread;
  if (KVO_LIKELY(thread == kvo_this_thread)) kvo_frame_pop_own(thread, frame);
  else kvo_frame_pop_slowly(frame);
}

/// Runs `body(context)`, which calls the user. An exception that leaves it finds what this thread
/// has begun in it undone, then `undo(context)` called.
KVO_INLINE void kvo_unwinding(void (*body)(void *KVO_NULLABLE context),
    void (*KVO_NULLABLE undo)(void *KVO_NULLABLE context), void *KVO_NULLABLE context) {
#ifdef KVO_EXCEPTIONS
  kvo_run_unwinding(kvo_this_thread ? kvo_this_thread->top : NULL, body, undo, context);
#else
  (void)undo;
  body(context);
#endif
}

/// Runs `body(context)`, which calls the user, and holds the object meanwhile, unless it is dying: that code may drop
/// the last other reference to it, and the body goes on with it. Exceptions pass through.
void kvo_holding(kvo_object *object, void (*body)(void *KVO_NULLABLE context),
    void *KVO_NULLABLE context);

bool kvo_thread_has_among_open(const kvo_thread *thread, const kvo_object *object, uintptr_t id);
/// Whether this thread has an automatic change of the property open.
KVO_INLINE bool kvo_thread_has_open(const kvo_thread *thread, const kvo_object *object,
    uintptr_t id) {
  return KVO_UNLIKELY(thread->open_count) && kvo_thread_has_among_open(thread, object, id);
}
#ifdef KVO_POISON
/// Whether a frame protects the object, of this thread's or one that it has taken over.
bool kvo_thread_protects(const kvo_object *object);
#endif
kvo_frame *KVO_NULLABLE kvo_thread_find_batch(const kvo_thread *thread, const kvo_object *object);
/// The frame of this thread's batch of the object (batch.c), or NULL.
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_thread_batch(const kvo_thread *thread,
    const kvo_object *object) {
  return KVO_UNLIKELY(thread->batch_count) ? kvo_thread_find_batch(thread, object) : NULL;
}
/// Marks a frame of this thread as one in which something is read that is derived from what its
/// getter may set: `id` tells what, of the frame's object.
KVO_INLINE void kvo_frame_reads(kvo_frame *frame, uintptr_t id) {
  frame->id = id;
  frame->flags |= KVO_FRAME_READS;
  frame->thread->reading_count++;
}
/// Whether this thread is reading that.
bool kvo_thread_is_reading(const kvo_object *object, uintptr_t id);
/// Abandons the changes of an object that dies inside them: a callback of an inner change dropped
/// it. What closes them later must not look at the object, nor join what is made at its address.
void kvo_thread_abandon_open(kvo_thread *thread, const kvo_object *object);
/// The newest change whose observers or methods are being called, among those that began before `later`, or among all if that is
/// NULL. NULL if there is none.
const kvo_frame *KVO_NULLABLE kvo_thread_told_before(const kvo_thread *thread,
    const kvo_frame *KVO_NULLABLE later);
/// Calls `visit` with each bracket (bracket.c) that is open around a body, of whatever thread: with its
/// key, which is NULL for a batch (batch.c), and the thread's number. What begins or ends meanwhile may be there or not.
void kvo_frames_visit_brackets(const kvo_object *object,
    void (*visit)(void *KVO_NULLABLE context, const char *KVO_NULLABLE key, uint32_t thread),
    void *KVO_NULLABLE context);
/// How many changes are being told or announced.
uint32_t kvo_thread_count_told(const kvo_thread *thread);
/// How many frames there are at most. O(1).
KVO_INLINE uint32_t kvo_thread_depth_at_most(const kvo_thread *thread) {
  return (thread->block_count + 1) * KVO_FRAMES_PER_BLOCK;
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
