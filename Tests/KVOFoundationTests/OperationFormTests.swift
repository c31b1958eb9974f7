import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import TestScopes
import TestSupport
import Testing

/// R5: asynchronous operations as programs write them for `Operation`, with `KVOOperation` in its place.
@Suite(.leakFree, .serialized) struct OperationFormTests {
  private static let forms: [Form.Type] = [
    ByQueue.self, ByLock.self, ByMacro.self, ByFlags.self, BySetters.self, ByDeclaration.self,
    ByReads.self,
  ]

  /// The keys that notified, with the new values.
  private func observe(_ work: KVOOperation, _ lines: Locked<[String]>) throws
    -> [KeyValueObservation]
  {
    try ["isReady", "isExecuting", "isFinished"].map { key in
      try work.observe(keyPath: key, options: [.new]) { _, change in
        lines.withLock { $0.append("\(key) \(change.newValue!)") }
      }
    }
  }

  @Test(
    "R5: each form waits for its dependency, executes and finishes, with notifications",
    arguments: 0..<forms.count)
  func runs(_ index: Int) throws {
    let (work, first, queue) = (Self.forms[index].init(), KVOBlockOperation {}, KVOOperationQueue())
    let lines = Locked<[String]>([])
    work.addDependency(first)
    let tokens = try observe(work, lines)
    queue.addOperation(work)
    expect(!work.isReady && !work.isExecuting && !work.isFinished, work.name ?? "")
    queue.addOperation(first)
    queue.waitUntilAllOperationsAreFinished()
    expect(work.isFinished && !work.isExecuting && work.runs.value == 1)
    let notified = lines.withLock { $0 }
    for line in ["isReady true", "isExecuting true", "isExecuting false", "isFinished true"] {
      expect(notified.contains(line), "\(type(of: work)): \(line) in \(notified)")
    }
    expectEqual(queue.operationCount, 0)
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "R5: each form becomes ready when it is cancelled, and finishes without its work",
    arguments: 0..<forms.count)
  func cancelled(_ index: Int) throws {
    let (work, queue) = (Self.forms[index].init(), KVOOperationQueue())
    let lines = Locked<[String]>([])
    work.addDependency(KVOBlockOperation {})
    let tokens = try observe(work, lines)
    queue.addOperation(work)
    work.cancel()
    queue.waitUntilAllOperationsAreFinished()
    expect(work.isCancelled && work.isFinished && work.runs.value == 0, "\(type(of: work))")
    expect(lines.withLock { $0 }.contains("isReady true"), "\(type(of: work))")
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "R5: isReady of each form notifies when its dependency finishes", arguments: 0..<forms.count)
  func readiness(_ index: Int) throws {
    let (work, first, lines) = (
      Self.forms[index].init(), KVOBlockOperation {}, Locked<[String]>([])
    )
    work.addDependency(first)
    let tokens = try observe(work, lines)
    first.start()
    expectEqual(lines.withLock { $0.filter { $0 != "isReady false" } }, ["isReady true"])
    withExtendedLifetime(tokens) {}
  }

  @Test("R5: the members that Operation lets subclasses override can be overridden, and are called")
  func overrides() throws {
    let (work, calls) = (Overriding(), Locked<[String]>([]))
    work.note = { line in calls.withLock { $0.append(line) } }
    let first = KVOBlockOperation {}
    work.addDependency(first)
    work.completionBlock = {}
    first.start()
    work.start()
    work.waitUntilFinished()
    expectEqual(
      calls.withLock { $0 }, ["addDependency", "completionBlock", "main", "waitUntilFinished"])
    expect(work.dependencies.count == 1 && work.isAsynchronous)
  }

  @Test(
    "B2 R5: stored properties of a library's class are not keys of its subclasses, nor in mirrors")
  func internals() throws {
    let work = Naming()
    expectEqual(try work.value(forKey: "state") as? String, "mine")
    try work.setValue("yours", forKey: "state")
    expectEqual(work.state, "yours")
    for key in ["waiting", "scheduled", "storage"] {
      let error = keyValueError { _ = try work.value(forKey: key) }
      expectEqual(error, .undefinedKey(key: key, className: "Naming"))
      expectEqual("\(error!)", "Naming has no key \"\(key)\".")
      expectEqual(
        keyValueError { _ = try work.observe(keyPath: key) { _, _ in } },
        .undefinedKey(key: key, className: "Naming"))
    }
    expectEqual(Naming.keyValueProperties.map(\.key).contains("waiting"), false)
    var labels: [String?] = []
    for mirror in sequence(first: Mirror(reflecting: work), next: \.superclassMirror) {
      labels += mirror.children.map(\.label)
    }
    expectEqual(labels, ["state"])
    for key in ["progress", "family", "lock"] {
      expect(keyValueError { _ = try KVOProgress(totalUnitCount: 1).value(forKey: key) } != nil)
    }
    expect(keyValueError { _ = try KVOOperationQueue().value(forKey: "members") } != nil)
  }

