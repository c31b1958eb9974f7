/// The benchmark's cases that are written in C, with their loops, and the lower bounds that they are compared
/// with. A Swift program times them. Each loop is in C and is called once for each repetition, so the call
/// does not affect the time.
#ifndef BENCHMARK_C_H
#define BENCHMARK_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// An operation to time. `run` does the operation `iterations` times, and may be called repeatedly. `finish`
/// takes the sum of all iterations: it stops the program with a message unless each observer was called for
/// each change, and frees the workload's state.
typedef struct bench_workload {
  void *_Nonnull state;
  void (*_Nonnull run)(void *_Nonnull state, uint64_t iterations);
  void (*_Nonnull finish)(void *_Nonnull state, uint64_t iterations);
} bench_workload;

/// An indirect call of a setter `(self, _cmd, double)`. If `beside_another` is true, another thread calls one
/// for its own object at the same time.
bench_workload bench_floor_call(bool beside_another);
/// An indirect call of a libffi closure, whose handler calls the setter directly.
bench_workload bench_floor_ffi_closure(void);

/// A setter of an unobserved object, called through the inline caller.
bench_workload bench_set_unobserved(void);
/// The kinds of interposer for setters.
typedef enum bench_way { BENCH_TYPED, BENCH_CLOSURE } bench_way;
/// A setter with `observers` callbacks, which request no values, or old and new.
bench_workload bench_set_observed(bench_way way, size_t observers);
bench_workload bench_set_observed_old_new(bench_way way);
/// A setter with one callback, while another thread sets its own observed object.
bench_workload bench_set_own(void);
/// The setter of an unobserved key, on an object with another, observed key. Either no object of the class
/// has ever had the first key observed, or another object has it observed.
bench_workload bench_set_other_key(void);
bench_workload bench_set_other_key_observed_elsewhere(void);
/// A getter of an unobserved object, called through the inline caller.
bench_workload bench_get(void);

/// Setting the last key of a path of `depth` keys, or one of the five keys that another key depends on. The
/// path, or the dependent key, has one callback, which requests no values, or old and new.
bench_workload bench_path_leaf(size_t depth, bool old_new);
bench_workload bench_dependent(bool old_new);
/// Reading the sum of a key over `count` objects of a stored collection, by key path.
bench_workload bench_sum(size_t count);

/// Registering a callback and ending the registration. The object is otherwise unobserved, so swapping its
/// class and restoring it are included; or it has another registration.
bench_workload bench_register(void);
bench_workload bench_register_another(void);
/// Registering on an unobserved object while another thread sets its own observed object.
bench_workload bench_register_beside(void);

/// Another thread that sets its own observed object from each `begin` to the following `end`.
typedef struct bench_company bench_company;
bench_company *_Nonnull bench_company_that_sets(void);
void bench_company_begin(bench_company *_Nonnull company);
void bench_company_end(bench_company *_Nonnull company);
/// Checks that its observer was called for every change, and frees it.
void bench_company_finish(bench_company *_Nonnull company);

/// Setting `count` keys of one object, with one callback each, in a fixed shuffled order.
bench_workload bench_many_keys(bench_way way, size_t count);

/// Setting one key of `count` objects, with one callback each, in a fixed shuffled order.
bench_workload bench_many_objects(size_t count);

/// Bytes for each of `count` observations: of `count` keys of one object, whose class has had them observed
/// before or not; or of one key of `count` objects that have no other observation.
double bench_bytes_for_keys(size_t count, bool are_known);
double bench_bytes_for_objects(size_t count);

/// Memory in use: what malloc has allocated, and all executable mappings, which hold libffi's closures.
uint64_t bench_memory_in_use(void);

/// The libffi that the program uses, as exactly as can be determined: a version, or the file name of the
/// shared library. NULL if neither is known. The string lives for ever.
const char *_Nullable bench_libffi_version(void);

#endif
