// The allocation seam. Nothing else in the runtime calls malloc (libffi's closures excepted).
#include "kvo_memory.h"

#include <stdlib.h>
#include <string.h>

void *kvo_alloc(size_t size) { return malloc(size); }

void *kvo_alloc_zeroed(size_t size) { return calloc(1, size); }

char *kvo_alloc_string(const char *string) {
  size_t size = strlen(string) + 1;
  char *copy = kvo_alloc(size);
  return copy ? memcpy(copy, string, size) : NULL;
}

void kvo_free(const void *memory) { free((void *)(uintptr_t)memory); }
