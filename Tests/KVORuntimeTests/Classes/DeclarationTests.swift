import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// E2, D5 and D6 for the keys that classes declare: stored properties and accessors.
@Suite(.leakFree) struct DeclarationTests {
  @Test("E2: a declared plain property notifies once when set by key, and not when assigned")
  func stored() throws {
    let plant = Plant()
    let log = Recorder()
    log.observe(plant, \.height, [.prior, .old, .new])
    try plant.setValue(2, forKey: "height")
    expectEqual(plant.height, 2)
    plant.height = 3
    expectEqual(log.take(), ["a prior old 0.0", "a old 0.0 new 2.0"])
    try plant.setValue(4, forKey: "height")
    expectEqual(log.take(), ["a prior old 3.0", "a old 3.0 new 4.0"])
  }

  @Test("E2: a property may be declared under another name than its own")
  func otherName() throws {
    let plant = Plant()
    let log = Recorder()
    log.observe(plant, \.water, [.old, .new], as: "typed")
    try log.observe(plant, "moisture", [.old, .new], as: "string")
    try plant.setValue(0.5, forKey: "moisture")
    expectEqual(plant.water, 0.5)
    expect(try plant.value(forKey: "moisture") as? Double == 0.5)
    expectEqual(log.take(), ["typed old 0.0 new 0.5", "string old 0.0 new 0.5"])
  }

  @Test("E2: declared accessors are read and set by key, each set a change")
  func accessors() throws {
    let plant = Plant()
    let log = Recorder()
    log.observe(plant, \.inches, [.old, .new], as: "typed")
    try plant.addObserver(log.watcher(), forKeyPath: "inches", options: [.old, .new])
    try plant.setValue(10, forKey: "inches")
    expectEqual(plant.height, 25.4)
    expect(try plant.value(forKey: "inches") as? Double == 10)
    expectEqual(log.take(), ["typed old 0.0 new 10.0", "w: inches old 0.0 new 10.0"])
  }

  @Test(
    "D5: new is what the declared getter answers, for clamping and ignoring setters")
  func truth() throws {
    let plant = Plant()
    let log = Recorder()
    for key in ["clamped", "deaf"] { try log.observe(plant, key, [.old, .new], as: key) }
    try plant.setValue(500, forKey: "clamped")
    try plant.setValue(500, forKey: "deaf")
    expectEqual(log.take(), ["clamped old 0 new 100", "deaf old 7 new 7"])
  }

  @Test(
    "D5: an accessor declared for an overridden property gives the values that observers get"
  )
  func overridden() throws {
    let level = DeclaredLevel()
    let log = Recorder()
    log.observe(level, \.level, [.initial, .prior, .old, .new], as: "typed")
    try level.addObserver(log.watcher(), forKeyPath: "level", options: [.old, .new])
    level.level = 4
    expectEqual(
      log.take(),
      [
        "typed new 0.0", "typed prior old 0.0", "typed old 0.0 new 4.0", "w: level old 0.0 new 4.0",
      ])
    try level.setValue(6, forKey: "level")
    expectEqual(level.level, 6)
    expect(try level.value(forKey: "level") as? Double == 6)
    expectEqual(
      log.take(), ["typed prior old 4.0", "typed old 4.0 new 6.0", "w: level old 4.0 new 6.0"])
  }

  @Test("D6: a set by key through a declared accessor for an observable property notifies once")
  func declaredOverride() throws {
    let level = DeclaredCountedLevel()
    let log = Recorder()
    log.observe(level, \.level, [.prior, .old, .new])
    try level.setValue(5, forKey: "level")
    expectEqual(level.sets, [5])
    expectEqual(log.take(), ["a prior old 0.0", "a old 0.0 new 5.0"])
    level.level = 6
    expectEqual(log.take(), ["a prior old 5.0", "a old 5.0 new 6.0"])
  }

  @Test("B2: an error that an accessor throws reaches the caller, and the change is closed")
  func throwing() throws {
    let plant = Plant()
    let log = Recorder()
    try log.observe(plant, "thorny", [.prior, .old, .new])
    #expect(throws: Plant.Thorn.self) { try plant.setValue(-1, forKey: "thorny") }
    expectEqual(log.take(), ["a prior old 1", "a old 1 new 1"])
    try plant.setValue(2, forKey: "thorny")
    expectEqual(log.take(), ["a prior old 1", "a old 1 new 2"])
    plant.pricks = true
    #expect(throws: Plant.Thorn.self) { try plant.value(forKey: "thorny") }
  }

