/// Many observed objects of one class: the cost of a change must not depend on their number.
#include <stdlib.h>

#include "BenchmarkC.h"
#include "account.h"
#include "keyed_class.h"
#include "support.h"

/// Each object has one observer of one key. Like the keys in `many_keys.c`, objects are set in a shuffled
/// order.
typedef struct many_objects_state {
  size_t count;
  size_t place;      ///< index into the shuffled order of the next change
  account **objects; ///< by place
  kvo_handle **handles;
  uint64_t *deliveries;
} many_objects_state;

static void many_objects_run(void *opaque, uint64_t iterations) {
  many_objects_state *state = opaque;
  size_t place = state->place;
  for (uint64_t i = 0; i < iterations; i++) {
    account_setBalance(state->objects[place], (double)i);
    if (++place == state->count) place = 0;
  }
  state->place = place;
}

static void many_objects_finish(void *opaque, uint64_t iterations) {
  many_objects_state *state = opaque;
  for (size_t place = 0; place < state->count; place++) {
    uint64_t expected = iterations / state->count + (place < iterations % state->count);
    bench_require(state->deliveries[place] == expected,
        "c.objects: an observer of one of %zu objects was notified of %llu of %llu changes",
        state->count, (unsigned long long)state->deliveries[place], (unsigned long long)expected);
    kvo_handle_release(state->handles[place]);
    kvo_object_release(&state->objects[place]->object);
  }
  free(state->objects);
  free(state->handles);
  free(state->deliveries);
  free(state);
}

bench_workload bench_many_objects(size_t count) {
  const kvo_class *cls = bench_account_subclass("BenchmarkManyAccounts");
  many_objects_state *state = bench_allocate(1, sizeof *state);
  uint32_t *order = bench_allocate(count, sizeof *order);
  state->count = count;
  state->objects = bench_allocate(count, sizeof *state->objects);
  state->handles = bench_allocate(count, sizeof *state->handles);
  state->deliveries = bench_allocate(count, sizeof *state->deliveries);
  bench_shuffle(order, count);
  for (size_t i = 0; i < count; i++) state->objects[order[i]] = bench_account_create(cls);
  for (size_t i = 0; i < count; i++) {
    size_t place = order[i];
    state->handles[place] =
        bench_observe(&state->objects[place]->object, "balance", 0, &state->deliveries[place]);
  }
  free(order);
  return (bench_workload){state, many_objects_run, many_objects_finish};
}
