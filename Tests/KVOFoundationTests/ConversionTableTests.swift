import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import Testing

/// B12: conversion of every type to every other, in every place that takes a value. The outcome depends only on the
/// two kinds of types, whatever the value.
@Suite(.leakFree) struct ConversionTableTests {
  enum Kind { case number, text, rawNumber, rawText, date, url, uuid, data }

  enum Rank: Int { case low, high }
  enum Word: String { case a, b }
  enum Letter: Character { case a = "a" }
  struct Marks: OptionSet, Hashable { let rawValue: UInt8 }

  /// Whether values of one kind convert to the other.
  static func becomes(_ from: Kind, _ to: Kind) -> Bool {
    switch (from, to) {
    case (.number, .number), (.text, .number), (.rawNumber, .number): true
    case (.text, .text), (.rawText, .text): true
    case (.date, .date), (.url, .url), (.uuid, .uuid), (.data, .data): true
    default: false
    }
  }

  static var sources: [(kind: Kind, value: Any)] {
    integers + reals
      + [
        (.number, true), (.number, NSNumber(value: false)), (.number, Decimal(0.1)),
        (.number, Decimal.greatestFiniteMagnitude), (.number, Decimal.nan),
        (.number, Decimal(-2.5)),
        (.number, NSDecimalNumber(string: "12345678901234567890.5")), (.rawNumber, Rank.high),
        (.rawNumber, Marks(rawValue: 255)), (.rawText, Word.a), (.rawText, Letter.a), (.text, ""),
        (.text, "12"),
        (.text, "x"),
        (.text, "99999999999999999999"), (.text, "ab"[...]), (.text, Character("7")),
        (.text, NSString("3.9")), (.date, Date.distantPast), (.date, NSDate()),
        (.url, URL(fileURLWithPath: "/a")), (.uuid, UUID()),
        (.uuid, NSUUID()), (.data, Data()), (.data, NSData(data: Data([1]))),
      ]
  }

  static var integers: [(Kind, Any)] {
    ends(Int8.self) + ends(UInt8.self) + ends(Int16.self) + ends(UInt16.self) + ends(Int32.self)
      + ends(UInt32.self) + ends(Int64.self) + ends(UInt64.self) + ends(Int.self) + ends(UInt.self)
      + [
        (.number, NSNumber(value: Int64.min)), (.number, NSNumber(value: UInt64.max)),
        (.number, NSNumber(value: 300)), (.number, AnyHashable(7)),
      ]
  }

  static var reals: [(Kind, Any)] {
    [0.5, 0.1, -3.9, 1e300, .infinity, -.infinity, .nan, .leastNonzeroMagnitude].flatMap {
      (real: Double) -> [(Kind, Any)] in
      [
        (.number, real), (.number, Float(real)), (.number, CGFloat(real)),
        (.number, NSNumber(value: real)), (.number, NSNumber(value: Float(real))),
      ]
    }
  }

  private static func ends<I: FixedWidthInteger>(_ type: I.Type) -> [(Kind, Any)] {
    [(.number, I.min), (.number, I.max), (.number, I(1))]
  }

  private static var targets: [(kind: Kind, slot: any Slot)] {
    [
      (.number, TypedSlot(Int8(0))), (.number, TypedSlot(UInt8(0))), (.number, TypedSlot(Int16(0))),
      (.number, TypedSlot(UInt16(0))), (.number, TypedSlot(Int32(0))),
      (.number, TypedSlot(UInt32(0))),
      (.number, TypedSlot(Int64(0))), (.number, TypedSlot(UInt64(0))), (.number, TypedSlot(0)),
      (.number, TypedSlot(UInt(0))), (.number, TypedSlot(Float(0))), (.number, TypedSlot(0.0)),
      (.number, TypedSlot(CGFloat(0))), (.number, TypedSlot(false)),
      (.number, TypedSlot(Decimal(0))),
      (.text, TypedSlot("")), (.text, TypedSlot(""[...])), (.date, TypedSlot(Date.distantPast)),
      (.url, TypedSlot(URL(fileURLWithPath: "/"))), (.uuid, TypedSlot(UUID())),
      (.data, TypedSlot(Data())),
    ]
  }

