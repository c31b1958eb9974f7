public import Foundation
public import KVORuntime

// A progress whose keys are observed (R7). The reckoning is a `Progress`'s; the tree is known here as well, since what a
// child does changes its ancestors, whose observers Foundation's tells nothing on Linux.
//
// | state | protection |
// |---|---|
// | all progresses' state, `progress` and `family` | `lock`, under which nobody is told; swift-corelibs-foundation's has none |

/// `Progress`, to be observed: `totalUnitCount`, `completedUnitCount`, `fractionCompleted`, `isIndeterminate`,
/// `isFinished`, `isCancelled`, `isPaused`, `isCancellable`, `isPausable`, `kind`.
///
/// ```swift
/// let whole = KVOProgress(totalUnitCount: 10)
/// let part = KVOProgress(totalUnitCount: 100, parent: whole, pendingUnitCount: 5)
/// let token = whole.observe(\.fractionCompleted) { whole, _ in print(whole.fractionCompleted) }
/// part.completedUnitCount = 50  // 0.25
/// ```
///
/// Observers are called on the thread that makes the change, those of ancestors too. A child that is a plain `Progress`
/// counts, and tells nobody. There is no implicit tree (`becomeCurrent(withPendingUnitCount:)`). Any thread.
// Sendable: what changes is under the lock.
public final class KVOProgress: KVOObject, @unchecked Sendable {
  private struct Family {
    weak var parent: KVOProgress?
    /// What of the parent's units this is.
    var portion: Int64 = 0
    var children: [KVOProgress] = []
  }

  // One for all, since what is done to a child is done to its ancestors.
  private static let lock = Lock(isOuter: true)

  private let progress: Progress
  private var family = Family()

  /// A progress of so many units, which has no parent yet.
  public init(totalUnitCount: Int64) {
    progress = Progress.discreteProgress(totalUnitCount: totalUnitCount)
    super.init()
  }

  /// A progress of so many units that stands for some of another's.
  public convenience init(
    totalUnitCount: Int64, parent: KVOProgress, pendingUnitCount portion: Int64
  ) {
    self.init(totalUnitCount: totalUnitCount)
    parent.addChild(self, withPendingUnitCount: portion)
  }

  /// Foundation's own, for who takes a `Progress` and reads it. What is changed in it directly is told to nobody.
  public var foundationProgress: Progress { progress }

  private func read<R>(_ body: (Progress) -> R) -> R { Self.lock.withLock { body(progress) } }

  // MARK: Units

  /// How many units there are; below zero, as 0 of 0, it is not known.
  public var totalUnitCount: Int64 {
    get { read { $0.totalUnitCount } }
    set {
      change("totalUnitCount", to: (completedUnitCount, newValue)) { $0.totalUnitCount = newValue }
    }
  }

  /// How many units are done, those of children that have finished among them.
  public var completedUnitCount: Int64 {
    get { read { $0.completedUnitCount } }
    set {
      change("completedUnitCount", to: (newValue, totalUnitCount)) {
        $0.completedUnitCount = newValue
      }
    }
  }

  /// How much is done, 0 to 1, of children as much as they have done.
  public var fractionCompleted: Double { read { $0.fractionCompleted } }

  /// Whether it is not known how much there is to do.
  public var isIndeterminate: Bool { read { $0.isIndeterminate } }

  /// Whether all is done.
  public var isFinished: Bool { read { $0.isFinished } }

  // MARK: The tree

  /// Has another progress stand for some of the units. One that is a child already, of whatever parent, stops the
  /// program.
  public func addChild(_ child: KVOProgress, withPendingUnitCount portion: Int64) {
    let add = {
      self.announce(finishing: child.isFinished ? portion : nil) {
        Self.lock.withLock {
          self.progress.addChild(child.progress, withPendingUnitCount: portion)
          child.family.parent = self
          child.family.portion = portion
          self.family.children.append(child)
        }
      }
    }
    // Foundation's is cancelled, and paused, as what it becomes a part of.
    let paused = isPaused ? { child.tellAll("isPaused", add) } : add
    if isCancelled { child.tellAll("isCancelled", paused) } else { paused() }
  }

  /// Has a plain progress stand for some of the units, which is counted, and tells nobody of what it does.
  public func addChild(_ child: Progress, withPendingUnitCount portion: Int64) {
    announce(finishing: child.isFinished ? portion : nil) {
      Self.lock.withLock { progress.addChild(child, withPendingUnitCount: portion) }
    }
  }

