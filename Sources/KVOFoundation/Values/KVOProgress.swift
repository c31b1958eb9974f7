public import Foundation
public import KVORuntime

// A progress whose keys can be observed (R7). A `Progress` does the arithmetic. This class keeps the tree as
// well, since a child's change affects its ancestors, and Foundation's progress notifies no observer on
// Linux.
//
// | state | protection |
// |---|---|
// | all progresses' `progress`, `family`, `texts` | `lock`, under which no observer is called; `Progress` has none on Linux |

/// An observable replacement for `Progress`.
///
/// These keys can be observed: `totalUnitCount`, `completedUnitCount`, `fractionCompleted`,
/// `isIndeterminate`, `isFinished`, `isCancelled`, `isPaused`, `isCancellable`, `isPausable`, `kind`,
/// `localizedDescription`, and `localizedAdditionalDescription`.
/// `indeterminate`, `finished`, `cancelled`, `paused`, `cancellable` and `pausable` are other names.
///
/// ```swift
/// let whole = KVOProgress(totalUnitCount: 10)
/// let part = KVOProgress(totalUnitCount: 100, parent: whole, pendingUnitCount: 5)
/// let token = whole.observe(\.fractionCompleted) { whole, _ in print(whole.fractionCompleted) }
/// part.completedUnitCount = 50  // 0.25
/// ```
///
/// Observers are called on the thread that makes the change, also those of ancestors. A plain `Progress` may
/// be a child: it counts, but notifies no observer. A `KVOProgress(totalUnitCount:)` that is created while
/// another one is current (`becomeCurrent(withPendingUnitCount:)`) becomes its child; a plain `Progress` does
/// not.
///
/// A subclass may override open members. Cancelling, pausing or resuming a progress does not call overrides
/// of its descendants. All members may be used on any thread.
// Unchecked `Sendable`: all mutable state is under the lock.
open class KVOProgress: KVOObject, @unchecked Sendable {
  // All progresses share a lock, since a change of a child changes its ancestors.
  static let lock = Lock(isOuter: true)

  final let progress: Progress
  final var family = Family()
  private var texts: (description: String?, additional: String?)

  /// Creates a progress without units: a child of `parent`, or without a parent if that is nil.
  ///
  /// - Parameter parent: nil, or the thread's current progress; otherwise the program stops with a message.
  public init(parent: KVOProgress?) {
    progress = Progress.discreteProgress(totalUnitCount: 0)
    super.init()
    guard let parent else { return }
    guard KVOProgress.current() === parent else {
      KVODiagnostics.stop(
        "A \(Self.self) was made for a parent that is not current on this thread.")
    }
    joinCurrent()
  }

  /// Creates a progress with a number of units, as a child of the thread's current progress if there is one.
  public convenience init(totalUnitCount: Int64) {
    self.init(units: totalUnitCount)
    joinCurrent()
  }

  /// Creates a progress that stands for some of the units of a parent.
  ///
  /// - Parameters:
  ///   - totalUnitCount: the number of its own units.
  ///   - parent: the progress to which it is added.
  ///   - portion: the number of the parent's units that it stands for.
  public convenience init(
    totalUnitCount: Int64, parent: KVOProgress, pendingUnitCount portion: Int64
  ) {
    self.init(units: totalUnitCount)
    parent.addChild(self, withPendingUnitCount: portion)
  }

  private convenience init(units: Int64) {
    self.init(parent: nil)
    progress.totalUnitCount = units
  }

  /// Creates a progress with a number of units and without a parent, even if the thread has a current
  /// progress.
  public static func discreteProgress(totalUnitCount: Int64) -> KVOProgress {
    KVOProgress(units: totalUnitCount)
  }

  /// The underlying Foundation progress, for code that reads a `Progress`. Changing it directly notifies no
  /// observer.
  public final var foundationProgress: Progress { progress }