  @Test("B12: whether a value converts depends on the types alone, in every place")
  func everyPair() {
    for (to, slot) in Self.targets {
      for (from, value) in Self.sources {
        let outcomes = slot.outcomes(of: value)
        let first = outcomes[0].outcome
        expectEqual(first != nil, Self.becomes(from, to))
        for (place, outcome) in outcomes
        where outcome != first || (first != nil) != Self.becomes(from, to) {
          Issue.record("\(type(of: value)) \(value) to \(slot.name) \(place): \(outcome ?? "no")")
        }
      }
    }
  }

  static var values: [(value: Any, type: any Hashable.Type, text: String)] {
    [
      (NSNumber(value: Float(0.5)), Double.self, "0.5"), (NSNumber(value: 0.1), Float.self, "0.1"),
      (NSNumber(value: 3.5), Int.self, "3"),
      (NSNumber(value: 300), UInt8.self, "44"), (NSNumber(value: 2), Bool.self, "true"),
      (NSNumber(value: 0.1), CGFloat.self, "0.1"),
      (NSNumber(value: UInt64.max), UInt64.self, "\(UInt64.max)"),
      (7, Decimal.self, "7"), (0.1, Decimal.self, "0.1"), ("7", Decimal.self, "7"),
      ("x", Decimal.self, "NaN"),
      (UInt64.max, Decimal.self, "18446744073709551615"), (Double.infinity, Decimal.self, "NaN"),
      (NSDecimalNumber(string: "-2.9"), Int.self, "-2"),
      (Decimal(string: "18446744073709551615")!, UInt64.self, "\(UInt64.max)"),
      (Decimal(string: "1e30")!, Int.self, "\(Int.max)"), (Decimal(300), Int8.self, "44"),
      ("12", Int.self, "12"), (" -12.9x", Int.self, "-12"), ("", Int.self, "0"),
      ("abc", Double.self, "0.0"),
      ("1e3", Double.self, "1000.0"), ("1e3", Int.self, "1"), ("300", UInt8.self, "255"),
      ("-1", UInt.self, "0"),
      ("99999999999", Int32.self, "\(Int32.max)"), ("YES", Bool.self, "true"),
      ("no", Bool.self, "false"),
      (".5e1z", Float.self, "5.0"), ("007", Bool.self, "true"), (Rank.high, Int.self, "1"),
      (Marks(rawValue: 3), Double.self, "3.0"), (Word.b, String.self, "b"),
      (2, Marks.self, "Marks(rawValue: 2)"),
      ("1", Rank.self, "high"), (1.9, Rank.self, "high"), (NSString("b"), Word.self, "b"),
      ("é", Character.self, "é"), (Character("c"), String.self, "c"),
      (NSNumber(value: true), Int.self, "1"),
      (Float(0.1), Decimal.self, "0.1"), (NSNumber(value: Float(0.1)), Decimal.self, "0.1"),
      (-Double.infinity, Decimal.self, "NaN"), (1e-200, Decimal.self, "0"),
      (Decimal(string: "10000000000000000000000000")!, Int128.self, "10000000000000000000000000"),
      (CGFloat(2.5), NSNumber.self, "2.5"), (Int8(3), NSDecimalNumber.self, "3"),
      ("t", NSMutableString.self, "t"), ("t"[...], NSString.self, "t"),
      (Character("t"), NSString.self, "t"), (Word.b, NSString.self, "b"),
      (Word.b, NSMutableString.self, "b"), (Rank.high, NSNumber.self, "1"),
      (Marks(rawValue: 3), NSNumber.self, "3"), (Rank.high, NSDecimalNumber.self, "1"),
      (Rank.high, Decimal.self, "1"), (AnyHashable(Rank.high), Rank.self, "high"),
      (AnyHashable(Marks(rawValue: 3)), Marks.self, "Marks(rawValue: 3)"),
      (Letter.a, String.self, "a"), (Letter.a, Character.self, "a"), ("a", Letter.self, "a"),
      (Letter.a, NSString.self, "a"),
      // Rounded to the nearest double first, it would be halfway between two values.
      (Decimal(string: "1.000000059604644775390626")!, Float.self, "1.0000001"),
      ("1.000000059604644775390626", Float.self, "1.0000001"),
      // Not a source here: swift-corelibs-foundation can't hash one.
      (NSURL(string: "a:b")!, URL.self, "a:b"),
    ]
  }

