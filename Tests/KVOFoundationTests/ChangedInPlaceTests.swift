import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// D3, H1: Foundation's mutable objects that are changed in place, in a change by hand.
@Suite(.leakFree) struct ChangedInPlaceTests {
  private let store = Store()

  private static let changes: [(String, @Sendable (Store) -> Void)] = [
    ("array", { $0.array.add(1) }),
    ("perhaps", { $0.perhaps?.add(1) }),
    ("asArray", { ($0.asArray as? NSMutableArray)?.add(1) }),
    ("anything", { ($0.anything as? NSMutableArray)?.add(1) }),
    ("dictionary", { $0.dictionary[$0.dictionary.count] = 1 }),
    ("set", { $0.set.add($0.set.count) }),
    ("counted", { $0.counted.add($0.counted.count) }),
    ("ordered", { $0.ordered.add($0.ordered.count) }),
    ("text", { $0.text.append("a") }),
    ("asText", { ($0.asText as? NSMutableString)?.append("a") }),
    ("data", { $0.data.append(Data([1])) }),
    ("indexes", { $0.indexes.add($0.indexes.count) }),
    ("components", { $0.components.day = ($0.components.day == 1) ? 2 : 1 }),
    ("address", { $0.address.path = ($0.address.path ?? "") + "/a" }),
    ("anyObject", { ($0.anyObject as? NSMutableArray)?.add(1) }),
    ("hashable", { ($0.hashable.base as? NSMutableString)?.append("a") }),
    ("style", { $0.style.width += 1 }),
    ("list", { $0.list[0].add(1) }),
    ("slice", { $0.slice[0].add(1) }),
    ("byName", { $0.byName["a"]?.append("a") }),
    ("optionals", { $0.optionals?[1]?.add(1) }),
    ("nested", { (($0.nested as? [String: Any])?["a"] as? [NSMutableData])?[0].append(Data([1])) }),
    ("ofArrays", { $0.inner.add(1) }),
    ("ofTexts", { $0.text.append("a") }),
  ]

  private final class Keyed: Tracked {
    @Observed var values: [NSMutableString: NSMutableArray] = [:]
  }

  @Test("D3: a dictionary whose keys have become equal in place is registered and compared")
  func equalKeys() {
    let (keyed, key, log) = (Keyed(), NSMutableString(string: "a"), Recorder())
    keyed.values = [key: [1], "b": [2]]
    key.setString("b")
    log.observe(keyed, \.values.count, [.new, .distinct])
    log.observe(keyed, \.values, [.distinct], as: "values")
    keyed.values = [:]
    expectEqual(log.take(), ["a new 0", "values"])
  }

  @Test("D3: distinct compares them with what they contained", arguments: changes.map(\.0))
  func distinct(_ key: String) throws {
    let change = try require(Self.changes.first { $0.0 == key }).1
    var calls = 0
    let token = try store.observe(keyPath: key, options: .distinct) { _, _ in calls += 1 }
    for expected in 1...2 {
      store.withChange(forKey: key) { change(store) }
      expectEqual(calls, expected)
      store.withChange(forKey: key) {}
      expectEqual(calls, expected)
    }
    token.invalidate()
  }

  @Test(
    "D3: distinct compares an object without its own equality by identity, and calls no copy of Foundation's"
  )
  func identity() throws {
    var calls = 0
    let tokens = try ["plain", "formatter"].map { key in
      try store.observe(keyPath: key, options: .distinct) { _, _ in calls += 1 }
    }
    store.withChange(forKey: "plain") { store.plain.width += 1 }
    store.withChange(forKey: "formatter") { store.formatter.dateFormat = "y" }
    expectEqual(calls, 0)
    (store.plain, store.formatter) = (Plain(), DateFormatter())
    expectEqual(calls, 2)
    withExtendedLifetime(tokens) {}
  }

