/// Setting and getting one property: unobserved, observed, and on an object with another observed property.
#include <stdlib.h>

#include "BenchmarkC.h"
#include "account.h"
#include "beside.h"
#include "kvo_diagnostics.h"
#include "support.h"

/// An account, and its observers with a counter each.
typedef struct setter_state {
  account *account;
  struct setter_state *elsewhere; ///< another account with an observer, if the case needs one
  size_t observers;
  double sum; ///< sum of the values read, so that reads are not optimised away
  kvo_handle **handles;
  uint64_t *deliveries;
} setter_state;

static setter_state *state_create(const kvo_class *cls, size_t observers, const char *key,
    kvo_options options) {
  setter_state *state = bench_allocate(1, sizeof *state);
  state->account = bench_account_create(cls);
  state->observers = observers;
  state->handles = bench_allocate(observers + 1, sizeof *state->handles);
  state->deliveries = bench_allocate(observers + 1, sizeof *state->deliveries);
  for (size_t i = 0; i < observers; i++)
    state->handles[i] = bench_observe(&state->account->object, key, options, &state->deliveries[i]);
  return state;
}

/// Interposers are made at the first observation in a class, so each kind has a class of its own.
static setter_state *state_create_by_way(bench_way way, size_t observers, kvo_options options) {
  bool by_closure = way == BENCH_CLOSURE;
  const kvo_class *cls =
      bench_account_subclass(by_closure ? "BenchmarkClosureAccount" : "BenchmarkTypedAccount");
  bool forced = kvo_set_closures_forced(by_closure);
  setter_state *state = state_create(cls, observers, "balance", options);
  kvo_set_closures_forced(forced);
  return state;
}

static void set_run(void *opaque, uint64_t iterations) {
  account *account = ((setter_state *)opaque)->account;
  for (uint64_t i = 0; i < iterations; i++) account_setBalance(account, (double)i);
}

static void get_run(void *opaque, uint64_t iterations) {
  setter_state *state = opaque;
  double sum = 0;
  for (uint64_t i = 0; i < iterations; i++) sum += account_balance(state->account);
  state->sum = sum;
}

/// Checks that each observer was called `deliveries` times.
static void finish_expecting(setter_state *state, uint64_t deliveries) {
  for (size_t i = 0; i < state->observers; i++) {
    bench_require(state->deliveries[i] == deliveries,
        "observer %zu was notified of %llu of %llu changes", i,
        (unsigned long long)state->deliveries[i], (unsigned long long)deliveries);
    kvo_handle_release(state->handles[i]);
  }
  if (state->elsewhere) finish_expecting(state->elsewhere, 0);
  kvo_object_release(&state->account->object);
  free(state->handles);
  free(state->deliveries);
  free(state);
}

static void observed_finish(void *opaque, uint64_t iterations) {
  finish_expecting(opaque, iterations);
}

static void quiet_finish(void *opaque, uint64_t iterations) {
  (void)iterations;
  finish_expecting(opaque, 0);
}

bench_workload bench_set_unobserved(void) {
  return (bench_workload){state_create(account_class(), 0, "balance", 0), set_run, quiet_finish};
}

bench_workload bench_set_observed(bench_way way, size_t observers) {
  return (bench_workload){state_create_by_way(way, observers, 0), set_run, observed_finish};
}

bench_workload bench_set_observed_old_new(bench_way way) {
  setter_state *state = state_create_by_way(way, 1, KVO_OLD | KVO_NEW);
  return (bench_workload){state, set_run, observed_finish};
}

static bench_workload set_typed(void) { return bench_set_observed(BENCH_TYPED, 1); }

bench_workload bench_set_own(void) { return bench_beside(set_typed, set_typed); }

bench_workload bench_set_other_key(void) {
  setter_state *state =
      state_create(bench_account_subclass("BenchmarkSeparateAccount"), 1, "interestRate", 0);
  return (bench_workload){state, set_run, quiet_finish};
}

bench_workload bench_set_other_key_observed_elsewhere(void) {
  setter_state *state = state_create(account_class(), 1, "interestRate", 0);
  state->elsewhere = state_create(account_class(), 1, "balance", 0);
  return (bench_workload){state, set_run, quiet_finish};
}

bench_workload bench_get(void) {
  return (bench_workload){state_create(account_class(), 0, "balance", 0), get_run, quiet_finish};
}
