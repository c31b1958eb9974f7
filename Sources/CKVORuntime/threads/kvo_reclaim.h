/// Freeing what a delivery on another thread, or further up this one's stack, may still be reading.
#ifndef KVO_RECLAIM_H
#define KVO_RECLAIM_H

#include "kvo_object.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

struct kvo_thread;
typedef struct kvo_retired kvo_retired;

/// What is freed.
typedef enum kvo_retired_kind {
  KVO_RETIRED_MEMORY,  ///< one piece that begins with its `kvo_retired`
  KVO_RETIRED_QUIETLY, ///< a registration whose end nobody notices: as memory, it may go with others
  KVO_RETIRED_TELLING, ///< one that tells its end, which may run the user's `ended` function
} kvo_retired_kind;

/// The head of whatever is freed this way. Several that end together form a chain. Where a registration
/// has ended it lies over what nobody needs of it any more, so its members are atomic: a delivery may
/// still read what was there before, and then finds that the registration has ended.
struct kvo_retired {
  kvo_retired *KVO_NULLABLE next;
  /// The serial of the first frames that don't count, KVO_RETIRED_OWN, kvo_retired_kind.
  uint64_t since_and_kind;
  const kvo_object *KVO_NULLABLE hazard; ///< freed when no frame from before protects this object
};

KVO_INLINE void kvo_retired_set_next(kvo_retired *retired, kvo_retired *KVO_NULLABLE next) {
  __atomic_store_n(&retired->next, next, __ATOMIC_RELEASE);
}
KVO_INLINE uint64_t kvo_retired_since(const kvo_retired *retired) {
  return __atomic_load_n(&retired->since_and_kind, __ATOMIC_RELAXED) >> 3;
}
KVO_INLINE kvo_retired_kind kvo_retired_get_kind(const kvo_retired *retired) {
  return (kvo_retired_kind)(__atomic_load_n(&retired->since_and_kind, __ATOMIC_RELAXED) & 3);
}
KVO_INLINE void kvo_retired_set(kvo_retired *retired, uint64_t since, kvo_retired_kind kind) {
  __atomic_store_n(&retired->since_and_kind, since << 3 | kind, __ATOMIC_RELEASE);
}
/// That no other thread can be reading it: what was hung at the object was this one's own (kvo_table.h).
enum { KVO_RETIRED_OWN = 4 };
KVO_INLINE bool kvo_retired_is_own(const kvo_retired *retired) {
  return __atomic_load_n(&retired->since_and_kind, __ATOMIC_RELAXED) & KVO_RETIRED_OWN;
}
/// Marks the first ones of a chain so, up to that one.
KVO_INLINE void kvo_retire_mark_own(kvo_retired *KVO_NULLABLE first,
    const kvo_retired *KVO_NULLABLE end) {
  for (; first != end; first = first->next)
    __atomic_store_n(&first->since_and_kind, first->since_and_kind | KVO_RETIRED_OWN,
        __ATOMIC_RELEASE);
}

/// Puts one more in front of a chain, of which the hazard pointer is known.
KVO_INLINE void kvo_retire_protected(kvo_retired *KVO_NULLABLE *KVO_NONNULL chain,
    kvo_retired *retired, kvo_retired_kind kind) {
  kvo_retired_set_next(retired, *chain);
  kvo_retired_set(retired, 0, kind);
  *chain = retired;
}
KVO_INLINE void kvo_retire_add(kvo_retired *KVO_NULLABLE *KVO_NONNULL chain, kvo_retired *retired,
    const kvo_object *hazard, kvo_retired_kind kind) {
  retired->hazard = hazard;
  kvo_retire_protected(chain, retired, kind);
}

/// Frees the chain as soon as no frame protects it that was there already: mostly now, else when the
/// frame is popped. Where there are other threads, a chain that can wait is kept until there are
/// `KVO_BATCH` to be freed, or one that can't wait comes. What is in the chain must have been
/// unlinked. No lock held.
void kvo_retire(kvo_retired *KVO_NULLABLE chain);
enum { KVO_BATCH = 64 };