  @Test("C8 R5: the short names notify as the long ones do")
  func shortNames() throws {
    let (work, lines) = (KVOBlockOperation {}, Locked<[String]>([]))
    work.addDependency(KVOBlockOperation {})
    let tokens = try ["ready", "executing", "finished", "cancelled"].map { key in
      try work.observe(keyPath: key, options: .new) { _, change in
        lines.withLock { $0.append("\(key) \(change.newValue!)") }
      }
    }
    work.removeDependency(work.dependencies[0])
    work.start()
    work.cancel()
    let second = KVOBlockOperation {}
    let token = try second.observe(keyPath: "cancelled", options: .new) { _, change in
      lines.withLock { $0.append("cancelled \(change.newValue!)") }
    }
    second.cancel()
    expectEqual(
      lines.withLock { $0 },
      ["ready true", "executing true", "executing false", "finished true", "cancelled true"])
    withExtendedLifetime((tokens, token)) {}
  }

  @Test("F5 R5: a computed property follows what it reads of operations and queues")
  func tracked() throws {
    let (model, queue) = (Model(), KVOOperationQueue())
    queue.isSuspended = true
    model.queue = queue
    let lines = Locked<[String]>([])
    let tokens = [
      model.observe(\.title, options: .new) { _, change in
        lines.withLock { $0.append(change.newValue!) }
      },
      model.observe(\.work.isCancelled, options: .new) { _, change in
        lines.withLock { $0.append("cancelled \(change.newValue!)") }
      },
    ]
    model.work.start()
    queue.addOperation(KVOBlockOperation {})
    model.work.name = "named"
    let next = KVOBlockOperation {}
    model.work = next
    next.cancel()
    queue.cancelAllOperations()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(
      lines.withLock { $0 },
      [
        "true 0 -", "true 1 -", "true 1 named", "cancelled false", "false 1 -", "cancelled true",
        "false 0 -",
      ])
    withExtendedLifetime(tokens) {}
  }
}

// MARK: Forms

/// The interface of each form that the tests use.
private class Form: KVOOperation, @unchecked Sendable {
  let runs = Count()
  override required init() {}

  /// Does the work on another thread.
  func work(_ end: @escaping @Sendable () -> Void) {
    let runs = runs
    DispatchQueue.global().async {
      runs.add()
      end()
    }
  }
}

private enum Phase: Int, Sendable { case ready, executing, finished }

/// A private state guarded by a concurrent queue. The dependencies are declared for all keys at once, without
/// super's.
private final class ByQueue: Form, @unchecked Sendable {
  private let access = DispatchQueue(label: "state", attributes: .concurrent)
  private var stored = Phase.ready
  private var state: Phase {
    get { access.sync { stored } }
    set {
      willChangeValue(forKey: "state")
      access.sync(flags: .barrier) { stored = newValue }
      didChangeValue(forKey: "state")
    }
  }

  override var isReady: Bool { state == .ready && super.isReady }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }
  override var isAsynchronous: Bool { true }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    switch key {
    case "isReady", "isExecuting", "isFinished": ["state"]
    default: super.keyPathsForValuesAffectingValue(forKey: key)
    }
  }

  override func start() {
    if isCancelled {
      state = .finished
      return
    }
    state = .executing
    work { self.state = .finished }
  }
}

/// A private state guarded by a lock. Its setter announces the key of the old state and of the new one.
private final class ByLock: Form, @unchecked Sendable {
  private let lock = NSLock()
  private var stored = Phase.ready
  private func key(_ phase: Phase) -> String {
    switch phase {
    case .ready: "isReady"
    case .executing: "isExecuting"
    case .finished: "isFinished"
    }
  }
  private var state: Phase {
    get { lock.withLock { stored } }
    set {
      let old = state
      willChangeValue(forKey: key(newValue))
      willChangeValue(forKey: key(old))
      lock.withLock { stored = newValue }
      didChangeValue(forKey: key(old))
      didChangeValue(forKey: key(newValue))
    }
  }

  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }

  override func start() {
    guard !isCancelled else {
      state = .finished
      return
    }
    state = .executing
    work { self.state = .finished }
  }
}

