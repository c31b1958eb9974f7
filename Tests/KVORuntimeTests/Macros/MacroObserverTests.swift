import Expectations
import Foundation
import KVORuntime
import TestSupport
import Testing

/// Q6: in a `@KVO` class, `willSet` and `didSet` run inside the change, as on Apple's platforms.
@Suite(.leakFree) struct MacroObserverTests {
  @Test("Q6: an observer is notified of the value that didSet has left, once, with the old value")
  func clamps() throws {
    let dial = Dial()
    let seen = Seen(dial, \.level)
    dial.level = 5
    dial.level = 50
    dial.level += 1
    dial.level = -7
    try dial.setValue(99, forKey: "level")
    seen.end()
    expectEqual(seen.changes, ["0 5", "5 10", "10 10", "10 0", "0 10"])
    expectEqual(
      dial.calls,
      [
        "will 5", "did 0 5", "will 50", "did 5 50", "will 11", "did 10 11", "will -7", "did 10 -7",
        "will 99", "did 0 99",
      ])
  }

  @Test("Q6: observers of other properties that willSet and didSet change are notified as well")
  func others() {
    let dial = Dial()
    let levels = Seen(dial, \.level)
    let counts = Seen(dial, \.count)
    dial.level = 3
    dial.level = 4
    for seen in [levels.end, counts.end] { seen() }
    expectEqual(levels.changes, ["0 3", "3 4"])
    expectEqual(counts.changes, ["0 1", "1 2"])
  }

  @Test("Q6: a cache that didSet clears has the right value, tracked or declared, and under a path")
  func caches() {
    let text = Cached()
    let tracked = Seen(text, \.words)
    let declared = Seen(text, \.letters)
    let holder = Holder(text)
    let path = Seen(holder, \.text.words)
    for value in ["a", "a b", "c d e"] { text.text = value }
    for seen in [tracked.end, declared.end, path.end] { seen() }
    expectEqual(tracked.changes, ["0 1", "1 2", "2 3"])
    expectEqual(declared.changes, ["0 1", "1 3", "3 5"])
    expectEqual(path.changes, ["0 1", "1 2", "2 3"])
  }

  @Test("F5 Q6: a getter that only notes something in a stored property is tracked as any other")
  func notes() {
    let noted = Noted()
    let (last, count) = (Seen(noted, \.shown), Seen(noted, \.counted))
    noted.target?.level = 3
    noted.target?.level = 4
    noted.target = Dial()
    last.end()
    count.end()
    expectEqual(last.changes, ["0 3", "3 4", "4 0"])
    expectEqual(count.changes, ["0 3", "3 4", "4 0"])
  }

  @Test("F5 Q6: a property that reads a cached one is notified, if its getter reports the read")
  func readersOfCaches() {
    let (counted, before) = (Counted(), Counted())
    before.next = counted
    _ = counted.words  // fills the cache
    let seen = Seen(counted, \.isLong)
    let path = Seen(before, \.isNextLong)
    for text in ["a", "a b", "a b c", "d"] { counted.text = text }
    seen.end()
    path.end()
    expectEqual(seen.changes, ["false false", "false true", "true true", "true false"])
    expectEqual(path.changes, seen.changes)
  }

  @Test("Q6: the observers run as often, and with the same values, as in a plain class")
  func asPlain() {
    let plain = PlainModel()
    let model = Model()
    let token = model.observe(\.level) { _, _ in }
    for step in 0..<2 {
      plain.run(step)
      model.run(step)
    }
    token.invalidate()
    expectEqual(model.log, plain.log)
    expect(model.log.count > 40)
  }

  @Test(
    "Q6: a property's observers run inside those of its override, all in one change"
  )
  func overrides() {
    let child = Child()
    let seen = Seen(child, \.level)
    child.level = 50
    child.level = 3
    child.plain = 7
    seen.end()
    expectEqual(seen.changes, ["0 10", "10 4"])
    expectEqual(
      child.calls,
      [
        "child will 50", "will 50", "did 0 50", "child did 0 10", "child will 3", "will 3",
        "did 10 3", "child did 10 3", "child will 4", "will 4", "did 3 4", "child did 3 4",
        "plain 0 7",
      ])
    let plain = Seen(child, \.plain)
    child.plain = 8
    plain.end()
    expectEqual(plain.changes, ["7 8"])
  }