  private func read<R>(_ key: StaticString, _ body: (Progress) -> R) -> R {
    _readsKey(key)
    return Self.lock.withLock { body(progress) }
  }

  // MARK: Units

  /// The number of units. A negative number, or 0 while no unit is completed, means that it is unknown.
  open var totalUnitCount: Int64 {
    get { read("totalUnitCount") { $0.totalUnitCount } }
    set {
      change(
        "totalUnitCount", by: { $0.setTotal(newValue) },
        to: { ($0.completedUnitCount, newValue) })
    }
  }

  /// The number of completed units, including those that finished children stand for.
  open var completedUnitCount: Int64 {
    get { read("completedUnitCount") { $0.completedUnitCount } }
    set {
      change(
        "completedUnitCount", by: { $0.completedUnitCount = newValue },
        to: { (newValue, $0.totalUnitCount) })
    }
  }

  /// The fraction that is completed, from 0 to 1, including the work of unfinished children.
  open var fractionCompleted: Double { read("fractionCompleted") { $0.fractionCompleted } }

  /// Whether the amount of work is unknown.
  open var isIndeterminate: Bool { read("isIndeterminate") { $0.isIndeterminate } }

  /// Whether all work is completed.
  open var isFinished: Bool { read("isFinished") { $0.isFinished } }

  /// Adds one completed unit if the number of units is known.
  func count() {
    guard totalUnitCount > 0 else { return }
    add(1)
  }

  private func add(_ units: Int64) {
    change(
      "completedUnitCount", by: { $0.completedUnitCount += units },
      to: { ($0.completedUnitCount + units, $0.totalUnitCount) })
  }

  // MARK: The current progress

  /// Makes this progress current on this thread until `resignCurrent()`. The next `KVOProgress` that the
  /// thread creates becomes its child and stands for some of its units. Progresses that become current nest.
  /// Stops the program with a message if this progress is current on this thread already.
  ///
  /// - Parameter units: the number of units that the child stands for.
  open func becomeCurrent(withPendingUnitCount units: Int64) {
    if CurrentProgress.innermost?.includes(self) == true {
      KVODiagnostics.stop("A \(type(of: self)) became current on a thread on which it was current.")
    }
    CurrentProgress.begin(self, units)
  }

  /// Ends the call of `becomeCurrent(withPendingUnitCount:)` on this thread. If no child was created since,
  /// its units are completed now. Stops the program with a message if this is not the thread's current
  /// progress.
  open func resignCurrent() {
    guard let last = CurrentProgress.innermost, last.progress === self else {
      KVODiagnostics.stop("A \(type(of: self)) resigned on a thread on which it was not current.")
    }
    CurrentProgress.end(last)
    if !last.hasChild { add(last.units) }
  }

  /// Runs a body while this progress is current on this thread.
  ///
  /// - Parameters:
  ///   - units: the number of units that the next progress that the body creates stands for.
  ///   - work: the body; its error is rethrown.
  open func performAsCurrent<R>(
    withPendingUnitCount units: Int64, using work: () throws -> R
  ) rethrows -> R {
    becomeCurrent(withPendingUnitCount: units)
    defer { resignCurrent() }
    return try work()
  }

  /// Returns the progress that is current on this thread; nil if there is none.
  public static func current() -> KVOProgress? { CurrentProgress.innermost?.progress }

  // Only the first child stands for the units.
  private func joinCurrent() {
    guard let current = CurrentProgress.innermost, !current.hasChild else { return }
    current.hasChild = true
    current.progress.addChild(self, withPendingUnitCount: current.units)
  }

  // MARK: The tree