/// The macro, with a class function for each key.
@KVO private final class ByMacro: Form, @unchecked Sendable {
  @KVOIgnored private let storage = Locked(Phase.ready)
  private var state: Phase {
    get { storage.withLock { $0 } }
    set { withChange(forKey: "state") { storage.withLock { $0 = newValue } } }
  }

  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }

  static func keyPathsForValuesAffectingIsReady() -> Set<String> { ["state"] }
  static func keyPathsForValuesAffectingIsExecuting() -> Set<String> { ["state"] }
  static func keyPathsForValuesAffectingIsFinished() -> Set<String> { ["state"] }

  override func start() {
    guard !isCancelled else {
      state = .finished
      return
    }
    state = .executing
    work { self.state = .finished }
  }
}

/// A flag for each key, whose property observers announce it.
private final class ByFlags: Form, @unchecked Sendable {
  private var _executing = false {
    willSet { willChangeValue(forKey: "isExecuting") }
    didSet { didChangeValue(forKey: "isExecuting") }
  }
  private var _finished = false {
    willSet { willChangeValue(forKey: "isFinished") }
    didSet { didChangeValue(forKey: "isFinished") }
  }

  override var isExecuting: Bool { _executing }
  override var isFinished: Bool { _finished }
  override var isConcurrent: Bool { true }

  override func start() {
    guard !isCancelled else {
      _finished = true
      return
    }
    _executing = true
    work {
      self._executing = false
      self._finished = true
    }
  }
}

/// Overrides with setters.
private final class BySetters: Form, @unchecked Sendable {
  private let flags = Locked((executing: false, finished: false))
  override private(set) var isExecuting: Bool {
    get { flags.withLock { $0.executing } }
    set {
      willChangeValue(forKey: "isExecuting")
      flags.withLock { $0.executing = newValue }
      didChangeValue(forKey: "isExecuting")
    }
  }
  override private(set) var isFinished: Bool {
    get { flags.withLock { $0.finished } }
    set {
      willChangeValue(forKey: "isFinished")
      flags.withLock { $0.finished = newValue }
      didChangeValue(forKey: "isFinished")
    }
  }

  override func start() {
    guard !isCancelled else {
      isFinished = true
      return
    }
    isFinished = false
    isExecuting = true
    work {
      self.isExecuting = false
      self.isFinished = true
    }
  }
}

/// An observed property, on which all keys depend, also `isReady`.
private final class ByDeclaration: Form, @unchecked Sendable {
  private let storage = Locked(Phase.ready)
  var phase: Phase {
    get { storage.withLock { $0 } }
    set { withChange(of: \.phase) { storage.withLock { $0 = newValue } } }
  }

  override var isReady: Bool { phase == .ready && super.isReady }
  override var isExecuting: Bool { phase == .executing }
  override var isFinished: Bool { phase == .finished }

  override class func registerKeys() {
    super.registerKeys()
    declareKeys { keys in
      keys.computed("phase", \.phase)
      for key in ["isExecuting", "isFinished"] { keys.dependency(key, on: ["phase"]) }
      keys.computed("isReady", \.isReady, affectedBy: ["phase"])
    }
  }

  override func start() {
    phase = isCancelled ? .finished : .executing
    if !isFinished { work { self.phase = .finished } }
  }
}

/// Only the macro: the keys depend on what they read.
@KVO private final class ByReads: Form, @unchecked Sendable {
  private var phase = Phase.ready

  override var isReady: Bool { super.isReady && phase == .ready }
  override var isExecuting: Bool { phase == .executing }
  override var isFinished: Bool { phase == .finished }

  override func start() {
    guard !isCancelled else {
      phase = .finished
      return
    }
    phase = .executing
    work { self.phase = .finished }
  }
}

private final class Overriding: KVOOperation, @unchecked Sendable {
  var note: (String) -> Void = { _ in }
  override var isAsynchronous: Bool { true }
  override func main() { note("main") }
  override func addDependency(_ operation: KVOOperation) {
    note("addDependency")
    super.addDependency(operation)
  }
  override var completionBlock: (@Sendable () -> Void)? {
    get { super.completionBlock }
    set {
      note("completionBlock")
      super.completionBlock = newValue
    }
  }
  override func waitUntilFinished() {
    note("waitUntilFinished")
    super.waitUntilFinished()
  }
}

/// Has a property with the name of a private one of its superclass.
private final class Naming: KVOOperation, @unchecked Sendable {
  var state = "mine"
}

@KVO private final class Model: KVOObject {
  var work: KVOOperation = KVOBlockOperation {}
  var queue = KVOOperationQueue()
  var title: String { "\(work.isFinished) \(queue.operationCount) \(work.name ?? "-")" }
}

private func keyValueError(_ body: () throws -> Void) -> KeyValueError? {
  do {
    try body()
    return nil
  } catch {
    return error as? KeyValueError
  }
}
