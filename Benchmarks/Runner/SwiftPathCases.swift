/// Changes of a Swift object that reach beyond their own key: to observers of paths, and of a property
/// computed from many others.
import BenchmarkModel
import KVORuntime

/// Setting the last property of a path of three.
var swiftPathFamily: Family {
  Family(cases: [
    .time("swift.path.typed.3", .uniform) {
      let (first, last) = employees()
      let counter = Counter()
      let token = first.observe(\.boss?.boss?.salary) { _, _ in counter.value += 1 }
      return Workload(
        run: { setSalary(of: last, $0) },
        finish: { total in
          withExtendedLifetime(first) { counter.check(is: total) }
          token.invalidate()
        })
    },
    .time("swift.path.string.3", .uniform, isExtra: true) {
      let (first, last) = employees()
      let counter = Counter()
      let token = try first.observe(keyPath: "boss.boss.salary") { _, _ in counter.value += 1 }
      return Workload(
        run: { setSalary(of: last, $0) },
        finish: { total in
          withExtendedLifetime(first) { counter.check(is: total) }
          token.invalidate()
        })
    },
  ])
}

/// A property that is computed from ten thousand others: reading it, and notifying its observer when one of
/// them changes.
var swiftComputedFamily: Family {
  Family(cases: [
    .time("swift.computed.10000.get", .none) {
      let company = company()
      return Workload(
        run: { for _ in 0..<$0 { sink += company.totalSalary } }, finish: { _ in })
    },
    .time("swift.computed.10000", .uniform) {
      let company = company()
      let counter = Counter()
      let token = company.observe(\.totalSalary, options: .new) { _, change in
        sink = change.newValue ?? 0
        counter.value += 1
      }
      let employee = company.staff[500]
      return Workload(
        run: { setSalary(of: employee, $0) },
        finish: { total in
          withExtendedLifetime(company) { counter.check(is: total) }
          token.invalidate()
        })
    },
  ])
}

/// A counter that an observer increments.
private final class Counter {
  var value = 0

  func check(is expected: Int) {
    require(value == expected, "an observer was notified of \(value) of \(expected) changes")
  }
}

/// Stores the values read, so that reads are not optimised away.
nonisolated(unsafe) private var sink = 0.0

@inline(never)
private func setSalary(of employee: Employee, _ iterations: Int) {
  for i in 0..<iterations { employee.salary = Double(i) }
}

/// The first and the last of three employees, each of whom refers to the next.
private func employees() -> (first: Employee, last: Employee) {
  let staff = (0..<3).map { _ in Employee() }
  staff[0].boss = staff[1]
  staff[1].boss = staff[2]
  return (staff[0], staff[2])
}

private func company() -> Company {
  let company = Company()
  company.staff = (0..<10_000).map { _ in Employee() }
  return company
}