  /// Adds a child, which stands for some of the units. Stops the program if it has a parent already.
  ///
  /// - Parameters:
  ///   - child: the progress to add.
  ///   - portion: the number of units that it stands for.
  open func addChild(_ child: KVOProgress, withPendingUnitCount portion: Int64) {
    KVOFoundation.change(under: Self.lock) {
      // Foundation cancels and pauses the child if the parent is cancelled or paused.
      keys(adding: child.progress, portion)
        + (progress.isPaused ? child.keysBelow("isPaused") : [])
        + (progress.isCancelled ? child.keysBelow("isCancelled") : [])
    } _: {
      progress.addChild(child.progress, withPendingUnitCount: portion)
      child.join(self, portion)
      if Self.hasProgressed(child.progress) { Self.removeCompleted(from: self) }
    }
  }

  /// Adds a plain progress as a child, which stands for some of the units. It is counted, but its changes
  /// notify no observer.
  ///
  /// - Parameters:
  ///   - child: the progress to add.
  ///   - portion: the number of units that it stands for.
  open func addChild(_ child: Progress, withPendingUnitCount portion: Int64) {
    KVOFoundation.change(under: Self.lock) {
      keys(adding: child, portion)
    } _: {
      progress.addChild(child, withPendingUnitCount: portion)
      family.isUneven = true
      if Self.hasProgressed(child) { Self.removeCompleted(from: self) }
    }
  }

  /// Changes one of the counts, and notifies the observers of this progress and of its ancestors.
  /// - Parameter counts: returns the counts after the change, completed and total.
  private func change(
    _ key: String, by body: (Progress) -> Void, to counts: (Progress) -> (Int64, Int64)
  ) {
    KVOFoundation.change(under: Self.lock) {
      [ChangedKey(self, key)] + keysAbove(step(to: counts(progress)))
    } _: {
      let before = progress.fractionCompleted
      body(progress)
      let after = progress.fractionCompleted
      if before != after, Self.isCompleted(progress) { leave() }
      if after < before || before > 1 { noteUnevenAncestors() }
      Self.removeCompleted(from: family.parent)
    }
  }

  // MARK: Cancelling and pausing

  /// Whether the work was asked to stop.
  open var isCancelled: Bool { read("isCancelled") { $0.isCancelled } }

  /// Asks the work and that of all descendants to stop. Cancellation handlers are called on a thread of the
  /// system.
  open func cancel() { changeAll("isCancelled") { $0.cancel() } }

  /// Whether the work was asked to pause.
  open var isPaused: Bool { read("isPaused") { $0.isPaused } }

  /// Asks the work and that of all descendants to pause.
  open func pause() { changeAll("isPaused") { $0.pause() } }

  /// Asks paused work and that of all descendants to continue.
  open func resume() { changeAll("isPaused") { $0.resume() } }

  private func changeAll(_ key: String, _ body: (Progress) -> Void) {
    KVOFoundation.change(under: Self.lock) {
      keysBelow(key)
    } _: {
      body(progress)
    }
  }

  /// Whether the work can be cancelled. It is only a hint for users of the progress: `cancel()` ignores it.
  open var isCancellable: Bool {
    get { read("isCancellable") { $0.isCancellable } }
    set {
      withChange(forKey: "isCancellable") {
        Self.lock.withLock { progress.isCancellable = newValue }
      }
    }
  }

  /// Whether the work can be paused. It is only a hint for users of the progress: `pause()` ignores it.
  open var isPausable: Bool {
    get { read("isPausable") { $0.isPausable } }
    set {
      withChange(forKey: "isPausable") { Self.lock.withLock { progress.isPausable = newValue } }
    }
  }

  /// The kind of work.
  open var kind: ProgressKind? {
    get { read("kind") { $0.kind } }
    set { withChange(forKey: "kind") { Self.lock.withLock { progress.kind = newValue } } }
  }

  /// A description of the work for users. Until it is set, and after it is set to nil, it gives the completed fraction in
  /// English, such as `50% completed`. It is then empty if the fraction is unknown, and if the progress has a kind.
  open var localizedDescription: String! {
    get { read("localizedDescription") { texts.description ?? Self.describe($0) } }
    set {
      withChange(forKey: "localizedDescription") {
        Self.lock.withLock { texts.description = newValue }
      }
    }
  }