  @Test(
    "B12: numbers convert as NSNumber's accessors do, texts as NSString's",
    arguments: 0..<values.count)
  func value(_ index: Int) throws {
    let (value, type, text) = Self.values[index]
    func outcomes<T: Hashable>(_ type: T.Type) throws -> [String?] {
      let object = MaybeSlot<T>()
      try object.setValue(value, forKey: "value")
      return [object.value.map { "\($0)" }]
    }
    expectEqual(try outcomes(type), [text])
  }

  @Test("B12: an enumeration becomes an object of its number inside collections; a text does not")
  func rawNumbers() throws {
    final class Grades: Tracked {
      @Observed var byName: [String: NSNumber] = [:]
      @Observed var list: [NSNumber?] = []
      @Observed var number: NSNumber?
    }
    let grades = Grades()
    try grades.setValue(["a": Rank.high], forKey: "byName")
    try grades.setValue([Rank.high, nil], forKey: "list")
    expect(grades.byName == ["a": 1] && grades.list == [1, nil])
    for text: Any in [Word.a, "1"] {
      #expect(throws: KeyValueError.self) { try grades.setValue(text, forKey: "number") }
    }
  }

  @Test("B12: a null is nil for an optional of an optional, in collections too")
  func nestedOptionals() throws {
    final class Nested: Tracked {
      @Observed var value: Int?? = 1
      @Observed var list: [Int??] = []
      @Observed var byName: [String: Int??] = [:]
      @Observed var anything: Any?? = 1
      @Observed var deeper: String??? = "a"
    }
    let nested = Nested()
    try nested.setValue(NSNull(), forKey: "value")
    try nested.setValue([1, NSNull()] as [Any], forKey: "list")
    try nested.setValue(["a": NSNull()], forKey: "byName")
    try nested.setValue(NSNull(), forKey: "anything")
    try nested.setValue(NSNull(), forKey: "deeper")
    expect(nested.value == .none && nested.list == [1, .none] && nested.deeper == .none)
    expect(nested.byName["a"] == .some(.none))
    expect(nested.anything as? NSNull != nil)
  }

  @Test("B12: an error names both types as Swift spells them, and the faulty element")
  func errors() {
    let object = Everything()
    func text(_ key: String, _ value: Any) -> String {
      do { try object.setValue(value, forKey: key) } catch { return "\(error)" }
      return "no error"
    }
    expectEqual(
      text("ratios", ["a": [1]] as [AnyHashable: Any]),
      "\"ratios\" of Everything takes [String: Float], not [AnyHashable: Any], whose key \"a\" is [Int]."
    )
    expectEqual(
      text("maybe", [1, Date()] as [Any]),
      "\"maybe\" of Everything takes [Int]?, not [Any], whose element 1 is Date.")
    expectEqual(
      text("steps", [1.2: 2, 1.7: 3]),
      "\"steps\" of Everything takes [Int: Int], not [Double: Int], whose keys 1.2 and 1.7 become one key."
    )
    expectEqual(text("day", NSNumber(value: 1)), "\"day\" of Everything takes Date, not NSNumber.")
    expectEqual(
      text("letter", "ab"),
      "\"letter\" of Everything takes Character, not \"ab\", which is not a single character.")
    expectEqual(
      text("ranks", [0, 2]),
      "\"ranks\" of Everything takes Set<Rank>, not [Int], whose element 1 is 2, which is none of its raw values."
    )
  }

