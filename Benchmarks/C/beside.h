/// Work that is timed while another thread works.
#ifndef BENCHMARK_BESIDE_H
#define BENCHMARK_BESIDE_H

#include "BenchmarkC.h"

/// The workload that `make` gives, timed while another thread does what `make_other` gives. Each thread
/// makes its own, so that no two objects of different threads lie side by side.
bench_workload bench_beside(bench_workload (*make)(void), bench_workload (*make_other)(void));

#endif
