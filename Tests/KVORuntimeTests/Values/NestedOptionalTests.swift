import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// B12, D3: a property whose type is an optional of an optional reference.
@Suite(.leakFree) struct NestedOptionalTests {
  final class Leaf: Tracked {
    @Observed var size = 1
  }

  final class Branch: Tracked {
    @Observed var leaf: Leaf?? = nil
    @Observed var deep: Leaf??? = nil
    @Observed var leaves: [Leaf??] = []
  }

  private func text(_ value: Any?) -> String { value.map { "\(type(of: $0))" } ?? "nil" }

  @Test("B12: nil, .some(nil) and an object are read, set and delivered")
  func values() throws {
    let (branch, leaf) = (Branch(), Leaf())
    let log = Recorder()
    for key in ["leaf", "deep"] {
      try log.observe(branch, key, [.old, .new], as: key)
      try log.observe(branch, key, .distinct, as: "\(key) distinct")
      try log.observe(branch, "\(key).size", .new, as: "\(key).size")
    }
    for value: Leaf?? in [.some(nil), leaf, nil, leaf, .some(nil), nil] {
      branch.leaf = value
      expect((try branch.value(forKey: "leaf") as? Leaf) === (value ?? nil))
    }
    for value: Leaf??? in [.some(nil), .some(.some(nil)), leaf, nil, leaf] {
      branch.deep = value
      expect((try branch.value(forKey: "deep") as? Leaf) === ((value ?? nil) ?? nil))
    }
    _ = log.take()
    leaf.size = 2
    expectEqual(log.take(), ["deep.size new 2"])
    try branch.setValue(leaf, forKey: "leaf")
    _ = log.take()
    leaf.size = 3
    expectEqual(log.take().sorted(), ["deep.size new 3", "leaf.size new 3"])
    try branch.setValue(nil, forKey: "leaf")
    try branch.setValue(nil, forKey: "deep")
    _ = log.take()
    leaf.size = 4
    expectEqual(log.take(), [])
  }

  @Test("D3: distinct tells nil, .some(nil) and an object apart")
  func distinct() {
    let (branch, leaf) = (Branch(), Leaf())
    var calls = 0
    let token = branch.observe(\.leaf, options: [.new, .distinct]) { _, _ in calls += 1 }
    let values: [Leaf??] = [.some(nil), .some(nil), leaf, leaf, nil, nil, .some(nil), leaf, nil]
    var counts: [Int] = []
    for value in values {
      branch.leaf = value
      counts.append(calls)
    }
    expectEqual(counts, [1, 1, 2, 2, 3, 3, 4, 5, 6])
    token.invalidate()
  }

  @Test("B6 C6: nil and .some(nil) among elements are ignored by operators")
  func elements() throws {
    let (branch, leaf) = (Branch(), Leaf())
    let log = Recorder()
    try log.observe(branch, "leaves.@sum.size", .new, as: "sum")
    branch.leaves = [nil, .some(nil), leaf]
    expectEqual(log.take(), ["sum new 1"])
    leaf.size = 5
    expectEqual(log.take(), ["sum new 5"])
    branch.leaves = [.some(nil), nil]
    expectEqual(log.take(), ["sum new 0"])
  }
}
