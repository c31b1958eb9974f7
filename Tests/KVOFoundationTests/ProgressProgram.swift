import Foundation
import KVOFoundation
import KVORuntime
import TestSupport

/// A random tree of progress, changed in parallel with one of Foundation's. Its portions may exceed the parent's
/// total.
final class ProgressProgram {
  private var random: Random
  private var tree: [KVOProgress] = []
  private var plain: [Progress] = []
  /// For each progress and key, the value that an observer has read last.
  private var known: [Locked<[String: String]>] = []
  private var tokens: [KeyValueObservation] = []

  private static let keys = [
    "totalUnitCount", "completedUnitCount", "fractionCompleted", "isIndeterminate", "isFinished",
    "isCancelled", "isPaused",
  ]

  init(seed: UInt64) { random = Random(seed: seed) }

  private func number(_ range: Range<Int>) -> Int64 {
    Int64(range.lowerBound + random.next(range.count))
  }

  /// A missed notification, or a difference from Foundation; nil if there is none.
  func difference() throws -> String? {
    // No larger, because Foundation's own stops the program where fractions have no common integer denominator.
    let totals: [Int64] = [1, 2, 3, 4, 6]
    for _ in 0..<(2 + random.next(4)) { try grow(totals[random.next(totals.count)]) }
    var steps = ""
    for _ in 0..<12 {
      steps += try step(totals) + "; "
      if let difference = try compare() { return "\(steps)\(difference)" }
    }
    return nil
  }

  private func grow(_ total: Int64) throws {
    let (made, other) = (KVOProgress(totalUnitCount: total), Progress(totalUnitCount: total))
    let (index, seen) = (tree.count, Locked<[String: String]>([:]))
    tree.append(made)
    plain.append(other)
    known.append(seen)
    for key in Self.keys {
      tokens.append(
        try made.observe(keyPath: key, options: .initial) { made, _ in
          let value = (try? made.value(forKey: key)).map { "\($0!)" }
          seen.withLock { $0[key] = value }
        })
    }
    // A child added late has progress already.
    if random.next(3) == 0 { set(index, number(0..<3)) }
    guard index > 0 else { return }
    let (parent, portion) = (random.next(index), number(0..<4))
    tree[parent].addChild(made, withPendingUnitCount: portion)
    plain[parent].addChild(other, withPendingUnitCount: portion)
  }

  private func set(_ index: Int, _ units: Int64) {
    tree[index].completedUnitCount = units
    plain[index].completedUnitCount = units
  }

  private func step(_ totals: [Int64]) throws -> String {
    let (index, total) = (random.next(tree.count), totals[random.next(totals.count)])
    let units = random.next(2) == 0 ? number(0..<5) : total / Int64(1 + random.next(3))
    switch random.next(10) {
    case 0:
      tree[index].totalUnitCount = total
      plain[index].totalUnitCount = total
      return "total of \(index) to \(total)"
    case 1:
      tree[index].cancel()
      plain[index].cancel()
      return "cancel \(index)"
    case 2:
      tree[index].pause()
      plain[index].pause()
      return "pause \(index)"
    case 3:
      tree[index].resume()
      plain[index].resume()
      return "resume \(index)"
    case 4:
      try grow(total)
      return "one more of \(total)"
    default:
      set(index, units)
      return "\(index) to \(units)"
    }
  }

  private func compare() throws -> String? {
    for (index, (progress, other)) in zip(tree, plain).enumerated() {
      for key in Self.keys {
        let current = "\(try progress.value(forKey: key)!)"
        let seen = known[index].withLock { $0[key] }
        guard seen == current else {
          return "\(key) of \(index): known \(seen ?? "-"), is \(current)"
        }
      }
      guard progress.completedUnitCount == other.completedUnitCount,
        progress.fractionCompleted == other.fractionCompleted,
        progress.isCancelled == other.isCancelled, progress.isPaused == other.isPaused
      else { return "\(index) is not as Foundation's" }
    }
    return nil
  }
}