  @Test("B2: numbers and nil reach accessors converted, or not at all")
  func convertedForAccessors() throws {
    let plant = Plant()
    try plant.setValue(9.99, forKey: "clamped")
    expect(try plant.value(forKey: "clamped") as? Int == 9)
    expectEqual(
      keyValueError { try plant.setValue(nil, forKey: "clamped") },
      .nilValue(key: "clamped", className: "Plant"))
    expectEqual(
      keyValueError { try plant.setValue([1], forKey: "clamped") },
      .typeMismatch(key: "clamped", className: "Plant", expected: "Int", found: "[Int]"))
  }

  @Test("E2: subclasses inherit declarations, add their own and replace inherited ones")
  func inherited() throws {
    let tree = Tree()
    let log = Recorder()
    log.observe(tree, \.height, [.new], as: "height")
    log.observe(tree, \.rings, [.new], as: "rings")
    try log.observe(tree, "deaf", [.new], as: "deaf")
    try tree.setValue(1, forKey: "height")
    try tree.setValue(2, forKey: "rings")
    try tree.setValue(3, forKey: "deaf")
    expectEqual(log.take(), ["height new 1.0", "rings new 2", "deaf new 3"])
    expectEqual(tree.deafSets, [3])
  }

  @Test("E2: repeating a declaration changes nothing; another entry for a key replaces the earlier")
  func saidAgain() throws {
    let object = Chatty()
    let log = Recorder()
    for _ in 0..<3 {
      Chatty.declareKeys { $0.accessors("word", get: { $0.first }, set: { $0.first = $1 }) }
    }
    try log.observe(object, "word", [.old, .new])
    for _ in 0..<3 {
      Chatty.declareKeys { $0.accessors("word", get: { $0.first }, set: { $0.first = $1 }) }
    }
    try object.setValue("b", forKey: "word")
    expectEqual(log.take(), ["a old a new b"])
    Chatty.declareKeys { keys in
      keys.accessors("word", get: { $0.second }, set: { $0.second = $1 })
    }
    try object.setValue("d", forKey: "word")
    expect(object.first == "b" && object.second == "d")
    expectEqual(log.take(), ["a old c new d"])
  }

  @Test("E2: a key may be declared from an extension, while objects of the class are observed")
  func extended() throws {
    let object = Extended()
    let log = Recorder()
    log.observe(object, \.known, .new, as: "known")
    expectEqual(
      keyValueError { _ = try object.value(forKey: "late") },
      .undefinedKey(key: "late", className: "Extended"))
    Extended.declareLate()
    log.observe(object, \.late, [.old, .new], as: "late")
    try object.setValue(5, forKey: "late")
    object.known = 1
    expectEqual(log.take(), ["late old 0 new 5", "known new 1"])
  }

  @Test("E2: an inherited registerKeys brings back no declaration that was replaced since")
  func inheritedAgain() throws {
    expectEqual(try Worded().value(forKey: "word") as? String, "first")
    Worded.declareKeys { $0.accessors("word", get: { _ in "late" }) }
    expectEqual(try WordedBelow().value(forKey: "word") as? String, "late")
    expectEqual(try Worded().value(forKey: "word") as? String, "late")
  }

  @Test("E2: an inherited registerKeys that names its class brings back nothing that was replaced")
  func inheritedByName() throws {
    expectEqual(try Named().value(forKey: "word") as? String, "first")
    Named.declareKeys { $0.accessors("word", get: { _ in "late" }) }
    expectEqual(try NamedBelow().value(forKey: "word") as? String, "late")
    expectEqual(try Named().value(forKey: "word") as? String, "late")
  }

  @Test(
    "E2: closures that an inherited registerKeys declares by Self are those of the subclass",
    arguments: [(Metric.self, "m", 10), (Imperial.self, "ft", 30), (Nautical.self, "nm", 50)]
      as [(Metric.Type, String, Int)])
  fileprivate func inheritedBySelf(_ type: Metric.Type, _ unit: String, _ limit: Int) throws {
    let length = type.init()
    expectEqual(try length.value(forKey: "unit") as? String, unit)
    expectEqual(try length.value(forKeyPath: "steps.@sum.self") as? Int, limit)
    expectEqual(try length.value(forKeyPath: "marks.@sum.self") as? Int, limit)
    expectEqual(length.value, 0)
    var value: Any? = 100
    try length.validateValue(&value, forKey: "value")
    expectEqual(value as? Int, limit)
  }

