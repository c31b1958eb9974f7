import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// F6, G1: undeclared plain and weak links on a typed path.
@Suite(.leakFree) struct PlainLinkTests {
  fileprivate class Node: KVOObject {
    @Observed var number = 0
    @Observed var next: Node?
    weak var owner: Node?
    var link: Node?
    var others: [Node] = []
    var following: Node? { next }
    let life = Life(of: Node.self)
  }

  fileprivate final class Leaf: KVOObject {
    @Observed var number = 0
    weak var owner: Leaf?
    var link: Leaf?
    private var _hidden: Leaf?
    var hidden: Leaf? {
      get { _hidden }
      set { _hidden = newValue }
    }
    let life = Life(of: Leaf.self)
  }

  private struct Link<Object: KVOObject>: @unchecked Sendable {
    let key: String
    let path: KeyPath<Object, Int?>
    let set: (Object, Object?) -> Void
  }

  private func follow<Object: KVOObject>(
    _ link: Link<Object>, _ root: Object, _ first: Object, _ second: Object, isSet: Bool,
    _ number: ReferenceWritableKeyPath<Object, Int>
  ) throws {
    if isSet { link.set(root, first) }
    let log = Recorder()
    let token = log.observe(root, link.path, [.old, .new])
    if !isSet {
      root.withChange(forKey: link.key) { link.set(root, first) }
      expectEqual(log.take(), ["a old nil new 0"])
    }
    first[keyPath: number] = 1
    expectEqual(log.take(), ["a old 0 new 1"])
    try root.setValue(second, forKey: link.key)
    first[keyPath: number] = 7
    second[keyPath: number] = 2
    expectEqual(log.take(), ["a old 1 new 0", "a old 0 new 2"])
    try root.setValue(nil, forKey: link.key)
    second[keyPath: number] = 3
    expectEqual(log.take(), ["a old 2 new nil"])
    token.invalidate()
    expect(!isSwapped(first) && !isSwapped(second) && !isSwapped(root))
  }

  @Test(
    "F6 G1 G2: a nil plain or weak link is followed once it is set",
    arguments: [true, false])
  func links(_ isSet: Bool) throws {
    let nodes = [
      Link<Node>(key: "owner", path: \.owner?.number) { $0.owner = $1 },
      Link<Node>(key: "link", path: \.link?.number) { $0.link = $1 },
    ]
    for link in nodes {
      let (root, first, second) = (Node(), Node(), Node())
      try withExtendedLifetime((first, second)) {
        try follow(link, root, first, second, isSet: isSet, \.number)
      }
    }
  }

  @Test("F6 G1 G2: so it is in a final class", arguments: [true, false])
  func finalLinks(_ isSet: Bool) throws {
    let leaves = [
      Link<Leaf>(key: "owner", path: \.owner?.number) { $0.owner = $1 },
      Link<Leaf>(key: "link", path: \.link?.number) { $0.link = $1 },
      Link<Leaf>(key: "hidden", path: \.hidden?.number) { $0.hidden = $1 },
    ]
    for link in leaves {
      let (root, first, second) = (Leaf(), Leaf(), Leaf())
      try withExtendedLifetime((first, second)) {
        try follow(link, root, first, second, isSet: isSet, \.number)
      }
    }
  }

  @Test("F6 G1: plain links are followed after other links of any kind")
  func behindOthers() {
    let (root, middle, end) = (Node(), Node(), Node())
    let log = Recorder()
    log.observe(root, \.owner?.next?.link?.number, [.new], as: "stored")
    log.observe(root, \.following?.link?.number, [.new], as: "computed")
    root.withChange(forKey: "owner") { root.owner = middle }
    middle.next = middle
    root.next = middle
    middle.withChange(forKey: "link") { middle.link = end }
    expectEqual(log.take().suffix(2), ["stored new 0", "computed new 0"])
    end.number = 4
    expectEqual(log.take(), ["stored new 4", "computed new 4"])
    middle.link = nil
    middle.next = nil
    root.next = nil
    withExtendedLifetime((middle, end)) {}
  }

  @Test("F5 F6: a computed link over a property follows that property alone")
  func computedLink() {
    let (root, end) = (Node(), Node())
    let log = Recorder()
    root.next = end
    log.observe(root, \.following?.number, [.new])
    root.withChange(forKey: "link") { root.link = end }
    expect(log.take().isEmpty)
    end.number = 1
    expectEqual(log.take(), ["a new 1"])
  }

  private class Closed: KVOObject {
    @Observed var number = 0
    var link: Closed?
    override class var accessInstanceVariablesDirectly: Bool { false }
  }

  @Test("F6: a nil link without a key stops, naming the class, the link and the remedy")
  func linkWithoutKey() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Closed().observe(\.link?.number) { _, _ in }
    }
    let text = try require(result).errors
    for word in ["Closed", "link", "declareKeys", "stored"] { expect(text.contains(word)) }
  }

  @Test("F6: part of a declared plain collection is observed")
  func partOfCollection() throws {
    let shelf = Declared()
    let log = Recorder()
    log.observe(shelf, \.list.count, [.new], as: "count")
    log.observe(shelf, \.list.first, [.new], as: "first")
    shelf.withChange(of: \.list) { shelf.list.append(2) }
    try shelf.setValue([3], forKey: "list")
    expectEqual(log.take(), ["count new 2", "first new 1", "count new 1", "first new 3"])
  }

  private class Declared: KVOObject {
    var list = [1]
    override class func registerKeys() { declareKeys { $0.stored("list", \.list) } }
  }
}
