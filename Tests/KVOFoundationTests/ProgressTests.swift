import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import TestScopes
import TestSupport
import Testing

/// Reads a progress on another thread while it dies.
private final class LastReader: Sendable {
  private let progress: KVOProgress
  private let reads: Count

  init(_ progress: KVOProgress, _ reads: Count) {
    self.progress = progress
    self.reads = reads
  }

  deinit {
    let (progress, reads) = (progress, reads)
    onThreads(1) { _ in if !progress.isCancelled { reads.add() } }
  }
}

/// R7: a progress notifies of itself.
@Suite(.leakFree) struct ProgressTests {
  private static let keys = [
    "totalUnitCount", "completedUnitCount", "fractionCompleted", "isIndeterminate", "isFinished",
    "isCancelled", "isPaused",
  ]

  @Test("R7: units, and values computed from them, notify with old and new values")
  func units() throws {
    let (progress, received) = (KVOProgress(totalUnitCount: 0), Locked<[String]>([]))
    expect(progress.isIndeterminate)
    let tokens = try observe(progress, "p", Self.keys, received)
    progress.totalUnitCount = 4
    expectEqual(
      Set(received.withLock { $0 }),
      [
        "p totalUnitCount 0 4", "p fractionCompleted 0.0 0.0", "p isIndeterminate true false",
        "p isFinished false false",
      ])
    received.withLock { $0 = [] }
    try progress.setValue(4, forKey: "completedUnitCount")
    expectEqual(
      Set(received.withLock { $0 }),
      [
        "p completedUnitCount 0 4", "p fractionCompleted 0.0 1.0", "p isIndeterminate false false",
        "p isFinished false true",
      ])
    expect(progress.isFinished && progress.foundationProgress.isFinished)
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "R7: no work at all is unknown work before a unit is completed, and finished work after",
    arguments: [0, 5])
  func noUnits(_ completed: Int64) throws {
    for isChild in [false, true] {
      let top = KVOProgress(totalUnitCount: 10)
      let progress =
        isChild
        ? KVOProgress(totalUnitCount: 42, parent: top, pendingUnitCount: 5)
        : KVOProgress(totalUnitCount: 42)
      progress.completedUnitCount = completed
      let received = Locked<[String]>([])
      let tokens = try observe(progress, "p", ["totalUnitCount", "isFinished"], received)
      progress.totalUnitCount = 0
      expectEqual(
        Set(received.withLock { $0 }),
        ["p totalUnitCount 42 0", "p isFinished false \(completed > 0)"])
      expectEqual(progress.isIndeterminate, completed == 0)
      expectEqual(progress.fractionCompleted, completed == 0 ? 0 : 1)
      withExtendedLifetime(tokens) {}
    }
  }

  @Test("R7: a child's change changes the ancestors' fractions, its end the parent's units")
  func tree() throws {
    let top = KVOProgress(totalUnitCount: 2)
    let middle = KVOProgress(totalUnitCount: 10, parent: top, pendingUnitCount: 1)
    let leaf = KVOProgress(totalUnitCount: 4, parent: middle, pendingUnitCount: 10)
    let received = Locked<[String]>([])
    let keys = ["fractionCompleted", "completedUnitCount"]
    let tokens =
      try observe(top, "top", keys, received) + observe(middle, "middle", keys, received)
    leaf.completedUnitCount = 2
    expect(
      received.withLock { $0 } == [
        "middle fractionCompleted 0.0 0.5", "top fractionCompleted 0.0 0.25",
      ]
        || received.withLock { $0 } == [
          "top fractionCompleted 0.0 0.25", "middle fractionCompleted 0.0 0.5",
        ])
    received.withLock { $0 = [] }
    leaf.completedUnitCount = 4
    expectEqual(
      Set(received.withLock { $0 }),
      [
        "middle completedUnitCount 0 10", "middle fractionCompleted 0.5 1.0",
        "top completedUnitCount 0 1", "top fractionCompleted 0.25 0.5",
      ])
    expect(received.withLock { $0.count } == 4 && middle.isFinished && !top.isFinished)
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "R7: a progress whose total was unknown while a child went back may finish when it is known",
    arguments: [true, false])
  func wentBack(_ isPlain: Bool) throws {
    let top = KVOProgress.discreteProgress(totalUnitCount: 6)
    let middle = KVOProgress.discreteProgress(totalUnitCount: -1)
    top.addChild(middle, withPendingUnitCount: 1)
    let units: (Int64) -> Void
    if isPlain {
      let leaf = Progress.discreteProgress(totalUnitCount: 3)
      middle.addChild(leaf, withPendingUnitCount: 1)
      units = { leaf.completedUnitCount = $0 }
    } else {
      let leaf = KVOProgress.discreteProgress(totalUnitCount: 3)
      middle.addChild(leaf, withPendingUnitCount: 1)
      units = { leaf.completedUnitCount = $0 }
    }
    let received = Locked<[String]>([])
    let tokens = try observe(top, "top", ["completedUnitCount"], received)
    units(3)
    units(0)
    expectEqual(received.withLock { $0 }, [])
    middle.totalUnitCount = 2
    expectEqual(top.completedUnitCount, 1)
    expectEqual(received.withLock { $0 }, ["top completedUnitCount 0 1"])
    withExtendedLifetime(tokens) {}
  }

