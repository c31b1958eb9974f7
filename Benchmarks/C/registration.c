/// Adding a callback and ending its registration.
#include <stdlib.h>

#include "BenchmarkC.h"
#include "account.h"
#include "beside.h"
#include "support.h"

typedef struct registration_state {
  account *account;
  kvo_handle *other; ///< the registration that stays, if the case has one
  uint64_t ended;    ///< registrations whose `ended` function was called
} registration_state;

static void ignore_delivery(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context;
  (void)object;
  (void)key_path;
  (void)change;
}

static void count_end(void *context) { ((registration_state *)context)->ended++; }

static kvo_handle *observe_balance(registration_state *state, void (*ended)(void *)) {
  kvo_handle *handle = NULL;
  kvo_error error;
  kvo_status status = kvo_add_callback(&state->account->object, "balance", 0, ignore_delivery,
      state, ended, &handle, &error);
  bench_require_ok(status, &error);
  return handle;
}

static void registration_run(void *opaque, uint64_t iterations) {
  for (uint64_t i = 0; i < iterations; i++) kvo_handle_release(observe_balance(opaque, count_end));
}

static void registration_finish(void *opaque, uint64_t iterations) {
  registration_state *state = opaque;
  bool stays = state->other != NULL;
  bench_require(kvo_is_observed(&state->account->object, "balance") == stays,
      "a registration outlived its handle");
  kvo_handle_release(state->other);
  kvo_object_release(&state->account->object);
  bench_require(state->ended == iterations, "%llu of %llu registrations ended",
      (unsigned long long)state->ended, (unsigned long long)iterations);
  free(state);
}

bench_workload bench_register(void) {
  registration_state *state = bench_allocate(1, sizeof *state);
  state->account = bench_account_create(account_class());
  return (bench_workload){state, registration_run, registration_finish};
}

static bench_workload set_observed(void) { return bench_set_observed(BENCH_TYPED, 1); }

bench_workload bench_register_beside(void) { return bench_beside(bench_register, set_observed); }

bench_workload bench_register_another(void) {
  bench_workload workload = bench_register();
  registration_state *state = workload.state;
  state->other = observe_balance(state, NULL);
  return workload;
}
