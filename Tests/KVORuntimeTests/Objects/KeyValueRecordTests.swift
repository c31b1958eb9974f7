import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C13: keys whose values the runtime keeps.
@Suite(.leakFree) struct KeyValueRecordTests {
  @Test("C13: objects have the declared values at first, each its own")
  func first() throws {
    let (one, other) = (Row(), Row())
    one[try Row.key("a", Double.self)] = 3
    one[try Row.key("name", String.self)] = "one"
    expectEqual(one[try Row.key("a", Double.self)], 3)
    expectEqual(other[try Row.key("a", Double.self)], 0.5)
    expectEqual(other[try Row.key("name", String.self)], "none")
    expectEqual(other[try Row.key("flag", Bool.self)], true)
    expect(other[try Row.key("optional", Int?.self)] == nil)
    expectEqual(other[try Row.key("wide", SIMD4<Double>.self)], SIMD4(1, 2, 3, 4))
    expectEqual(one[try Row.key("wide", SIMD4<Double>.self)], SIMD4(1, 2, 3, 4))
  }

  @Test("C13: they are read and set by key-value coding, with its conversions and errors")
  func coding() throws {
    let row = Row()
    try row.setValue(3, forKey: "a")
    expect(try row.value(forKey: "a") as? Double == 3)
    expectEqual(row[try Row.key("a", Double.self)], 3)
    #expect(throws: KeyValueError.self) { try row.setValue([1], forKey: "a") }
    #expect(throws: KeyValueError.nilValue(key: "a", className: "Row")) {
      try row.setValue(nil, forKey: "a")
    }
    try row.setValue(4, forKey: "optional")
    expect(try row.value(forKey: "optional") as? Int == 4)
    #expect(throws: KeyValueError.undefinedKey(key: "values", className: "Row")) {
      _ = try row.value(forKey: "values")
    }
    expectEqual(Mirror(reflecting: row).children.contains { $0.label == "values" }, false)
  }

  @Test("C13 D5: setting one notifies once with old and new, on the fast path and the slow path")
  func telling() async {
    await #expect(processExitsWith: .success) {
      for long in [false, true] {
        kvo_set_fast_path_disabled(long)
        for options: KeyValueObservingOptions in [[], .new, [.old, .new], [.prior, .old, .new]] {
          let row = Row()
          let key = try Row.key("a", Double.self)
          let log = Recorder()
          log.keep(
            row.observe(key: key, options: options) { [log] _, change in
              log.note((["key"] + change.words).joined(separator: " "))
            })
          try log.observe(row, "a", options, as: "string")
          try log.observe(row, "double", .new, as: "double")
          row[key] = 2
          let notified = log.take()
          try row.setValue(0.5, forKey: "a")
          expectEqual(notified.count, (options.contains(.prior) ? 5 : 3))
          expectEqual(
            notified.filter { $0.hasPrefix("key") }.map { $0.dropFirst(4) },
            notified.filter { $0.hasPrefix("string") }.map { $0.dropFirst(7) })
          expectEqual(notified.last, "double new 4.0")
          expectEqual(log.take().last, "double new 1.0")
        }
      }
    }
  }

  @Test("C13: reads of them by a getter are observed")
  func tracked() throws {
    let row = Row()
    let log = Recorder()
    log.observe(row, \.sum, .new)
    row[try Row.key("a", Double.self)] = 2
    row[try Row.key("b", Double.self)] = 3
    expectEqual(log.take(), ["a new 2.5", "a new 5.0"])
  }

  @Test("C13: values die with their objects, or when they are replaced")
  func lifetimes() throws {
    weak var first: Tracked?
    weak var second: Tracked?
    let key = try Row.key("object", Tracked?.self)
    do {
      let row = Row()
      do {
        let object = Tracked()
        first = object
        row[key] = object
      }
      expect(first != nil)
      let object = Tracked()
      second = object
      row[key] = object
      expect(first == nil)
    }
    expect(second == nil)
  }

  @Test("C13: a subclass adds values, has its own defaults, and its accessors take precedence")
  func subclasses() throws {
    let added = Added()
    let key = try Row.key("a", Double.self)
    expectEqual(added[try KeyValueKey<Added, Int>("added")], 7)
    expectEqual((added as Row)[key], 9)
    (added as Row)[key] = 10
    expect(try added.value(forKey: "a") as? Double == 10)
    let other = Replaced()
    let log = Recorder()
    try log.observe(other, "a", [.old, .new])
    (other as Row)[key] = 4
    expect(other.a == 4 && (other as Row)[key] == 4)
    expectEqual(log.take(), ["a old 1.0 new 4.0"])
    (other as Row)[try Row.key("b", Double.self)] = 6
    expect(try other.value(forKey: "b") as? Double == 6)
  }

  @Test("C13: repeating a declaration changes nothing; a late one is reported and ignored")
  func late() async {
    await #expect(processExitsWith: .success) {
      let row = Row()
      let reports = Collected<String>()
      KVODiagnostics.misuse = { reports.append([$0]) }
      Row.declareKeys { $0.value("a", 0.5) }
      expect(reports.values.isEmpty)
      Row.declareKeys { keys in
        keys.value("late", 1)
        keys.accessors("b", get: { _ in 3.0 })
      }
      expectEqual(reports.values.count, 2)
      #expect(throws: KeyValueError.self) { _ = try KeyValueKey<Row, Int>("late") }
      let key = try Row.key("b", Double.self)
      row[key] = 4
      expectEqual(row[key], 4)
      expect(try row.value(forKey: "b") as? Double == 4)
    }
  }

  @Test(
    "C13 I3: an observer registered on another thread in between is notified or has read the value")
  func unobserved() throws {
    let row = Row()
    let key = try Row.key("a", Double.self)
    row[key] = 1
    var notified = 0
    let token = row.observe(key: key, options: .new) { _, change in
      notified += change.newValue == 2 ? 1 : 0
    }
    row[key] = 2
    token.invalidate()
    row[key] = 2
    expectEqual(notified, 1)
  }

  @Test("C13 E1: a manual key notifies only by manual changes")
  func manual() throws {
    let row = Row()
    let key = try Row.key("manual", Int.self)
    let log = Recorder()
    try log.observe(row, "manual", .new)
    row[key] = 1
    expectEqual(log.take(), [])
    row.withChange(forKey: key) { row[key] = 2 }
    expectEqual(log.take(), ["a new 2"])
  }
}

