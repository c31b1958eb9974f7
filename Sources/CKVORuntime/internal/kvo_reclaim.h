/// Freeing what a delivery on another thread, or further up this one's stack, may still be reading.
#ifndef KVO_RECLAIM_H
#define KVO_RECLAIM_H

#include "kvo_object.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The head of whatever is freed this way. Several that end together form a chain.
typedef struct kvo_retired {
  struct kvo_retired *KVO_NULLABLE next;
  const kvo_object *KVO_NULLABLE guard; ///< freed when no frame guards this object
  void (*KVO_NULLABLE reclaim)(struct kvo_retired *retired);
} kvo_retired;

/// Puts one more in front of a chain.
KVO_INLINE void kvo_retire_add(kvo_retired *KVO_NULLABLE *KVO_NONNULL chain, kvo_retired *retired,
    const kvo_object *guard, void (*reclaim)(kvo_retired *retired)) {
  *retired = (kvo_retired){*chain, guard, reclaim};
  *chain = retired;
}

/// Frees the chain as soon as no frame guards it: mostly now, else when the frame is popped. What
/// is in the chain must have been unlinked. No lock held: `reclaim` may run the user's `ended`
/// function.
void kvo_retire(kvo_retired *KVO_NULLABLE chain);

/// For what is one piece of memory that begins with its `kvo_retired`.
void kvo_free_retired(kvo_retired *retired);

/// Tries again with what had to wait for frames of that object, of which only the address is used.
/// Called when a frame is popped that something waited for.
void kvo_reclaim_waiting(const kvo_object *guard);

/// Orders a frame's publication before the reads that follow it, against `kvo_retire`'s unlinking
/// and scanning: a compiler barrier where the kernel lets the other side pay (membarrier(2)).
extern bool kvo_fences_are_asymmetric;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KVO_SANITIZE_THREAD 1
#endif
#endif
KVO_INLINE void kvo_publish_guard(kvo_object *KVO_NULLABLE *KVO_NONNULL guard, kvo_object *object) {
#ifdef KVO_SANITIZE_THREAD
  __atomic_store_n(guard, object, __ATOMIC_SEQ_CST);
#else
  __atomic_store_n(guard, object, __ATOMIC_RELEASE);
  if (KVO_LIKELY(kvo_fences_are_asymmetric)) __atomic_signal_fence(__ATOMIC_SEQ_CST);
  else __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
/// Ends a guard, and orders that before asking whether something waited for it.
KVO_INLINE void kvo_end_guard(kvo_object *KVO_NULLABLE *KVO_NONNULL guard) {
#ifdef KVO_SANITIZE_THREAD
  __atomic_store_n(guard, NULL, __ATOMIC_SEQ_CST);
#else
  __atomic_store_n(guard, NULL, __ATOMIC_RELEASE);
  if (KVO_LIKELY(kvo_fences_are_asymmetric)) __atomic_signal_fence(__ATOMIC_SEQ_CST);
  else __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
