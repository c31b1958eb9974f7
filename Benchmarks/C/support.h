/// Shared by the C cases: observers that count, and checks. The checks stay in release builds, since a
/// benchmark with missing deliveries has no valid figure.
#ifndef BENCHMARK_SUPPORT_H
#define BENCHMARK_SUPPORT_H

#include "kvo_observing.h"

/// Stops the program with the message unless the condition holds.
void bench_require(bool condition, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Stops the program with the error's message unless the status is KVO_OK.
void bench_require_ok(kvo_status status, const kvo_error *error);

/// Returns zero-filled memory. Stops the program if there is none.
void *bench_allocate(size_t count, size_t size);

/// Registers a callback that adds 1 to `*deliveries` at each call. The caller owns the handle.
kvo_handle *bench_observe(kvo_object *object, const char *key, kvo_options options,
    uint64_t *deliveries);

#endif
