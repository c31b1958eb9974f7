import Foundation
import KVORuntime

// The tree of progresses: which keys of which progresses a change changes. All of it is called under the lock.

extension KVOProgress {
  struct Family {
    weak var parent: KVOProgress?
    /// The units of the parent that this progress stands for.
    var portion: Int64 = 0
    /// Children that have not finished.
    var children: [KVOProgress] = []
    /// The index in the parent's `children`.
    var place = 0
    /// Whether something below has gone back or was in excess, or may have, since it is a plain progress. While the
    /// total is unknown, Foundation counts that in a way that it does not show.
    var isUneven = false
  }

  /// A change of one progress: the completed fraction before and after it, including children, and whether it
  /// finishes the progress, so that the parent counts its portion. This is an estimate, since Foundation
  /// calculates with fractions: a value close to 1 counts as finished.
  struct Step {
    let before: Double
    let after: Double
    let finishes: Bool

    init(from before: Double, to after: Double, hasFinished: Bool) {
      (self.before, self.after) = (before, after)
      finishes = hasFinished || after > 1 - 1e-9
    }

    init(none fraction: Double) { (before, after, finishes) = (fraction, fraction, false) }
  }

  /// The change of this progress if its counts change.
  func step(to counts: (completed: Int64, total: Int64)) -> Step {
    let (completed, total) = (progress.completedUnitCount, progress.totalUnitCount)
    let before = progress.fractionCompleted
    // Foundation counts a finished progress again if its counts change and it is still finished.
    guard counts != (completed, total) else { return Step(none: before) }
    // The completed units of unfinished children.
    let units = total > 0 ? before * Double(total) - Double(completed) : 0
    // Once the total is known, it may turn out to be finished.
    let mayFinish = total <= 0 && counts.total > 0 && family.isUneven
    return Step(
      from: before,
      to: counts.total > 0 ? (Double(counts.completed) + units) / Double(counts.total) : 0,
      hasFinished: Self.isFinished(counts) || mayFinish)
  }

  /// Notes that this progress has gone back or was in excess.
  func noteUnevenAncestors() {
    for ancestor in sequence(first: self, next: \.family.parent).dropFirst() {
      ancestor.family.isUneven = true
    }
  }

  /// The change of this progress if a child changes that stands for `portion` units.
  private func step(by child: Step, _ portion: Int64) -> Step {
    let (completed, total) = (progress.completedUnitCount, progress.totalUnitCount)
    let before = progress.fractionCompleted
    let gained = (child.finishes ? 1 : child.after) - child.before
    return Step(
      from: before, to: total > 0 ? before + gained * Double(portion) / Double(total) : 0,
      hasFinished: Self.isFinished((completed + (child.finishes ? portion : 0), total)))
  }

  /// The keys of ancestors that change if this progress changes.
  func keysAbove(_ step: Step) -> [ChangedKey] {
    var (keys, child, step) = ([ChangedKey](), self, step)
    while let parent = child.family.parent {
      keys.append(parent.key(finishing: step.finishes))
      step = parent.step(by: step, child.family.portion)
      child = parent
    }
    return keys
  }

  /// The keys that change if a child is added. Those of ancestors change only if the child has completed
  /// something.
  func keys(adding child: Progress, _ portion: Int64) -> [ChangedKey] {
    let added = Step(from: 0, to: child.fractionCompleted, hasFinished: child.isFinished)
    let own = [key(finishing: added.finishes)]
    return Self.hasProgressed(child) ? own + keysAbove(step(by: added, portion)) : own
  }

  static func hasProgressed(_ child: Progress) -> Bool {
    child.isFinished || child.fractionCompleted != 0
  }

  /// The key of this progress that changes if a child changes.
  private func key(finishing: Bool) -> ChangedKey {
    ChangedKey(self, finishing ? "completedUnitCount" : "fractionCompleted")
  }

  /// A key of this progress and of all its descendants that are not completed.
  func keysBelow(_ key: String) -> [ChangedKey] {
    var descendants = [self]
    var next = 0
    while next < descendants.count {
      let children = descendants[next].family.children
      // A plain child may have completed one.
      descendants += children.filter { !Self.isCompleted($0.progress) }
      next += 1
    }
    return descendants.map { ChangedKey($0, key) }
  }

  func join(_ parent: KVOProgress, _ portion: Int64) {
    family.parent = parent
    family.portion = portion
    guard !Self.isCompleted(progress) else { return }
    family.place = parent.family.children.count
    parent.family.children.append(self)
  }

  // A finished child need not be kept: its parent's changes don't affect it any more, and a parent may have
  // many children.
  func leave() {
    guard let parent = family.parent, family.place < parent.family.children.count,
      parent.family.children[family.place] === self
    else { return }
    let last = parent.family.children.removeLast()
    guard last !== self else { return }
    parent.family.children[family.place] = last
    last.family.place = family.place
  }

  // A change may complete ancestors, even if it does not complete the changed progress, since units may be counted in
  // excess. The changed keys retain the ancestors, so none is released under the lock.
  static func removeCompleted(from first: KVOProgress?) {
    var next = first
    while let ancestor = next {
      if isCompleted(ancestor.progress) { ancestor.leave() }
      next = ancestor.family.parent
    }
  }

  /// Whether Foundation's parent has dropped it as a child, because all work is completed, including that of its
  /// children. A finished child without units is kept, because its fraction has not changed.
  static func isCompleted(_ progress: Progress) -> Bool {
    progress.totalUnitCount > 0 && progress.fractionCompleted >= 1
  }

  // Foundation's definition.
  private static func isFinished(_ counts: (completed: Int64, total: Int64)) -> Bool {
    let (completed, total) = counts
    return (completed >= total && completed > 0 && total > 0) || (completed > 0 && total == 0)
  }
}
