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
    let thread = UnsafeRawPointer(kvo_binding_thread())
    // At once, or another thread could be at the same group.
    let begun = try history.withLock {
      history -> (group: ChangeGroup, changes: [RecordedChange], made: ChangeGroup)? in
      guard let group = (cause == .undo ? history.undo : history.redo).last else { return nil }
      let made = history.beginPerformance(cause, name: group.name, on: thread)
      guard let made else { throw ChangeLogError.isBusy }
      return (group, group.changes, made)
    }
    guard let begun else { return false }
    try perform(begun.made) {
      begun.changes.reversed().map { ChangeStep(undoing: $0) }
    } finish: {
      history.withLock { $0.exchange(begun.group, for: begun.made, cause) }
    }
    return true
  }

  /// Makes some changes, in this order, which become a group that has been begun.
  ///
  /// - Parameters:
  ///   - steps: what they are; what making them leads to is taken back as well.
  ///   - finish: returns what is to be let go of.
  func perform(
    _ group: ChangeGroup, _ steps: () throws -> [ChangeStep], finish: () -> [RecordedChange]
  ) throws {
    var disturbed: [RecordedPlace] = []
    defer { for place in disturbed { settle(place) } }
    try tellOfAll {
      defer {
        let ended = history.withLock { $0.endPerformance() }
        disturbed = ended.disturbed
        release(ended.garbage)
      }
      try GroupReplay(self).run(steps) { takeBack(group) }
      release(finish())
    }
  }

  // After an error: the steps before it. What can't be done then either is left.
  private func takeBack(_ group: ChangeGroup) -> [ChangeStep] {
    let done = history.withLock { $0.abandon(group) }
    return done.reversed().map { ChangeStep(undoing: $0) }
  }
}
