import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// A3 and D5 in Swift: values of any type are stored and delivered exactly.
@Suite(.leakFree) struct ValueTests {
  /// Two values of a type, in a property of that type.
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: @Sendable () throws -> Void

    init<Value: Equatable & Sendable>(_ first: Value, _ second: Value) {
      testDescription = "\(Value.self)"
      check = { try checkTelling(first, second, by: ==) }
    }

    init<Value>(
      _ name: String, _ first: @escaping @Sendable () -> Value,
      _ second: @escaping @Sendable () -> Value,
      by areEqual: @escaping @Sendable (Value, Value) -> Bool
    ) {
      testDescription = name
      check = { try checkTelling(first(), second(), by: areEqual) }
    }
  }

  static let scalars = [
    Sample(false, true), Sample(Int8.min, .max), Sample(UInt8.min, .max), Sample(Int16.min, .max),
    Sample(UInt16.min, .max), Sample(Int32.min, .max), Sample(UInt32.min, .max),
    Sample(Int64.min, .max), Sample(UInt64.min, .max), Sample(Int.min, .max),
    Sample(Int128.min, .max), Sample(Float.leastNonzeroMagnitude, .greatestFiniteMagnitude),
    Sample(0.1, -Double.infinity), Sample(Character("a"), "👩‍👩‍👧"), Sample("", "short"),
    Sample("short", String(repeating: "a string too long to lie inline ", count: 100)),
  ]

  static let structures = [
    Sample(Bytes1(a: 1), Bytes1(a: 2)), Sample(Bytes3(a: 1), Bytes3(a: 9)),
    Sample(Bytes72(1), Bytes72(2)), Sample(Bytes256(1), Bytes256(2)), Sample(Nothing(), Nothing()),
    Sample(Holder(name: "a", list: [1]), Holder(name: "b", list: [2, 3])),
    Sample(Colour.red, .mixed(1, 2, 3)),
    Sample([1, 2], []), Sample(["a": [1]], ["b": [2]]), Sample(Set([1]), Set([1, 2])),
    Sample(0..<3, 1..<4), Sample([Int?.none], [Int?.some(1), nil]),
  ]

  static let optionals = [
    Sample(Int?.none, 1), Sample(1, Int?.none), Sample(Int??.some(nil), 1),
    Sample(Int??.none, .some(nil)), Sample("a", String?.none), Sample(Colour?.none, .red),
    Sample(Bytes72?.none, Bytes72(3)), Sample([Int]?.some([]), nil),
  ]

  static let others = [
    Sample("indirect enumeration", { Colour.red }, { .inverse(.inverse(.red)) }, by: ==),
    Sample(
      "pointer", { UnsafeRawPointer(bitPattern: 1) }, { UnsafeRawPointer(bitPattern: 2) }, by: ==),
    Sample("tuple", { (1, "a", 2.5) }, { (2, "b", 3.5) }, by: ==),
    Sample("closure", { { 1 } }, { { 2 } }, by: { $0() == $1() }),
    Sample("Any", { 1 as Any }, { "a" as Any }, by: { "\($0)" == "\($1)" }),
    Sample("Any?", { nil as Any? }, { 2 as Any? }, by: { shown($0) == shown($1) }),
    Sample(
      "any Protocol", { 1 as any CustomStringConvertible }, { "b" },
      by: { $0.description == $1.description }),
    Sample("metatype", { Int.self as any Any.Type }, { String.self }, by: { $0 == $1 }),
    Sample("class", { Account() }, { SavingsAccount() }, by: { type(of: $0) == type(of: $1) }),
    Sample(
      "optional class", { nil as Account? }, { Account() }, by: { ($0 == nil) == ($1 == nil) }),
    Sample(
      "class that is no KVOObject", { Plain(1) }, { Plain(2) }, by: { $0.number == $1.number }),
  ]

  @Test(
    "A3: a value of any type is stored and delivered exactly",
    arguments: scalars + structures + optionals + others)
  func exact(_ sample: Sample) throws {
    try sample.check()
  }

  @Test("D5: a value passed to a handler outlives the change")
  func outlives() throws {
    let box = Box(Holder(name: "first", list: [1]))
    var kept: [Holder] = []
    let token = box.observe(\.value, options: [.old, .new]) { _, change in
      kept += [change.oldValue!, change.newValue!]
    }
    box.value = Holder(name: "second", list: [2])
    box.value = Holder(name: "third", list: [3])
    token.invalidate()
    expectEqual(kept.map(\.name), ["first", "second", "second", "third"])
    expectEqual(kept.map(\.list), [[1], [2], [2], [3]])
  }

  @Test("D5: the old object lives until the last observer has been called")
  func oldObjectLives() {
    let ledger = Ledger()
    let log = Recorder()
    ledger.account = Account()
    ledger.account?.owner = "Ada"
    log.observe(ledger, \.account, .old, as: "first") { _, change in
      log.note(change.oldValue!!.owner)
    }
    log.observe(ledger, \.account, .old, as: "second") { _, change in
      log.note(change.oldValue!!.owner)
    }
    ledger.account = nil
    expectEqual(log.take().filter { !$0.contains("old") }, ["Ada", "Ada"])
  }

  @Test(
    "A3: zero-sized properties are distinguished from each other and from their neighbours")
  func withoutRoom() throws {
    let object = Hollow()
    let log = Recorder()
    log.observe(object, \.before, .new, as: "before")
    log.observe(object, \.nothing, [.old, .new], as: "nothing")
    log.observe(object, \.unit, as: "unit")
    log.observe(object, \.after, .new, as: "after")
    object.after = 1
    object.before = 2
    object.nothing = Nothing()
    object.unit = ()
    expectEqual(
      log.take(), ["after new 1", "before new 2", "nothing old nothing new nothing", "unit"])
    change(&object.nothing)
    object.after += 1
    try object.setValue(Nothing(), forKey: "nothing")
    expectEqual(
      log.take(),
      [
        "nothing old nothing new nothing", "after new 2", "nothing old nothing new nothing",
      ])
  }

  @Test(
    "A3: two threads that first use a type at once get its values, and share one description")
  func firstUse() async {
    LibraryLocks.areGates()
    func nest<T>(_ value: T) -> Any { [value] }
    @Sendable func count<T>(_ value: T) -> Int? {
      try? [value].value(forKeyPath: "@count") as? Int
    }
    let fresh = LockedValue<Any>(0)
    let tried = await inAllOrders(ofSwitches: 2) { threads in
      // Nesting the last type in an array gives a type never used before.
      fresh.withLock { $0 = _openExistential($0, do: nest) }
      nonisolated(unsafe) let value = fresh.withLock { $0 }
      let counts = LockedValue<[Int?]>([])
      let use: @Sendable () -> Void = {
        let counted = _openExistential(value, do: count)
        counts.withLock { $0.append(counted) }
      }
      threads.run(use, and: use)
      return counts.withLock { $0 } == [1, 1]
    }
    expectEqual(tried.failure, nil)
    if LockGates.areAvailable { expect(tried.count > 2) }
  }
}