  @Test("R7: cancelling, pausing and resuming notify for all descendants")
  func cancelling() throws {
    let top = KVOProgress(totalUnitCount: 2)
    let child = KVOProgress(totalUnitCount: 1, parent: top, pendingUnitCount: 1)
    let received = Locked<[String]>([])
    let keys = ["isCancelled", "isPaused"]
    var tokens = try observe(top, "top", keys, received) + observe(child, "child", keys, received)
    top.pause()
    top.resume()
    top.cancel()
    expectEqual(
      Set(received.withLock { $0 }),
      [
        "top isPaused false true", "child isPaused false true", "top isPaused true false",
        "child isPaused true false", "top isCancelled false true", "child isCancelled false true",
      ])
    let late = KVOProgress(totalUnitCount: 1)
    tokens += try observe(late, "late", keys, received)
    top.addChild(late, withPendingUnitCount: 1)
    expect(late.isCancelled && received.withLock { $0.last } == "late isCancelled false true")
    withExtendedLifetime(tokens) {}
  }

  @Test("R7: settings notify; a plain child counts; handlers are called")
  func rest() async throws {
    let progress = KVOProgress(totalUnitCount: 2)
    let received = Locked<[String]>([])
    let tokens = try observe(progress, "p", ["isCancellable", "isPausable", "kind"], received)
    progress.isCancellable = true
    progress.isPausable = true
    progress.kind = .file
    expectEqual(received.withLock { $0.count }, 3)
    let plain = Progress.discreteProgress(totalUnitCount: 1)
    progress.addChild(plain, withPendingUnitCount: 1)
    plain.completedUnitCount = 1
    expectEqual(progress.fractionCompleted, 0.5)
    await withCheckedContinuation { waiter in
      progress.cancellationHandler = { waiter.resume() }
      progress.cancel()
    }
    withExtendedLifetime(tokens) {}
  }

  @Test("R7: a handler that is replaced dies outside the lock of progresses")
  func replacedHandler() {
    let progress = KVOProgress(totalUnitCount: 1)
    for handler in [\KVOProgress.cancellationHandler, \.pausingHandler, \.resumingHandler] {
      let reads = Count()
      do {
        let reader = LastReader(progress, reads)
        progress[keyPath: handler] = { _ = reader }
      }
      expectEqual(reads.value, 0)
      progress[keyPath: handler] = nil
      expectEqual(reads.value, 1)
    }
  }

  @Test("R7: a child has finished when its own and its children's units reach its total")
  func overcommitted() throws {
    let top = KVOProgress(totalUnitCount: 3)
    let part = KVOProgress(totalUnitCount: 1, parent: top, pendingUnitCount: 1)
    // A portion larger than the total.
    let leaf = KVOProgress(totalUnitCount: 3, parent: part, pendingUnitCount: 2)
    let received = Locked<[String]>([])
    let tokens = try observe(top, "top", ["completedUnitCount"], received)
    leaf.completedUnitCount = 1
    expectEqual(received.withLock { $0 }, [])
    leaf.completedUnitCount = 2
    expectEqual(received.withLock { $0 }, ["top completedUnitCount 0 1"])
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "R7: a progress whose child goes back is cancelled with its parent while unfinished"
  )
  func goesBack() throws {
    let top = KVOProgress(totalUnitCount: 2)
    let part = KVOProgress(totalUnitCount: 2, parent: top, pendingUnitCount: 1)
    let leaf = KVOProgress(totalUnitCount: 1, parent: part, pendingUnitCount: 1)
    leaf.completedUnitCount = 1
    leaf.completedUnitCount = 0
    // It has finished by its own units; with the child's it is half done.
    part.completedUnitCount = 2
    let received = Locked<[String]>([])
    let tokens = try observe(part, "part", ["isCancelled"], received)
    top.cancel()
    expect(part.isCancelled)
    expectEqual(received.withLock { $0 }, ["part isCancelled false true"])
    withExtendedLifetime(tokens) {}
  }

  /// How a child finishes its parent.
  enum Finish: CaseIterable, Sendable {
    case child, excess, addedChild, plainChild, addedPlainChild

    func make(_ part: KVOProgress) {
      let plain = Progress.discreteProgress(totalUnitCount: 2)
      let leaf = KVOProgress.discreteProgress(totalUnitCount: 2)
      switch self {
      case .child:
        part.addChild(leaf, withPendingUnitCount: 10)
        leaf.completedUnitCount = 2
      case .excess:
        part.completedUnitCount = 8
        part.addChild(leaf, withPendingUnitCount: 5)
        leaf.completedUnitCount = 1
      case .addedChild:
        leaf.completedUnitCount = 2
        part.addChild(leaf, withPendingUnitCount: 10)
      case .plainChild:
        part.addChild(plain, withPendingUnitCount: 10)
        plain.completedUnitCount = 2
      case .addedPlainChild:
        plain.completedUnitCount = 2
        part.addChild(plain, withPendingUnitCount: 10)
      }
    }
  }

