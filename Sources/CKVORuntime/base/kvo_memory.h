/// All allocations of the runtime go through these functions, so that tests can make them fail.
#ifndef KVO_MEMORY_H
#define KVO_MEMORY_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// As malloc, calloc, strdup, free. NULL when out of memory. Callers add a byte to a size that may be 0, to which NULL
/// may be the answer as well.
void *KVO_NULLABLE kvo_alloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *KVO_NULLABLE kvo_alloc_zeroed(size_t size) __attribute__((malloc, alloc_size(1)));
/// As `kvo_alloc_zeroed`, aligned at a power of two.
void *KVO_NULLABLE kvo_alloc_aligned(size_t alignment, size_t size)
    __attribute__((malloc, alloc_size(2), alloc_align(1)));
char *KVO_NULLABLE kvo_alloc_string(const char *string);
/// Calls libffi's allocator for closures, which takes executable memory from the system, so that tests can make it
/// fail as well. A refusal does not count as a shortage.
void *KVO_NULLABLE kvo_alloc_code(void *KVO_NULLABLE (*KVO_NONNULL allocate)(size_t,
                                      void *KVO_NULLABLE *KVO_NONNULL),
    size_t size, void *KVO_NULLABLE *KVO_NONNULL code);
void kvo_free(const void *KVO_NULLABLE memory);
/// Moves an array's items, `count` of `size` each, to a larger block: with room for `needed` items, and at least for
/// twice `*capacity`, which is updated. NULL if out of memory; then nothing has changed.
void *KVO_NULLABLE kvo_grow(void *KVO_NULLABLE items, size_t count, size_t needed, size_t size,
    size_t *capacity);

/// Keeps the shared library that contains an address, of a function or a constant, loaded until the program ends. No
/// lock of the runtime may be held, because a thread that loads a library holds the dynamic linker's lock while
/// constructors run, and these may wait for the runtime's. Exception: inside a scope of `KVO_KEEPING_LATER` the
/// library is kept when the thread's outermost such scope ends. False if out of memory. In symbols.c.
bool kvo_keep_code(const void *address);
uint32_t kvo_begin_keeping_later(void);
void kvo_end_keeping_later(const uint32_t *outer);
/// Delays `kvo_keep_code`: `KVO_KEEPING_LATER;` before a lock is taken, until the block ends and the lock is
/// released.
#define KVO_KEEPING_LATER                                                          \
  __attribute__((cleanup(kvo_end_keeping_later), unused)) uint32_t scope_keeping = \
      kvo_begin_keeping_later()

/// The byte that fills freed memory if KVO_POISON is defined. A pointer of such bytes is invalid.
enum { KVO_POISON_BYTE = 0xD5 };
#define KVO_POISON_WORD (~(uintptr_t)0 / UINT8_MAX * KVO_POISON_BYTE)

/// The number of times that memory ran out on this thread. Code with many steps, some of which continue without
/// memory, compares it to find out whether all was done.
extern __thread uint64_t kvo_shortages __attribute__((tls_model("initial-exec")));
/// The number of shortages on all threads together; never reset. Atomic.
extern uint32_t kvo_shortages_of_all;

#ifdef KVO_FAILING_MEMORY
/// The number of this thread's allocations that succeed before others fail, and the number that fail until memory is
/// available again. In debug builds; tests set them.
extern __thread int64_t kvo_allocations_left, kvo_failures_left;
#endif

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
