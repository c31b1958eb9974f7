public import Foundation
public import KVORuntime

// A progress whose keys are observed (R7). The reckoning is a `Progress`'s; the tree is known here as well, since what a
// child does changes its ancestors, whose observers Foundation's tells nothing on Linux.
//
// | state | protection |
// |---|---|
// | all progresses' state, `progress`, `family` and `texts` | `lock`, under which no observer is called; swift-corelibs-foundation's has none |

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
/// The keys `indeterminate`, `finished`, `cancelled`, `paused`, `cancellable` and `pausable` are the same.
/// Observers are called on the thread that makes the change, those of ancestors too. A child that is a plain `Progress`
/// counts, and notifies no observer. A `KVOProgress(totalUnitCount:)` that is made while another one is current
/// (`becomeCurrent(withPendingUnitCount:)`) is its child; a plain `Progress` is not. Any thread.
///
/// A subclass may override what is open. Cancelling, pausing or resuming a progress calls no such override of its descendants.
// Sendable: what changes is under the lock.
open class KVOProgress: KVOObject, @unchecked Sendable {
  private struct Family {
    weak var parent: KVOProgress?
    /// What of the parent's units this is.
    var portion: Int64 = 0
    /// Those that have not finished.
    var children: [KVOProgress] = []
    /// Where among the parent's children.
    var place = 0
  }

  // One for all, since what is done to a child is done to its ancestors.
  private static let lock = Lock(isOuter: true)

  private let progress: Progress
  private var family = Family()
  private var texts: (description: String?, additional: String?)

  /// A progress of no units, which is a child of the thread's current progress, or has no parent yet. Another parent than the
  /// current one stops the program with a message.
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

  /// A progress of so many units, which is a child of the thread's current progress, or has no parent yet.
  public convenience init(totalUnitCount: Int64) {
    self.init(units: totalUnitCount)
    joinCurrent()
  }

  /// A progress of so many units that stands for some of another's.
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

  /// A progress of so many units, which has no parent yet, whatever is current.
  public static func discreteProgress(totalUnitCount: Int64) -> KVOProgress {
    KVOProgress(units: totalUnitCount)
  }

  /// Foundation's own, for code that takes a `Progress` and reads it. What is changed in it directly notifies no observer.
  public final var foundationProgress: Progress { progress }

  private func read<R>(_ key: StaticString, _ body: (Progress) -> R) -> R {
    _readsKey(key)
    return Self.lock.withLock { body(progress) }
  }

  // MARK: Units

  /// How many units there are; below zero, as 0 of 0, it is not known.
  open var totalUnitCount: Int64 {
    get { read("totalUnitCount") { $0.totalUnitCount } }
    set {
      change(
        "totalUnitCount", by: { $0.totalUnitCount = newValue },
        to: { ($0.completedUnitCount, newValue) })
    }
  }

  /// How many units are done, those of children that have finished among them.
  open var completedUnitCount: Int64 {
    get { read("completedUnitCount") { $0.completedUnitCount } }
    set {
      change(
        "completedUnitCount", by: { $0.completedUnitCount = newValue },
        to: { (newValue, $0.totalUnitCount) })
    }
  }

  /// How much is done, 0 to 1, of children as much as they have done.
  open var fractionCompleted: Double { read("fractionCompleted") { $0.fractionCompleted } }

  /// Whether it is not known how much there is to do.
  open var isIndeterminate: Bool { read("isIndeterminate") { $0.isIndeterminate } }

  /// Whether all is done.
  open var isFinished: Bool { read("isFinished") { $0.isFinished } }

  /// Adds one unit, if it is known how many there are.
  func count() {
    guard totalUnitCount > 0 else { return }
    add(1)
  }

  private func add(_ units: Int64) {
    change(
      "completedUnitCount", by: { $0.completedUnitCount += units },
      to: { ($0.completedUnitCount + units, $0.totalUnitCount) })
  }

  // MARK: The current one

