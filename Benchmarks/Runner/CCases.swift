/// The cases whose loops are in C.
import BenchmarkC

extension Workload {
  /// - Parameter workload: consumed; its `finish` frees it.
  init(_ workload: bench_workload) {
    self.init(
      run: { workload.run(workload.state, UInt64($0)) },
      finish: { workload.finish(workload.state, UInt64($0)) })
  }
}

extension Case {
  fileprivate static func c(
    _ name: String, _ way: Way, isExtra: Bool = false, _ make: @escaping () -> bench_workload
  ) -> Case {
    time(name, way, isExtra: isExtra) { Workload(make()) }
  }
}

/// Setting a property of a C object.
var cSetterFamily: Family {
  Family(cases: [
    .c("floor.c.call", .floor) { bench_floor_call(false) },
    .c("floor.ffi.closure", .floor, bench_floor_ffi_closure),
    .c("c.get", .none, isExtra: true, bench_get),
    .c("c.set.unobserved", .none, bench_set_unobserved),
    .c("c.set.otherkey", .none, bench_set_other_key),
    .c("c.set.otherkey.elsewhere", .typed, isExtra: true, bench_set_other_key_observed_elsewhere),
    .c("c.set.observed.typed", .typed) { bench_set_observed(BENCH_TYPED, 1) },
    .c("c.set.observed.closure", .closure) { bench_set_observed(BENCH_CLOSURE, 1) },
    .c("c.set.observed.typed.oldnew", .typed) { bench_set_observed_old_new(BENCH_TYPED) },
    .c("c.set.observed.closure.oldnew", .closure, isExtra: true) {
      bench_set_observed_old_new(BENCH_CLOSURE)
    },
    .c("c.set.observed.closure.10", .closure, isExtra: true) {
      bench_set_observed(BENCH_CLOSURE, 10)
    },
    .c("c.path.leaf.3", .typed) { bench_path_leaf(3, false) },
    .c("c.path.leaf.3.oldnew", .typed, isExtra: true) { bench_path_leaf(3, true) },
    .c("c.dependent.5", .typed) { bench_dependent(false) },
    .c("c.dependent.5.oldnew", .typed, isExtra: true) { bench_dependent(true) },
  ])
}

/// Setting a property of a C object that has many observers.
var cObserversFamily: Family {
  Family(
    cases: observerCounts.map { count in
      .c("c.observers.\(count)", .typed) { bench_set_observed(BENCH_TYPED, count) }
    })
}

/// The numbers of observers of one key.
let observerCounts = [1, 10, 100, 1000]

/// Reading a property of many C objects at once.
var cOperatorFamily: Family {
  Family(cases: [.c("c.sum.10000", .none) { bench_sum(10_000) }])
}

/// Setting properties of C objects on two threads, each its own object. The time is that of one thread.
var cThreadsFamily: Family {
  Family(cases: [
    .c("floor.c.call.2", .floor) { bench_floor_call(true) },
    .c("c.threads.own.2", .typed, bench_set_own),
  ])
}

/// Setting one of many observed keys of a C object.
var cManyKeysFamily: Family {
  Family(
    cases: manyKeysCounts.flatMap { count -> [Case] in
      [
        .c("c.manykeys.typed.\(count)", .typed) { bench_many_keys(BENCH_TYPED, count) },
        .c("c.manykeys.closure.\(count)", .closure) { bench_many_keys(BENCH_CLOSURE, count) },
      ]
    })
}

/// The numbers of observed keys of one object.
let manyKeysCounts = [1, 10, 100, 1000, 10_000]

/// Setting one key of one of many observed objects.
var cManyObjectsFamily: Family {
  Family(
    cases: manyKeysCounts.map { count in
      .c("c.objects.\(count)", .typed) { bench_many_objects(count) }
    })
}

/// Setting the last key of observed paths of various lengths.
var cDepthFamily: Family {
  Family(
    cases: [1, 2, 4, 8, 16].map { depth in
      .c("c.path.depth.\(depth)", .typed) { bench_path_leaf(depth, false) }
    })
}
