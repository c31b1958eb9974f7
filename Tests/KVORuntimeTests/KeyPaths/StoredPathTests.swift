import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// F5, F6, G: key paths of stored properties, which are reread only if a link has changed, notify as the same path
/// does in a computed property, which is always reread.
@Suite(.leakFree) struct StoredPathTests {
  fileprivate struct Place: Equatable {
    var x = 0
    var y = 0
  }

  fileprivate class Node: KVOObject, @unchecked Sendable {
    @Observed var number = 0
    @Observed var other = 100
    @Observed var next: Node?
    @Observed var muted: Node?
    @Observed var label: String?
    @Observed var place = Place()
    var isFormal = false
    let life = Life(of: Node.self)

    var three: Int? { next?.next?.number }
    var two: Int? { next?.number }
    var labelled: String? { next?.label }
    var part: Int? { next?.place.x }
    var ownPart: Int { place.x }
    var lastObject: Node? { next?.next }
    var behindMuted: Int? { muted?.number }
    // On a path, it is not known in advance which stored property this one reads.
    var shownNumber: Int { isFormal ? other : number }
    var shown: Int? { next?.shownNumber }

    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
      key == "muted" ? false : super.automaticallyNotifiesObservers(forKey: key)
    }
  }

  /// Its links may be overridden.
  fileprivate class Detour: Node, @unchecked Sendable {
    var way: Node?
    override var next: Node? {
      get { way ?? super.next }
      set { super.next = newValue }
    }
  }

  /// Limits its number to ten.
  fileprivate final class Clamped: Node, @unchecked Sendable {
    override var number: Int {
      get { super.number }
      set { super.number = min(newValue, 10) }
    }
  }

  fileprivate final class Plain: Node, @unchecked Sendable {}

  // MARK: One path, three ways

  fileprivate struct Way: @unchecked Sendable, CustomTestStringConvertible {
    let testDescription: String
    let observe: (Recorder, Node, KeyValueObservingOptions) throws -> Void
  }

  fileprivate struct Path: @unchecked Sendable, CustomTestStringConvertible {
    let testDescription: String
    let typed, tracked: Way
    /// nil where a path is broken.
    let string: Way?

    init<Value>(
      _ key: String?, _ typed: KeyPath<Node, Value>, trackedAs computed: KeyPath<Node, Value>
    ) {
      testDescription = key ?? "part"
      self.typed = Way(testDescription: "typed") { $0.observe($1, typed, $2) }
      tracked = Way(testDescription: "tracked") { $0.observe($1, computed, $2) }
      string = key.map { key in Way(testDescription: "string") { try $0.observe($1, key, $2) } }
    }
  }

  fileprivate static let paths = [
    Path("next.next.number", \.next?.next?.number, trackedAs: \.three),
    Path("next.number", \.next?.number, trackedAs: \.two),
    Path("next.label", \.next?.label, trackedAs: \.labelled),
    Path("next.next", \.next?.next, trackedAs: \.lastObject),
    Path("muted.number", \.muted?.number, trackedAs: \.behindMuted),
    Path(nil, \.next?.place.x, trackedAs: \.part),
    Path(nil, \.place.x, trackedAs: \.ownPart),
  ]

  fileprivate static let options: [KeyValueObservingOptions] = [
    [], .new, .old, [.old, .new], [.prior, .old, .new], [.initial, .new], [.distinct, .old, .new],
  ]

  /// Four nodes. The first is observed, and leads over the second to the third.
  fileprivate final class Graph {
    var nodes: [Node]

    init() {
      nodes = [Node(), Node(), Node(), Node()]
      nodes[0].next = nodes[1]
      nodes[1].next = nodes[2]
      nodes[0].muted = nodes[1]
      for (number, node) in nodes.enumerated() { node.number = number }
    }

    func end() {
      for node in nodes {
        node.next = nil
        node.muted = nil
        (node as? Detour)?.way = nil
      }
    }
  }

  fileprivate struct Step: @unchecked Sendable {
    let name: String
    /// Whether string paths notify differently: they follow a stored link only if its changes notify.
    var isOthers = false
    let take: (Graph) throws -> Void

    init(_ name: String, isOthers: Bool = false, _ take: @escaping (Graph) throws -> Void) {
      self.name = name
      self.isOthers = isOthers
      self.take = take
    }
  }

  fileprivate static let steps: [Step] = [
    Step("the last") { $0.nodes[2].number = 20 },
    Step("the last, by the same") { $0.nodes[2].number = 20 },
    Step("the second") { $0.nodes[1].number = 11 },
    Step("labels") {
      $0.nodes[1].label = "a"
      $0.nodes[1].label = nil
      $0.nodes[1].label = nil
    },
    Step("parts") {
      $0.nodes[0].place.x = 1
      $0.nodes[0].place.y = 1
      $0.nodes[1].place.x = 2
      $0.nodes[1].place = Place(x: 2, y: 4)
    },
    Step("in place") { $0.nodes[2].number += 1 },
    Step("by key") { try $0.nodes[2].setValue(7, forKey: "number") },
    Step("by key path") { try $0.nodes[0].setValue(8, forKeyPath: "next.next.number") },
    Step("a bracket of the last") { graph in
      graph.nodes[2].withChange(of: \.number) { graph.nodes[2].number = 3 }
    },
    Step("a link, by the same") { $0.nodes[1].next = $0.nodes[2] },
    Step("an empty bracket of a link") { $0.nodes[1].withChange(of: \.next) {} },
    Step("a bracket of a link around the last") { graph in
      graph.nodes[0].withChange(of: \.next) { graph.nodes[2].number = 4 }
    },
    Step("a link of the second") { $0.nodes[1].next = $0.nodes[3] },
    Step("what was left") { $0.nodes[2].number = 5 },
    Step("what was come to") { $0.nodes[3].number = 6 },
    Step("nil") { $0.nodes[0].next = nil },
    Step("behind nil") {
      $0.nodes[1].number = 12
      $0.nodes[3].number = 9
    },
    Step("back") { $0.nodes[0].next = $0.nodes[1] },
    Step("the last again") { $0.nodes[3].number = 10 },
    Step("another way to the same") { graph in
      graph.nodes[2].next = graph.nodes[3]
      graph.nodes[0].next = graph.nodes[2]
      graph.nodes[3].number = 13
      graph.nodes[1].number = 14
      graph.nodes[3].number = 15
    },
    Step("to itself") { graph in
      graph.nodes[0].next = graph.nodes[0]
      graph.nodes[0].number = 16
      graph.nodes[0].next = graph.nodes[1]
      graph.nodes[3].number = 17
    },
    Step("round") { graph in
      graph.nodes[1].next = graph.nodes[0]
      graph.nodes[0].number = 18
      graph.nodes[1].next = graph.nodes[3]
      graph.nodes[0].number = 19
    },
    Step("a link whose change notifies no observer", isOthers: true) { graph in
      graph.nodes[0].muted = graph.nodes[2]
      graph.nodes[1].number = 30
      graph.nodes[2].number = 31
      graph.nodes[0].withChange(of: \.muted) {}
      graph.nodes[1].number = 32
      graph.nodes[2].number = 33
    },
    Step("an override that notifies no observer", isOthers: true) { graph in
      let detour = Detour()
      graph.nodes.append(detour)
      detour.next = graph.nodes[2]
      graph.nodes[0].next = detour
      graph.nodes[2].number = 40
      detour.way = graph.nodes[3]
      graph.nodes[2].number = 41
      graph.nodes[3].number = 42
      detour.next = graph.nodes[2]
      graph.nodes[3].number = 43
      detour.way = nil
      graph.nodes[2].number = 44
    },
    Step("an override that stores another value") { graph in
      let clamped = Clamped()
      graph.nodes.append(clamped)
      graph.nodes[1].next = clamped
      graph.nodes[0].next = graph.nodes[1]
      clamped.number = 50
      clamped.number = 9
    },
    Step("a subclass") { graph in
      let plain = Plain()
      graph.nodes.append(plain)
      graph.nodes[1].next = plain
      plain.number = 51
      plain.number = 52
    },
  ]

  private func lines(
    _ way: Way, _ options: KeyValueObservingOptions, isBeside: Bool, until isOthers: Bool = true
  ) throws -> [String] {
    let (graph, log) = (Graph(), Recorder())
    if isBeside { for node in graph.nodes { log.observe(node, \.number, as: "beside") } }
    try way.observe(log, graph.nodes[0], options)
    var lines: [String] = []
    for step in Self.steps where isOthers || !step.isOthers {
      try step.take(graph)
      lines += log.take().filter { $0 != "beside" }.map { "\(step.name): \($0)" }
    }
    graph.end()
    return lines
  }

  @Test(
    "F5 F6 G1 G2 G4 D3 D4 D5 D6 E1 A4: a path of stored properties notifies as a computed one",
    arguments: paths, options)
  fileprivate func sameAsTracked(_ path: Path, _ options: KeyValueObservingOptions) throws {
    for isBeside in [false, true] {
      let typed = try lines(path.typed, options, isBeside: isBeside)
      let tracked = try lines(path.tracked, options, isBeside: isBeside)
      expectEqual(typed.filter(isOfAnyKey), tracked.filter(isOfAnyKey))
      expect(!typed.isEmpty)
    }
  }

  // False for a change inside an open change of a link: G5 applies only to observers of paths.
  private func isOfAnyKey(_ line: String) -> Bool {
    !line.hasPrefix("a bracket of a link around the last")
  }

  @Test(
    "G1 G2 F6: and as the same string path, except for unannounced changes that a key read shows",
    arguments: paths.filter { $0.string != nil }, options)
  fileprivate func sameAsString(_ path: Path, _ options: KeyValueObservingOptions) throws {
    let typed = try lines(path.typed, options, isBeside: false, until: false)
    let string = try lines(path.string!, options, isBeside: false, until: false)
    expectEqual(typed, string)
  }

  // MARK: Cases that must be reread

  // Each test has classes of its own, because the results depend on whether their classes change.

  @Test("F5 F6: a path that ends in a computed property is read again, whatever it reads at first")
  func computedEnd() {
    let (root, node, log) = (Node(), Node(), Recorder())
    root.next = node
    log.observe(root, \.next?.shownNumber, [.old, .new])
    node.number = 1
    node.isFormal = true
    node.number = 2
    node.other = 101
    expectEqual(log.take(), ["a old 0 new 1", "a old 100 new 101"])
  }

  private final class Untold: KVOObject, @unchecked Sendable {
    @Observed var number = 0
    @Observed var next: Untold?
    @Observed var muted: Untold?
    let life = Life(of: Untold.self)

    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
      key != "muted"
    }
  }

  @Test("G4: an unannounced link change is seen at the next change of the old end")
  func untoldLink() {
    let (root, first, second, log) = (Untold(), Untold(), Untold(), Recorder())
    root.muted = first
    log.observe(root, \.muted?.number, [.old, .new])
    first.number = 1
    expectEqual(log.take(), ["a old 0 new 1"])
    root.muted = second
    first.number = 2
    expectEqual(log.take(), [])
    second.number = 3
    expectEqual(log.take(), ["a old 0 new 3"])
  }

  private class Straight: KVOObject {
    @Observed var number = 0
    @Observed var next: Straight?
    let life = Life(of: Straight.self)
  }

  private final class Bent: Straight {
    var way: Straight?
    override var next: Straight? {
      get { way ?? super.next }
      set { super.next = newValue }
    }
  }

  @Test("A4 F5: an object whose class overrides a link is read through the override")
  func override() {
    let (root, detour, first, second) = (Straight(), Bent(), Straight(), Straight())
    let log = Recorder()
    root.next = detour
    detour.next = first
    log.observe(root, \.next?.next?.number, [.old, .new])
    first.number = 1
    detour.way = second
    first.number = 2
    expectEqual(log.take(), ["a old 0 new 1"])
    second.number = 3
    expectEqual(log.take(), ["a old 0 new 3"])
    detour.way = nil
  }

  private final class Coming: KVOObject, @unchecked Sendable {
    @Observed var number = 0
    @Observed var next: Coming?
    @Observed var muted: Coming?
    let life = Life(of: Coming.self)
  }

  @Test(
    "D7 I3: an observer that replaces another during the last property's change is a late one"
  )
  func newcomer() {
    for _ in 0..<50 {
      let (root, node, log) = (Coming(), Coming(), Locked<[String]>([]))
      let second = Locked<KeyValueObservation?>(nil)
      root.next = node
      let first = root.observe(\.next?.number, options: [.old, .new]) { _, _ in
        log.withLock { $0.append("first") }
      }
      // Exclusivity forbids reading the property on the thread that is changing it.
      func change(_ number: inout Int) {
        number += 1
        first.invalidate()
        onThreads(1) { _ in
          let token = root.observe(\.next?.number, options: [.old, .new]) { _, change in
            log.withLock { $0.append(change.words.joined(separator: " ")) }
          }
          second.withLock { $0 = token }
        }
      }
      change(&node.number)
      expectEqual(log.withLock { $0 }, ["old 1 new 1"])
      node.number = 5
      expectEqual(log.withLock { $0 }, ["old 1 new 1", "old 1 new 5"])
      second.withLock { $0 = nil }
    }
  }

  private final class Beside: KVOObject, @unchecked Sendable {
    @Observed var number = 0
    @Observed var next: Beside?
    @Observed var muted: Beside?
    let life = Life(of: Beside.self)
  }

  @Test(
    "D7 I3: an existing observer is notified, also if another is added during the change"
  )
  func beside() {
    let (root, node, log) = (Beside(), Beside(), Locked<[String]>([]))
    let second = Locked<KeyValueObservation?>(nil)
    root.next = node
    let first = root.observe(\.next?.number, options: [.old, .new]) { _, change in
      log.withLock { $0.append((["first"] + change.words).joined(separator: " ")) }
    }
    func change(_ number: inout Int) {
      number += 1
      onThreads(1) { _ in
        let token = root.observe(\.next?.number, options: [.old, .new]) { _, change in
          log.withLock { $0.append((["second"] + change.words).joined(separator: " ")) }
        }
        second.withLock { $0 = token }
      }
    }
    change(&node.number)
    expectEqual(log.withLock { $0 }, ["first old 0 new 1", "second old 1 new 1"])
    second.withLock { $0 = nil }
    node.number = 5
    expectEqual(log.withLock { $0.last }, "first old 1 new 5")
    first.invalidate()
  }

  @Test(
    "D7 C5: an observer that ends itself, another one, the path or the object is not called again")
  func endingInCalls() {
    let (node, log) = (Node(), Recorder())
    // Its observer drops the root.
    var root: Node? = Node()
    root!.next = node
    var own: KeyValueObservation?
    own = log.observe(root!, \.next?.number, .new, as: "own") { _, _ in own?.invalidate() }
    node.number = 1
    node.number = 2
    expectEqual(log.take(), ["own new 1"])
    own = nil
    var isFirst = true
    let leaving = log.observe(root!, \.next?.number, .new, as: "leaving") { root, _ in
      guard isFirst else { return }
      isFirst = false
      root.next = nil
    }
    node.number = 3
    node.number = 4
    expectEqual(log.take(), ["leaving new 3", "leaving new nil"])
    root!.next = node
    leaving.invalidate()
    _ = log.take()
    log.observe(root!, \.next?.number, as: "dying") { _, _ in root = nil }
    node.number = 4
    node.number = 5
    expectEqual(log.take(), ["dying"])
  }

  @Test("D13 D2: among other observers of the last property each is called in its order")
  func order() {
    let (root, node, log) = (Node(), Node(), Recorder())
    root.next = node
    log.observe(node, \.number, as: "1 key")
    log.observe(root, \.next?.number, as: "2 path")
    log.observe(root, \.two, as: "5 computed")
    log.observe(root, \.next?.number, as: "3 path")
    log.observe(node, \.number, as: "4 key")
    node.number = 1
    expectEqual(log.take(), ["1 key", "2 path", "3 path", "4 key", "5 computed"])
  }

  private final class Late: KVOObject {
    @Observed var number = 0
    @Observed var link: Late?
    let life = Life(of: Late.self)
  }

  @Test(
    "F1 F6: a key declared late for a property on the path applies from the next change on")
  func declaredLate() {
    let (root, node, log) = (Late(), Late(), Recorder())
    root.link = node
    log.observe(root, \.link?.number, [.new])
    node.number = 1
    Late.declareKeys { $0.stored("chain", \.link) }
    node.number = 2
    root.withChange(forKey: "chain") {}
    expectEqual(log.take(), ["a new 1", "a new 2", "a new 2"])
  }

  @Test("F6: a path to an unobservable property stops, naming class, key and remedy")
  func unobservable() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      final class Closing: KVOObject {
        final var plain = 0
        final let constant = 1
      }
      _ = Closing().observe(\.plain) { _, _ in }
    }
    for word in ["Closing", "plain", "declareKeys"] { expect(result.errors.contains(word)) }
  }

  // MARK: At random

  private enum Kind: CaseIterable { case own, two, three, part }

  private struct Observer {
    let name: String, root: Int, kind: Kind, isPrior: Bool
    let token: KeyValueObservation
  }

  /// The graph as numbers.
  private struct Model {
    var next: [Int?], number: [Int], x: [Int]

    /// The reads of a path in order, and its value.
    func go(_ root: Int, _ kind: Kind) -> (reads: [String], value: Int?) {
      var (reads, node) = ([String](), root as Int?)
      for _ in 0..<[.own: 0, .two: 1, .three: 2, .part: 1][kind]! {
        guard let at = node else { return (reads, nil) }
        reads.append("next\(at)")
        node = next[at]
      }
      guard let at = node else { return (reads, nil) }
      reads.append(kind == .part ? "place\(at)" : "number\(at)")
      return (reads, kind == .part ? x[at] : number[at])
    }
  }

  @Test(
    "F5 F6 G1 G2 D2 D5 D13: paths over a changing graph notify as a model does",
    arguments: 0..<40 as Range<UInt64>)
  func atRandom(_ seed: UInt64) {
    var random = SplitMix(seed)
    let count = 5
    let nodes = (0..<count).map { _ in Node() }
    var model = Model(
      next: Array(repeating: nil, count: count), number: Array(repeating: 0, count: count),
      x: Array(repeating: 0, count: count))
    var (observers, log, made) = ([Observer](), Recorder(), 0)
    func any(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    func add() {
      made += 1
      let (root, kind, isPrior) = (any(count), Kind.allCases[any(4)], any(4) == 0)
      let options: KeyValueObservingOptions = isPrior ? [.prior, .old, .new] : [.old, .new]
      func observe<Value>(_ path: KeyPath<Node, Value>) -> KeyValueObservation {
        log.observe(nodes[root], path, options, as: "\(made)")
      }
      let token =
        switch kind {
        case .own: observe(\.number)
        case .two: observe(\.next?.number)
        case .three: observe(\.next?.next?.number)
        case .part: observe(\.next?.place.x)
        }
      observers.append(
        Observer(name: "\(made)", root: root, kind: kind, isPrior: isPrior, token: token))
    }
    for step in 0..<400 {
      let (node, target) = (any(count), any(count + 1))
      let before = model
      var changed = ""
      switch any(12) {
      case 0: add()
      case 1 where !observers.isEmpty:
        observers.remove(at: any(observers.count)).token.invalidate()
      case 2, 3, 4:
        changed = "next\(node)"
        model.next[node] = target == count ? nil : target
        nodes[node].next = model.next[node].map { nodes[$0] }
      case 5, 6:
        changed = "place\(node)"
        model.x[node] = step
        nodes[node].place.x = step
      default:
        changed = "number\(node)"
        model.number[node] = step
        nodes[node].number = step
      }
      let notified = observers.map { ($0, before.go($0.root, $0.kind), model.go($0.root, $0.kind)) }
        .filter { $0.1.reads.contains(changed) }
      let priors = notified.filter(\.0.isPrior).map {
        "\($0.0.name) prior old \(shown($0.1.value))"
      }
      let finals = notified.map { "\($0.0.name) old \(shown($0.1.value)) new \(shown($0.2.value))" }
      let lines = log.take()
      expectEqual(lines, priors + finals, "seed \(seed) step \(step)")
      if lines != priors + finals { break }
    }
    for node in nodes { node.next = nil }
  }

  // MARK: Threads

  @Test("I1 I2 I3: threads observe and end the path while its last property is set")
  func threads() async {
    let (root, middle, last) = (Node(), Node(), Node())
    root.next = middle
    middle.next = last
    let calls = Count()
    let token = root.observe(\.next?.next?.number) { _, _ in calls.add() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for round in 0..<20_000 { last.number = round } }
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<1_000 {
            let other = root.observe(\.next?.next?.number) { _, _ in }
            other.invalidate()
          }
        }
      }
    }
    expectEqual(calls.value, 20_000)
    token.invalidate()
    expect(!isSwapped(root) && !isSwapped(middle) && !isSwapped(last))
    root.next = nil
  }

  @Test("C4 I1: the root may die on another thread while the last property is set")
  func originDies() async {
    for _ in 0..<300 {
      let last = Node()
      let root = Slot(
        { () -> Node in
          let root = Node()
          root.next = last
          return root
        }())
      var token: KeyValueObservation?
      root.use { token = $0.observe(\.next?.number, options: [.old, .new]) { _, _ in } }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for round in 0..<50 { last.number = round } }
        group.addTask { root.drop() }
      }
      withExtendedLifetime(token) {}
    }
  }

  @Test("I1 G2: several threads set links and the last property under one lock")
  func linksAndEnds() async {
    let (root, nodes) = (Node(), [Node(), Node()])
    let lock = Locked(0)
    let last = Locked<Int?>(nil)
    let token = root.observe(\.next?.number, options: .new) { _, change in
      last.withLock { $0 = change.newValue! }
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for round in 0..<4_000 { lock.withLock { _ in root.next = nodes[round % 2] } }
      }
      for node in nodes {
        group.addTask {
          for round in 0..<4_000 { lock.withLock { _ in node.number = round } }
        }
      }
    }
    expectEqual(last.withLock { $0 }, root.next?.number)
    token.invalidate()
    root.next = nil
  }
}

private struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
