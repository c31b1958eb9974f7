// Store buffers as x86 has them: another thread may see a store late, but the stores of one thread in their order.
//
// A store changes memory at once, so that plain loads of its own thread and the allocator see it. The old value is
// kept in the thread's queue, and is what other threads load there until the store leaves the queue. A full fence, a
// sequentially consistent store, a read-modify-write or a lock empties the thread's own queue; membarrier(2) empties
// all.
#include "interpose.h"
#include "schedule.h"
#include "trace.h"

#include <string.h>

enum { ROOM = 128 };

typedef struct {
  const char *place;
  size_t size;
  uint64_t before;
  trace_place at;
} pending;

typedef struct {
  pending stores[ROOM]; // oldest first
  uint32_t count;
} queue;

static queue queues[SCHEDULE_THREADS];
static schedule_stores mode;

void buffers_begin(schedule_stores stores) {
  mode = stores;
  buffers_empty_all();
}

static void take_out(queue *queue, uint32_t count) {
  queue->count -= count;
  memmove(queue->stores, queue->stores + count, queue->count * sizeof *queue->stores);
}

void buffers_empty(uint32_t thread) { queues[thread].count = 0; }

bool buffers_hold_any(uint32_t thread) { return queues[thread].count > 0; }

void buffers_empty_all(void) {
  for (uint32_t i = 0; i < SCHEDULE_THREADS; i++) buffers_empty(i);
}

void buffers_let_one_be_seen(uint32_t thread) {
  if (queues[thread].count) take_out(&queues[thread], 1);
}

static bool overlaps(const pending *store, const void *place, size_t size) {
  return store->place < (const char *)place + size &&
         (const char *)place < store->place + store->size;
}

static bool is_on(void) { return mode != STORES_AT_ONCE && schedule_thread() >= 0; }

// Makes all stores visible up to the last one in the queue that overlaps the place.
static void show(queue *queue, const void *place, size_t size) {
  for (uint32_t i = queue->count; i-- > 0;)
    if (overlaps(&queue->stores[i], place, size)) {
      take_out(queue, i + 1);
      return;
    }
}

static void show_others(const void *place, size_t size) {
  for (int i = 0; i < SCHEDULE_THREADS; i++)
    if (i != schedule_thread()) show(&queues[i], place, size);
}

void buffers_forget(const void *memory, size_t size) {
  for (int i = 0; i < SCHEDULE_THREADS; i++) show(&queues[i], memory, size);
}

void buffers_store(const void *place, size_t size, int order) {
  if (!is_on()) return;
  queue *own = &queues[schedule_thread()];
  show_others(place, size);
  if (order == __ATOMIC_SEQ_CST || size > sizeof(uint64_t)) {
    own->count = 0;
    return;
  }
  if (own->count == ROOM) take_out(own, 1);
  pending *store = &own->stores[own->count++];
  *store = (pending){place, size, 0, place_above(__builtin_frame_address(0))};
  memcpy(&store->before, place, size);
}

static const pending *oldest_at(const queue *queue, const void *place, size_t size) {
  for (uint32_t i = 0; i < queue->count; i++)
    if (overlaps(&queue->stores[i], place, size)) return &queue->stores[i];
  return NULL;
}

void buffers_load(const void *place, void *value, size_t size) {
  if (!is_on()) return;
  for (int thread = 0; thread < SCHEDULE_THREADS; thread++) {
    if (!queues[thread].count || thread == schedule_thread()) continue;
    const pending *store = oldest_at(&queues[thread], place, size);
    if (!store) continue;
    if (store->place != place || store->size != size) {
      show(&queues[thread], place, size);
    } else if (memcmp(value, &store->before, size)) {
      memcpy(value, &store->before, size);
      trace_missed_store(thread, &store->at, __builtin_frame_address(0));
    }
    return;
  }
}

void buffers_change(const void *place, size_t size) {
  if (!is_on()) return;
  buffers_empty((uint32_t)schedule_thread());
  show_others(place, size);
}

void buffers_fence(int order) {
  if (is_on() && order == __ATOMIC_SEQ_CST) buffers_empty((uint32_t)schedule_thread());
}