  @Test("B12 R3: a JSON array becomes a set, a JSON dictionary a typed one; texts become numbers")
  func json() throws {
    let object = Everything()
    let text =
      #"{"tags": ["b", "a"], "ratios": {"x": 0.1, "y": 1}, "counts": {"n": "12"}, "name": "n"}"#
    try object.setValuesForKeys(
      require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]))
    expect(
      object.tags == ["a", "b"] && object.ratios == ["x": 0.1, "y": 1] && object.counts == ["n": 12]
    )
    #expect(throws: KeyValueError.nilValue(key: "name", className: "Everything")) {
      try object.setValuesForKeys(["name": NSNull(), "tags": []] as [String: Any])
    }
    expectEqual(object.tags, ["a", "b"])
  }

  @Test(
    "B12 R3: raw values are passed to Foundation's serialisations in the form they come from them")
  func rawValues() throws {
    let object = Everything()
    object.ranks = [.high]
    object.marks = Marks(rawValue: 5)
    let made = try object.dictionaryWithFoundationValues(forKeys: ["rank", "marks", "letter"])
    expect(JSONSerialization.isValidJSONObject(made))
    expect(
      made["rank"] as? Int == 0 && made["marks"] as? UInt8 == 5 && made["letter"] as? String == "l")
    object.anything = [Suit.red: [Rank.high]]
    object.ranks = [.high, .low]
    let nested = try object.dictionaryWithFoundationValues(forKeys: ["anything", "ranks"])
    expectEqual(nested["anything"] as? [String: [Int]], ["red": [1]])
    expectEqual(nested["ranks"] as? Set<Int>, [0, 1])
    object.anything = [Rank.high: Suit.red]
    let keyed = try object.dictionaryWithFoundationValues(forKeys: ["anything"])["anything"]
    expectEqual(keyed as? [Int: String], [1: "red"])
  }

  final class Everything: Tracked {
    @Observed var ratios: [String: Float] = [:]
    @Observed var counts: [String: Int] = [:]
    @Observed var steps: [Int: Int] = [:]
    @Observed var maybe: [Int]?
    @Observed var day = Date.distantPast
    @Observed var letter: Character = "l"
    @Observed var ranks: Set<Rank> = []
    @Observed var rank = Rank.low
    @Observed var marks = Marks()
    @Observed var tags: Set<String> = []
    @Observed var name = "old"
    @Observed var anything: Any?
  }

  enum Suit: String { case red }
}

/// A type, with every place that takes a value of it.
private protocol Slot {
  var name: String { get }
  /// The value in each place after the conversion; nil if the place refuses it.
  func outcomes(of value: Any) -> [(place: String, outcome: String?)]
}

private final class MaybeSlot<T: Hashable>: KVOObject {
  @Observed var value: T?
}

private final class TypedObject<T: Hashable>: KVOObject {
  @Observed var value: T
  @Observed var maybe: T?
  @Observed var list: [T] = []
  @Observed var members: Set<T> = []
  @Observed var byName: [String: T] = [:]
  @Observed var link: TypedObject?

  init(_ value: T) { self.value = value }
}

private struct TypedSlot<T: Hashable>: Slot {
  let first: T

  init(_ first: T) { self.first = first }

  var name: String { "\(T.self)" }

  func outcomes(of value: Any) -> [(place: String, outcome: String?)] {
    let object = TypedObject(first)
    object.link = object
    object.byName = ["k": first]
    defer { object.link = nil }
    func outcome(_ body: () throws -> T?) -> String? {
      (try? body()).flatMap { $0 }.map { "\($0)" }
    }
    return [
      (
        "by key",
        outcome {
          try object.setValue(value, forKey: "value")
          return object.value
        }
      ),
      (
        "an optional",
        outcome {
          try object.setValue(value, forKey: "maybe")
          return object.maybe
        }
      ),
      (
        "by key path",
        outcome {
          try object.setValue(value, forKeyPath: "link.maybe")
          return object.maybe
        }
      ),
      (
        "of several",
        outcome {
          try object.setValuesForKeys(["value": value] as [String: Any?])
          return object.value
        }
      ),
      (
        "an element",
        outcome {
          try object.setValue([value], forKey: "list")
          return object.list.last
        }
      ),
      (
        "of a proxy",
        outcome {
          try object.mutableArrayValue(forKey: "list").append(value)
          return object.list.last
        }
      ),
      (
        "in a dictionary",
        outcome {
          try object.setValue(["a": value], forKey: "byName")
          return object.byName["a"]
        }
      ),
      (
        "by a dictionary's key",
        outcome {
          try object.setValue(value, forKeyPath: "byName.k")
          return object.byName["k"]
        }
      ),
      (
        "a member",
        outcome {
          try object.setValue([value], forKey: "members")
          return object.members.first
        }
      ),
    ] + memberOutcome(of: value, in: object)
  }

  // swift-corelibs-foundation can hash only some of its objects. The others can't be members of a set.
  private func memberOutcome(
    of value: Any, in object: TypedObject<T>
  ) -> [(place: String, outcome: String?)] {
    guard !(type(of: value) is AnyClass), let member = value as? AnyHashable else {
      return []
    }
    object.members = []
    try? object.mutableSetValue(forKey: "members").add(member)
    return [("of a set's proxy", object.members.first.map { "\($0)" })]
  }
}