  @Test("E2: closures by Self replace none that were declared since or by a class between")
  func replacedBySelf() throws {
    expectEqual(try Reworded().value(forKey: "unit") as? String, "in")
    expectEqual(try BelowReworded().value(forKey: "unit") as? String, "in")
    expectEqual(try Yards().value(forKey: "unit") as? String, "yd")
    Yards.declareKeys { $0.accessors("unit", get: { _ in "yard" }) }
    expectEqual(try BelowYards().value(forKey: "unit") as? String, "yard")
    Reworded.declareKeys { $0.accessors("unit", get: { _ in "inch" }) }
    expectEqual(try BelowReworded().value(forKey: "unit") as? String, "inch")
  }

  @Test("E2: of a key, only what names Self is declared for each subclass")
  func halfBySelf() throws {
    expectEqual(try BelowHalfBySelf().value(forKey: "value") as? Int, 1)
    HalfBySelf.declareKeys { $0.accessors("value", get: { _ in 2 }) }
    expectEqual(try BelowHalfBySelf().value(forKey: "value") as? Int, 2)
    var value: Any? = 5
    try BelowHalfBySelf().validateValue(&value, forKey: "value")
    expectEqual(value as? Int, 0)
  }

  @Test(
    "Q2: by Self, a superclass's hidden property does not take over the key of the subclass's own")
  func hiddenBySelf() throws {
    expectEqual(try HidingBySelf().value(forKey: "part") as? Int, 10)
    expectEqual(try HiddenBySelf().value(forKey: "part") as? Int, 1)
  }

  @Test("Q2: a dependency that inherited code declares keeps the meaning that its class gives it")
  func inheritedHiddenNames() throws {
    let log = Recorder()
    let object = log.keep(HidingNames())
    try log.observe(object, "text", .new, as: "text")
    object.part = 5
    expectEqual(log.take(), [])
    object.bump()
    object.more = 2
    expectEqual(log.take(), ["text new 2", "text new 2"])
  }

  @Test("E1 F1: an inherited registerKeys that has another answer for a subclass declares it there")
  func inheritedAnswers() throws {
    let log = Recorder()
    for (graded, name) in [(LoudGraded(), "loud"), (Graded(), "quiet")] {
      try log.observe(graded, "sum", .new, as: "\(name) sum")
      log.observe(graded, \.second, .new, as: "\(name) second")
      graded.second = 2
    }
    expectEqual(log.take(), ["loud second new 2", "loud sum new 3"])
  }

  @Test("E2: registerKeys runs once for each class, superclass first, before the keys are used")
  func registration() throws {
    _ = try Second().value(forKey: "declared")
    _ = try Second().value(forKey: "declared")
    _ = try First().value(forKey: "declared")
    expectEqual(First.registrations, ["First", "Second"])
  }
}

private class Plant: Tracked {
  struct Thorn: Error {}

  var height = 0.0
  var water = 0.0
  var pricks = false
  var deafSets: [Int] = []
  private var clampedField = 0, thornyField = 1
  var inches: Double {
    get { height / 2.54 }
    set { height = newValue * 2.54 }
  }

  override class func registerKeys() {
    Plant.declareKeys { keys in
      keys.stored("height", \.height)
      keys.stored("moisture", \.water)
      keys.accessors("inches", \.inches, get: { $0.inches }, set: { $0.inches = $1 })
      keys.accessors("clamped", get: { $0.clampedField }, set: { $0.clampedField = min($1, 100) })
      keys.accessors("deaf", get: { _ in 7 }, set: { _, _ in })
      keys.accessors("thorny", get: { try $0.thorny() }, set: { try $0.setThorny($1) })
    }
  }

  private func thorny() throws -> Int {
    if pricks { throw Thorn() }
    return thornyField
  }

  private func setThorny(_ value: Int) throws {
    if value < 0 { throw Thorn() }
    thornyField = value
  }
}

private final class Tree: Plant {
  var rings = 0

  override class func registerKeys() {
    Tree.declareKeys { keys in
      keys.stored("rings", \.rings)
      keys.accessors("deaf", get: { $0.deafSets.last ?? 0 }, set: { $0.deafSets.append($1) })
    }
  }
}

private final class DeclaredLevel: DoubledLevel {
  override class func registerKeys() {
    DeclaredLevel.declareKeys {
      $0.accessors("level", \.level, get: { $0.level }, set: { $0.level = $1 })
    }
  }
}

