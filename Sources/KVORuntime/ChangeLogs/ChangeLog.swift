internal import CKVORuntime

// The change log (N): what it tells and takes. How changes come into it is in ChangeRecording.swift, undoing in
// ChangeUndoing.swift; its state, which all of them go through, in ChangeHistory.swift.

/// Records the changes of a graph of objects, undoes and redoes them.
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
/// The graph is the roots and what the recorded keys lead to, to-one and to-many; an object that joins it is recorded
/// from then on, as long as it and the log live, also after it has left: it may come back. What a weak property leads
/// to does not join by that.
///
/// Each change outside of `withGroup` is a group of its own. `undo()` makes the changes of the last group backwards, by
/// key-value coding, so that all observers are told; nothing is recorded meanwhile but this. What observers and setters
/// change of recorded keys while they are told of that is taken back at once: afterwards the graph is what it was.
///
/// The log keeps no object alive but by the values of its records. Its functions may be called on any thread, and
/// changes may come from any; but what two threads change at a time is in one order only for each key, and while one
/// undoes, redoes or applies, another should change nothing that is recorded.
// Sendable: all that changes is in `history`, under its lock.
public final class ChangeLog: KVOObject, @unchecked Sendable {
  let selection: RecordedSelection
  let history = Locked(ChangeHistory())
  /// By which an object of the graph has its `RecordedObject`.
  let membership = KVOAssociation<RecordedLife>()
  let joining = Lock(isOuter: true)
  let arrivals = ArrivingObjects()
  let reported = Locked<Set<String>>([])

  /// Records from now on.
  ///
  /// - Parameters:
  ///   - roots: from where the graph is followed.
  ///   - keys: what is recorded of each class. A subclass's objects are recorded by its superclasses' as well.
  /// - Throws: `KeyValueError` for a key that a root's class does not have, that can't be set, or can't be observed.
  ///   Of other classes that is reported as misuse when their first object joins, of which nothing is recorded then.
  /// - Complexity: O(*n*) in the number of keys of the graph.
  public init(of roots: KVOObject..., recording keys: RecordedKeys...) throws {
    selection = try RecordedSelection(keys)
    super.init()
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
    release(history.withLock { $0.removeAll() })
  }

  // MARK: Records

  /// How many records there have been. Observable.
  public var count: Int { own("count") { $0.count } }

  /// The first record that is still there: not 0 if `undoLimit` or `removeAll()` have let go of some.
  public var firstPosition: Int { history.withLock { $0.first } }

  /// A record, which won't be changed any more.
  ///
  /// - Complexity: O(1)
  public subscript(position: Int) -> Record {
    let end = min(position, .max - 1) + 1
    let change = history.withLock { $0.changes(from: position, to: end)?.first }
    guard let change else { KVODiagnostics.stop(noRecord(position).description) }
    return Record(change: change)
  }

  /// The records from a position on: of the log's end none. What has been read is not changed any more; so reading on
  /// from where the last reading ended gives each record once.
  ///
  /// - Parameter position: of the first; all that are there unless one is given.
  /// - Throws: `ChangeLogError.noRecord` where the log has let go of some of them.
  /// - Complexity: O(*n*) in their number.
  public func records(from position: Int? = nil) throws -> [Record] {
    let changes = history.withLock { $0.changes(from: position ?? $0.first, to: $0.count) }
    guard let changes else { throw noRecord(position ?? 0) }
    return changes.map { Record(change: $0) }
  }

  func noRecord(_ position: Int) -> ChangeLogError {
    history.withLock { .noRecord(position: position, first: $0.first, count: $0.count) }
  }

  /// Lets go of all records, and of what can be undone and redone.
  public func removeAll() {
    tellOfAll { release(history.withLock { $0.removeAll() }) }
  }

  // MARK: Groups

  /// Calls a body: what is recorded until it ends is one group, which is undone at once. A body inside another one is
  /// part of that. If it throws, the group is what has been changed until then.
  ///
  /// - Parameters:
  ///   - name: for menus, `undoName`; the outermost that has one gives it to the group.
  ///   - body: called once, on this thread.
  /// - Returns: what the body returns.
  public func withGroup<R>(_ name: String? = nil, _ body: () throws -> R) rethrows -> R {
    history.withLock { $0.openGroup(name) }
    defer { closeGroup() }
    return try body()
  }

  private func closeGroup() {
    guard history.withLock({ $0.openDepth == 1 }) else {
      return history.withLock { $0.closeGroup() }
    }
    var dropped: [RecordedChange] = []
    tellOfAll {
      dropped = history.withLock {
        $0.closeGroup()
        return $0.trim()
      }
    }
    release(dropped)
  }

  /// Whether two changes of one key that follow each other outside of groups, with none between, are one: their record
  /// has the old value of the first and the new one of the last, if nobody has read it meanwhile, and they are undone at
  /// once. Inside a group they always are. False at first.
  public var mergesRepeatedSets: Bool {
    get { history.withLock { $0.mergesSingles } }
    set { history.withLock { $0.mergesSingles = newValue } }
  }

  /// How many groups can be undone at most; with the oldest of more the log lets go of its records. Nil, at first: all.
  public var undoLimit: Int? {
    get { history.withLock { $0.undoLimit } }
    set {
      tellOfAll {
        release(
          history.withLock { history in
            history.undoLimit = newValue
            return history.trim()
          })
      }
    }
  }

  // MARK: What can be undone

  /// Whether there is a group to undo. Observable.
  public var canUndo: Bool { own("canUndo") { !$0.undo.isEmpty } }
  /// Whether a group that was undone can be redone: nothing has been changed since. Observable.
  public var canRedo: Bool { own("canRedo") { !$0.redo.isEmpty } }
  /// The name of the group that `undo()` is about; nil if it has none. Observable.
  public var undoName: String? { own("undoName") { $0.undo.last?.name } }
  /// The name of the group that `redo()` is about; nil if it has none. Observable.
  public var redoName: String? { own("redoName") { $0.redo.last?.name } }

  // These getters are all that reads the state, so they tell of it themselves.
  private func own<R>(_ key: String, _ read: (ChangeHistory) -> R) -> R {
    if kvo_is_recording() { tellTracker(key) }
    return history.withLock { read($0) }
  }

  public override class func registerKeys() {
    declareKeys { keys in
      keys.computed("count", \.count)
      keys.computed("canUndo", \.canUndo)
      keys.computed("canRedo", \.canRedo)
      keys.computed("undoName", \.undoName)
      keys.computed("redoName", \.redoName)
    }
  }

  // Old values must not die under the lock.
  func release(_ garbage: [RecordedChange]) { withExtendedLifetime(garbage) {} }
}

// MARK: Observers of the log itself

extension ChangeLog {
  private static let ownKeys = ["count", "canUndo", "canRedo", "undoName", "redoName"]

  /// Brackets what may change any of the log's own keys.
  func tellOfAll(_ body: () throws -> Void) rethrows { try tell(of: Self.ownKeys[...], body) }

  /// Brackets the coming of a record, which mostly changes the count alone.
  func tellOfRecord(_ body: () -> Void) {
    guard isSomeoneTold else { return body() }
    let isMore = history.withLock { !$0.staysSame }
    tell(of: isMore ? Self.ownKeys[...] : Self.ownKeys[...0], body)
  }

  private var isSomeoneTold: Bool { kvo_binding_is_observed(header) }

  private func tell(of keys: ArraySlice<String>, _ body: () throws -> Void) rethrows {
    guard isSomeoneTold, let key = keys.first else { return try body() }
    try withChange(forKey: key) { try tell(of: keys.dropFirst(), body) }
  }
}
