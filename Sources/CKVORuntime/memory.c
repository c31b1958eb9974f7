// The allocation seam. Nothing else in the runtime calls malloc (libffi's closures excepted).
#include "kvo_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef KVO_FAILING_MEMORY
_Thread_local int64_t kvo_allocations_left = INT64_MAX;

static bool is_out(void) { return kvo_allocations_left-- <= 0; }
#else
static bool is_out(void) { return false; }
#endif

void *kvo_alloc(size_t size) { return is_out() ? NULL : malloc(size); }

void *kvo_alloc_zeroed(size_t size) { return is_out() ? NULL : calloc(1, size); }

char *kvo_alloc_string(const char *string) {
  size_t size = strlen(string) + 1;
  char *copy = kvo_alloc(size);
  return copy ? memcpy(copy, string, size) : NULL;
}

void *kvo_grow(void *items, size_t count, size_t needed, size_t size, size_t *capacity) {
  size_t room = *capacity * 2 > needed ? *capacity * 2 : needed;
  if (room > SIZE_MAX / size) return NULL;
  void *larger = kvo_alloc(room * size);
  if (!larger) return NULL;
  if (count) memcpy(larger, items, count * size);
  kvo_free(items);
  *capacity = room;
  return larger;
}

void kvo_free(const void *memory) { free((void *)(uintptr_t)memory); }
