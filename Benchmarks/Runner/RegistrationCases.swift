/// Adding an observer and removing it.
import BenchmarkC
import BenchmarkModel
import KVORuntime

/// Registering on an otherwise unobserved object and removing, also while another thread sets its own
/// observed object.
var registrationFamily: Family {
  Family(cases: [
    .time("c.register", .typed) { Workload(bench_register()) },
    .time("c.register.another", .typed, isExtra: true) { Workload(bench_register_another()) },
    .time("swift.register.token", .uniform, tokenRegistration),
    .time("swift.register.context", .uniform, contextRegistration),
    .time("c.register.threads", .typed) { Workload(bench_register_beside()) },
    .time("swift.register.threads", .uniform) { beside(tokenRegistration()) },
  ])
}

/// An observer that is never called.
private final class IdleObserver: KVOObject {}

@inline(never)
private func registerByToken(_ account: ObservedAccount, _ iterations: Int) {
  for _ in 0..<iterations { account.observe(\.balance) { _, _ in }.invalidate() }
}

@inline(never)
private func registerByContext(
  _ account: ObservedAccount, _ observer: KVOObject, _ context: UnsafeMutableRawPointer,
  _ iterations: Int
) throws {
  for _ in 0..<iterations {
    try account.addObserver(observer, forKeyPath: "balance", context: context)
    try account.removeObserver(observer, forKeyPath: "balance", context: context)
  }
}

/// Checks that every registration was removed.
private func checkUnobserved(_ account: ObservedAccount) {
  require(!account.isObserved(forKey: "balance"), "a registration outlived its removal")
}

/// The workload, measured while the other thread works.
private func beside(_ workload: Workload) -> Workload {
  let company = bench_company_that_sets()
  return Workload(
    run: { iterations in
      bench_company_begin(company)
      defer { bench_company_end(company) }
      try workload.run(iterations)
    },
    finish: { iterations in
      bench_company_finish(company)
      try workload.finish(iterations)
    })
}

private func tokenRegistration() -> Workload {
  let account = ObservedAccount()
  return Workload(
    run: { registerByToken(account, $0) }, finish: { _ in checkUnobserved(account) })
}

private func contextRegistration() -> Workload {
  let account = ObservedAccount()
  let observer = IdleObserver()
  let context = KVOContext()
  return Workload(
    run: { try registerByContext(account, observer, context.pointer, $0) },
    finish: { _ in checkUnobserved(account) })
}
