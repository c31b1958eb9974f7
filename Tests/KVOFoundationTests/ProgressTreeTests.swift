import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import TestScopes
import TestSupport
import Testing

/// R7: current progresses, subclasses, a queue's progress, and computed properties that read one.
@Suite(.leakFree, .serialized) struct ProgressTreeTests {
  @Test(
    "R7: the first progress made while one is current is its child; without one the units are done"
  )
  func current() {
    let (whole, fractions) = (KVOProgress(totalUnitCount: 10), Locked<[Double]>([]))
    let token = whole.observe(\.fractionCompleted) { whole, _ in
      fractions.withLock { $0.append(whole.fractionCompleted) }
    }
    expect(KVOProgress.current() == nil)
    whole.becomeCurrent(withPendingUnitCount: 4)
    expect(KVOProgress.current() === whole)
    let first = KVOProgress(totalUnitCount: 2)
    let second = KVOProgress(totalUnitCount: 1)
    let free = KVOProgress.discreteProgress(totalUnitCount: 1)
    whole.resignCurrent()
    expect(KVOProgress.current() == nil)
    second.completedUnitCount = 1
    free.completedUnitCount = 1
    expectEqual(whole.fractionCompleted, 0)
    first.completedUnitCount = 1
    expectEqual(whole.fractionCompleted, 0.2)
    first.completedUnitCount = 2
    expectEqual(whole.completedUnitCount, 4)
    whole.becomeCurrent(withPendingUnitCount: 5)
    whole.resignCurrent()
    expectEqual(whole.completedUnitCount, 9)
    expectEqual(fractions.withLock { $0.last }, 0.9)
    expectEqual(whole.performAsCurrent(withPendingUnitCount: 1) { 7 }, 7)
    expect(whole.isFinished)
    withExtendedLifetime(token) {}
  }

  @Test("R7: several progresses are current within each other, and each thread has its own")
  func nested() {
    let (outer, inner) = (
      KVOProgress(totalUnitCount: 2), KVOProgress.discreteProgress(totalUnitCount: 2)
    )
    outer.performAsCurrent(withPendingUnitCount: 1) {
      inner.performAsCurrent(withPendingUnitCount: 2) {
        KVOProgress(totalUnitCount: 1).completedUnitCount = 1
        let other = Locked<KVOProgress?>(inner)
        onThreads(1) { _ in other.withLock { $0 = KVOProgress.current() } }
        expect(other.withLock { $0 } == nil)
      }
      let child = KVOProgress(parent: outer)
      child.totalUnitCount = 1
      child.completedUnitCount = 1
    }
    expect(inner.isFinished && outer.completedUnitCount == 1)
  }

