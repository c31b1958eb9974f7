import Expectations
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// G1, F6: links that a key path forces, while they are nil.
@Suite(.leakFree) struct ForcedLinkTests {
  fileprivate struct Pair {
    var number = 0
    var node: Node?
  }

  fileprivate class Node: Tracked {
    @Observed var name = "n"
    @Observed var title: String?
    @Observed var numbers: [Int] = []
    @Observed var marks: [Int]?
    @Observed var next: Node?
    @Observed var must: Node!
    @Observed var nodes: [Node] = []
    @Observed var pair = Pair()
    final var plain: Node!
    var computed: Node! { must }

    override class func registerKeys() {
      declareKeys { keys in
        keys.stored("plain", \.plain)
        keys.computed("mustTitle", \.must.title!)
        keys.computed("mustMarks", \.must.marks)
        keys.computed("plainName", \.plain.name)
      }
    }
  }

  /// A path, and how its link is set.
  fileprivate struct Path: @unchecked Sendable, CustomTestStringConvertible {
    let testDescription: String
    let keyPath: KeyPath<Node, String>
    let set: (Node, Node?) -> Void

    init(_ name: String, _ keyPath: KeyPath<Node, String>, _ set: @escaping (Node, Node?) -> Void) {
      (testDescription, self.keyPath, self.set) = (name, keyPath, set)
    }

    static var all: [Path] {
      [
        Path("of a forced type", \.must.name) { $0.must = $1 },
        Path("forced", \.next!.name) { $0.next = $1 },
        Path("of a value", \.pair.node!.name) { $0.pair.node = $1 },
        Path("computed of a value", \.nodes.first!.name) { $0.nodes = $1.map { [$0] } ?? [] },
        Path("computed", \.computed.name) { $0.must = $1 },
        Path("plain", \.plain.name) { root, node in
          root.withChange(forKey: "plain") { root.plain = node }
        },
        Path("the second one", \.must.next!.name) { root, node in
          if root.must == nil { root.must = Node() }
          root.must.next = node
        },
        Path("before an argument", \.must.nodes[0].name) { root, node in
          root.must = node.map {
            let holder = Node()
            holder.nodes = [$0]
            return holder
          }
        },
      ]
    }
  }

  fileprivate final class Numbered: Tracked {
    struct Size { var width = 0 }

    @Observed var whole: Int?
    @Observed var real: Double?
    @Observed var size: Size?
  }

  @Test("G1 F6: so it is at the end of the path, also for types without a spare bit pattern")
  func ofNumbers() {
    let (root, log) = (Numbered(), Recorder())
    log.observe(root, \.whole!, [.old, .new], as: "whole")
    log.observe(root, \.real!, [.old, .new], as: "real")
    log.observe(root, \.size!.width, [.old, .new], as: "width")
    root.whole = 1
    root.whole = nil
    root.real = 2
    root.real = nil
    root.size = Numbered.Size(width: 3)
    root.size = nil
    expectEqual(
      log.take(),
      [
        "whole new 1", "whole old 1", "real new 2.0", "real old 2.0", "width new 3", "width old 3",
      ])
  }

  @Test(
    "G1 F6: a path is broken at a forced link that is nil: its observers get nil",
    arguments: Path.all)
  fileprivate func broken(_ path: Path) {
    let (root, first, second) = (Node(), Node(), Node())
    path.set(root, nil)
    let log = Recorder()
    log.observe(root, path.keyPath, [.old, .new])
    log.observe(root, path.keyPath, [.distinct, .new], as: "d")
    expectEqual(log.take(), [])
    path.set(root, first)
    expectEqual(log.take(), ["a new n", "d new n"])
    first.name = "x"
    expectEqual(log.take(), ["a old n new x", "d new x"])
    path.set(root, nil)
    expectEqual(log.take(), ["a old x", "d"])
    first.name = "y"
    expectEqual(log.take(), [])
    path.set(root, second)
    second.name = "z"
    expectEqual(log.take(), ["a new n", "d new n", "a old n new z", "d new z"])
  }

