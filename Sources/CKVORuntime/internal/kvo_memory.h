/// The one seam through which the runtime allocates, so that tests can make it fail.
#ifndef KVO_MEMORY_H
#define KVO_MEMORY_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// As malloc, calloc, strdup, free. NULL when memory is out.
void *KVO_NULLABLE kvo_alloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *KVO_NULLABLE kvo_alloc_zeroed(size_t size) __attribute__((malloc, alloc_size(1)));
char *KVO_NULLABLE kvo_alloc_string(const char *string);
void kvo_free(const void *KVO_NULLABLE memory);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
