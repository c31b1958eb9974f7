/// Work that is timed while another thread does the same.
#ifndef BENCHMARK_BESIDE_H
#define BENCHMARK_BESIDE_H

#include "BenchmarkC.h"

/// The workload that `make` gives, timed while another thread does one of its own. Each thread
/// makes its own, so that no two objects of different threads lie side by side.
bench_workload bench_beside(bench_workload (*make)(void));

#endif