  /// Has the next `KVOProgress` that this thread makes stand for some of the units, until `resignCurrent()`. One that is
  /// current on this thread already stops the program with a message. Calls for several progresses nest.
  open func becomeCurrent(withPendingUnitCount units: Int64) {
    if CurrentProgress.innermost?.includes(self) == true {
      KVODiagnostics.stop("A \(type(of: self)) became current on a thread on which it was current.")
    }
    CurrentProgress.begin(self, units)
  }

  /// Ends what `becomeCurrent(withPendingUnitCount:)` has begun on this thread. If no child was made since then, the units are
  /// done now. One that is not the thread's current progress stops the program with a message.
  open func resignCurrent() {
    guard let last = CurrentProgress.innermost, last.progress === self else {
      KVODiagnostics.stop("A \(type(of: self)) resigned on a thread on which it was not current.")
    }
    CurrentProgress.end(last)
    if !last.hasChild { add(last.units) }
  }

  /// Runs a body between the two.
  open func performAsCurrent<R>(
    withPendingUnitCount units: Int64, using work: () throws -> R
  ) rethrows -> R {
    becomeCurrent(withPendingUnitCount: units)
    defer { resignCurrent() }
    return try work()
  }

  /// The progress that is current on this thread.
  public static func current() -> KVOProgress? { CurrentProgress.innermost?.progress }

  // Only the first child stands for the units.
  private func joinCurrent() {
    guard let current = CurrentProgress.innermost, !current.hasChild else { return }
    current.hasChild = true
    current.progress.addChild(self, withPendingUnitCount: current.units)
  }

  // MARK: The tree

  /// Has another progress stand for some of the units. One that is a child already, of whatever parent, stops the
  /// program.
  open func addChild(_ child: KVOProgress, withPendingUnitCount portion: Int64) {
    KVOFoundation.change(under: Self.lock) {
      // Foundation's is cancelled, and paused, as what it becomes a part of.
      keys(adding: child.progress, portion)
        + (progress.isPaused ? child.keysBelow("isPaused") : [])
        + (progress.isCancelled ? child.keysBelow("isCancelled") : [])
    } _: {
      progress.addChild(child.progress, withPendingUnitCount: portion)
      child.join(self, portion)
    }
  }

  /// Has a plain progress stand for some of the units, which is counted, and notifies no observer of what it does.
  open func addChild(_ child: Progress, withPendingUnitCount portion: Int64) {
    KVOFoundation.change(under: Self.lock) {
      keys(adding: child, portion)
    } _: {
      progress.addChild(child, withPendingUnitCount: portion)
    }
  }

  /// Changes one of the counts, and notifies this object's observers, and those of what it is a part of.
  /// - Parameter counts: what there are then, completed and in total.
  private func change(
    _ key: String, by body: (Progress) -> Void, to counts: (Progress) -> (Int64, Int64)
  ) {
    KVOFoundation.change(under: Self.lock) {
      [ChangedKey(self, key)] + keysAbove(step(to: counts(progress)))
    } _: {
      let before = progress.fractionCompleted
      body(progress)
      if before != progress.fractionCompleted, Self.isWhole(progress) { leave() }
    }
  }

  // MARK: Which keys change
  // All of it under the lock.

  /// A change of one progress: how much of it is done before and after, with its children, and whether it finishes by that, so
  /// that its parent counts its portion. An estimate: Foundation reckons with fractions. So what comes close finishes.
  private struct Step {
    let before: Double
    let after: Double
    let finishes: Bool

    init(from before: Double, to after: Double, hasFinished: Bool) {
      (self.before, self.after) = (before, after)
      finishes = hasFinished || after > 1 - 1e-9
    }

    init(none fraction: Double) { (before, after, finishes) = (fraction, fraction, false) }
  }

  /// How it changes where its counts become others.
  private func step(to counts: (completed: Int64, total: Int64)) -> Step {
    let (completed, total) = (progress.completedUnitCount, progress.totalUnitCount)
    let before = progress.fractionCompleted
    // One that has finished is counted again where it changes and is still finished.
    guard counts != (completed, total) else { return Step(none: before) }
    // Of children that have not finished.
    let units = total > 0 ? before * Double(total) - Double(completed) : 0
    return Step(
      from: before,
      to: counts.total > 0 ? (Double(counts.completed) + units) / Double(counts.total) : 0,
      hasFinished: Self.isFinished(counts))
  }

