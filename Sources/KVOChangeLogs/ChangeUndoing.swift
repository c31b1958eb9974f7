internal import CKVORuntime
internal import KVORuntime

// Undo and redo reverse the changes of a group. The group of an undo is reversed in the same way by a redo.

extension ChangeLog {
  /// Undoes the last group that has not been undone. Observers are notified as of any change.
  ///
  /// - Returns: False if there is no such group.
  /// - Throws: `ChangeLogError.isBusy` inside a group, a batch or a change that is not recorded yet, or while
  ///   the log undoes, redoes or applies. The error of key-value coding if a step can't be made. Then the
  ///   changes made so far are reverted, and the group can still be undone.
  /// - Complexity: O(*n*) in the number of the group's changes.
  @discardableResult
  public func undo() throws -> Bool { try turn(.undo) }

  /// Redoes the last group that was undone, unless a change has been recorded since. Observers are notified
  /// as of any change.
  ///
  /// - Returns: False if there is no such group.
  /// - Throws: `ChangeLogError.isBusy` inside a group, a batch or a change that is not recorded yet, or while
  ///   the log undoes, redoes or applies. The error of key-value coding if a step can't be made. Then the
  ///   changes made so far are reverted, and the group can still be redone.
  /// - Complexity: O(*n*) in the number of the group's changes.
  @discardableResult
  public func redo() throws -> Bool { try turn(.redo) }

  private func turn(_ cause: Cause) throws -> Bool {
    let thread = UnsafeRawPointer(kvo_binding_thread())
    // Under one lock, so that no other thread can begin with the same group.
    let begun = try history.withLock {
      history -> (turned: RecordedChange, changes: ChangeList, made: ChangeGroup)? in
      guard let turned = (cause == .undo ? history.undo : history.redo).last else { return nil }
      let made = history.beginPerformance(cause, name: turned.group?.name, on: thread)
      guard let made else { throw ChangeLogError.isBusy }
      return (turned, turned.undoneChanges, made)
    }
    guard let begun else { return false }
    try perform(begun.made) {
      begun.changes.reversed().map { ChangeStep(undoing: $0) }
    } finish: {
      history.withLock { $0.exchange(begun.turned, for: begun.made, cause) }
    }
    return true
  }

  /// Makes changes in order. They become the group, which has begun already.
  ///
  /// - Parameters:
  ///   - steps: Returns the changes. Other changes that creating the steps causes are reverted.
  ///   - finish: Returns the values to release.
  func perform(
    _ group: ChangeGroup, _ steps: () throws -> [ChangeStep], finish: () -> ChangeList
  ) throws {
    var disturbed: [RecordedPlace] = []
    defer { for place in disturbed { settle(place) } }
    try announceAll {
      defer {
        let ended = history.withLock { $0.endPerformance() }
        disturbed = ended.disturbed
        release(ended.garbage)
      }
      try GroupReplay(self).run(steps) { takeBack(group) }
      release(finish())
    }
  }

  // Abandons the group after an error. Returns the steps that reverse its changes.
  private func takeBack(_ group: ChangeGroup) -> [ChangeStep] {
    let done = history.withLock { $0.abandon(group) }
    return done.reversed().map { ChangeStep(undoing: $0) }
  }
}
