#include "beside.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support.h"

/// The other thread works exactly while the timed thread does, from begin to end, whatever either costs.
struct bench_company {
  bench_workload (*make)(void);
  bench_workload work;
  pthread_t thread;
  sem_t begin, end; ///< posted by the timed thread, and by the other thread
  atomic_bool is_timed, is_over;
  uint64_t iterations; ///< done by the other thread
};

enum { OTHERS_AT_ONCE = 256 };

static void wait_for(sem_t *semaphore) {
  while (sem_wait(semaphore)) {}
}

static void *work_beside(void *opaque) {
  bench_company *company = opaque;
  company->work = company->make();
  for (;;) {
    sem_post(&company->end);
    wait_for(&company->begin);
    if (company->is_over) return NULL;
    do {
      company->work.run(company->work.state, OTHERS_AT_ONCE);
      company->iterations += OTHERS_AT_ONCE;
    } while (atomic_load_explicit(&company->is_timed, memory_order_relaxed));
  }
}

static bench_company *company_of(bench_workload (*make)(void)) {
  bench_company *company = bench_allocate(1, sizeof *company);
  company->make = make;
  sem_init(&company->begin, 0, 0);
  sem_init(&company->end, 0, 0);
  int failure = pthread_create(&company->thread, NULL, work_beside, company);
  bench_require(!failure, "no second thread: error %d", failure);
  wait_for(&company->end);
  return company;
}

static bench_workload set_observed(void) { return bench_set_observed(BENCH_TYPED, 1); }

bench_company *bench_company_that_sets(void) { return company_of(set_observed); }

void bench_company_begin(bench_company *company) {
  company->is_timed = true;
  sem_post(&company->begin);
}

void bench_company_end(bench_company *company) {
  company->is_timed = false;
  wait_for(&company->end);
}

void bench_company_finish(bench_company *company) {
  company->is_over = true;
  sem_post(&company->begin);
  pthread_join(company->thread, NULL);
  company->work.finish(company->work.state, company->iterations);
  sem_destroy(&company->begin);
  sem_destroy(&company->end);
  free(company);
}

typedef struct beside_state {
  bench_workload timed;
  bench_company *company;
} beside_state;

static void beside_run(void *opaque, uint64_t iterations) {
  beside_state *state = opaque;
  bench_company_begin(state->company);
  state->timed.run(state->timed.state, iterations);
  bench_company_end(state->company);
}

static void beside_finish(void *opaque, uint64_t iterations) {
  beside_state *state = opaque;
  bench_company_finish(state->company);
  state->timed.finish(state->timed.state, iterations);
  free(state);
}

bench_workload bench_beside(bench_workload (*make)(void), bench_workload (*make_other)(void)) {
  beside_state *state = bench_allocate(1, sizeof *state);
  *state = (beside_state){make(), company_of(make_other)};
  return (bench_workload){state, beside_run, beside_finish};
}