  @Test("D3: the object itself stays, and its type")
  func sameObject() throws {
    let (array, counted) = (store.array, store.counted)
    var seen: [Any?] = []
    let tokens = try ["array", "counted"].map { key in
      try store.observe(keyPath: key, options: [.distinct, .new]) { seen.append($1.newValue) }
    }
    for value in [1, 2] {
      store.withChange(forKey: "array") { array.add(value) }
      store.withChange(forKey: "counted") { counted.add("\(value)") }
    }
    expect(seen.count == 4 && seen[0] as AnyObject === array && seen[3] as AnyObject === counted)
    withExtendedLifetime(tokens) {}
  }

  @Test("H1 D5: a set by hand has the members that were added and removed")
  func members() throws {
    let log = Recorder()
    for key in ["set", "asSet"] { try log.observe(store, key, [.old, .new], as: key) }
    for key in ["set", "asSet"] {
      let set = try require(try store.value(forKey: key) as? NSMutableSet)
      let changes: [(KeyValueSetMutation, Set<Int>, () -> Void)] = [
        (.union, [1, 2], { set.addObjects(from: [1, 2]) }), (.minus, [1], { set.remove(1) }),
        (.set, [3], { set.setSet([3]) }), (.intersect, [], { set.removeAllObjects() }),
      ]
      for (mutation, members, body) in changes {
        store.willChangeValue(forKey: key, withSetMutation: mutation, using: members)
        body()
        store.didChangeValue(forKey: key, withSetMutation: mutation, using: members)
      }
    }
    let expected = ["set", "asSet"].flatMap { key in
      [
        "\(key) insertion new [1, 2]", "\(key) removal old [1]",
        "\(key) replacement old [2] new [3]", "\(key) removal old [3]",
      ]
    }
    expectEqual(log.take().map(inOneLine), expected)
  }
}

/// A description of sets as one of sorted arrays.
private func inOneLine(_ text: String) -> String {
  text.split(separator: "{(").enumerated().map { index, part in
    guard index > 0, let end = part.firstRange(of: ")}") else { return String(part) }
    let members = part[..<end.lowerBound].split(whereSeparator: { " ,\n".contains($0) }).sorted()
    return "[\(members.joined(separator: ", "))]\(part[end.upperBound...])"
  }.joined()
}

private final class Store: KVOObject {
  @Observed var array = NSMutableArray()
  @Observed var perhaps: NSMutableArray? = NSMutableArray()
  @Observed var asArray: NSArray = NSMutableArray()
  @Observed var anything: Any = NSMutableArray()
  @Observed var dictionary = NSMutableDictionary()
  @Observed var set = NSMutableSet()
  @Observed var asSet: NSSet? = NSMutableSet()
  @Observed var counted = NSCountedSet()
  @Observed var ordered = NSMutableOrderedSet()
  @Observed var text = NSMutableString(string: "")
  @Observed var asText: NSString = NSMutableString(string: "")
  @Observed var data = NSMutableData()
  @Observed var indexes = NSMutableIndexSet()
  @Observed var components = NSDateComponents()
  @Observed var address = NSURLComponents()
  @Observed var anyObject: NSObject = NSMutableArray()
  @Observed var hashable: AnyHashable = NSMutableString(string: "")
  @Observed var style = Style()
  @Observed var plain = Plain()
  @Observed var formatter = DateFormatter()
  @Observed var list = [NSMutableArray()]
  @Observed var slice: ArraySlice = [NSMutableArray()]
  @Observed var byName = ["a": NSMutableString(string: "")]
  @Observed var optionals: [NSMutableArray?]? = [nil, NSMutableArray()]
  @Observed var nested: Any = ["a": [NSMutableData()]] as [String: Any]
  let inner = NSMutableArray()
  @Observed var ofArrays: NSArray = []
  @Observed var ofTexts: NSDictionary = [:]

  override init() {
    super.init()
    ofArrays = NSArray(array: [inner])
    ofTexts = NSDictionary(dictionary: ["a": text])
  }
}

private class Plain: NSObject, NSCopying {
  var width = 0

  required override init() {}

  func copy(with zone: NSZone? = nil) -> Any {
    let copy = Self()
    copy.width = width
    return copy
  }
}

private final class Style: Plain {
  override func isEqual(_ other: Any?) -> Bool { (other as? Style)?.width == width }
  override var hash: Int { width }
}
