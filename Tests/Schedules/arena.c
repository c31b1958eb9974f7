// The arena: a range of addresses that is the same in each run, from which blocks are cut, with free lists by size.
//
// A freed block is filled with KVO_POISON, the byte by which the runtime recognises freed memory. It is checked when
// it is reused and when the schedule ends: a byte that differs was written after the block was freed. A read of freed
// memory finds an invalid address, or a state that makes the runtime trap.
#include "arena.h"

#include "base/kvo_memory.h"
#include "failure.h"
#include "schedule.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { UNIT = 16, SIZES = 4096, FREED_AT_ONCE = 4096 };
static const size_t ARENA_SIZE = (size_t)1 << 30;
static void *const ARENA_PLACE = (void *)((uintptr_t)1 << 44);

// The header of each block.
typedef struct block {
  struct block *next; // of a freed block
  uint32_t size;      // without this header, in units
  int16_t freed_by;   // a thread; -1: outside a schedule
  bool is_free;
} block;
_Static_assert(sizeof(block) == UNIT, "blocks are aligned as malloc's");

static char *cut, *arena_end_address;
static block *free_lists[SIZES];
static block *freed, *freed_last; // in this schedule, except for reused ones
static bool reuses;
static size_t used;

__thread uint64_t kvo_shortages;
uint32_t kvo_shortages_of_all;

// Runs before the runtime's own constructors, which make classes.
__attribute__((constructor(101))) static void prepare(void) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  cut = mmap(ARENA_PLACE, ARENA_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (cut != ARENA_PLACE) abort();
  arena_end_address = cut + ARENA_SIZE;
}

size_t arena_blocks(void) { return used; }

static size_t bytes(const block *block) { return (size_t)block->size * UNIT; }

static void fail_if_written(const block *block) {
  const unsigned char *memory = (const unsigned char *)(block + 1);
  for (size_t i = 0; i < bytes(block); i++)
    if (memory[i] != KVO_POISON_BYTE)
      fail_schedule("write to freed memory",
          "byte %zu of a block of %zu, which thread %d has freed", i, bytes(block),
          block->freed_by);
}

static block *take(uint32_t size) {
  block *block = size < SIZES ? free_lists[size] : NULL;
  if (block) {
    free_lists[size] = block->next;
    fail_if_written(block);
    return block;
  }
  block = (void *)cut;
  cut += (size_t)(size + 1) * UNIT;
  if (cut > arena_end_address) fail_schedule("no memory", "the arena is full");
  block->size = size;
  return block;
}

static void give_back(block *block) {
  if (block->size >= SIZES) return;
  block->next = free_lists[block->size];
  free_lists[block->size] = block;
}

static void put_aside(block *block) {
  block->next = NULL;
  if (freed_last) freed_last->next = block;
  else freed = block;
  freed_last = block;
}

static block *merged(block *a, block *b) {
  block *first = NULL, **end = &first;
  while (a && b) {
    block **least = a < b ? &a : &b;
    *end = *least;
    *least = (*least)->next;
    end = &(*end)->next;
  }
  *end = a ? a : b;
  return first;
}

static block *sorted(block *list) {
  if (!list || !list->next) return list;
  block *middle = list;
  for (block *end = list->next; end && end->next; end = end->next->next) middle = middle->next;
  block *second = middle->next;
  middle->next = NULL;
  return merged(sorted(list), sorted(second));
}

// Sorts the free lists. So schedules that are equal up to a point have equal addresses up to there.
void arena_begin(bool reuses_blocks) {
  reuses = reuses_blocks;
  for (size_t size = 0; size < SIZES; size++) free_lists[size] = sorted(free_lists[size]);
}

void arena_end(void) {
  while (freed) {
    block *block = freed;
    freed = block->next;
    fail_if_written(block);
    give_back(block);
  }
  freed_last = NULL;
  for (size_t size = 0; size < SIZES; size++)
    for (const block *block = free_lists[size]; block && reuses; block = block->next)
      fail_if_written(block);
}

// MARK: The replaced allocation functions

void *kvo_alloc(size_t size) {
  block *block = take((uint32_t)((size + UNIT - 1) / UNIT));
  block->is_free = false;
  used++;
  buffers_forget(block + 1, bytes(block));
  return block + 1;
}

void *kvo_alloc_zeroed(size_t size) { return memset(kvo_alloc(size), 0, size); }

// No class of these programs asks for more than a block's alignment.
void *kvo_alloc_aligned(size_t alignment, size_t size) {
  if (alignment > _Alignof(max_align_t)) fail_schedule("too much alignment", "%zu", alignment);
  return kvo_alloc_zeroed(size);
}

void *kvo_alloc_code(void *(*allocate)(size_t, void **), size_t size, void **code) {
  return allocate(size, code);
}

char *kvo_alloc_string(const char *string) {
  size_t size = strlen(string) + 1;
  return memcpy(kvo_alloc(size), string, size);
}

void *kvo_grow(void *items, size_t count, size_t needed, size_t size, size_t *capacity) {
  size_t room = *capacity * 2 > needed ? *capacity * 2 : needed;
  void *larger = kvo_alloc(room * size);
  if (count) memcpy(larger, items, count * size);
  kvo_free(items);
  *capacity = room;
  return larger;
}

void kvo_free(const void *memory) {
  if (!memory) return;
  block *block = (void *)((uintptr_t)memory - sizeof *block);
  if (block->is_free) fail_schedule("freed twice", "a block of %zu", bytes(block));
  block->is_free = true;
  block->freed_by = (int16_t)schedule_thread();
  used--;
  buffers_forget(memory, bytes(block));
  memset(block + 1, KVO_POISON_BYTE, bytes(block));
  if (reuses) give_back(block);
  else put_aside(block);
}