  @Test(
    "Q6: observers of an override run inside its change; dependents and paths see it"
  )
  func overridesOfStorage() throws {
    let (house, flat) = (House(), Flat())
    house.flat = flat
    var notified: [String] = []
    let tokens = [
      flat.observe(\.rooms, options: [.old, .new]) { flat, change in
        notified.append("rooms \(change.oldValue!) \(change.newValue!) after \(flat.moves)")
      },
      flat.observe(\.price, options: [.old, .new]) { _, change in
        notified.append("price \(change.oldValue!) \(change.newValue!)")
      },
      try house.observe(keyPath: "flat.rooms", options: [.old, .new]) { _, change in
        notified.append("path \(change.oldValue!) \(change.newValue!)")
      },
    ]
    let ways: [() throws -> Void] = [
      { flat.rooms = 3 }, { flat.rooms += 1 }, { try flat.setValue(9, forKey: "rooms") },
      { house.flat?.rooms = 2 }, { flat.coalescingNotifications { flat.rooms = 1 } },
    ]
    for (index, way) in ways.enumerated() {
      let (old, oldPrice) = (flat.rooms, flat.price)
      try way()
      expectEqual(
        notified.sorted(),
        [
          "path \(old) \(flat.rooms)", "price \(oldPrice) \(flat.price)",
          "rooms \(old) \(flat.rooms) after \(flat.moves)",
        ], "\(index)")
      notified = []
    }
    // The assignment in the property's own observer adds one move.
    expect(flat.rooms == 1 && flat.moves == 6)
    for token in tokens { token.invalidate() }
    let price = flat.observe(\.price, options: [.old, .new]) { _, change in
      notified.append("price \(change.oldValue!) \(change.newValue!)")
    }
    flat.rooms = 20
    price.invalidate()
    expectEqual(notified, ["price 106 808"])
  }

  @Test(
    "Q3 Q6: a weak or unowned property has observers like any other, an override's after its superclass's"
  )
  func references() {
    let knot = Knot()
    let other = Knot()
    let seen = Seen(knot, \.next)
    withExtendedLifetime(other) {
      knot.next = other
      knot.next = nil
    }
    seen.end()
    expectEqual(seen.changes.count, 2)
    expectEqual(
      knot.calls,
      [
        "will true", "did false true", "override true", "will false", "did true false",
        "override false",
      ])
    knot.owner = knot
    expect(knot.owner == nil)
  }

  @Test("Q6: before super.init() no observer runs, and default values stay")
  func initialisation() {
    let first = Initialised(1)
    expectEqual([first.a, first.b, first.c], [1, 2, 9])
    expectEqual(first.calls, [])
  }

  @Test("Q6: in a generic class, with any access, with names that need backticks")
  func kinds() throws {
    let box = Box(first: "a")
    let seen = Seen(box, \.`in`)
    box.`in` = "b"
    box.setOwn(5)
    seen.end()
    expectEqual(seen.changes, ["a b"])
    expectEqual(box.calls, ["a b", "0 5"])
    expectEqual(try box.value(forKey: "own") as? Int, 5)
    let labels = Mirror(reflecting: box).children.map(\.label)
    expectEqual(labels, ["in", "own", "calls"])
  }

  @Test(
    "Q6: an in-place change is one change, and copies nothing if didSet reads no old value"
  )
  func inPlace() {
    let list = List()
    let seen = Seen(list, \.items)
    list.items.append(1)
    list.items[0] += 4
    seen.end()
    expectEqual(seen.changes, ["[] [1]", "[1] [5]"])
    expectEqual(list.calls, 2)
    list.items.reserveCapacity(8)
    let before = list.items.withUnsafeBufferPointer { $0.baseAddress }
    list.items.append(6)
    expectEqual(list.items.withUnsafeBufferPointer { $0.baseAddress }, before)
  }