  /// Changes one of the counts, and tells of it: this object's observers, and those of what it is a part of.
  private func change(
    _ key: String, to counts: (completed: Int64, total: Int64), _ body: (Progress) -> Void
  ) {
    withChange(forKey: key) {
      let finishes = !isFinished && Self.isFinished(counts.completed, counts.total)
      announceAbove(finishes) {
        Self.lock.withLock {
          body(progress)
          // Nothing is to be told it any more, and a parent may see many come and go.
          if finishes { family.parent?.family.children.removeAll { $0 === self } }
        }
      }
    }
  }

  /// Brackets a change of what a child has done.
  /// - Parameter portion: the child's, if it finishes, which is counted as done here then.
  private func announce(finishing portion: Int64?, _ body: () -> Void) {
    guard let portion else {
      return withChange(forKey: "fractionCompleted") { announceAbove(false, body) }
    }
    withChange(forKey: "completedUnitCount") {
      let completed = completedUnitCount + portion
      announceAbove(!isFinished && Self.isFinished(completed, totalUnitCount), body)
    }
  }

  private func announceAbove(_ finishes: Bool, _ body: () -> Void) {
    let (parent, portion) = Self.lock.withLock { (family.parent, family.portion) }
    guard let parent else { return body() }
    parent.announce(finishing: finishes ? portion : nil, body)
  }

  // As Foundation has it.
  private static func isFinished(_ completed: Int64, _ total: Int64) -> Bool {
    (completed >= total && completed > 0 && total > 0) || (completed > 0 && total == 0)
  }

  // MARK: Cancelling and pausing

  /// Whether the work shall stop.
  public var isCancelled: Bool { read { $0.isCancelled } }

  /// Asks the work to stop, and that of all children. Their handlers are called on some thread of the system's.
  public func cancel() {
    tellAll("isCancelled") { Self.lock.withLock { progress.cancel() } }
  }

  /// Whether the work shall wait.
  public var isPaused: Bool { read { $0.isPaused } }

  /// Asks the work to wait, and that of all children.
  public func pause() {
    tellAll("isPaused") { Self.lock.withLock { progress.pause() } }
  }

  /// Asks work that waits to go on, and that of all children.
  public func resume() {
    tellAll("isPaused") { Self.lock.withLock { progress.resume() } }
  }

  /// Brackets a change of this and of all that is part of it.
  private func tellAll(_ key: String, _ body: () -> Void) {
    var descendants = [self]
    Self.lock.withLock {
      var next = 0
      while next < descendants.count {
        descendants += descendants[next].family.children
        next += 1
      }
    }
    Self.bracket(descendants[...], key, body)
  }

  private static func bracket(_ all: ArraySlice<KVOProgress>, _ key: String, _ body: () -> Void) {
    guard let first = all.first else { return body() }
    first.withChange(forKey: key) { bracket(all.dropFirst(), key, body) }
  }

  /// Whether the work can be cancelled: a wish, which `cancel()` does not look at.
  public var isCancellable: Bool {
    get { read { $0.isCancellable } }
    set { withChange(forKey: "isCancellable") { read { $0.isCancellable = newValue } } }
  }

  /// Whether the work can be paused: a wish, which `pause()` does not look at.
  public var isPausable: Bool {
    get { read { $0.isPausable } }
    set { withChange(forKey: "isPausable") { read { $0.isPausable = newValue } } }
  }

  /// What sort of work it is.
  public var kind: ProgressKind? {
    get { read { $0.kind } }
    set { withChange(forKey: "kind") { read { $0.kind = newValue } } }
  }

  /// Called when the work is cancelled, on some thread of the system's; at once where it has been.
  public var cancellationHandler: (@Sendable () -> Void)? {
    get { read { $0.cancellationHandler } }
    set { read { $0.cancellationHandler = newValue } }
  }

  /// Called when the work is paused, on some thread of the system's.
  public var pausingHandler: (@Sendable () -> Void)? {
    get { read { $0.pausingHandler } }
    set { read { $0.pausingHandler = newValue } }
  }

  /// Called when the work goes on, on some thread of the system's.
  public var resumingHandler: (@Sendable () -> Void)? {
    get { read { $0.resumingHandler } }
    set { read { $0.resumingHandler = newValue } }
  }

  /// Declares the keys.
  public override class func registerKeys() {
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
    }
  }
}
