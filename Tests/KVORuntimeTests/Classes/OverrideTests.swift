import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// A4 and D5: properties that subclasses override, and setters that store another value.
@Suite(.leakFree) struct OverrideTests {
  @Test(
    "A4: an overridden property that calls its superclass's notifies once",
    arguments: [
      CountedLevel.self, TwiceCountedLevel.self, ClampedLevel.self, LocalLevel.self,
    ] as [Level.Type])
  func oncePerSet(_ type: Level.Type) {
    let object = make(type)
    let log = Recorder()
    log.observe(object, \.level, [.prior, .old, .new])
    object.level = 5
    object.level += 1
    expectEqual(
      log.take(),
      [
        "a prior old 0.0", "a old 0.0 new 5.0", "a prior old 5.0", "a old 5.0 new 6.0",
      ])
  }

  @Test("A4: a property that a final class overrides is observed under both classes' key paths")
  func finalOverride() {
    let counted = FinalCountedLevel()
    let clamped = FinalClampedLevel()
    let partly = PartlyFinalLevel()
    let log = Recorder()
    log.observe(counted, \.level, .new, as: "counted")
    log.observe(counted as Level, \.level, .new, as: "as level")
    log.observe(clamped, \.level, .new, as: "clamped")
    log.observe(partly, \.level, .new, as: "partly")
    counted.level = 1
    clamped.level = 200
    partly.level = 3
    expectEqual(counted.sets, 1)
    expectEqual(
      log.take(),
      [
        "counted new 1.0", "as level new 1.0", "clamped new 100.0", "partly new 3.0",
      ])
  }

  @Test("A4: an override runs on an observed object as it does without observers")
  func overrideRuns() {
    let object = TwiceCountedLevel()
    let log = Recorder()
    object.level = 1
    log.observe(object, \.level)
    object.level = 2
    object.level += 1
    (object as Level).level = 4
    expectEqual(object.sets, [1, 2, 3, 4])
    expectEqual(object.wills, 4)
    expectEqual(log.take(), ["a", "a", "a"])
  }

  @Test("A4: an override is observed under its own key path and under the superclass's")
  func bothKeyPaths() {
    let object = LocalLevel()
    let log = Recorder()
    log.observe(object, \LocalLevel.level, .new, as: "own")
    log.observe(object as Level, \Level.level, .new, as: "super")
    object.level = 1
    (object as Level).level = 2
    expectEqual(log.take(), ["own new 1.0", "super new 1.0", "own new 2.0", "super new 2.0"])
  }

  @Test("D5: the new value is the getter's, not the setter's argument: clamped")
  func clamped() {
    let object = ClampedLevel()
    let log = Recorder()
    log.observe(object, \.level, [.old, .new])
    for level in [50.0, 150, 200, -3] { object.level = level }
    expectEqual(
      log.take(),
      [
        "a old 0.0 new 50.0", "a old 50.0 new 100.0", "a old 100.0 new 100.0",
        "a old 100.0 new 0.0",
      ])
  }

  @Test("D5: a setter that stores nothing delivers the unchanged value")
  func deaf() {
    let object = DeafLevel()
    let log = Recorder()
    log.observe(object, \.level, [.old, .new])
    object.level = 50
    expectEqual(log.take(), [])
    expectEqual(object.level, 0)
  }

  @Test("D5: old and new are what an overridden getter answers")
  func doubled() {
    let object = DoubledLevel()
    let log = Recorder()
    log.observe(object, \.level, [.initial, .prior, .old, .new])
    object.level = 4
    expectEqual(log.take(), ["a new 0.0", "a prior old 0.0", "a old 0.0 new 4.0"])
  }

  @Test("D5: a didSet that clamps is a second set, and each change has the true values")
  func selfClamping() {
    let object = SelfClampingLevel()
    let log = Recorder()
    log.observe(object, \.level, [.old, .new])
    object.level = 50
    object.level = 150
    expectEqual(object.level, 100)
    expectEqual(
      log.take(), ["a old 0.0 new 50.0", "a old 50.0 new 150.0", "a old 150.0 new 100.0"])
  }

  @Test("D5: a set by a declared key runs the class's override of the property")
  func overrideRunsByKey() throws {
    let counted = DeclaredCountedLevel()
    let clamped = DeclaredClampedLevel()
    let tokens = [counted.observe(\.level) { _, _ in }, clamped.observe(\.level) { _, _ in }]
    defer { for token in tokens { token.invalidate() } }
    try counted.setValue(5, forKey: "level")
    try clamped.setValue(500, forKey: "level")
    expectEqual(counted.sets, [5])
    expectEqual(clamped.level, 100)
  }

  @Test("D5: in a prior call all reads give the old value, in a final one the new")
  func readsInCalls() {
    let object = LocalLevel()
    let log = Recorder()
    log.observe(object, \.level, [.prior]) { object, _ in
      let byKey = (try? object.value(forKey: "level")).map(shown) ?? "error"
      log.note("\(object.level) \(object.twice) \(byKey)")
    }
    object.level = 3
    object.level += 1
    expectEqual(
      log.take(),
      [
        "a prior", "0.0 0.0 0.0", "a", "3.0 6.0 3.0", "a prior", "3.0 6.0 3.0", "a", "4.0 8.0 4.0",
      ])
  }
}

/// Overrides a property of another module's class, and adds one that is computed from it.
private class LocalLevel: Level {
  var sets = 0
  override var level: Double { didSet { sets += 1 } }
  var twice: Double { level * 2 }
}

private final class FinalCountedLevel: Level {
  var sets = 0
  override var level: Double { didSet { sets += 1 } }
}

private final class FinalClampedLevel: Level {
  override var level: Double {
    get { super.level }
    set { super.level = min(newValue, 100) }
  }
}

private final class DeclaredCountedLevel: CountedLevel {
  override class func registerKeys() {
    declareKeys { $0.stored("level", \.level) }
  }
}

private final class DeclaredClampedLevel: ClampedLevel {
  override class func registerKeys() {
    declareKeys { $0.stored("level", \.level) }
  }
}

private class PartlyFinalLevel: Level {
  final override var level: Double { didSet {} }
}

private func make(_ type: Level.Type) -> Level {
  switch type {
  case is TwiceCountedLevel.Type: TwiceCountedLevel()
  case is CountedLevel.Type: CountedLevel()
  case is ClampedLevel.Type: ClampedLevel()
  case is LocalLevel.Type: LocalLevel()
  default: Level()
  }
}
