import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import TestScopes
import TestSupport
import Testing

/// R5: operations that notify of their state, run by Foundation's queues.
@Suite(.leakFree, .serialized) struct OperationTests {
  /// The notifications, in order, from any threads.
  final class Notified: Sendable {
    private let lines = Locked<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }

    func observe(_ operation: KVOOperation, as name: String) throws -> [KeyValueObservation] {
      try ["isReady", "isExecuting", "isFinished", "isCancelled"].map { key in
        try operation.observe(keyPath: key, options: [.old, .new]) { [self] _, change in
          note("\(name) \(key) \(change.oldValue!) \(change.newValue!)")
        }
      }
    }
  }

  class Work: KVOOperation, @unchecked Sendable {
    let runs = Count()
    private let life = Life(of: Work.self)
    override func main() { runs.add() }
  }

  /// An asynchronous operation as in the guides for Apple's platforms, with KVOOperation in place of Operation.
  final class ByHand: Work, @unchecked Sendable {
    private let flags = Locked((executing: false, finished: false))
    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { flags.withLock { $0.executing } }
    override var isFinished: Bool { flags.withLock { $0.finished } }

    override func start() {
      if isCancelled { return end() }
      willChangeValue(forKey: "isExecuting")
      flags.withLock { $0.executing = true }
      didChangeValue(forKey: "isExecuting")
      DispatchQueue.global().async { [self] in
        main()
        end()
      }
    }

    private func end() {
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      flags.withLock { $0 = (false, true) }
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }

  /// By one property on which the keys depend.
  final class ByState: Work, @unchecked Sendable {
    enum State { case waiting, running, done }
    private let storage = Locked(State.waiting)
    var phase: State {
      get { storage.withLock { $0 } }
      set { withChange(of: \.phase) { storage.withLock { $0 = newValue } } }
    }
    override var isExecuting: Bool { phase == .running }
    override var isFinished: Bool { phase == .done }

    override func start() {
      guard !isCancelled else {
        phase = .done
        return
      }
      phase = .running
      DispatchQueue.global().async { [self] in
        main()
        phase = .done
      }
    }

    override class func registerKeys() {
      super.registerKeys()
      declareKeys { keys in
        keys.computed("phase", \.phase)
        keys.dependency("isExecuting", on: ["phase"])
        keys.dependency("isFinished", on: ["phase"])
      }
    }
  }

  /// By brackets.
  final class ByBracket: Work, @unchecked Sendable {
    private let finished = Locked(false)
    override var isFinished: Bool { finished.withLock { $0 } }
    override func start() {
      DispatchQueue.global().async { [self] in
        main()
        withChange(forKey: "isFinished") { finished.withLock { $0 = true } }
      }
    }
  }

  @Test("R5: a queue runs it once, and each state notifies with old and new")
  func run() throws {
    let (notified, work, queue) = (Notified(), Work(), OperationQueue())
    let tokens = try notified.observe(work, as: "w")
    expect(work.isReady && !work.isExecuting && !work.isFinished && !work.isAsynchronous)
    queue.addOperations([work], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(
      notified.all,
      [
        "w isExecuting false true", "w isExecuting true false", "w isFinished false true",
      ])
    expect(work.runs.value == 1 && work.isFinished && !work.isExecuting)
    work.start()
    expectEqual(work.runs.value, 1)
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "R5: asynchronous ones end by what they announce: manually, by a dependency, by a bracket",
    arguments: [ByHand.self, ByState.self, ByBracket.self, Work.self] as [Work.Type])
  func asynchronous(type: Work.Type) async {
    let (work, next, queue) = (make(type), Work(), OperationQueue())
    queue.maxConcurrentOperationCount = 1
    next.addDependency(work)
    let completions = Awaited(0)
    work.completionBlock = { completions.withLock { $0 += 1 } }
    queue.addOperation(next)
    queue.addOperation(work)
    await withCheckedContinuation { waiter in
      queue.addBarrierBlock { waiter.resume() }
    }
    expect(work.runs.value == 1 && next.runs.value == 1)
    expect(work.isFinished && !work.isExecuting && queue.operationCount == 0)
    work.waitUntilFinished()
    next.waitUntilFinished()
    expect(work.completionBlock == nil)
    await completions.wait(for: 1)
  }

  private func make(_ type: Work.Type) -> Work {
    switch type {
    case is ByHand.Type: ByHand()
    case is ByState.Type: ByState()
    case is ByBracket.Type: ByBracket()
    default: Work()
    }
  }

  @Test("R5: isReady notifies when the last dependency finishes, is removed or is cancelled")
  func readiness() throws {
    let (notified, work) = (Notified(), Work())
    let (first, second) = (Work(), Work())
    let tokens = try notified.observe(work, as: "w")
    work.addDependency(first)
    work.addDependency(second)
    work.addDependency(second)
    expect(!work.isReady && work.dependencies == [first, second])
    first.start()
    expect(!work.isReady)
    work.removeDependency(second)
    expect(work.isReady)
    work.addDependency(Work())
    expect(!work.isReady)
    work.cancel()
    work.cancel()
    expect(work.isReady && work.isCancelled)
    let ready = notified.all.filter { $0.contains("isReady") }
    expect(ready.first == "w isReady true false" && ready.last == "w isReady false true")
    expectEqual(notified.all.filter { $0.contains("isCancelled") }, ["w isCancelled false true"])
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "R5: a cancelled one finishes without main, even while waiting, also if its queue cancels")
  func cancelling() throws {
    let (notified, queue) = (Notified(), OperationQueue())
    let (work, other) = (Work(), Work())
    let tokens = try notified.observe(work, as: "w")
    work.addDependency(Work())
    other.addDependency(Work())
    queue.addOperation(work)
    queue.addOperation(other)
    work.cancel()
    work.waitUntilFinished()
    expect(work.runs.value == 0 && work.isFinished)
    expect(!notified.all.contains { $0.contains("isExecuting") })
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    expect(other.isCancelled && other.isFinished && other.runs.value == 0)
    withExtendedLifetime(tokens) {}
  }

  @Test("R5: Foundation's own operations wait for it through `operation`, which retains it")
  func foreign() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let log = Notified()
    let plain = BlockOperation { log.note("plain") }
    do {
      let work = KVOBlockOperation { log.note("keyed") }
      work.addExecutionBlock { log.note("again") }
      work.name = "first"
      plain.addDependency(work.operation)
      expect(work.operation === work.operation && work.operation.name == "first")
      queue.addOperation(plain)
      queue.addOperation(work)
    }
    queue.isSuspended = false
    plain.waitUntilFinished()
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(log.all, ["keyed", "again", "plain"])
  }

  @Test("R5: it lives while it runs, until it has finished, and not longer")
  func lifetime() {
    let queue = OperationQueue()
    weak var seen: Work?
    do {
      let work = Work()
      seen = work
      queue.addOperation(work)
      work.waitUntilFinished()
    }
    queue.waitUntilAllOperationsAreFinished()
    expect(seen?.isFinished != false)  // read once: it may finish between two reads
    weak var never: Work?
    do {
      let (work, waiting) = (Work(), Work())
      waiting.addDependency(work)
      _ = work.operation
      never = work
    }
    expect(never == nil)
  }

  @Test("R5: priorities are passed to the queue; keys are read and set by name")
  func keys() throws {
    let work = Work()
    work.queuePriority = .high
    expectEqual(work.operation.queuePriority, .high)
    try work.setValue("n", forKey: "name")
    expect(try work.value(forKey: "name") as? String == "n" && work.name == "n")
    expect(try work.value(forKey: "isReady") as? Bool == true)
    #expect(throws: KeyValueError.self) { try work.setValue(true, forKey: "isFinished") }
  }

  @Test("R5: many threads add, cancel and observe, and each operation ends once")
  func threads() {
    let (queue, ends, runs) = (OperationQueue(), Count(), Count())
    let tokens = Locked<[KeyValueObservation]>([])
    onThreads(4) { _ in
      var last: KVOOperation?
      for number in 0..<50 {
        let work = KVOBlockOperation { runs.add() }
        if let last { work.addDependency(last) }
        let token = work.observe(\.isFinished) { work, _ in if work.isFinished { ends.add() } }
        // The test does not wait for the completion block, which may run before the last observer.
        tokens.withLock { $0.append(token) }
        queue.addOperation(work)
        if number % 7 == 0 { work.cancel() }
        last = work
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    expect(ends.value == 200 && tokens.withLock { $0.count } == 200)
    expect(runs.value <= 200 && runs.value >= 200 - 32)
  }

  @Test("R5: started before it is ready, it stops the program with a message")
  func misuse() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let work = KVOBlockOperation {}
      work.addDependency(KVOBlockOperation {})
      work.start()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    expect(text.contains("KVOBlockOperation was started before it was ready."))
  }
}
