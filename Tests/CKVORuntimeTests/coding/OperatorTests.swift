import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B6: the operators of key paths.
@Suite(.recording) struct OperatorTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let values: [Value]
    let path: String
    let result: String
    var kind = kvo_collection_kind.KVO_ARRAY

    init(
      _ values: [Value], _ path: String, _ result: String,
      _ kind: kvo_collection_kind = .KVO_ARRAY
    ) {
      self.values = values
      self.path = path
      self.result = result
      self.kind = kind
    }

    var testDescription: String { "\(values) \(path)" }
  }

  private static let max = Value.int(.max), min = Value.int(.min)

  static let sums: [Case] = [
    Case([.int(4), .int(84), .int(2)], "@sum.self", "90"),
    Case([.bool(true), .int(2), .bool(false)], "@sum.self", "3"),
    Case([.int(1), .nil, .int(2)], "@sum.self", "3"),
    Case([.nil], "@sum.self", "0"), Case([], "@sum.self", "0"), Case([], "@avg.self", "0.0"),
    Case([.nil], "@avg.self", "0.0"), Case([], "@sum.self", "0", .KVO_SET),
    Case([.int(1), .double(0.5)], "@sum.self", "1.5"), Case([.double(2)], "@sum.self", "2.0"),
    Case([.double(0.5), .nil, .double(-0.5)], "@sum.self", "0.0"),
    Case([max, .int(-1), .int(1)], "@sum.self", "\(Int64.max)"),
    Case([max, max, min, min, .int(7)], "@sum.self", "5"),
    Case([max, .int(1)], "@sum.self", "\(0x1p63)"),
    Case([min, .int(-1)], "@sum.self", "\(-0x1p63)"), Case([min], "@sum.self", "\(Int64.min)"),
    Case([max, max, max], "@sum.self", "\(3 * 0x1p63)"),
    Case([.int((1 << 53) + 1), .int(1), .double(0)], "@sum.self", "\(0x1p53 + 2)"),
    Case([.int(1), .int(2)], "@avg.self", "1.5"), Case([.int(1), .nil], "@avg.self", "0.5"),
    Case([max, max], "@avg.self", "\(0x1p63)"),
    Case([.double(1), .int(2), .nil, .bool(true)], "@avg.self", "1.0"),
  ]

  static let extremes: [Case] = [
    Case([.int(4), .int(84), .int(2)], "@max.self", "84"),
    Case([.int(4), .int(84), .int(2)], "@min.self", "2"),
    Case([.nil, .int(-1), .nil], "@max.self", "-1"), Case([.nil, .int(1)], "@min.self", "1"),
    Case([.nil, .nil], "@max.self", "nil"), Case([], "@min.self", "nil"),
    Case([.double(1.5), .int(2), .bool(true)], "@max.self", "2"),
    Case([.double(1.5), .int(2), .bool(true)], "@min.self", "true"),
    Case([.int((1 << 53) + 1), .double(0x1p53)], "@max.self", "\(Int64(1) << 53 + 1)"),
    Case([.int((1 << 53) + 1), .double(0x1p53)], "@min.self", "\(0x1p53)"),
    Case([.int(-2), .double(-1.5)], "@max.self", "-1.5"),
    Case([.double(-2.5), .int(-2)], "@min.self", "-2.5"),
    Case([max, .double(0x1p63)], "@max.self", "\(0x1p63)"),
    Case([min, .double(-0x1p64)], "@min.self", "\(-0x1p64)"),
    Case([.double(.nan), .int(1)], "@max.self", "1"),
    Case([.int(1), .double(.nan)], "@min.self", "nan"),
    Case([.double(.infinity), max], "@max.self", "inf"),
    Case([.string("b"), .string("ab"), .string("ä")], "@max.self", "ä"),
    Case([.string("b"), .string("ab"), .string("ä")], "@min.self", "ab"),
    Case([.int(3), .int(1)], "@min.self", "1", .KVO_SET),
  ]

  static let unions: [Case] = [
    Case([.int(2), .int(1), .int(2)], "@unionOfObjects.self", "[2, 1, 2]"),
    Case([.int(2), .int(1), .int(2)], "@distinctUnionOfObjects.self", "[2, 1]"),
    Case(
      [.int(2), .double(2), .string("a"), .string("a")], "@distinctUnionOfObjects.self", "[2, a]"),
    Case([.int(2), .int(1)], "@distinctUnionOfObjects.self", "{1, 2}", .KVO_SET),
    Case([.int(2), .int(1)], "@unionOfObjects.self", "[2, 1]", .KVO_ORDERED_SET),
    Case([.int(2), .int(1)], "@distinctUnionOfObjects.self", "[2, 1]", .KVO_ORDERED_SET),
    Case([], "@unionOfObjects.self", "[]"), Case([], "@distinctUnionOfObjects.self", "[]"),
    Case([], "@unionOfArrays.self", "[]"), Case([], "@distinctUnionOfArrays.self", "[]"),
    Case([], "@unionOfSets.self", "{}"), Case([], "@distinctUnionOfSets.self", "{}"),
  ]

  static let counts: [Case] = [
    Case([.int(1), .nil, .int(1)], "@count", "3"), Case([], "@count", "0"),
    Case([.int(1), .int(1)], "@count", "1", .KVO_SET),
    Case([.int(1)], "@count.what.ever", "1"), Case([.int(1)], "self.@count.self", "1"),
  ]

  @Test("B6: numbers summed, averaged, counted and compared", arguments: sums + extremes + counts)
  func numbers(_ sample: Case) {
    expectEqual(readPath(of: sample.values, as: sample.kind, sample.path), sample.result)
  }

  @Test(
    "B6: unions keep the order of arrays, distinct unions the first of equal elements",
    arguments: unions)
  func union(_ sample: Case) {
    expectEqual(readPath(of: sample.values, as: sample.kind, sample.path), sample.result)
  }

  @Test("B6: a sum of integers is an integer, any other a double, an average always a double")
  func types() {
    func type(_ values: [Value], _ path: String) -> kvo_kind? {
      withCollection(.KVO_ARRAY, values) { collection in
        var value = kvo_value()
        expectEqual(kvo_value_for_key_path(CObject(collection), path, &value, nil), .KVO_OK)
        return value.type?.pointee.kind
      }
    }
    expectEqual(type([.bool(true)], "@sum.self"), .KVO_KIND_INT64)
    expectEqual(type([], "@sum.self"), .KVO_KIND_INT64)
    expectEqual(type([.int(.max), .int(1)], "@sum.self"), .KVO_KIND_DOUBLE)
    expectEqual(type([.double(1)], "@sum.self"), .KVO_KIND_DOUBLE)
    expectEqual(type([.int(1)], "@avg.self"), .KVO_KIND_DOUBLE)
    expectEqual(type([], "@avg.self"), .KVO_KIND_DOUBLE)
    expectEqual(type([.bool(true)], "@max.self"), .KVO_KIND_BOOL)
    expectEqual(type([], "@count"), .KVO_KIND_INT64)
  }

  @Test("B6: random numbers fold as a plain loop folds them")
  func randomNumbers() {
    var random = Random(seed: 6)
    for _ in 0..<300 {
      let values = (0..<random.next(8)).map { _ in Self.number(&random) }
      expectEqual(readPath(of: values, "@sum.self"), plainSum(values).text, "\(values)")
      let average = values.isEmpty ? 0 : plainSum(values).real / Double(values.count)
      expectEqual(readPath(of: values, "@avg.self"), "\(average)", "\(values)")
      let reals = values.compactMap(\.real)
      expectEqual(worth(readPath(of: values, "@max.self")), reals.max(), "\(values)")
      expectEqual(worth(readPath(of: values, "@min.self")), reals.min(), "\(values)")
    }
  }

  private static func number(_ random: inout Random) -> Value {
    switch random.next(8) {
    case 0: .nil
    case 1: .bool(random.next(2) == 1)
    case 2: .double(Double(random.next(1000)) / 8 - 60)
    default: .int(Int64(random.next(2000)) - 1000)
    }
  }

  @Test("B6: unsigned numbers past an Int64 are summed by value")
  func unsigned() {
    let crew = Crew()
    let boss = crew.make()
    let staff = [crew.make(), crew.make()]
    boss.lead(staff.map(\.object))
    worker_setPoints(staff[0], .max)
    expectEqual(readPath(boss.object, "staff.@sum.points"), "\(0x1p64)")
    expectEqual(readPath(boss.object, "staff.@max.points"), "\(UInt64.max)")
    worker_setPoints(staff[0], 1 << 63)
    expectEqual(readPath(boss.object, "staff.@sum.points"), "\(0x1p63)")
    expectEqual(readPath(boss.object, "staff.@min.points"), "0")
    worker_setPoints(staff[1], .max)
    expectEqual(readPath(boss.object, "staff.@min.points"), "\(UInt64(1) << 63)")
    expectEqual(readPath(boss.object, "staff.@max.points"), "\(UInt64.max)")
    crew.end()
  }

  @Test("B6: unsigned numbers are compared with others by value")
  func unsignedAmongOthers() {
    func number(_ number: UInt64) -> kvo_value {
      var number = number
      var value = kvo_value()
      kvo_value_init(&value, kvo_type_for_encoding("Q", nil)!, &number)
      return value
    }
    func extremes(_ first: kvo_value, _ second: kvo_value) -> String {
      withCollection(.KVO_ARRAY, [first, second]) { collection in
        let paths = ["@min.self", "@max.self"]
        return paths.map { readPath(CObject(collection), $0) }.joined(separator: " ")
      }
    }
    let big = UInt64(1) << 63 + 1
    expectEqual(extremes(number(big), kvo_value_int(-1)), "-1 \(big)")
    expectEqual(extremes(kvo_value_int(.max), number(big)), "\(Int64.max) \(big)")
    expectEqual(extremes(number(big), kvo_value_double(0x1p63)), "\(0x1p63) \(big)")
    expectEqual(extremes(kvo_value_double(0x1p64), number(.max)), "\(UInt64.max) \(0x1p64)")
    expectEqual(extremes(kvo_value_double(2.5), number(2)), "2 2.5")
    let sum = withCollection(.KVO_ARRAY, [kvo_value_double(0.5), number(1 << 63)]) {
      readPath(CObject($0), "@sum.self")
    }
    expectEqual(sum, "\(0x1p63 + 0.5)")
  }

  // MARK: On paths

  @Test("B6: operators after a path, before one, and nested")
  func onPaths() {
    let crew = Crew()
    let top = crew.make("Top")
    let leads = [crew.make("L"), crew.make("M")]
    let hands = [
      crew.make("x", age: 1, wage: 1), crew.make("y", age: 2, wage: 2),
      crew.make("z", age: 3, wage: 6),
    ]
    top.lead(leads.map(\.object))
    leads[0].lead([hands[0].object, hands[1].object])
    leads[1].lead([hands[2].object, hands[1].object])
    let paths = [
      "staff.@count": "2", "staff.staff.@count": "2", "staff.@sum.staff.@count": "4",
      "staff.@sum.staff.@avg.wage": "5.5", "staff.@max.staff.@sum.age": "5",
      "staff.@unionOfArrays.staff.name": "[x, y, z, y]",
      "staff.@distinctUnionOfArrays.staff.name": "[x, y, z]",
      "staff.@unionOfArrays.staff.@unionOfObjects.age": "[1, 2, 3, 2]",
      "staff.@distinctUnionOfArrays.staff.@max.name": "KVO_TYPE_MISMATCH",
      "staff.@unionOfArrays.staff.@count": "KVO_TYPE_MISMATCH",
      "staff.@unionOfObjects.name": "[L, M]", "staff.@unionOfObjects.staff.@max.name": "[y, z]",
      "staff.@min.name": "L", "staff.@unionOfObjects.self.name": "[L, M]",
    ]
    for (path, expected) in paths {
      let result = readPath(top.object, path)
      expect(
        expected.hasPrefix("KVO") ? result == "\(expected) CWorker.\(path)" : result == expected,
        "\(path): \(result)")
    }
    crew.end()
  }

  @Test("B6: unions of sets are sets")
  func setUnions() {
    let crew = Crew()
    let top = crew.make("Top")
    let leads = [crew.make("L"), crew.make("M")]
    let hands = [crew.make("x"), crew.make("y"), crew.make("z")]
    top.lead(leads.map(\.object), as: .KVO_SET)
    leads[0].lead([hands[0].object, hands[1].object], as: .KVO_SET)
    leads[1].lead([hands[2].object, hands[1].object], as: .KVO_ORDERED_SET)
    expectEqual(readPath(top.object, "staff.@unionOfSets.staff.name"), "{x, y, z}")
    expectEqual(readPath(top.object, "staff.@distinctUnionOfSets.staff.name"), "{x, y, z}")
    expectEqual(readPath(top.object, "staff.@distinctUnionOfObjects.name"), "{L, M}")
    let arrays = "staff.@unionOfArrays.staff"
    expectEqual(readPath(top.object, arrays), "KVO_TYPE_MISMATCH CWorker.\(arrays)")
    leads[0].lead([hands[0].object])
    let sets = "staff.@unionOfSets.staff"
    expectEqual(readPath(top.object, sets), "KVO_TYPE_MISMATCH CWorker.\(sets)")
    crew.end()
  }

  @Test("B6: objects whose class compares them have a minimum and a maximum; others have none")
  func comparableObjects() {
    let crew = Crew()
    let boss = crew.make()
    let staff = [crew.make("A", age: 5), crew.make("B", age: 9), crew.make("C", age: 5)]
    boss.lead(staff.map(\.object))
    expectEqual(readPath(boss.object, "staff.@max.self"), "#0")
    for (index, worker) in staff.enumerated() { worker.pointee.tracked.mark = Int32(index + 1) }
    expectEqual(readPath(boss.object, "staff.@max.self"), "#2")
    expectEqual(readPath(boss.object, "staff.@min.self"), "#1")
    expectEqual(readPath(boss.object, "staff.@min.boss"), "nil")
    let other = make(tracked.self)
    boss.lead([other.object])
    expectEqual(
      readPath(boss.object, "staff.@max.self"), "KVO_TYPE_MISMATCH CWorker.staff.@max.self")
    boss.lead([staff[0].object, other.object])
    expectEqual(
      readPath(boss.object, "staff.@max.self"), "KVO_TYPE_MISMATCH CWorker.staff.@max.self")
    worker_setStaff(boss, nil)
    other.release()
    crew.end()
  }

  // MARK: Errors

  @Test(
    "B6: nil is an error in the unions",
    arguments: ["Objects", "Arrays", "Sets"], ["union", "distinctUnion"])
  func nilInUnions(_ members: String, _ union: String) {
    let path = "@\(union)Of\(members).self"
    expectEqual(readPath(of: [.nil], path), "KVO_NIL_VALUE KVOStoredCollection.\(path)")
  }

  @Test("B6: nil inside a collection that a union joins is an error too")
  func nilInside() {
    let path = "@unionOfArrays.self"
    withCollection(.KVO_ARRAY, [.int(1), .nil]) { inner in
      withCollection(.KVO_ARRAY, of: [CObject(inner)]) { outer in
        expectEqual(readPath(CObject(outer), path), "KVO_NIL_VALUE KVOStoredCollection.\(path)")
      }
    }
  }

  @Test(
    "B6: an unknown operator is an error anywhere, as is one without its key path",
    arguments: [
      "@median.self", "staff.@median.age", "staff.@sum.@median.age", "staff.@", "@",
      "staff.@Sum.age",
      "staff.@count.@median", "staff.@sum", "@avg", "staff.@max", "staff.@unionOfObjects",
      "staff.@sum.staff.@avg",
    ])
  func unknownOperator(_ path: String) {
    let crew = Crew()
    let boss = crew.make()
    boss.lead([])
    let expected = "KVO_INVALID_OPERATOR CWorker.\(path)"
    expectEqual(readPath(boss.object, path), expected)
    expectEqual(brief(setPath(boss.object, path, .int(1))), expected)
    crew.end()
  }

  @Test("B6: an operator on something other than a collection is an error; on nil it gives nil")
  func noCollection() {
    let crew = Crew()
    let ada = crew.make("Ada", age: 3)
    worker_setBoss(ada, ada)
    for path in ["@count", "age.@sum.self", "boss.@max.age", "name.@count", "grid.@count"] {
      expectEqual(readPath(ada.object, path), "KVO_INVALID_OPERATOR CWorker.\(path)")
    }
    expectEqual(readPath(ada.object, "staff.@count"), "nil")
    expectEqual(readPath(ada.object, "staff.@sum.age"), "nil")
    worker_setBoss(ada, nil)
    crew.end()
  }

  @Test("B6: a non-number can't be summed, and values of two types can't be compared")
  func wrongTypes() {
    expectEqual(
      readPath(of: [.int(1), .string("a")], "@sum.self"),
      "KVO_TYPE_MISMATCH KVOStoredCollection.@sum.self")
    expectEqual(
      readPath(of: [.string("a")], "@avg.self"), "KVO_TYPE_MISMATCH KVOStoredCollection.@avg.self"
    )
    expectEqual(
      readPath(of: [.int(1), .string("a")], "@max.self"),
      "KVO_TYPE_MISMATCH KVOStoredCollection.@max.self")
    expectEqual(
      readPath(of: [.point(1, 2)], "@min.self"), "KVO_TYPE_MISMATCH KVOStoredCollection.@min.self"
    )
  }

  @Test("B6 B7: self is a key as well, of objects and of elements")
  func selfAsKey() {
    let crew = Crew()
    let ada = crew.make("Ada")
    var value = kvo_value()
    expectEqual(kvo_value_for_key(ada.object, "self", &value, nil), .KVO_OK)
    expectEqual(kvo_value_get_object(&value), ada.object)
    kvo_value_destroy(&value)
    withCollection(.KVO_ARRAY, [Value.int(1), .string("a"), .nil]) {
      expectEqual(readKey(CObject($0), "self"), readPath(CObject($0), "self"))
    }
    expectEqual(set(ada.object, "self", .int(1)).status, .KVO_UNDEFINED_KEY)
    crew.end()
  }

  @Test("B6: an error from one element's key ends the reading with that error")
  func errorInElement() {
    let crew = Crew()
    let boss = crew.make()
    let other = make(tracked.self)
    boss.lead([crew.make(age: 1).object, other.object])
    expectEqual(readPath(boss.object, "staff.@sum.age"), "KVO_UNDEFINED_KEY CTracked.age")
    expectEqual(readPath(boss.object, "staff.age"), "KVO_UNDEFINED_KEY CTracked.age")
    worker_setStaff(boss, nil)
    other.release()
    crew.end()
  }
}

// MARK: The naive loop

extension Value {
  /// The value of a number; nil for nil.
  fileprivate var real: Double? {
    switch self {
    case .int(let int): Double(int)
    case .double(let double): double
    case .bool(let bool): bool ? 1 : 0
    default: nil
    }
  }
}

private func plainSum(_ values: [Value]) -> (text: String, real: Double) {
  let real = values.reduce(0) { $0 + ($1.real ?? 0) }
  let isReal = values.contains { if case .double = $0 { true } else { false } }
  return (isReal ? "\(real)" : "\(Int(real))", real)
}

private func worth(_ text: String) -> Double? {
  switch text {
  case "nil": nil
  case "true": 1
  case "false": 0
  default: Double(text)
  }
}
