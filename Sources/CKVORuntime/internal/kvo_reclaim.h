/// Freeing what a delivery on another thread, or further up this one's stack, may still be reading.
#ifndef KVO_RECLAIM_H
#define KVO_RECLAIM_H

#include "kvo_object.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

struct kvo_thread;
typedef struct kvo_retired kvo_retired;

/// How something is freed. `reclaim` may run the user's `ended` function.
typedef struct kvo_reclaimer {
  void (*reclaim)(kvo_retired *retired);
  bool can_wait; ///< nobody would notice: it may go with others later
} kvo_reclaimer;

/// The head of whatever is freed this way. Several that end together form a chain.
struct kvo_retired {
  kvo_retired *KVO_NULLABLE next;
  const kvo_object *KVO_NULLABLE guard; ///< freed when no frame guards this object
  const kvo_reclaimer *KVO_NULLABLE reclaimer;
};

/// Puts one more in front of a chain.
KVO_INLINE void kvo_retire_add(kvo_retired *KVO_NULLABLE *KVO_NONNULL chain, kvo_retired *retired,
    const kvo_object *guard, const kvo_reclaimer *reclaimer) {
  *retired = (kvo_retired){*chain, guard, reclaimer};
  *chain = retired;
}

/// Frees the chain as soon as no frame guards it: mostly now, else when the frame is popped. Where
/// there are other threads, a chain that can wait is kept until there are `KVO_BATCH` to be freed,
/// or one that can't wait comes. What is in the chain must have been unlinked. No lock held.
void kvo_retire(kvo_retired *KVO_NULLABLE chain);
enum { KVO_BATCH = 64 };

/// For what is one piece of memory that begins with its `kvo_retired`.
extern const kvo_reclaimer kvo_memory_reclaimer;

/// Tries again with what had to wait for frames of that object, of which only the address is used.
/// Called when a frame is popped that something waited for.
void kvo_reclaim_waiting(const kvo_object *guard);

/// Of a thread that another has fenced, or that ends.
void kvo_let_guards_be_seen(struct kvo_thread *thread);

/// In a forked child, whose other threads' frames have been emptied: what waited for them is tried
/// again at the next retirement. Limbo lock held.
void kvo_reclaim_after_fork(void);

/// Whether the remover pays for a guard's fence: the kernel has membarrier(2).
extern bool kvo_fences_are_asymmetric;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KVO_SANITIZE_THREAD 1
#endif
#endif
/// Where memory is poisoned, guards are as late as a processor may make them: other threads see one
/// when a remover has fenced, not before. So whatever rests on a fence that is not there fails at once,
/// rather than once in a million times on some machines.
#if defined(KVO_POISON) && !defined(KVO_SANITIZE_THREAD)
#define KVO_LATE_GUARDS 1
#endif

/// What tells that an object's observations are being read.
typedef struct kvo_guard {
  kvo_object *KVO_NULLABLE object; ///< atomic
#ifdef KVO_LATE_GUARDS
  kvo_object *KVO_NULLABLE seen; ///< atomic: what other threads see
#endif
} kvo_guard;

KVO_INLINE void kvo_store_guard(kvo_guard *guard, kvo_object *KVO_NULLABLE object) {
#ifdef KVO_SANITIZE_THREAD
  __atomic_store_n(&guard->object, object, __ATOMIC_SEQ_CST);
#else
  __atomic_store_n(&guard->object, object, __ATOMIC_RELEASE);
  if (KVO_LIKELY(kvo_fences_are_asymmetric)) __atomic_signal_fence(__ATOMIC_SEQ_CST);
  else __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
/// Publishes a guard, and orders that before the reads that follow, against `kvo_retire`'s unlinking
/// and scanning: by a compiler barrier where the other side pays.
KVO_INLINE void kvo_publish_guard(kvo_guard *guard, kvo_object *object) {
#ifdef KVO_LATE_GUARDS
  __atomic_store_n(&guard->seen, kvo_fences_are_asymmetric ? NULL : object, __ATOMIC_SEQ_CST);
#endif
  kvo_store_guard(guard, object);
}
/// Ends a guard, and orders that before asking whether something waited for it.
KVO_INLINE void kvo_end_guard(kvo_guard *guard) {
  kvo_store_guard(guard, NULL);
#ifdef KVO_LATE_GUARDS
  __atomic_store_n(&guard->seen, NULL, __ATOMIC_SEQ_CST);
#endif
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