private final class DeclaredCountedLevel: CountedLevel {
  override class func registerKeys() {
    DeclaredCountedLevel.declareKeys {
      $0.accessors("level", \.level, get: { $0.level }, set: { $0.level = $1 })
    }
  }
}

private final class Chatty: Tracked {
  var first = "a", second = "c"
}

private final class Extended: Tracked {
  @Observed var known = 0
  fileprivate var hiddenLate = 0
}

extension Extended {
  var late: Int {
    get { hiddenLate }
    set { hiddenLate = newValue }
  }

  static func declareLate() {
    declareKeys { $0.accessors("late", \.late, get: { $0.late }, set: { $0.late = $1 }) }
  }
}

private class Worded: Tracked {
  override class func registerKeys() {
    declareKeys { $0.accessors("word", get: { _ in "first" }) }
  }
}

private final class WordedBelow: Worded {
  @Observed var number = 1
}

private class Named: Tracked {
  override class func registerKeys() {
    Named.declareKeys { $0.accessors("word", get: { _ in "first" }) }
  }
}

private final class NamedBelow: Named {
  @Observed var number = 1
}

/// Declares accessors that depend on the subclass.
private class Metric: Tracked {
  class var unit: String { "m" }
  class var limit: Int { 10 }
  @Observed var value = 0
  required override init() {}

  override class func registerKeys() {
    let (unit, limit) = (unit, limit)
    Self.declareKeys { keys in
      keys.accessors("unit", get: { _ in unit })
      keys.validator("value") { (_, value: inout Int?) in value = value.map { min($0, limit) } }
      keys.orderedToMany("steps", count: { _ in 1 }, element: { _, _ in limit })
      keys.unorderedToMany(
        "marks", count: { _ in 1 }, contains: { $1 == limit },
        elements: { _ in AnySequence([limit]) })
    }
  }
}

private class Imperial: Metric {
  override class var unit: String { "ft" }
  override class var limit: Int { 30 }
}

private final class Nautical: Imperial {
  override class var unit: String { "nm" }
  override class var limit: Int { 50 }
}

private class Reworded: Metric {
  override class func registerKeys() {
    super.registerKeys()
    declareKeys { $0.accessors("unit", get: { _ in "in" }) }
  }
}

private final class BelowReworded: Reworded {
  override class var unit: String { "mil" }
}

private class Yards: Metric {
  override class var unit: String { "yd" }
}

private final class BelowYards: Yards {
  override class var unit: String { "rod" }
}

private class HalfBySelf: Tracked {
  override class func registerKeys() {
    declareKeys { $0.accessors("value", get: { _ in 1 }) }
    Self.declareKeys { $0.validator("value") { (_, value: inout Int?) in value = 0 } }
  }
}

private final class BelowHalfBySelf: HalfBySelf {}

private class HiddenBySelf: Tracked {
  @Observed private var part = 1

  override class func registerKeys() {
    Self.declareKeys { $0.accessors("part", get: { ($0 as HiddenBySelf).part }) }
  }
}

private final class HidingBySelf: HiddenBySelf {
  @Observed var part = 10
}

/// Declares a dependency on a property that a subclass hides by one of its own.
private class HiddenNames: Tracked {
  @Observed private var part = 1

  func bump() { part += 1 }

  override class func registerKeys() {
    declareKeys {
      $0.accessors("text", get: { $0.part })
      $0.dependency("text", on: ["part"])
    }
  }
}

private final class HidingNames: HiddenNames {
  @Observed var part = 10
  @Observed var more = 1

  override class func registerKeys() {
    super.registerKeys()
    declareKeys { $0.dependency("text", on: ["more"]) }
  }
}

/// Declares what its subclasses answer.
private class Graded: Tracked {
  @Observed var first = 1
  @Observed var second = 1
  class var isQuiet: Bool { true }
  class var parts: Set<String> { ["first"] }

  override class func registerKeys() {
    declareKeys { keys in
      keys.accessors("sum", get: { $0.first + $0.second })
      keys.dependency("sum", on: parts)
      keys.automaticallyNotifies("second", !isQuiet)
    }
  }
}

private final class LoudGraded: Graded {
  override class var isQuiet: Bool { false }
  override class var parts: Set<String> { ["second"] }
}

private class First: Tracked {
  nonisolated(unsafe) static var registrations: [String] = []
  var declared = 0

  override class func registerKeys() {
    registrations.append("First")
    First.declareKeys { $0.stored("declared", \.declared) }
  }
}

private final class Second: First {
  override class func registerKeys() { registrations.append("Second") }
}