  @Test("G1 F6: a value that is optional itself is nil where the path is broken, not absent")
  func optional() {
    let (root, node) = (Node(), Node())
    node.title = "t"
    let log = Recorder()
    log.observe(root, \.must.title, [.initial, .old, .new])
    root.must = node
    root.must = nil
    expectEqual(log.take(), ["a new nil", "a old nil new t", "a old t new nil"])
    let other = Node()
    let binding = other.bind(\.title, to: root, \.must.title)
    root.must = node
    expectEqual(other.title, "t")
    root.must = nil
    expect(other.title == nil)
    withExtendedLifetime(binding) {}
  }

  @Test("F6 G1: a declared key that forces a link is nil while the link is")
  func declared() throws {
    let (root, node) = (Node(), Node())
    node.title = "t"
    let log = Recorder()
    try log.observe(root, "mustTitle", [.old, .new])
    expect(try root.value(forKey: "mustTitle") == nil)
    root.must = node
    node.title = nil
    node.title = "u"
    expectEqual(try root.value(forKey: "mustTitle") as? String, "u")
    expectEqual(log.take(), ["a old nil new t", "a old t new nil", "a old nil new u"])
  }

  @Test(
    "F6 B2: setting a declared key through a forced link that is nil is an error, without a change")
  func setThroughNil() throws {
    let (root, node) = (Node(), Node())
    let log = Recorder()
    try log.observe(root, "mustTitle", [.prior, .new])
    try log.observe(root, "mustMarks", [.prior, .new])
    func missing(_ key: String, _ type: String) -> KeyValueError {
      .validationFailed(
        key: key, className: "Node",
        reason:
          "it is set through a link that the key forces, and that is nil: one of type \(type).")
    }
    expectEqual(
      keyValueError { try root.setValue("t", forKey: "mustTitle") }, missing("mustTitle", "Node"))
    let marks = try root.mutableArrayValue(forKey: "mustMarks")
    expectEqual(keyValueError { try marks.append(1) }, missing("mustMarks", "Node"))
    expectEqual(
      keyValueError { try root.setValuesForKeys(["name": "m", "mustTitle": "t"]) },
      missing("mustTitle", "Node"))
    expectEqual(root.name, "n")
    expectEqual(log.take(), [])
    root.must = node
    _ = log.take()
    expectEqual(
      keyValueError { try root.setValue("t", forKey: "mustTitle") }, missing("mustTitle", "String"))
    expectEqual(log.take(), [])
    node.title = "u"
    try root.setValue("v", forKey: "mustTitle")
    try marks.append(1)
    expectEqual(node.title, "v")
    expectEqual(node.marks, [1])
  }

  @Test(
    "F6 E4: reading a key over a forced link that is being mutated stops, as Swift's own read does")
  func overlapping() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      func mutate(_ link: inout Node?, _ body: () -> Void) { body() }
      let root = Node()
      root.plain = Node()
      mutate(&root.plain) { _ = try? root.value(forKey: "plainName") }
    }
    expect(result.errors.contains("Simultaneous accesses"))
  }

  /// Its link is nil from the second reading on, as if another thread set it to nil in between.
  fileprivate final class Fading: Tracked {
    @Observed var node: Node? = Node()
    final var readings = 0
    var link: Node! {
      readings += 1
      return readings == 1 ? node : nil
    }

    override class func registerKeys() {
      declareKeys { keys in keys.computed("linkName", \.link.name) }
    }
  }

  @Test("F6 G1: a forced link is read once for a value, so another thread may set it to nil")
  func readOnce() throws {
    let declared = Fading()
    expectEqual(try declared.value(forKey: "linkName") as? String, "n")
    expectEqual(declared.readings, 1)
    expect(try declared.value(forKey: "linkName") == nil)
    expectEqual(declared.readings, 2)
  }

  @Test("F6: a binding that can't do without a value stops, naming class, key path and cause")
  func binding() async throws {
    let atOnce = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Node().bind(\.name, to: Node(), \.must.name)
    }
    let later = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (root, other) = (Node(), Node())
      root.next = Node()
      let token = other.bind(\.numbers, to: root, \.next!.numbers)
      root.next = nil
      withExtendedLifetime(token) {}
    }
    let target = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Node().bind(\.must.name, to: Node(), \.name)
    }
    for (result, type) in [(atOnce, "String"), (later, "[Int]"), (target, "String")] {
      for word in [
        "ForcedLinkTests.swift:", "leads to no \(type) in this object of Node", "\\Node.",
        "forces a link that is nil, of type Node",
      ] { expect(result.errors.contains(word)) }
    }
  }
}
