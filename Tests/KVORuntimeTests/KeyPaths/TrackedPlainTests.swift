import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// F6, G: plain properties and declared keys on a typed path, whose reads no getter reports.
@Suite(.leakFree) struct TrackedPlainTests {
  private class Node: KVOObject {
    @Observed var next: Node?
    @Observed var number = 1
    var plain = 1
    final var link: Node?
    var point = (x: 1, y: 2)
    var spare = (x: 1, y: 2)
    let constant: Node?
    private var stored = 1
    let life = Life(of: Node.self)

    init(_ constant: Node? = nil) { self.constant = constant }

    var accessed: Int {
      get { stored }
      set { stored = newValue }
    }
    var superior: Node? { next }

    override class func registerKeys() {
      declareKeys {
        $0.stored("plain", \.plain)
        $0.stored("link", \.link)
        $0.stored("place", \.point)
        $0.accessors("accessed", \.accessed, get: { $0.accessed }, set: { $0.accessed = $1 })
      }
    }
  }

  private final class Leaf: Node {
    override var next: Node? {
      get { super.next }
      set { super.next = newValue }
    }
  }

  @Test("F6 G1 G2: a path to a declared plain property follows its links and that key")
  func plainLeaf() throws {
    let (root, first, second) = (Node(), Node(), Node())
    let log = Recorder()
    log.observe(root, \.next?.plain, [.old, .new])
    root.next = first
    try first.setValue(2, forKey: "plain")
    first.withChange(of: \.plain) { first.plain = 3 }
    expectEqual(log.take(), ["a old nil new 1", "a old 1 new 2", "a old 2 new 3"])
    root.next = second
    try first.setValue(9, forKey: "plain")
    try second.setValue(4, forKey: "plain")
    expectEqual(log.take(), ["a old 3 new 1", "a old 1 new 4"])
    expect(!first.isObserved(forKey: "plain"))
  }

  @Test("F6 G1: so it does for a part of the plain property, or where it has accessors")
  func otherLeaves() throws {
    let (root, node) = (Node(), Node())
    root.next = node
    let log = Recorder()
    log.observe(root, \.next!.point.x, [.new], as: "x")
    log.observe(root, \.next?.accessed, [.new], as: "accessed")
    node.withChange(forKey: "place") { node.point.x = 3 }
    try node.setValue(4, forKey: "accessed")
    expectEqual(log.take(), ["x new 3", "accessed new 4"])
  }

  @Test("G1 F6: plain links and parts of plain properties are followed where they are declared")
  func plainLinks() throws {
    let (root, first, second) = (Leaf(), Leaf(), Node())
    let log = Recorder()
    log.observe(root, \.link?.number, [.old, .new], as: "number")
    log.observe(root, \.link?.next?.plain, [.new], as: "plain")
    log.observe(root, \.point.y, [.new], as: "y")
    try root.setValue(first, forKey: "link")
    first.number = 5
    expectEqual(log.take(), ["number old nil new 1", "plain new nil", "number old 1 new 5"])
    first.next = second
    try second.setValue(6, forKey: "plain")
    expectEqual(log.take(), ["plain new 1", "plain new 6"])
    root.withChange(forKey: "place") { root.point.y = 7 }
    expectEqual(log.take(), ["y new 7"])
  }

  @Test("F6: a final class's own link is followed too, as is a constant")
  func overriddenLink() throws {
    let node = Node()
    let leaf = Leaf(node)
    let log = Recorder()
    leaf.next = node
    log.observe(leaf, \Leaf.next?.plain, [.new], as: "link")
    log.observe(leaf, \Leaf.constant?.plain, [.new], as: "constant")
    try node.setValue(2, forKey: "plain")
    expectEqual(log.take(), ["link new 2", "constant new 2"])
  }

  @Test("D13 F6: the order of a path that begins with a property overridden by a final class")
  func placeOfOverride() {
    let leaf = Leaf()
    let node = Node()
    leaf.next = node
    let log = Recorder()
    log.observe(node, \.number, as: "1 key")
    log.observe(leaf, \Leaf.next?.number, as: "2 path")
    log.observe(node, \.number, as: "3 key")
    node.number = 2
    expectEqual(log.take(), ["1 key", "2 path", "3 key"])
  }

  @Test("F6: parts of a plain property that is not declared are refused")
  func undeclared() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Node().observe(\.spare.x) { _, _ in }
    }
    expect(result.errors.contains("declareKeys") && result.errors.contains("Node"))
  }

  // MARK: Declared late

  private final class Late: KVOObject {
    @Observed var number = 1
    var stored = 10
    var shown: Int {
      get { number + stored }
      set { stored = newValue }
    }
  }

  @Test(
    "F1 F5 F6: accessors declared late apply to the next registration, and to earlier ones")
  func declaredLate() throws {
    let late = Late()
    let log = Recorder()
    let early = log.observe(late, \.shown, [.new], as: "early")
    late.number = 2
    expectEqual(log.take(), ["early new 12"])
    Late.declareKeys {
      $0.accessors("shown", \.shown, get: { $0.shown }, set: { $0.shown = $1 })
    }
    log.observe(late, \.shown, [.new], as: "late")
    // A key that has accessors is not tracked.
    late.number = 3
    expectEqual(log.take(), ["early new 13"])
    try late.setValue(20, forKey: "shown")
    expectEqual(Set(log.take()), ["early new 23", "late new 23"])
    early.invalidate()
    late.withChange(of: \.shown) { late.stored = 30 }
    expectEqual(log.take(), ["late new 33"])
  }

  private final class Derived: KVOObject {
    @Observed var number = 1
    @Observed var other = 1
    var sum: Int { number + other }
  }

  @Test("F1 F6: a computed property declared late is affected only by what it declares")
  func computedLate() {
    let derived = Derived()
    let log = Recorder()
    do { _ = derived.observe(\.sum) { _, _ in } }
    Derived.declareKeys { $0.computed("sum", \.sum, affectedBy: ["number"]) }
    log.observe(derived, \.sum, [.new])
    derived.other = 2
    expectEqual(log.take(), [])
    derived.number = 2
    expectEqual(log.take(), ["a new 4"])
  }

  // MARK: Zero-sized properties

  private struct Signal {}
  private struct Mark {}

  private final class Bell: KVOObject {
    @Observed var signal = Signal()
    @Observed var mark = Mark()
    @Observed var number = 1
    var rings: Int {
      _ = signal
      return 1
    }
    var marks: Int {
      _ = mark
      return number
    }
  }

  @Test("F5 F6: reads of a zero-sized property are distinguished from its neighbour's")
  func noRoom() {
    let bell = Bell()
    let log = Recorder()
    log.observe(bell, \.rings, as: "rings")
    log.observe(bell, \.marks, as: "marks")
    bell.number = 2
    expectEqual(log.take(), ["marks"])
    bell.signal = Signal()
    expectEqual(log.take(), ["rings"])
    bell.mark = Mark()
    expectEqual(log.take(), ["marks"])
  }
}
