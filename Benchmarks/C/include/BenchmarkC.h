/// The benchmark's cases that are written in C, with their loops, and the floors that they are
/// measured against. The program that times them is in Swift: a loop here, called once for each
/// repetition, costs the timing nothing.
#ifndef BENCHMARK_C_H
#define BENCHMARK_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Something to time. `run` does the case's operation so many times, and may be called again and
/// again. `finish` is told the sum of all iterations: it stops the program with a message unless
/// each observer was told of each change, and gives back what the workload holds.
typedef struct bench_workload {
  void *_Nonnull state;
  void (*_Nonnull run)(void *_Nonnull state, uint64_t iterations);
  void (*_Nonnull finish)(void *_Nonnull state, uint64_t iterations);
} bench_workload;

/// An indirect call of a setter `(self, _cmd, double)`; while another thread calls one for an
/// object of its own, or not.
bench_workload bench_floor_call(bool beside_another);
/// The same through a libffi closure whose handler calls the setter directly.
bench_workload bench_floor_ffi_closure(void);

/// A setter of an object that nobody observes, through the inline caller.
bench_workload bench_set_unobserved(void);
/// How setters are interposed.
typedef enum bench_way { BENCH_TYPED, BENCH_CLOSURE } bench_way;
/// A setter with so many callbacks, which ask for no values, or for old and new.
bench_workload bench_set_observed(bench_way way, size_t observers);
bench_workload bench_set_observed_old_new(bench_way way);
/// The same, one callback, while another thread sets an observed object of its own.
bench_workload bench_set_own(void);
/// The setter of a key that nobody observes, on an object of which another key is observed: in a
/// class that has never seen the first key observed, or in one where another object's is.
bench_workload bench_set_other_key(void);
bench_workload bench_set_other_key_observed_elsewhere(void);
/// A getter, through the inline caller, of an object that nobody observes.
bench_workload bench_get(void);

/// Setting the last key of a path of so many, or one of the five keys that a key is derived from. The path, or the
/// derived key, has one callback, which asks for no values, or for old and new.
bench_workload bench_path_leaf(size_t depth, bool old_new);
bench_workload bench_dependent(bool old_new);
/// Reading the sum of a key over so many objects of a stored collection, by a key path.
bench_workload bench_sum(size_t count);

/// Registration of a callback and its end: on an object that nobody else observes, so that the
/// swap of its class and its undoing are included, or on one with another registration.
bench_workload bench_register(void);
bench_workload bench_register_another(void);
/// The first, while another thread sets an observed object of its own.
bench_workload bench_register_beside(void);

/// Another thread that sets an observed object of its own from each `begin` to its `end`.
typedef struct bench_company bench_company;
bench_company *_Nonnull bench_company_that_sets(void);
void bench_company_begin(bench_company *_Nonnull company);
void bench_company_end(bench_company *_Nonnull company);
/// Checks that its observer was told of all, and frees it.
void bench_company_finish(bench_company *_Nonnull company);

/// So many keys of one object with one callback each, set in a fixed shuffled order.
bench_workload bench_many_keys(bench_way way, size_t count);

/// One key of so many objects with one callback each, set in a fixed shuffled order.
bench_workload bench_many_objects(size_t count);

/// Bytes for each of so many observations: of as many keys of one object, whose class has had them
/// observed before, or has not; or of one key of as many objects, of each of which that is the only one.
double bench_bytes_for_keys(size_t count, bool are_known);
double bench_bytes_for_objects(size_t count);

/// Memory in use: what malloc has given out, and all executable mappings, which is where libffi
/// puts its closures.
uint64_t bench_memory_in_use(void);

/// Which libffi the program uses, as exactly as it can tell: a version, or the name of the shared
/// library's file. NULL if neither is known. Lives for ever.
const char *_Nullable bench_libffi_version(void);

#endif