private class Row: KeyValueRecord {
  override class func registerKeys() {
    Row.declareKeys { keys in
      for key in ["a", "b"] { keys.value(key, 0.5) }
      keys.value("flag", true)
      keys.value("name", "none")
      keys.value("optional", Int?.none)
      keys.value("object", Tracked?.none)
      keys.value("wide", SIMD4<Double>(1, 2, 3, 4))
      keys.value("manual", 0)
      keys.automaticallyNotifies("manual", false)
      keys.accessors("double", get: { ($0[try key("a", Double.self)]) * 2 })
      keys.dependency("double", on: ["a"])
    }
  }

  static func key<Value>(_ name: String, _ type: Value.Type) throws -> KeyValueKey<Row, Value> {
    try KeyValueKey(name)
  }

  var sum: Double {
    guard let a = try? Row.key("a", Double.self), let b = try? Row.key("b", Double.self) else {
      return 0
    }
    return self[a] + self[b]
  }
}

private final class Added: Row {
  override class func registerKeys() {
    Added.declareKeys { keys in
      keys.value("added", 7)
      keys.value("a", 9.0)
    }
  }
}

private final class Replaced: Row {
  var a = 1.0
  override class func registerKeys() {
    Replaced.declareKeys { keys in keys.accessors("a", get: { $0.a }, set: { $0.a = $1 }) }
  }
}
