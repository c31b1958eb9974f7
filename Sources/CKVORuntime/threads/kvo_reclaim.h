/// Frees memory that a delivery on another thread, or further up this thread's stack, may still be reading.
#ifndef KVO_RECLAIM_H
#define KVO_RECLAIM_H

#include "kvo_object.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

struct kvo_thread;
typedef struct kvo_retired kvo_retired;

/// The kind of a retired item.
typedef enum kvo_retired_kind {
  KVO_RETIRED_MEMORY, ///< a block of memory that begins with its `kvo_retired`
  KVO_RETIRED_SILENT, ///< a registration whose end runs none of the program's code; may be batched like memory
  /// A registration that reports its end, by the user's `ended` function, or that stores a value.
  KVO_RETIRED_REPORTING,
} kvo_retired_kind;

/// The head of every retired item. Several that end together form a chain. In a registration it overlays fields that
/// are not needed after its end. Its members are atomic: a delivery may still read the old fields, and then finds
/// that the registration has ended.
struct kvo_retired {
  kvo_retired *KVO_NULLABLE next;
  /// Packed: the serial of the first frames that need not be waited for, KVO_RETIRED_OWN, kvo_retired_kind.
  uint64_t since_and_kind;
  const kvo_object *KVO_NULLABLE hazard; ///< freed when no earlier frame protects this object
};

KVO_INLINE kvo_retired *KVO_NULLABLE kvo_retired_next(const kvo_retired *retired) {
  return __atomic_load_n(&retired->next, __ATOMIC_RELAXED);
}
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
/// Flag: no other thread can be reading the item, because this thread owned the object's observations (kvo_table.h).
enum { KVO_RETIRED_OWN = 4 };
KVO_INLINE bool kvo_retired_is_own(const kvo_retired *retired) {
  return __atomic_load_n(&retired->since_and_kind, __ATOMIC_RELAXED) & KVO_RETIRED_OWN;
}
/// Sets KVO_RETIRED_OWN in a chain, up to `end`.
KVO_INLINE void kvo_retire_mark_own(kvo_retired *KVO_NULLABLE first,
    const kvo_retired *KVO_NULLABLE end) {
  for (; first != end; first = kvo_retired_next(first))
    __atomic_store_n(&first->since_and_kind,
        __atomic_load_n(&first->since_and_kind, __ATOMIC_RELAXED) | KVO_RETIRED_OWN,
        __ATOMIC_RELEASE);
}

/// Puts an item, whose hazard pointer is set, in front of a chain.
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

/// Frees the chain as soon as no frame that existed before protects it: usually at once, otherwise when the frame is
/// popped. If there are other threads, a chain that can wait is kept until there are `KVO_BATCH` items, or until one
/// is added that can't wait. The items must have been unlinked. An object that dies with a value that a registration
/// stored may throw; the whole chain has been freed by then. No lock held.
void kvo_retire(kvo_retired *KVO_NULLABLE chain);
enum { KVO_BATCH = 64 };

/// Tries again to free what waited for frames of that object, of which only the address is used. Called when a frame
/// is popped that something waited for.
void kvo_reclaim_waiting(const kvo_object *hazard);

/// Makes a thread's late hazard pointers visible (KVO_LATE_HAZARDS), because another thread has fenced it or it ends.
void kvo_show_hazards(struct kvo_thread *thread);

/// In a forked child, after the other threads' frames have been emptied: what waited for those frames is freed at the
/// next retirement. What waits for this thread's frames goes on waiting. Limbo lock held.
void kvo_reclaim_after_fork(void);

/// Counts registrations and retirements. A frame stores the count when it begins, read after its hazard pointer is
/// published and before anything else. A frame that has counted a retirement can't find what was retired.
extern uint64_t kvo_serial;

/// Whether the remover pays for a hazard pointer's fence, because the kernel has membarrier(2). Atomic: the kernel
/// may begin to refuse the call.
extern bool kvo_fences_are_asymmetric;
KVO_INLINE bool kvo_remover_fences(void) {
  return __atomic_load_n(&kvo_fences_are_asymmetric, __ATOMIC_RELAXED);
}
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KVO_SANITIZE_THREAD 1
#endif
#endif
/// In builds that poison memory, hazard pointers are as late as a processor may make them: other threads see one only
/// after a remover has fenced. So code that relies on a missing fence fails at once, instead of once in a million
/// times on some machines. Tests/Schedules simulates store buffers instead.
#if defined(KVO_POISON) && !defined(KVO_SANITIZE_THREAD) && !defined(KVO_SIMULATED_BUFFERS)
#define KVO_LATE_HAZARDS 1
#endif

/// A hazard pointer: an object's observations are being read.
typedef struct kvo_hazard {
  kvo_object *KVO_NULLABLE object; ///< atomic
#ifdef KVO_LATE_HAZARDS
  kvo_object *KVO_NULLABLE seen; ///< atomic: the value that other threads see
#endif
} kvo_hazard;

/// A pair of fences. Two threads each store, fence, and load what the other has stored; one uses the light fence, the
/// other the heavy one. Then at least one of them sees the other's store. Every change executes the light fence. It
/// is a compiler barrier only, if the kernel runs a processor fence in all threads for the heavy one.
KVO_INLINE void kvo_light_fence(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (KVO_UNLIKELY(!kvo_remover_fences())) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void kvo_heavy_fence(void);
/// The heavy fence against setters that had no observer when they began: it also reaches threads without a record, if
/// there are any.
void kvo_fence_setters(void);
/// Whether there may be another thread, with a record or without.
bool kvo_process_has_threads(void);

KVO_INLINE void kvo_hazard_store(kvo_hazard *hazard, kvo_object *KVO_NULLABLE object) {
#ifdef KVO_SANITIZE_THREAD
  __atomic_store_n(&hazard->object, object, __ATOMIC_SEQ_CST);
#else
  __atomic_store_n(&hazard->object, object, __ATOMIC_RELEASE);
  kvo_light_fence();
#endif
}
/// Publishes a hazard pointer, and orders that before the reads that follow, against the unlinking and scanning of
/// `kvo_retire`. A compiler barrier is enough if the other side pays.
KVO_INLINE void kvo_hazard_publish(kvo_hazard *hazard, kvo_object *object) {
#ifdef KVO_LATE_HAZARDS
  __atomic_store_n(&hazard->seen, kvo_remover_fences() ? NULL : object, __ATOMIC_SEQ_CST);
#endif
  kvo_hazard_store(hazard, object);
}
/// Ends a hazard pointer, and orders that before the check whether something waited for it.
KVO_INLINE void kvo_hazard_end(kvo_hazard *hazard) {
  kvo_hazard_store(hazard, NULL);
#ifdef KVO_LATE_HAZARDS
  __atomic_store_n(&hazard->seen, NULL, __ATOMIC_SEQ_CST);
#endif
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
