internal import CKVORuntime
public import KVORuntime

// The change log (N): its public interface. Recording is in ChangeRecording.swift, undoing in
// ChangeUndoing.swift, and the state that they share in ChangeHistory.swift.

/// A log that records the changes of a graph of objects, and undoes and redoes them.
///
/// ```swift
/// let log = try ChangeLog(
///   of: company,
///   recording: .keys(of: Company.self, \.name, \.employees),
///   .keys(of: Employee.self, \.name, \.salary))
/// log.withGroup("Raise") {
///   for employee in company.employees { employee.salary *= 1.1 }
/// }
/// try log.undo()  // all of them
/// ```
///
/// The graph consists of the roots and the objects that the recorded keys lead to, to-one and to-many. An
/// object that joins the graph is recorded from then on, as long as it and the log live, even after it has
/// left the graph. A weak property does not bring its object into the graph.
///
/// Each change outside of `withGroup` is a group of its own. `undo()` reverses the changes of the last group
/// by key-value coding, so that all observers are notified. If setters or observers change recorded keys in
/// the process, those changes are reverted at once, so that the graph ends up as it was.
///
/// The log retains objects only as values in its records. Its functions may be called on any thread, and
/// changes may be made on any. Simultaneous changes of two threads are ordered only for each key. While one
/// thread undoes, redoes or applies, no other should change recorded keys.
// Sendable: all mutable state is in `history`, under its lock.
public final class ChangeLog: KVOObject, @unchecked Sendable {
  let selection: RecordedSelection
  let history = LockedHistory()
  /// The association from an object of the graph to its `RecordedObject`.
  let membership = KVOAssociation<RecordedLife>()
  let joining = Lock(isOuter: true)
  let arrivals = ArrivingObjects()
  let reported = LockedValue<Set<String>>([])
  /// This log, for its registrations. Set once, in `init`.
  @exclusivity(unchecked) private(set) var reference: WeakReference<ChangeLog>!

  /// Creates a log and records changes of the roots' graph from now on.
  ///
  /// - Parameters:
  ///   - roots: The objects at which the graph begins.
  ///   - keys: The keys to record for each class. They are recorded for objects of subclasses as well.
  /// - Throws: `KeyValueError` for a key that a root's class does not have, or that can't be set or observed.
  ///   For other classes the error is reported as misuse when their first object joins, and nothing is
  ///   recorded of such objects.
  /// - Complexity: O(*n*) in the number of keys of the graph.
  public init(of roots: KVOObject..., recording keys: RecordedKeys...) throws {
    selection = try RecordedSelection(keys)
    super.init()
    reference = WeakReference(self)
    for root in roots {
      if let error = selection.recordedClass(of: root).error { throw error }
    }
    join(roots, isNumbered: true)
  }

  deinit {
    for member in history.withLock({ $0.takeObjects() }) {
      member.end()
      member.object?[membership] = nil
    }
    withExtendedLifetime(history.withLock { $0.removeAll() }) {}
  }

  // MARK: Records

  /// The number of records there have been, including those that are gone. Observable.
  public var count: Int { own("count") { $0.count } }

  /// The position of the first record that is kept. It is not 0 if `undoLimit` or `removeAll()` has dropped
  /// records.
  public var firstPosition: Int { history.withLock { $0.first } }

  /// Returns the record at a position. It won't be changed any more. A position without a record stops the
  /// program with a message.
  ///
  /// - Complexity: O(1)
  public subscript(position: Int) -> Record {
    let end = min(position, .max - 1) + 1
    let change = history.withLock { $0.changes(from: position, to: end)?.first }
    guard let change else { KVODiagnostics.stop(noRecord(position).description) }
    return Record(change: change)
  }

  /// Returns the records from a position to the log's end.
  ///
  /// Records that were read are not changed any more. So a caller that reads on from the `count` of its last
  /// reading gets each record once.
  ///
  /// - Parameter position: The position of the first record; by default that of the first one kept.
  /// - Throws: `ChangeLogError.noRecord` if some of the records are gone.
  /// - Complexity: O(*n*) in the number of records.
  public func records(from position: Int? = nil) throws -> [Record] {
    let changes = history.withLock { $0.changes(from: position ?? $0.first, to: $0.count) }
    guard let changes else { throw noRecord(position ?? 0) }
    return changes.map { Record(change: $0) }
  }

  func noRecord(_ position: Int) -> ChangeLogError {
    history.withLock { .noRecord(position: position, first: $0.first, count: $0.count) }
  }

  /// Removes all records and all groups, so that nothing can be undone or redone.
  ///
  /// - Complexity: O(*n*) in the number of records.
  public func removeAll() {
    announceAll { withExtendedLifetime(history.withLock { $0.removeAll() }) {} }
  }