  /// A further description for users. Until it is set, and after it is set to nil, it gives the units in English, such as
  /// `5 of 10`. It is then empty if the total is unknown, and if the progress has a kind.
  open var localizedAdditionalDescription: String! {
    get { read("localizedAdditionalDescription") { texts.additional ?? Self.describeUnits($0) } }
    set {
      withChange(forKey: "localizedAdditionalDescription") {
        Self.lock.withLock { texts.additional = newValue }
      }
    }
  }

  private static func describe(_ progress: Progress) -> String {
    guard progress.kind == nil, !progress.isIndeterminate else { return "" }
    let percent = (progress.fractionCompleted * 100).rounded(.toNearestOrEven)
    return "\(Int64(exactly: percent) ?? .max)% completed"
  }

  private static func describeUnits(_ progress: Progress) -> String {
    guard progress.kind == nil, !progress.isIndeterminate else { return "" }
    return "\(progress.completedUnitCount) of \(progress.totalUnitCount)"
  }

  /// Called when the work is cancelled, on a thread of the system; immediately if it is cancelled already.
  open var cancellationHandler: (@Sendable () -> Void)? {
    get { Self.lock.withLock { progress.cancellationHandler } }
    set { exchange(\.cancellationHandler, newValue) }
  }

  /// Called when the work is paused, on a thread of the system.
  open var pausingHandler: (@Sendable () -> Void)? {
    get { Self.lock.withLock { progress.pausingHandler } }
    set { exchange(\.pausingHandler, newValue) }
  }

  /// Called when the work continues after a pause, on a thread of the system.
  open var resumingHandler: (@Sendable () -> Void)? {
    get { Self.lock.withLock { progress.resumingHandler } }
    set { exchange(\.resumingHandler, newValue) }
  }

  // The old handler is released outside the lock: its captures may read a progress in their deinit.
  private func exchange(
    _ handler: ReferenceWritableKeyPath<Progress, (@Sendable () -> Void)?>,
    _ new: (@Sendable () -> Void)?
  ) {
    let old = Self.lock.withLock {
      defer { progress[keyPath: handler] = new }
      return progress[keyPath: handler]
    }
    withExtendedLifetime(old) {}
  }

  /// Declares the keys of the class. A subclass that overrides it calls super.
  open override class func registerKeys() {
    declareKeys { keys in
      let units: Set = ["completedUnitCount", "totalUnitCount"]
      keys.stored("totalUnitCount", \.totalUnitCount)
      keys.stored("completedUnitCount", \.completedUnitCount)
      keys.computed("fractionCompleted", \.fractionCompleted, affectedBy: units)
      keys.computed("isIndeterminate", \.isIndeterminate, affectedBy: units)
      keys.computed("isFinished", \.isFinished, affectedBy: units)
      keys.readOnly("isCancelled", \.isCancelled)
      keys.readOnly("isPaused", \.isPaused)
      keys.stored("isCancellable", \.isCancellable)
      keys.stored("isPausable", \.isPausable)
      keys.stored("kind", \.kind)
      keys.stored("localizedDescription", \.localizedDescription)
      keys.dependency("localizedDescription", on: ["fractionCompleted", "kind"])
      keys.stored("localizedAdditionalDescription", \.localizedAdditionalDescription)
      keys.dependency("localizedAdditionalDescription", on: units.union(["kind"]))
    }
  }
}

extension KVOProgress: OpaqueStorage {
  package static var opaqueClasses: [KVOObject.Type] { [KVOProgress.self] }
}

extension Progress {
  // On Linux, Foundation's setter divides by the new number if the old one is positive.
  fileprivate func setTotal(_ total: Int64) {
    if total == 0 { totalUnitCount = -1 }
    totalUnitCount = total
  }
}
