/// Changes that are passed on automatically: bindings, sequences that a task reads, and change logs.
import BenchmarkModel
import KVOChangeLogs
import KVORuntime

/// A set at the beginning of a chain of bindings, a value on its way to a task, and a set that is recorded.
var swiftFlowFamily: Family {
  Family(cases: [
    .time("swift.bind.chain.1", .uniform, isExtra: true) { chain(of: 1) },
    .time("swift.bind.chain.8", .uniform) { chain(of: 8) },
    .time("swift.bind.chain.128", .uniform, isExtra: true) { chain(of: 128) },
    .time("swift.values.next", .uniform, values),
    .time("floor.asyncstream.next", .floor, streamedValues),
    .time("swift.undo.set", .uniform, recordedSets),
    .time("swift.undo.redo", .uniform, reversedSets),
  ])
}

@inline(never)
private func setBalance(of account: ObservedAccount, _ iterations: Int) {
  for i in 0..<iterations { account.balance = Double(i) }
}

/// A set of the first of several properties, each of which follows the previous one.
private func chain(of count: Int) -> Workload {
  let accounts = (0...count).map { _ in ObservedAccount() }
  let tokens = (0..<count).map {
    accounts[$0 + 1].bind(\.balance, to: accounts[$0], \.balance)
  }
  return Workload(
    run: { iterations in
      setBalance(of: accounts[0], iterations)
      require(accounts[count].balance == Double(iterations - 1), "the chain's end is behind")
    },
    finish: { _ in for token in tokens { token.invalidate() } })
}

/// Runs a task on the thread that waits for it, so that the task's time is measured.
// Sendable: all jobs arrive on that thread, since the task waits for nothing on other threads.
private final class OwnThread: TaskExecutor, @unchecked Sendable {
  private var jobs: [UnownedJob] = []

  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

  func run(_ body: @escaping @Sendable () async -> Void) {
    Task(executorPreference: self) { await body() }
    while let job = jobs.popLast() { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// The state of a task that reads. Only the task uses it while it runs.
private final class Reading: @unchecked Sendable {
  let account = ObservedAccount()
  private(set) var count = 0
  private var iterator: KeyValueValues<Double>.AsyncIterator

  init() { iterator = account.values(of: \.balance).makeAsyncIterator() }

  func read(_ iterations: Int) async {
    for i in 0..<iterations {
      account.balance = Double(i)
      let value = await iterator.next()
      require(value == Double(i), "the task has read another value")
      count += 1
    }
  }
}

/// A set, and the value that a task reads without having to wait for it.
private func values() -> Workload {
  let (reading, thread) = (Reading(), OwnThread())
  return Workload(
    run: { iterations in
      thread.run {
        await reading.read(iterations)
      }
    },
    finish: { total in
      require(reading.count == total, "the task has read \(reading.count) of \(total)")
    })
}

/// Reads from an AsyncStream into which a `didSet` puts each value.
private final class StreamReading: @unchecked Sendable {
  let account = StreamAccount()
  private(set) var count = 0
  private var iterator: AsyncStream<Double>.AsyncIterator

  init() { iterator = account.balances.makeAsyncIterator() }

  func read(_ iterations: Int) async {
    for i in 0..<iterations {
      account.balance = Double(i)
      let value = await iterator.next()
      require(value == Double(i), "the task has read another value")
      count += 1
    }
  }
}

private func streamedValues() -> Workload {
  let (reading, thread) = (StreamReading(), OwnThread())
  return Workload(
    run: { iterations in
      thread.run {
        await reading.read(iterations)
      }
    },
    finish: { total in
      require(reading.count == total, "the task has read \(reading.count) of \(total)")
    })
}

/// A record that is undone or redone, of a group of 100.
private func reversedSets() throws -> Workload {
  let company = Company()
  company.staff = (0..<100).map { _ in Employee() }
  let log = try ChangeLog(
    of: company, recording: .keys(of: Company.self, \.staff), .keys(of: Employee.self, \.salary))
  log.withGroup { for employee in company.staff { employee.salary = 1 } }
  return Workload(
    run: { iterations in
      for _ in 0..<iterations / 100 {
        require(try log.canUndo ? log.undo() : log.redo(), "no group")
      }
    },
    finish: { total in
      let sum = company.staff.reduce(0) { $0 + $1.salary }
      require(sum == (log.canUndo ? 100 : 0), "not every record was reversed")
    })
}

/// A set of a property that a log records, with up to 1,000 sets that can be undone.
private func recordedSets() throws -> Workload {
  let account = ObservedAccount()
  let log = try ChangeLog(of: account, recording: .keys(of: ObservedAccount.self, \.balance))
  log.undoLimit = 1_000
  return Workload(
    run: { setBalance(of: account, $0) },
    finish: { total in
      require(log.count == total, "the log has \(log.count) of \(total) changes")
      try log.undo()
      require(log.canRedo, "nothing was undone")
    })
}
