/// Many observed keys of one object: the cost of a change must not depend on their number.
#include <stdio.h>
#include <stdlib.h>

#include "BenchmarkC.h"
#include "keyed_class.h"
#include "kvo_diagnostics.h"
#include "support.h"

/// Keys are registered in order and set in a shuffled order, so that memory is not visited in order of
/// allocation.
typedef struct many_keys_state {
  kvo_object *object;
  size_t count;
  size_t place;               ///< index into the shuffled order of the next change
  const kvo_method **setters; ///< by place
  uint32_t *order;            ///< maps a place to its key
  uint64_t *deliveries;       ///< by key
  kvo_handle **handles;       ///< by key
} many_keys_state;

static void many_keys_run(void *opaque, uint64_t iterations) {
  many_keys_state *state = opaque;
  size_t place = state->place;
  for (uint64_t i = 0; i < iterations; i++) {
    bench_keyed_object_set(state->object, state->setters[place], (double)i);
    if (++place == state->count) place = 0;
  }
  state->place = place;
}

static void check_deliveries(const many_keys_state *state, uint64_t iterations) {
  for (size_t place = 0; place < state->count; place++) {
    uint64_t expected = iterations / state->count + (place < iterations % state->count);
    uint64_t delivered = state->deliveries[state->order[place]];
    bench_require(delivered == expected,
        "c.manykeys: an observer of one of %zu keys was notified of %llu of %llu changes",
        state->count, (unsigned long long)delivered, (unsigned long long)expected);
  }
}

static void many_keys_finish(void *opaque, uint64_t iterations) {
  many_keys_state *state = opaque;
  check_deliveries(state, iterations);
  for (size_t key = 0; key < state->count; key++) kvo_handle_release(state->handles[key]);
  kvo_object_release(state->object);
  free(state->setters);
  free(state->order);
  free(state->deliveries);
  free(state->handles);
  free(state);
}

/// A separate class for each count and kind of interposer, so that tables of the class are as large as the
/// object.
static const bench_keyed_class *class_of(bench_way way, size_t count) {
  char name[32];
  snprintf(name, sizeof name, "Benchmark%sKeys%zu", way == BENCH_TYPED ? "Typed" : "Closure",
      count);
  return bench_keyed_class_make(name, count);
}

static many_keys_state *state_create(kvo_object *object, size_t count) {
  many_keys_state *state = bench_allocate(1, sizeof *state);
  state->object = object;
  state->count = count;
  state->setters = bench_allocate(count, sizeof *state->setters);
  state->order = bench_allocate(count, sizeof *state->order);
  state->deliveries = bench_allocate(count, sizeof *state->deliveries);
  state->handles = bench_allocate(count, sizeof *state->handles);
  return state;
}

bench_workload bench_many_keys(bench_way way, size_t count) {
  const bench_keyed_class *keyed = class_of(way, count);
  many_keys_state *state = state_create(bench_keyed_object_create(keyed), count);
  bench_shuffle(state->order, count);
  bool forced = kvo_set_closures_forced(way == BENCH_CLOSURE);
  for (size_t i = 0; i < count; i++) {
    state->setters[i] = keyed->keys[state->order[i]].setter;
    state->handles[i] = bench_observe(state->object, keyed->keys[i].name, 0, &state->deliveries[i]);
  }
  kvo_set_closures_forced(forced);
  return (bench_workload){state, many_keys_run, many_keys_finish};
}
