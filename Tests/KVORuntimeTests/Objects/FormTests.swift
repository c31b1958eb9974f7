import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B1, B2, B4: how keys are found, and the forms in which properties are stored.
@Suite(.leakFree) struct FormTests {
  @Test("B2: lazy, weak and unowned properties are read and set by their keys")
  func forms() throws {
    let object = Forms()
    expect(try object.value(forKey: "made") == nil)
    try object.setValue(7, forKey: "made")
    expectEqual(object.made, 7)
    expect(try object.value(forKey: "made") as? Int == 7)
    expectEqual(
      keyValueError { try object.setValue(nil, forKey: "made") },
      .nilValue(key: "made", className: "Forms"))
    expectEqual(object.wish, 1)
    try object.setValue(nil, forKey: "wish")
    expect(object.wish == nil)
  }

  @Test("B2: a weak or unowned property accepts and returns references of its class")
  func references() throws {
    let object = Forms()
    let ada = Worker("Ada")
    expect(try object.value(forKey: "near") == nil)
    try object.setValue(ada, forKey: "near")
    try object.setValue(ada, forKey: "far")
    expect(object.near === ada && object.far === ada)
    expect(try object.value(forKey: "near") as? Worker === ada)
    expect(try object.value(forKeyPath: "near.name") as? String == "Ada")
    expect(try object.value(forKeyPath: "far.name") as? String == "Ada")
    expectEqual(
      keyValueError { try object.setValue(1, forKey: "near") },
      .typeMismatch(
        key: "near", className: "Forms", expected: "Worker?", found: "Int"))
    try object.setValue(nil, forKey: "far")
    try object.setValue(nil, forKey: "near")
    expect(object.near == nil && object.far == nil)
  }

  @Test("B2 E2: setting a weak, lazy or private property by key notifies its observers")
  func observed() throws {
    let (object, log) = (Forms(), Recorder())
    let ada = Worker("Ada")
    for key in ["near.name", "made"] { try log.observe(object, key, [.old, .new], as: key) }
    try object.setValue(ada, forKey: "near")
    try object.setValue(9, forKey: "made")
    expectEqual(log.take(), ["near.name old nil new Ada", "made old nil new 9"])
  }

  @Test("B1: <key>, is<Key>, _<key> of accessors, then the stored _<key>, _is<Key>, <key>, is<Key>")
  func order() throws {
    let object = Aliased()
    let found = ["open", "isOpen", "shut", "dark", "isDark", "warm", "cold", "old"]
    let read = try found.map { "\($0) \(shown(try object.value(forKey: $0)))" }
    expectEqual(
      read,
      [
        "open 1", "isOpen 1", "shut 2", "dark 3", "isDark 3", "warm 5", "cold 7", "old 9",
      ])
    try object.setValue(10, forKey: "open")
    try object.setValue(30, forKey: "dark")
    expect(object.isOpen == 10 && object.darkness == 30)
    expectEqual(
      keyValueError { _ = try object.value(forKey: "opened") },
      .undefinedKey(key: "opened", className: "Aliased"))
  }

  @Test("B4: an accessor declared later takes precedence over what was found")
  func later() throws {
    let object = LaterDeclared()
    expect(try object.value(forKey: "ready") as? Int == 1)
    LaterDeclared.declareKeys { $0.accessors("isReady", get: { _ in 2 }) }
    expect(try object.value(forKey: "ready") as? Int == 2)
    LaterDeclared.declareKeys { $0.accessors("ready", get: { _ in 3 }) }
    expect(try object.value(forKey: "ready") as? Int == 3)
  }

  @Test("B2: optionals at every level, enumerations, existentials")
  func types() throws {
    let box = Box<[Int?]?>(nil)
    expect(try box.value(forKeyPath: "value.@count") == nil)
    try box.setValue([1, nil], forKey: "value")
    expectEqual(box.value, [1, nil])
    expect(try box.value(forKeyPath: "value.@sum.self") as? Int == 1)
    try box.setValue([1, 2.9] as [Any], forKey: "value")
    expectEqual(box.value, [1, 2])
    let deep = Box<Worker??>(.some(Worker("Ada")))
    expect(try deep.value(forKeyPath: "value.name") as? String == "Ada")
    deep.value = .some(nil)
    expect(try deep.value(forKeyPath: "value.name") == nil)
    let any = Box<any Comparable & Sendable>(3)
    expect(try any.value(forKey: "value") as? Int == 3)
    expect(
      try [any, Box<any Comparable & Sendable>(9)].value(forKeyPath: "@max.value") as? Int == 9)
    let object = Box<AnyObject?>(Worker("Eve"))
    expect(try object.value(forKeyPath: "value.name") as? String == "Eve")
  }

  @Test("B6: an enumeration with an order is compared by it, and added by its raw value")
  func orderedEnumerations() throws {
    let grades = [Worker("a"), Worker("b"), Worker("c")]
    for index in 1...2 { try grades[index].setValue(1, forKey: "grade") }
    expect(try grades.value(forKeyPath: "@max.grade") as? Worker.Grade == .senior)
    expect(try grades.value(forKeyPath: "@min.grade") as? Worker.Grade == .junior)
    expect(try grades.value(forKeyPath: "@sum.grade") as? Int == 2)
    expect(try Array(grades[1...]).value(forKeyPath: "@avg.grade") as? Double == 1)
    let optional = Box<[Worker.Grade?]>([.senior, nil])
    expect(try optional.value(forKeyPath: "value.@sum.self") as? Int == 1)
    expect(try optional.value(forKeyPath: "value.@max.self") as? Worker.Grade == .senior)
  }
}

private final class Forms: Tracked {
  lazy var made = 3
  lazy var wish: Int? = 1
  weak var near: Worker?
  unowned var far: Worker?
}

private final class Aliased: Tracked {
  @Observed var isOpen = 1
  @Observed var _shut = 2
  var darkness = 3
  private var _warm = 5, warm = 6
  private var _isCold = 7, cold = 8
  private var isOld = 9

  override class func registerKeys() {
    Aliased.declareKeys { keys in
      keys.accessors("isDark", get: { $0.darkness }, set: { $0.darkness = $1 })
    }
  }
}

private final class LaterDeclared: Tracked {
  var ready = 1
}
