/// Work that is timed while another thread works, too.
#ifndef BENCHMARK_BESIDE_H
#define BENCHMARK_BESIDE_H

#include "BenchmarkC.h"

/// Returns the workload made by `make`, timed while another thread runs the one made by `make_other`. Each
/// thread makes its own, so that objects of different threads are not adjacent in memory.
bench_workload bench_beside(bench_workload (*make)(void), bench_workload (*make_other)(void));

#endif