  @Test(
    "R7: a progress that a child finishes is not cancelled with its parent",
    arguments: Finish.allCases)
  func finishedByChild(finish: Finish) throws {
    let top = KVOProgress(totalUnitCount: 2)
    let part = KVOProgress(totalUnitCount: 10, parent: top, pendingUnitCount: 1)
    finish.make(part)
    let received = Locked<[String]>([])
    let tokens = try observe(part, "part", ["isCancelled"], received)
    top.cancel()
    expect(top.isCancelled && !part.isCancelled)
    expectEqual(received.withLock { $0 }, [])
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "R7: a progress that a child finishes is not kept by its parent",
    arguments: Finish.allCases.filter { $0 != .plainChild })
  func finishedIsReleased(finish: Finish) {
    let top = KVOProgress(totalUnitCount: 2)
    weak var part: KVOProgress?
    do {
      let made = KVOProgress(totalUnitCount: 10, parent: top, pendingUnitCount: 1)
      finish.make(made)
      part = made
    }
    expect(part == nil)
    withExtendedLifetime(top) {}
  }

  @Test("R7: observers know a tree's state, also with units counted twice or in excess")
  func random() throws {
    for seed in 0..<Environment.times(300) {
      expectEqual(try ProgressProgram(seed: seed).difference(), nil, "seed \(seed)")
    }
  }

  @Test("R7: threads work on one tree, and its fractions are right in the end")
  func threads() {
    let top = KVOProgress(totalUnitCount: 400)
    let changes = Count()
    let token = top.observe(\.fractionCompleted) { _, _ in changes.add() }
    let parts = (0..<4).map { _ in
      KVOProgress(totalUnitCount: 100, parent: top, pendingUnitCount: 100)
    }
    let before = changes.value
    onThreads(4) { index in for unit in 1...100 { parts[index].completedUnitCount = Int64(unit) } }
    expect(top.isFinished && top.completedUnitCount == 400 && top.fractionCompleted == 1)
    expectEqual(changes.value - before, 400)
    withExtendedLifetime(token) {}
  }

  // MARK: Large trees

  @Test(
    "R7: cancelling, pausing and resuming many children notify for each on a small stack"
  )
  func wide() async {
    await #expect(processExitsWith: .success) {
      let whole = KVOProgress(totalUnitCount: 20_000)
      let parts = (0..<20_000).map { _ in
        KVOProgress(totalUnitCount: 1, parent: whole, pendingUnitCount: 1)
      }
      let received = Count()
      let tokens = ["isCancelled", "isPaused"].map { key in
        try! parts[19_999].observe(keyPath: key) { _, _ in received.add() }
      }
      whole.pause()
      whole.resume()
      whole.cancel()
      precondition(parts.allSatisfy(\.isCancelled) && received.value == 3)
      withExtendedLifetime(tokens) {}
    }
  }

  @Test("R7: a tree of any depth is built, changed and released on a small stack")
  func deep() async {
    await #expect(processExitsWith: .success) {
      var top: KVOProgress? = KVOProgress(totalUnitCount: 2)
      var leaf = top!
      for _ in 0..<10_000 {
        leaf = KVOProgress(totalUnitCount: 2, parent: leaf, pendingUnitCount: 1)
      }
      let received = Count()
      let tokens = [
        top!.observe(\.fractionCompleted) { _, _ in received.add() },
        leaf.observe(\.isCancelled) { _, _ in received.add() },
      ]
      top!.cancel()
      leaf.completedUnitCount = 1
      precondition(received.value == 2)
      leaf = KVOProgress(totalUnitCount: 1)
      top = nil
      withExtendedLifetime(tokens) {}
    }
  }

  @Test("R7: a child without progress notifies its parent only, others all ancestors")
  func added() {
    let top = KVOProgress(totalUnitCount: 2)
    let parent = KVOProgress(totalUnitCount: 2, parent: top, pendingUnitCount: 1)
    let received = Locked<[String]>([])
    let tokens = [("top", top), ("parent", parent)].map { name, progress in
      progress.observe(\.fractionCompleted) { progress, _ in
        received.withLock { $0.append("\(name) \(progress.fractionCompleted)") }
      }
    }
    _ = KVOProgress(totalUnitCount: 2, parent: parent, pendingUnitCount: 1)
    expectEqual(received.withLock { $0 }, ["parent 0.0"])
    let half = KVOProgress(totalUnitCount: 2)
    half.completedUnitCount = 1
    parent.addChild(half, withPendingUnitCount: 1)
    expectEqual(Set(received.withLock { $0 }), ["parent 0.0", "parent 0.25", "top 0.125"])
    withExtendedLifetime(tokens) {}
  }
}

/// Observes keys of a progress, and records each change under a name for the progress.
func observe(
  _ progress: KVOProgress, _ name: String, _ keys: [String], _ received: Locked<[String]>
) throws -> [KeyValueObservation] {
  try keys.map { key in
    try progress.observe(keyPath: key, options: [.old, .new]) { _, change in
      received.withLock { $0.append("\(name) \(key) \(change.oldValue!) \(change.newValue!)") }
    }
  }
}
