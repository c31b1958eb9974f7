// The allocation functions. Nothing else in the runtime calls malloc (`Scripts/check runtime` checks this), except
// libffi for its closures, which asks here first.
//
// With KVO_POISON, which debug builds define, freed memory is overwritten and kept for a while, unless the address
// sanitizer does that. Code that still reads it then fails instead of finding the old data.
#include "base/kvo_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef KVO_POISON
#ifdef __APPLE__
#include <malloc/malloc.h>
#define ROOM_OF malloc_size
#else
#include <malloc.h>
#define ROOM_OF malloc_usable_size
#endif

enum { KEPT = 1024 };

// Keeps this block, and returns the one that was kept longest, for freeing.
static void *memory_keep(void *memory) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return memory;
#endif
#endif
  static void *kept[KEPT];
  static uint32_t next;
  uint32_t index = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % KEPT;
  return __atomic_exchange_n(&kept[index], memory, __ATOMIC_ACQ_REL);
}

static void *memory_poison(void *memory) {
  memset(memory, KVO_POISON_BYTE, ROOM_OF(memory));
  return memory_keep(memory);
}
#else
static void *memory_poison(void *memory) { return memory; }
#endif

#ifdef KVO_FAILING_MEMORY
__thread int64_t kvo_allocations_left = INT64_MAX;
__thread int64_t kvo_failures_left = INT64_MAX;

static bool is_out(void) { return kvo_allocations_left-- <= 0 && kvo_failures_left-- > 0; }
#else
static bool is_out(void) { return false; }
#endif

__thread uint64_t kvo_shortages;
uint32_t kvo_shortages_of_all;

static __attribute__((noinline)) void count_shortage(void) {
  kvo_shortages++;
  __atomic_fetch_add(&kvo_shortages_of_all, 1, __ATOMIC_SEQ_CST);
}

static void *memory_counted(void *memory) {
  if (KVO_UNLIKELY(!memory)) count_shortage();
  return memory;
}

void *kvo_alloc(size_t size) { return memory_counted(is_out() ? NULL : malloc(size)); }

// Below this size we use malloc and memset: glibc's malloc reuses blocks that the thread has just freed, its calloc
// does not. For large blocks calloc knows which memory is zero already.
enum { LITTLE = 1024 };

static void *memory_zeroed(size_t size) {
  if (size > LITTLE) return calloc(1, size);
  void *memory = malloc(size);
  __asm__("" : "+r"(memory)); // stops the compiler from making this a calloc
  return memory ? memset(memory, 0, size) : NULL;
}

void *kvo_alloc_zeroed(size_t size) {
  return memory_counted(is_out() ? NULL : memory_zeroed(size));
}

static void *zeroed_at(size_t alignment, size_t size) {
  size_t whole = (size + alignment - 1) & ~(alignment - 1);
  void *memory = aligned_alloc(alignment, whole);
  return memory ? memset(memory, 0, whole) : NULL;
}

void *kvo_alloc_aligned(size_t alignment, size_t size) {
  return memory_counted(is_out() ? NULL : zeroed_at(alignment, size));
}

void *kvo_alloc_code(void *(*allocate)(size_t, void **), size_t size, void **code) {
  return is_out() ? NULL : allocate(size, code);
}

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

void kvo_free(const void *memory) {
  if (memory) free(memory_poison((void *)(uintptr_t)memory));
}
