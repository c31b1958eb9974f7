internal import CKVORuntime

// Undo and redo: the changes of a group, made backwards. So is the group of what did that, in its turn.

extension ChangeLog {
  /// Undoes the last group that has not been undone.
  ///
  /// - Returns: false if there is none.
  /// - Throws: `ChangeLogError.isBusy` inside a group, or while the log undoes, redoes or applies; what key-value coding
  ///   throws where a step can't be made: then what was done is taken back, and the group can still be undone.
  /// - Complexity: O(*n*) in the number of the group's changes.
  @discardableResult
  public func undo() throws -> Bool { try turn(.undo) }

  /// Redoes the last group that was undone, if nothing has been changed since.
  ///
  /// - Returns: false if there is none.
  /// - Throws: as `undo()`.
  @discardableResult
  public func redo() throws -> Bool { try turn(.redo) }

  private func turn(_ cause: Cause) throws -> Bool {
    guard let group = history.withLock({ (cause == .undo ? $0.undo : $0.redo).last }) else {
      return false
    }
    try perform(group.changes.reversed().map { ChangeStep(undoing: $0) }, cause, name: group.name) {
      made in
      history.withLock { $0.exchange(group, for: made, cause) }
    }
    return true
  }

  /// Makes some changes, in this order, which become a group.
  func perform(
    _ steps: [ChangeStep], _ cause: Cause, name: String?, _ finish: (ChangeGroup) -> Void
  ) throws {
    let thread = UnsafeRawPointer(kvo_binding_thread())
    let begun = history.withLock { $0.beginPerformance(cause, name: name, on: thread) }
    guard let group = begun else { throw ChangeLogError.isBusy }
    try tellOfAll {
      defer { history.withLock { $0.endPerformance() } }
      try GroupPerformance(self, steps).run { takeBack(group) }
      finish(group)
    }
  }

  // After an error: the steps before it. What can't be done then either is left.
  private func takeBack(_ group: ChangeGroup) -> [ChangeStep] {
    history.withLock { history in
      let done = group.changes
      history.abandon(group)
      return done.reversed().map { ChangeStep(undoing: $0) }
    }
  }
}