/// Tries again with what had to wait for frames of that object, of which only the address is used.
/// Called when a frame is popped that something waited for.
void kvo_reclaim_waiting(const kvo_object *hazard);

/// Of a thread that another has fenced, or that ends.
void kvo_show_hazards(struct kvo_thread *thread);

/// In a forked child, whose other threads' frames have been emptied: what waited for them is freed
/// with the next retirement; what waits for this thread's goes on waiting. Limbo lock held.
void kvo_reclaim_after_fork(void);

/// Counts registrations and retirements. A frame remembers how many there were when it began, read
/// behind its hazard pointer and before all else: one that has counted a retirement can't find what was
/// retired.
extern uint64_t kvo_serial;

/// Whether the remover pays for a hazard pointer's fence: the kernel has membarrier(2). Atomic: it may come
/// to refuse it.
extern bool kvo_fences_are_asymmetric;
KVO_INLINE bool kvo_remover_fences(void) {
  return __atomic_load_n(&kvo_fences_are_asymmetric, __ATOMIC_RELAXED);
}
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KVO_SANITIZE_THREAD 1
#endif
#endif
/// Where memory is poisoned, hazard pointers are as late as a processor may make them: other threads see one
/// when a remover has fenced, not before. So whatever rests on a fence that is not there fails at
/// once, rather than once in a million times on some machines. Tests/Schedules simulates store buffers instead.
#if defined(KVO_POISON) && !defined(KVO_SANITIZE_THREAD) && !defined(KVO_SIMULATED_BUFFERS)
#define KVO_LATE_HAZARDS 1
#endif

/// What tells that an object's observations are being read.
typedef struct kvo_hazard {
  kvo_object *KVO_NULLABLE object; ///< atomic
#ifdef KVO_LATE_HAZARDS
  kvo_object *KVO_NULLABLE seen; ///< atomic: what other threads see
#endif
} kvo_hazard;

/// Two fences that meet: of two threads that each store, fence and load what the other has stored,
/// one with the light fence, the other with the heavy one, one at least sees the other's store. The
/// light one, on the way of every change, is the compiler's alone where the kernel makes the
/// processor's in all threads for the heavy one.
KVO_INLINE void kvo_light_fence(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(!kvo_remover_fences())) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void kvo_heavy_fence(void);
/// The heavy fence for what may be met in a setter that nobody observed when it began: on threads that
/// have no record, too, if there are any.
void kvo_fence_setters(void);
/// Whether there may be a thread beside this one, with a record or without.
bool kvo_process_has_threads(void);

KVO_INLINE void kvo_hazard_store(kvo_hazard *hazard, kvo_object *KVO_NULLABLE object) {
#ifdef KVO_SANITIZE_THREAD
  __atomic_store_n(&hazard->object, object, __ATOMIC_SEQ_CST);
#else
  __atomic_store_n(&hazard->object, object, __ATOMIC_RELEASE);
  kvo_light_fence();
#endif
}
/// Publishes a hazard pointer, and orders that before the reads that follow, against `kvo_retire`'s
/// unlinking and scanning: by a compiler barrier where the other side pays.
KVO_INLINE void kvo_hazard_publish(kvo_hazard *hazard, kvo_object *object) {
#ifdef KVO_LATE_HAZARDS
  __atomic_store_n(&hazard->seen, kvo_remover_fences() ? NULL : object, __ATOMIC_SEQ_CST);
#endif
  kvo_hazard_store(hazard, object);
}
/// Ends a hazard pointer, and orders that before asking whether something waited for it.
KVO_INLINE void kvo_hazard_end(kvo_hazard *hazard) {
  kvo_hazard_store(hazard, NULL);
#ifdef KVO_LATE_HAZARDS
  __atomic_store_n(&hazard->seen, NULL, __ATOMIC_SEQ_CST);
#endif
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