  // MARK: Groups

  /// Calls a body and makes its recorded changes one group, which is undone as a whole.
  ///
  /// A body inside another one belongs to the outer group. If the body throws, the group has the changes made
  /// so far.
  ///
  /// - Parameters:
  ///   - name: The group's name for menus (`undoName`). The outermost call with a name sets it.
  ///   - body: The function to call, once and on this thread.
  /// - Returns: The result of the body.
  public func withGroup<R>(_ name: String? = nil, _ body: () throws -> R) rethrows -> R {
    history.withLock { $0.openGroup(name) }
    defer { closeGroup() }
    return try body()
  }

  private func closeGroup() {
    if history.withLock({ $0.closeInnerGroup() }) { return }
    var dropped = ChangeList()
    announceAll {
      history.withLock {
        $0.closeGroup()
        $0.trim(&dropped)
      }
    }
    release(dropped)
  }

  /// Whether successive sets of one key outside of groups become one record and one group. The default is
  /// false.
  ///
  /// The record has the old value of the first set and the new value of the last. They are merged only if in
  /// between no other change was recorded, and the record was not read. Inside a group successive sets are
  /// always merged.
  public var mergesRepeatedSets: Bool {
    get { history.withLock { $0.mergesSingles } }
    set { history.withLock { $0.mergesSingles = newValue } }
  }

  /// The maximum number of groups that can be undone; nil, the default, for no limit. The log drops the
  /// oldest groups beyond it, with their records.
  public var undoLimit: Int? {
    get { history.withLock { $0.undoLimit } }
    set {
      announceAll {
        var dropped = ChangeList()
        history.withLock { history in
          history.undoLimit = newValue
          history.trim(&dropped)
        }
        release(dropped)
      }
    }
  }

  // MARK: Undo and redo state

  /// Whether there is a group to undo. Observable.
  public var canUndo: Bool { own("canUndo") { !$0.undo.isEmpty } }
  /// Whether there is an undone group to redo. Any change after the undo makes it false. Observable.
  public var canRedo: Bool { own("canRedo") { !$0.redo.isEmpty } }
  /// The name of the group that `undo()` would undo; nil if it has none. Observable.
  public var undoName: String? { own("undoName") { $0.undo.last?.group?.name } }
  /// The name of the group that `redo()` would redo; nil if it has none. Observable.
  public var redoName: String? { own("redoName") { $0.redo.last?.group?.name } }

  // Only these getters read the state, so they report the read to the tracker themselves.
  private func own<R>(_ key: String, _ read: (ChangeHistory) -> R) -> R {
    readsAnnouncedKey(key)
    return history.withLock { read($0) }
  }

  /// Declares the log's observable keys: `count`, `canUndo`, `canRedo`, `undoName` and `redoName`.
  public override class func registerKeys() {
    declareKeys { keys in
      keys.computed("count", \.count)
      keys.computed("canUndo", \.canUndo)
      keys.computed("canRedo", \.canRedo)
      keys.computed("undoName", \.undoName)
      keys.computed("redoName", \.redoName)
    }
  }

  // Old values must not be destroyed under the lock.
  func release<Garbage>(_ garbage: Garbage) { withExtendedLifetime(garbage) {} }
}

// MARK: Observers of the log itself

extension ChangeLog {
  private static let ownKeys = ["count", "canUndo", "canRedo", "undoName", "redoName"]

  /// Brackets a body that may change any of the log's own keys.
  func announceAll(_ body: () throws -> Void) rethrows { try announce(of: Self.ownKeys[...], body) }

  /// Brackets the recording of a change, which usually changes only the count.
  func announceRecord<R>(_ record: (inout ChangeHistory) -> R) -> R {
    guard hasObserver else { return history.withLock(record) }
    let isMore = history.withLock { !$0.staysSame }
    var isUnforeseen = false
    let recorded = announce(of: isMore ? Self.ownKeys[...] : Self.ownKeys[...0]) {
      history.withLock { history in
        isUnforeseen = !isMore && !history.staysSame
        return record(&history)
      }
    }
    // Another thread has changed the groups in between.
    if isUnforeseen { announceAll {} }
    return recorded
  }

  private var hasObserver: Bool { kvo_binding_is_observed(ObjectHeader.of(self)) }

  private func announce<R>(of keys: ArraySlice<String>, _ body: () throws -> R) rethrows -> R {
    guard hasObserver, let key = keys.first else { return try body() }
    return try withChange(forKey: key) { try announce(of: keys.dropFirst(), body) }
  }
}
