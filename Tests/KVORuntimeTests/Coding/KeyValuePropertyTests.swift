import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// P3: a class's description of its keys.
@Suite(.leakFree) struct KeyValuePropertyTests {
  private class Part: Tracked {
    @Observed var name = ""
    @Observed var weight: Double?
    let number = 1
    weak var owner: Part?
    unowned var maker: Part?
    var isHidden = false
    var _secret = 0
    lazy var drawing = [1, 2]
    @Observed var tags: Set<String> = []
    var total: Int { 3 }
    var label: String {
      get { name }
      set { name = newValue }
    }
    override class func registerKeys() {
      declareKeys {
        $0.computed("total", \Part.total)
        $0.computed("label", \Part.label)
        $0.orderedToMany(
          "pieces", count: { (_: Part) in 2 }, element: { _, index in index })
      }
    }
  }

  private final class Wheel: Part {
    @Observed var spokes: [Int]? = []
  }

  private struct Expected: CustomTestStringConvertible {
    let key: String
    let type: Any.Type
    var writable = true
    var toMany = false
    var weak = false
    var testDescription: String { key }
  }

  private static let all: [Expected] = [
    Expected(key: "name", type: String.self), Expected(key: "weight", type: Double?.self),
    Expected(key: "number", type: Int.self, writable: false),
    Expected(key: "owner", type: Part?.self, weak: true), Expected(key: "maker", type: Part?.self),
    Expected(key: "isHidden", type: Bool.self), Expected(key: "hidden", type: Bool.self),
    Expected(key: "secret", type: Int.self), Expected(key: "_secret", type: Int.self),
    Expected(key: "drawing", type: [Int].self, toMany: true),
    Expected(key: "tags", type: Set<String>.self, toMany: true),
    Expected(key: "total", type: Int.self, writable: false),
    Expected(key: "label", type: String.self),
    Expected(key: "pieces", type: [Int].self, writable: false, toMany: true),
  ]

  @Test(
    "P3: a class describes the type and abilities of a key without an object",
    arguments: all)
  private func kinds(_ expected: Expected) throws {
    for type in [Part.self, Wheel.self] {
      let property = try require(type.keyValueProperty(forKey: expected.key))
      expect(property.key == expected.key && property.valueType == expected.type)
      expectEqual(property.isWritable, expected.writable)
      expect(property.isToMany == expected.toMany && property.isWeak == expected.weak)
    }
  }

  @Test("P3: an unknown key has no description; hooks are not called")
  func none() {
    final class Answering: Tracked {
      override func value(forUndefinedKey key: String) throws -> Any? { 1 }
    }
    for key in ["nmae", "", "name.count", "@count", "headerStorage", "\0"] {
      expect(Wheel.keyValueProperty(forKey: key) == nil)
    }
    expect(Answering.keyValueProperty(forKey: "x") == nil)
    expect(KVOObject.keyValueProperties.isEmpty)
  }

  @Test("P3: all keys of a class, by name, including those of its superclasses")
  func keys() {
    let inherited = Part.keyValueProperties.map(\.key)
    expect(
      inherited.contains("pieces") && inherited.contains("total") && !inherited.contains("_secret"))
    expectEqual(inherited, inherited.sorted())
    expectEqual(Set(Wheel.keyValueProperties.map(\.key)), Set(inherited + ["spokes"]))
    final class Sheet: KeyValueRecord {
      override class func registerKeys() { declareKeys { $0.value("cell", 0.5) } }
    }
    expectEqual(Sheet.keyValueProperties.map(\.key), ["cell"])
    expect(Sheet.keyValueProperty(forKey: "cell")?.valueType == Double.self)
  }

  @Test("P3: the description is true: a writable key can be set, and has that type")
  func agrees() throws {
    let wheel = Wheel()
    for property in Wheel.keyValueProperties where !["maker", "drawing"].contains(property.key) {
      let value = try wheel.value(forKey: property.key)
      // A key with element accessors reads as a proxy.
      let isOfType =
        property.key == "pieces" || value == nil || isOfType(value as Any, property.valueType)
      expect(isOfType, "\(property.key)")
      if property.isWritable {
        try wheel.setValue(value, forKey: property.key)
      } else {
        #expect(throws: KeyValueError.self) { try wheel.setValue(value, forKey: property.key) }
      }
    }
  }
}

private func isOfType<T>(_ value: Any, _ type: T.Type) -> Bool { value is T }