  /// How it changes where a child does that stands for a portion.
  private func step(by child: Step, _ portion: Int64) -> Step {
    let (completed, total) = (progress.completedUnitCount, progress.totalUnitCount)
    let before = progress.fractionCompleted
    let gained = (child.finishes ? 1 : child.after) - child.before
    return Step(
      from: before, to: total > 0 ? before + gained * Double(portion) / Double(total) : 0,
      hasFinished: Self.isFinished((completed + (child.finishes ? portion : 0), total)))
  }

  /// What changes above where this changes.
  private func keysAbove(_ step: Step) -> [ChangedKey] {
    var (keys, child, step) = ([ChangedKey](), self, step)
    while let parent = child.family.parent {
      keys.append(parent.key(finishing: step.finishes))
      step = parent.step(by: step, child.family.portion)
      child = parent
    }
    return keys
  }

  /// What changes where a child is added: nothing above, unless it has done something.
  private func keys(adding child: Progress, _ portion: Int64) -> [ChangedKey] {
    let added = Step(from: 0, to: child.fractionCompleted, hasFinished: child.isFinished)
    let own = [key(finishing: added.finishes)]
    return added.finishes || added.after != 0 ? own + keysAbove(step(by: added, portion)) : own
  }

  /// What changes of this where a child changes.
  private func key(finishing: Bool) -> ChangedKey {
    ChangedKey(self, finishing ? "completedUnitCount" : "fractionCompleted")
  }

  /// A key of this and of all that is part of it.
  private func keysBelow(_ key: String) -> [ChangedKey] {
    var descendants = [self]
    var next = 0
    while next < descendants.count {
      descendants += descendants[next].family.children
      next += 1
    }
    return descendants.map { ChangedKey($0, key) }
  }

  private func join(_ parent: KVOProgress, _ portion: Int64) {
    family.parent = parent
    family.portion = portion
    guard !Self.isWhole(progress) else { return }
    family.place = parent.family.children.count
    parent.family.children.append(self)
  }

  // Its parent's changes are none of its own any more, and a parent may see many come and go.
  private func leave() {
    guard let parent = family.parent, family.place < parent.family.children.count,
      parent.family.children[family.place] === self
    else { return }
    let last = parent.family.children.removeLast()
    guard last !== self else { return }
    parent.family.children[family.place] = last
    last.family.place = family.place
  }

  /// Whether Foundation's has given it up as a child, since all of it is done, with what its children have done.
  private static func isWhole(_ progress: Progress) -> Bool {
    progress.totalUnitCount > 0 ? progress.fractionCompleted >= 1 : progress.isFinished
  }

  // As Foundation has it.
  private static func isFinished(_ counts: (completed: Int64, total: Int64)) -> Bool {
    let (completed, total) = counts
    return (completed >= total && completed > 0 && total > 0) || (completed > 0 && total == 0)
  }

  // MARK: Cancelling and pausing

  /// Whether the work shall stop.
  open var isCancelled: Bool { read("isCancelled") { $0.isCancelled } }

  /// Asks the work to stop, and that of all children. Their handlers are called on some thread of the system's.
  open func cancel() { changeAll("isCancelled") { $0.cancel() } }

  /// Whether the work shall wait.
  open var isPaused: Bool { read("isPaused") { $0.isPaused } }

  /// Asks the work to wait, and that of all children.
  open func pause() { changeAll("isPaused") { $0.pause() } }

  /// Asks work that waits to go on, and that of all children.
  open func resume() { changeAll("isPaused") { $0.resume() } }

  private func changeAll(_ key: String, _ body: (Progress) -> Void) {
    KVOFoundation.change(under: Self.lock) {
      keysBelow(key)
    } _: {
      body(progress)
    }
  }

  /// Whether the work can be cancelled: a wish, which `cancel()` does not look at.
  open var isCancellable: Bool {
    get { read("isCancellable") { $0.isCancellable } }
    set {
      withChange(forKey: "isCancellable") {
        Self.lock.withLock { progress.isCancellable = newValue }
      }
    }
  }