/// Zero-sized properties between others.
private final class Hollow: Tracked {
  @Observed var before = 0
  @Observed var nothing = Nothing()
  @Observed var unit: Void = ()
  @Observed var after = 0
}

private struct Bytes1: Equatable { var a: UInt8 }
private struct Bytes3: Equatable { var a: UInt8, b: UInt8 = 2, c: UInt8 = 3 }
private struct Bytes72: Equatable {
  var numbers: [9 of Int]
  init(_ number: Int) { numbers = [9 of Int](repeating: number) }
  static func == (a: Self, b: Self) -> Bool {
    a.numbers.indices.allSatisfy { a.numbers[$0] == b.numbers[$0] }
  }
}
private struct Bytes256: Equatable {
  var numbers: [32 of Int]
  init(_ number: Int) { numbers = [32 of Int](repeating: number) }
  static func == (a: Self, b: Self) -> Bool {
    a.numbers.indices.allSatisfy { a.numbers[$0] == b.numbers[$0] }
  }
}
private struct Nothing: Equatable, CustomStringConvertible {
  var description: String { "nothing" }
}

private func change(_ nothing: inout Nothing) { nothing = Nothing() }

private struct Holder: Equatable {
  var name: String
  var list: [Int]
}

private final class Plain {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Sets a property from `first` to `second` under every kind of observer, and compares what each gets with the values
/// set.
private func checkTelling<Value>(
  _ first: Value, _ second: Value, by areEqual: (Value, Value) -> Bool
) throws {
  let box = Box(first)
  let log = Recorder()
  var notified: [KeyValueObservedChange<Value>] = []
  let token = box.observe(\.value, options: [.initial, .prior, .old, .new]) { notified.append($1) }
  try box.addObserver(log.watcher(), forKeyPath: "value", options: [.old, .new])

  box.value = second
  box.value = first

  expectEqual(
    notified.map { $0.oldValue.map { areEqual($0, first) } },
    [nil, true, true, false, false].map { same(first, second, $0, by: areEqual) })
  expectEqual(
    notified.map { $0.newValue.map { areEqual($0, first) } },
    [true, nil, false, nil, true].map { same(first, second, $0, by: areEqual) })
  expect(areEqual(box.value, first))
  expectEqual(log.take().count, 2)
  token.invalidate()
}

/// The result for `expected` if both values are equal.
private func same<Value>(
  _ first: Value, _ second: Value, _ expected: Bool?, by areEqual: (Value, Value) -> Bool
) -> Bool? {
  expected.map { $0 || areEqual(first, second) }
}