  @Test("R7: a progress that is not current can't resign, nor become current twice")
  func misuse() async throws {
    let resigned = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      KVOProgress(totalUnitCount: 1).resignCurrent()
    }
    expect(
      try text(resigned).contains("KVOProgress resigned on a thread on which it was not current"))
    let twice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let progress = KVOProgress(totalUnitCount: 1)
      progress.becomeCurrent(withPendingUnitCount: 1)
      progress.becomeCurrent(withPendingUnitCount: 1)
    }
    expect(try text(twice).contains("became current on a thread on which it was current"))
    let parent = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = KVOProgress(parent: KVOProgress(totalUnitCount: 1))
    }
    expect(try text(parent).contains("for a parent that is not current"))
  }

  private func text(_ result: ExitTest.Result?) throws -> String {
    String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
  }

  @Test(
    "R7: a child without units that has completed some is paused, resumed and cancelled",
    arguments: [true, false])
  func childWithoutUnits(isAddedLate: Bool) throws {
    let (top, received) = (KVOProgress(totalUnitCount: 10), Locked<[String]>([]))
    let part = KVOProgress.discreteProgress(totalUnitCount: 0)
    if isAddedLate { part.completedUnitCount = 1 }
    top.addChild(part, withPendingUnitCount: 1)
    if !isAddedLate { part.completedUnitCount = 1 }
    let tokens = try ["isPaused", "isCancelled"].map { key in
      try part.observe(keyPath: key, options: .new) { _, change in
        received.withLock { $0.append("\(key) \(change.newValue!)") }
      }
    }
    top.pause()
    expect(part.isPaused)
    top.resume()
    top.cancel()
    expect(part.isCancelled && !part.isPaused)
    expectEqual(received.withLock { $0 }, ["isPaused true", "isPaused false", "isCancelled true"])
    withExtendedLifetime(tokens) {}
  }

  @Test("C8 R7: the short names of its keys notify as the long ones do")
  func shortNames() throws {
    let (progress, lines) = (KVOProgress(totalUnitCount: 1), Locked<[String]>([]))
    let keys = ["cancelled", "paused", "finished", "indeterminate", "cancellable", "pausable"]
    let tokens = try keys.map { key in
      try progress.observe(keyPath: key, options: .new) { _, change in
        lines.withLock { $0.append("\(key) \(change.newValue!)") }
      }
    }
    progress.pause()
    progress.resume()
    progress.isCancellable = false
    progress.isPausable = true
    progress.cancel()
    progress.totalUnitCount = -1
    progress.totalUnitCount = 1
    progress.completedUnitCount = 1
    let received = lines.withLock { $0 }
    for line in [
      "paused true", "paused false", "cancellable false", "pausable true", "cancelled true",
      "indeterminate true", "indeterminate false", "finished true",
    ] { expect(received.contains(line), "\(line) in \(received)") }
    withExtendedLifetime(tokens) {}
  }

  @Test("R7: descriptions follow the units, unless they are set")
  func descriptions() throws {
    let (progress, lines) = (KVOProgress(totalUnitCount: 3), Locked<[String]>([]))
    let tokens = try ["localizedDescription", "localizedAdditionalDescription"].map { key in
      try progress.observe(keyPath: key, options: [.old, .new]) { _, change in
        lines.withLock { $0.append("\(change.oldValue!)|\(change.newValue!)") }
      }
    }
    func expectLines(_ expected: [String], _ line: Int = #line, _ change: () throws -> Void)
      rethrows
    {
      lines.withLock { $0 = [] }
      try change()
      expectEqual(lines.withLock { $0.sorted() }, expected, line: line)
    }
    expectLines(["0 of 3|2 of 3", "0% completed|67% completed"]) { progress.completedUnitCount = 2 }
    expectLines(["2 of 3|2 of 4", "67% completed|50% completed"]) { progress.totalUnitCount = 4 }
    try expectLines(["2 of 4|two", "50% completed|Copying"]) {
      progress.localizedDescription = "Copying"
      try progress.setValue("two", forKey: "localizedAdditionalDescription")
    }
    expectLines(["Copying|Copying", "two|two"]) { progress.completedUnitCount = 3 }
    expectLines(["Copying|75% completed", "two|3 of 4"]) {
      progress.localizedDescription = nil
      progress.localizedAdditionalDescription = nil
    }
    expectLines(["3 of 4|", "75% completed|"]) { progress.kind = .file }
    expectLines(["|3 of 4", "|75% completed"]) { progress.kind = nil }
    expectLines(["3 of 4|", "75% completed|"]) { progress.totalUnitCount = -1 }
    withExtendedLifetime(tokens) {}
  }

  @Test("R7: a description gives the work of children, and any number of units")
  func descriptionsOfExtremes() {
    let whole = KVOProgress(totalUnitCount: 2)
    let part = KVOProgress(totalUnitCount: 100, parent: whole, pendingUnitCount: 1)
    let changed = Count()
    let token = whole.observe(\.localizedDescription) { _, _ in changed.add() }
    part.completedUnitCount = 50
    expectEqual(whole.localizedDescription, "25% completed")
    expectEqual(changed.value, 1)
    let many = KVOProgress(totalUnitCount: 1)
    many.completedUnitCount = .max
    expectEqual(many.localizedDescription, "\(Int64.max)% completed")
    expectEqual(many.localizedAdditionalDescription, "\(Int64.max) of 1")
    withExtendedLifetime(token) {}
  }

  private final class Halting: KVOProgress, @unchecked Sendable {
    let cancels = Count()
    var state = "mine"
    override func cancel() {
      cancels.add()
      super.cancel()
    }
  }

  @Test("R7: a subclass overrides the open members, and has keys of its own")
  func subclass() throws {
    let progress = Halting(parent: nil)
    progress.totalUnitCount = 2
    progress.cancel()
    expect(progress.isCancelled && progress.cancels.value == 1)
    expectEqual(try progress.value(forKey: "state") as? String, "mine")
  }

  @KVO final class Model: KVOObject {
    let progress = KVOProgress.discreteProgress(totalUnitCount: 10)
    var title: String { "\(Int(progress.fractionCompleted * 100)) %" }
    var status: String {
      "\(progress.isPaused) \(progress.isCancelled) \(progress.isFinished) \(progress.completedUnitCount) \(progress.totalUnitCount)"
    }
  }

  @Test("F5 R7: a computed property follows what it reads of a progress")
  func tracked() {
    let (model, lines) = (Model(), Locked<[String]>([]))
    let tokens = [
      model.observe(\.title, options: .new) { _, change in
        lines.withLock { $0.append(change.newValue!) }
      },
      model.observe(\.progress.isPaused, options: .new) { _, change in
        lines.withLock { $0.append("paused \(change.newValue!)") }
      },
    ]
    let part = KVOProgress(totalUnitCount: 2, parent: model.progress, pendingUnitCount: 5)
    part.completedUnitCount = 1
    model.progress.completedUnitCount = 5
    model.progress.pause()
    expectEqual(lines.withLock { $0.filter { $0 != "0 %" } }, ["25 %", "75 %", "paused true"])
    let statuses = Locked<[String]>([])
    let token = model.observe(\.status, options: .new) { _, change in
      statuses.withLock { $0.append(change.newValue!) }
    }
    model.progress.resume()
    model.progress.totalUnitCount = 12
    model.progress.cancel()
    expectEqual(
      statuses.withLock { $0 },
      ["false false false 5 10", "false false false 5 12", "false true false 5 12"])
    withExtendedLifetime((tokens, token)) {}
  }

  @Test("R6: a queue's progress counts finished main() calls, once its total is set")
  func queue() {
    let (queue, fractions) = (KVOOperationQueue(), Locked<[Double]>([]))
    queue.maxConcurrentOperationCount = 1
    queue.addOperation {}
    queue.waitUntilAllOperationsAreFinished()
    expect(queue.progress.completedUnitCount == 0 && queue.progress.totalUnitCount == 0)
    let token = queue.observe(\.progress.fractionCompleted, options: .new) { _, change in
      fractions.withLock { $0.append(change.newValue!) }
    }
    queue.progress.totalUnitCount = 4
    queue.isSuspended = true
    let cancelled = KVOBlockOperation {}
    queue.addOperations(
      [KVOBlockOperation {}, cancelled, KVOBlockOperation {}], waitUntilFinished: false)
    cancelled.cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(queue.progress.completedUnitCount, 2)
    queue.addOperations([KVOBlockOperation {}, KVOBlockOperation {}], waitUntilFinished: true)
    expect(queue.progress.isFinished)
    expectEqual(fractions.withLock { $0.last }, 1)
    withExtendedLifetime(token) {}
  }

  private final class Unready: KVOOperationQueue, @unchecked Sendable {
    let added = Count()
    override func addOperations(_ operations: [KVOOperation], waitUntilFinished wait: Bool) {
      added.add(operations.count)
      super.addOperations(operations, waitUntilFinished: wait)
    }
  }

  @Test("R6: a subclass of the queue overrides how operations are added")
  func queueSubclass() {
    let queue = Unready()
    queue.addOperation {}
    queue.addOperation(KVOBlockOperation {})
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(queue.added.value, 2)
  }
}