  /// Whether the work can be paused: a wish, which `pause()` does not look at.
  open var isPausable: Bool {
    get { read("isPausable") { $0.isPausable } }
    set {
      withChange(forKey: "isPausable") { Self.lock.withLock { progress.isPausable = newValue } }
    }
  }

  /// What sort of work it is.
  open var kind: ProgressKind? {
    get { read("kind") { $0.kind } }
    set { withChange(forKey: "kind") { Self.lock.withLock { progress.kind = newValue } } }
  }

  /// A description of the work for users. Empty until it is set, since Foundation makes none up on Linux; nil empties it.
  open var localizedDescription: String! {
    get { read("localizedDescription") { _ in texts.description ?? "" } }
    set {
      withChange(forKey: "localizedDescription") {
        Self.lock.withLock { texts.description = newValue }
      }
    }
  }

  /// More of it: how many units, for example.
  open var localizedAdditionalDescription: String! {
    get { read("localizedAdditionalDescription") { _ in texts.additional ?? "" } }
    set {
      withChange(forKey: "localizedAdditionalDescription") {
        Self.lock.withLock { texts.additional = newValue }
      }
    }
  }

  /// Called when the work is cancelled, on some thread of the system's; at once where it has been.
  open var cancellationHandler: (@Sendable () -> Void)? {
    get { Self.lock.withLock { progress.cancellationHandler } }
    set { exchange(\.cancellationHandler, newValue) }
  }

  /// Called when the work is paused, on some thread of the system's.
  open var pausingHandler: (@Sendable () -> Void)? {
    get { Self.lock.withLock { progress.pausingHandler } }
    set { exchange(\.pausingHandler, newValue) }
  }

  /// Called when the work goes on, on some thread of the system's.
  open var resumingHandler: (@Sendable () -> Void)? {
    get { Self.lock.withLock { progress.resumingHandler } }
    set { exchange(\.resumingHandler, newValue) }
  }

  // The handler that was there dies outside the lock: whatever it holds may read a progress as it dies.
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

  /// Declares the keys.
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
      keys.stored("localizedAdditionalDescription", \.localizedAdditionalDescription)
    }
  }
}

extension KVOProgress: OpaqueStorage {
  package static var opaqueClasses: [KVOObject.Type] { [KVOProgress.self] }
}

/// A progress that is current on a thread.
private final class CurrentProgress {
  let progress: KVOProgress
  let units: Int64
  let outer: CurrentProgress?
  var hasChild = false

  private init(_ progress: KVOProgress, _ units: Int64, inside outer: CurrentProgress?) {
    self.progress = progress
    self.units = units
    self.outer = outer
  }

  // Thread.current would make an object of each thread that makes a progress.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { Unmanaged<CurrentProgress>.fromOpaque($0!).release() }
    if status != 0 {
      KVODiagnostics.stop("The process has no thread-local key left for KVOProgress.")
    }
    return key
  }()

  /// Whether this or an outer one is of that progress.
  func includes(_ progress: KVOProgress) -> Bool {
    var at: CurrentProgress? = self
    while let current = at, current.progress !== progress { at = current.outer }
    return at != nil
  }

  /// This thread's innermost.
  static var innermost: CurrentProgress? {
    guard let address = pthread_getspecific(key) else { return nil }
    return Unmanaged<CurrentProgress>.fromOpaque(address).takeUnretainedValue()
  }

  static func begin(_ progress: KVOProgress, _ units: Int64) {
    set(CurrentProgress(progress, units, inside: innermost))
  }

  static func end(_ current: CurrentProgress) { set(current.outer) }

  private static func set(_ current: CurrentProgress?) {
    let old = innermost
    let status = pthread_setspecific(key, current.map { Unmanaged.passRetained($0).toOpaque() })
    if status != 0 {
      KVODiagnostics.stop("No memory for the progress that is current on a thread.")
    }
    if let old { Unmanaged.passUnretained(old).release() }
  }
}
