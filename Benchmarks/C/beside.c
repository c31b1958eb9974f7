#include "beside.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support.h"

/// The other thread works from the timed one's begin to its end, whatever either costs.
typedef struct beside_state {
  bench_workload (*make)(void);
  bench_workload timed, other;
  pthread_t thread;
  sem_t begin, end; ///< posted by the timed thread, and by the other one
  atomic_bool is_timed, is_over;
  uint64_t others; ///< iterations that the other thread has done
} beside_state;

enum { OTHERS_AT_ONCE = 256 };

static void wait_for(sem_t *semaphore) {
  while (sem_wait(semaphore)) {}
}

static void *work_beside(void *opaque) {
  beside_state *state = opaque;
  state->other = state->make();
  for (;;) {
    sem_post(&state->end);
    wait_for(&state->begin);
    if (state->is_over) return NULL;
    do {
      state->other.run(state->other.state, OTHERS_AT_ONCE);
      state->others += OTHERS_AT_ONCE;
    } while (atomic_load_explicit(&state->is_timed, memory_order_relaxed));
  }
}

static void beside_run(void *opaque, uint64_t iterations) {
  beside_state *state = opaque;
  state->is_timed = true;
  sem_post(&state->begin);
  state->timed.run(state->timed.state, iterations);
  state->is_timed = false;
  wait_for(&state->end);
}

static void beside_finish(void *opaque, uint64_t iterations) {
  beside_state *state = opaque;
  state->is_over = true;
  sem_post(&state->begin);
  pthread_join(state->thread, NULL);
  state->timed.finish(state->timed.state, iterations);
  state->other.finish(state->other.state, state->others);
  sem_destroy(&state->begin);
  sem_destroy(&state->end);
  free(state);
}

bench_workload bench_beside(bench_workload (*make)(void)) {
  beside_state *state = bench_allocate(1, sizeof *state);
  state->make = make;
  state->timed = make();
  sem_init(&state->begin, 0, 0);
  sem_init(&state->end, 0, 0);
  int failure = pthread_create(&state->thread, NULL, work_beside, state);
  bench_require(!failure, "no second thread: error %d", failure);
  wait_for(&state->end);
  return (bench_workload){state, beside_run, beside_finish};
}
