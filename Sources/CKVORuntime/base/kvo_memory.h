/// The one seam through which the runtime allocates, so that tests can make it fail.
#ifndef KVO_MEMORY_H
#define KVO_MEMORY_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// As malloc, calloc, strdup, free. NULL when memory is out.
void *KVO_NULLABLE kvo_alloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *KVO_NULLABLE kvo_alloc_zeroed(size_t size) __attribute__((malloc, alloc_size(1)));
/// As `kvo_alloc_zeroed`, at a multiple of a power of two.
void *KVO_NULLABLE kvo_alloc_aligned(size_t alignment, size_t size)
    __attribute__((malloc, alloc_size(2), alloc_align(1)));
char *KVO_NULLABLE kvo_alloc_string(const char *string);
/// As libffi's allocator for closures, which gets executable memory from the system itself: so that
/// tests can make that fail as well. What it refuses is no shortage.
void *KVO_NULLABLE kvo_alloc_code(void *KVO_NULLABLE (*KVO_NONNULL allocate)(size_t,
                                      void *KVO_NULLABLE *KVO_NONNULL),
    size_t size, void *KVO_NULLABLE *KVO_NONNULL code);
void kvo_free(const void *KVO_NULLABLE memory);
/// Moves an array's items, `count` of `size` each, to where there is room for `needed` at least,
/// and for twice `*capacity`, which is set. NULL when memory is out, and nothing has changed.
void *KVO_NULLABLE kvo_grow(void *KVO_NULLABLE items, size_t count, size_t needed, size_t size,
    size_t *capacity);

/// Keeps the library that has the address, of a function or a constant, in memory until the program ends. To be called without a lock of the runtime, but for
/// those that a scope of `KVO_KEEPING_LATER` has around it: then the library is kept when the thread's outermost such scope
/// ends. A thread that loads a library holds the dynamic linker's lock while constructors run, which may wait for the runtime's.
/// False if memory is out. symbols.c.
bool kvo_keep_code(const void *address);
uint32_t kvo_begin_keeping_later(void);
void kvo_end_keeping_later(const uint32_t *outer);
/// A scope that begins before a lock is taken: `KVO_KEEPING_LATER;` until the block ends, when the lock has been given back.
#define KVO_KEEPING_LATER                                                          \
  __attribute__((cleanup(kvo_end_keeping_later), unused)) uint32_t scope_keeping = \
      kvo_begin_keeping_later()

/// What freed memory is filled with where KVO_POISON is defined. An address of such bytes is none.
enum { KVO_POISON_BYTE = 0xD5 };
#define KVO_POISON_WORD (~(uintptr_t)0 / UINT8_MAX * KVO_POISON_BYTE)

/// How often memory was out on this thread. A caller that does something of many steps, of which some do
/// without what they could not have, sees by it whether all was done.
extern __thread uint64_t kvo_shortages __attribute__((tls_model("initial-exec")));

#ifdef KVO_FAILING_MEMORY
/// How many allocations of this thread succeed before others fail, and how many of those fail until
/// there is memory again. In debug builds: tests set them.
extern __thread int64_t kvo_allocations_left, kvo_failures_left;
#endif

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