  @Test(
    "Q6: an observer that another thread registers while didSet runs is notified of the change (I3)"
  )
  func late() {
    let object = Late()
    let calls = Locked<[Int]>([])
    let tokens = Locked<[NSKeyValueObservation]>([])
    object.whenSet = { object in
      let shared = Shared(object)
      let thread = Thread {
        let token = shared.value.observe(\.level, options: .new) { _, change in
          calls.withLock { $0.append(change.newValue!) }
        }
        tokens.withLock { $0.append(token) }
        shared.done.signal()
      }
      thread.start()
      shared.done.wait()
    }
    object.level = 5
    object.whenSet = nil
    object.level = 6
    for token in tokens.withLock({ $0 }) { token.invalidate() }
    expectEqual(calls.withLock { $0 }, [5, 6])
  }

  @Test("Q7: Codable uses the properties' names, also of weak ones and of those with observers")
  func coding() throws {
    let part = Part()
    let owner = Part()
    part.owner = owner
    part.size = 3
    let text = String(decoding: try sorted.encode(part), as: UTF8.self)
    expectEqual(text, #"{"name":"p","owner":{"name":"p","size":1},"size":3}"#)
    let back = try JSONDecoder().decode(
      Part.self, from: Data(#"{"name": "q", "size": 30}"#.utf8))
    expectEqual([back.name, "\(back.size)"], ["q", "30"])
    expect(back.owner == nil)
  }

  @Test("Q7: a class's own CodingKeys are kept")
  func codingKeys() throws {
    let named = Named()
    named.title = "t"
    let text = String(decoding: try sorted.encode(named), as: UTF8.self)
    expectEqual(text, #"{"id":1,"n":2,"name":"t"}"#)
    let back = try JSONDecoder().decode(Named.self, from: Data(#"{"n": 5, "name": "u"}"#.utf8))
    expectEqual([back.title, "\(back.count)", "\(back.note ?? "-")"], ["u", "5", "-"])
    expectEqual(back.calls, 0)
  }

  @Test("Q7: so are the names where a protocol of the program refines Encodable")
  func codingByRefinement() throws {
    let refined = Refined()
    refined.count += 1
    let text = String(decoding: try sorted.encode(refined), as: UTF8.self)
    expectEqual(text, #"{"count":2,"title":"t"}"#)
  }

  @Test(
    "Q7: methods of the class, or of an extension with names of its own, use the properties' names")
  func codingByHand() throws {
    let written = String(decoding: try sorted.encode(Written()), as: UTF8.self)
    expectEqual(written, #"{"owner":true,"title":"t!"}"#)
    let apart = Apart()
    expectEqual(String(decoding: try sorted.encode(apart), as: UTF8.self), #"{"n":"t"}"#)
    expectEqual(Mirror(reflecting: apart).children.map { $0.label ?? "-" }, ["title", "owner"])
  }
}

private let sorted: JSONEncoder = {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  return encoder
}()

/// The old and new values that an observer gets.
private final class Seen<Object: KVOObject, Value> {
  private(set) var changes: [String] = []
  private var token: NSKeyValueObservation?

  init(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    token = object.observe(keyPath, options: [.old, .new]) { [unowned self] _, change in
      changes.append("\(change.oldValue!) \(change.newValue!)")
    }
  }

  func end() { token?.invalidate() }
}

@KVO class Dial: KVOObject {
  var level = 0 {
    willSet {
      calls.append("will \(newValue)")
      count += 1
    }
    didSet {
      calls.append("did \(oldValue) \(level)")
      if level > 10 { level = 10 }
      if level < 0 { self.level = 0 }
    }
  }
  var count = 0
  @KVOIgnored var calls: [String] = []
}

@KVO private final class Child: Dial {
  override var level: Int {
    willSet(next) { calls.append("child will \(next)") }
    didSet(last) {
      calls.append("child did \(last) \(level)")
      if level == 3 { level = 4 }
    }
  }
  var plain = 0 { didSet { calls.append("plain \(oldValue) \(plain)") } }
}

private class Dwelling: KVOObject {
  @Observed var rooms = 2
}

@KVO private class Storey: Dwelling {
  @KVOIgnored var moves = 0
  var price: Int { rooms * 100 + moves }
  class func keyPathsForValuesAffectingPrice() -> Set<String> { ["rooms"] }
}

@KVO private final class Flat: Storey {
  override var rooms: Int {
    didSet {
      moves += 1
      if rooms > 8 { rooms = 8 }
    }
  }
}

@KVO private final class House: KVOObject {
  var flat: Flat?
}

@KVO private class Loop: KVOObject {
  weak var next: Loop? {
    willSet { calls.append("will \(newValue != nil)") }
    didSet { calls.append("did \(oldValue != nil) \(next != nil)") }
  }
  unowned var owner: Loop? = nil { didSet { if owner === self { owner = nil } } }
  @KVOIgnored var calls: [String] = []
}

@KVO private final class Knot: Loop {
  override weak var next: Loop? { didSet { calls.append("override \(next != nil)") } }
}

@KVO private final class Cached: KVOObject {
  var text = "" {
    didSet {
      cache = nil
      otherCache = nil
    }
  }
  @KVOIgnored private var cache: Int?
  @KVOIgnored private var otherCache: Int?

  var words: Int {
    if let cache { return cache }
    let count = text.split(separator: " ").count
    cache = count
    return count
  }

  class func keyPathsForValuesAffectingLetters() -> Set<String> { ["text"] }
  var letters: Int {
    otherCache = otherCache ?? text.count
    return otherCache!
  }
}

@KVO private final class Noted: KVOObject {
  var target: Dial? = Dial()
  @KVOIgnored private var lastSeen = 0
  @KVOIgnored private var readings = 0

  var shown: Int {
    guard let target else { return lastSeen }
    lastSeen = target.level
    return target.level
  }
  var counted: Int {
    readings += 1
    return target?.level ?? 0
  }
}

@KVO private final class Counted: KVOObject {
  var text = "" { didSet { cache = nil } }
  @KVOIgnored private var cache: Int?
  var next: Counted?

  var words: Int {
    access(keyPath: \.words)
    cache = cache ?? text.split(separator: " ").count
    return cache!
  }
  var isLong: Bool { words > 1 }
  var isNextLong: Bool { next?.isLong ?? false }
}

@KVO private final class Holder: KVOObject {
  var text: Cached
  init(_ text: Cached) { self.text = text }
}

@KVO private final class Initialised: KVOObject {
  var a: Int { didSet { calls.append("a") } }
  var b = 2 { willSet { calls.append("b") } }
  var c = 3 { didSet { calls.append("c") } }
  @KVOIgnored var calls: [String] = []

  init(_ a: Int) {
    self.a = a
    c = 9
    super.init()
  }
}

@KVO private final class Box<Value>: KVOObject {
  var `in`: Value { didSet { calls.append("\(oldValue) \(`in`)") } }
  private(set) var own: Int = 0 { didSet { calls.append("\(oldValue) \(self.own)") } }
  @KVOIgnored private(set) var calls: [String] = []

  init(first: Value) { `in` = first }
  func setOwn(_ value: Int) { own = value }
}

@KVO private final class Late: KVOObject {
  var level = 0 { didSet { whenSet?(self) } }
  @KVOIgnored var whenSet: ((Late) -> Void)?
}

/// Passed to a thread that is waited for.
private final class Shared<Value>: @unchecked Sendable {
  let value: Value
  let done = DispatchSemaphore(value: 0)
  init(_ value: Value) { self.value = value }
}

@KVO private final class List: KVOObject {
  var items: [Int] = [] { didSet { calls += 1 } }
  @KVOIgnored var calls = 0
}

@KVO private final class Part: KVOObject, Codable {
  var name = "p"
  weak var owner: Part?
  var size = 1 { didSet { if size > 9 { size = 9 } } }
  static let standard = 7
  @KVOIgnored lazy var area = size * size
}

private protocol Stored: Encodable {}

@KVO private final class Refined: KVOObject, Stored {
  var title = "t"
  var count = 1
  var note: String?
}

@KVO private final class Written: KVOObject, Encodable {
  var title = "t"
  weak var owner: Written?

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(title + "!", forKey: .title)
    try container.encode(owner == nil, forKey: .owner)
  }
}

@KVO private final class Apart: KVOObject {
  var title = "t"
  weak var owner: Apart?
}

extension Apart: Encodable {
  enum CodingKeys: String, CodingKey { case title = "n" }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(title, forKey: .title)
  }
}

@KVO private final class Named: KVOObject, Codable {
  let id = 1
  var title = "" { didSet { calls += 1 } }
  var count = 2
  var note: String? { didSet { calls += 1 } }
  @KVOIgnored var calls = 0

  enum CodingKeys: String, CodingKey {
    case id
    case count = "n"
    case title = "name"
    case note
  }
}

// MARK: Side by side

/// One source, with and without the macro.
private final class PlainModel {
  var log: [String] = []

  var level = 0 {
    didSet {
      log.append("level \(oldValue) \(level)")
      if level > 10 { level = 10 }
      if level == 5 { normalise() }
      defer { if level == 8 { self.level = 9 } }
      if level == 7 {
        let level = 1
        log.append("local \(level)")
      }
    }
  }
  var name: String? {
    willSet { log.append("will \(newValue ?? "-") \(name ?? "-")") }
    didSet(last) {
      if let name { log.append("\(last ?? "-") \(name)") }
      guard let name, name != "x" else {
        name = "y"
        return
      }
      log.append(name)
    }
  }
  var list = [1] {
    didSet {
      list.sort()
      list[0] -= 1
      if list.count == 3 { _ = [0].map { _ in self.list.append(9) } }
      for list in [list] where list.count > 4 { log.append("many \(list)") }
      switch list.first {
      case let list? where list < 0: log.append("negative \(list)")
      default: list = list.map { $0 * 2 }
      }
      func sum(_ list: [Int], from start: Int = list.count) -> Int { list.reduce(start, +) }
      func grow(by list: inout Int) { list += 1 }
      grow(by: &list[0])
      while list.count > 4, let list = list.popLast() { log.append("last \(list)") }
      log.append("list \(list) \(sum([1, 2])) \(last())")
      func last() -> Int { list.last ?? 0 }
    }
  }
  var pair = (x: 1, y: 2) {
    didSet {
      let twin = self
      if pair.x > 5 { twin.pair.x = 5 }
      pair = (x: pair.x, y: [pair.x: pair.y][pair.x]!)
      log.append("pair \(pair)")
    }
  }

  func normalise() { level = 4 }

  func run(_ step: Int) {
    for value in [1, 5, 50, 7, 8] { level = value + step }
    for value in ["a", "x", nil] as [String?] { name = value }
    list = [3, 1]
    list.append(2)
    list += [0, -9]
    pair = (7, step)
    pair.y += 1
  }
}

@KVO private final class Model: KVOObject {
  @KVOIgnored var log: [String] = []

  var level = 0 {
    didSet {
      log.append("level \(oldValue) \(level)")
      if level > 10 { level = 10 }
      if level == 5 { normalise() }
      defer { if level == 8 { self.level = 9 } }
      if level == 7 {
        let level = 1
        log.append("local \(level)")
      }
    }
  }
  var name: String? {
    willSet { log.append("will \(newValue ?? "-") \(name ?? "-")") }
    didSet(last) {
      if let name { log.append("\(last ?? "-") \(name)") }
      guard let name, name != "x" else {
        name = "y"
        return
      }
      log.append(name)
    }
  }
  var list = [1] {
    didSet {
      list.sort()
      list[0] -= 1
      if list.count == 3 { _ = [0].map { _ in self.list.append(9) } }
      for list in [list] where list.count > 4 { log.append("many \(list)") }
      switch list.first {
      case let list? where list < 0: log.append("negative \(list)")
      default: list = list.map { $0 * 2 }
      }
      func sum(_ list: [Int], from start: Int = list.count) -> Int { list.reduce(start, +) }
      func grow(by list: inout Int) { list += 1 }
      grow(by: &list[0])
      while list.count > 4, let list = list.popLast() { log.append("last \(list)") }
      log.append("list \(list) \(sum([1, 2])) \(last())")
      func last() -> Int { list.last ?? 0 }
    }
  }
  var pair = (x: 1, y: 2) {
    didSet {
      let twin = self
      if pair.x > 5 { twin.pair.x = 5 }
      pair = (x: pair.x, y: [pair.x: pair.y][pair.x]!)
      log.append("pair \(pair)")
    }
  }

  func normalise() { level = 4 }

  func run(_ step: Int) {
    for value in [1, 5, 50, 7, 8] { level = value + step }
    for value in ["a", "x", nil] as [String?] { name = value }
    list = [3, 1]
    list.append(2)
    list += [0, -9]
    pair = (7, step)
    pair.y += 1
  }
}
