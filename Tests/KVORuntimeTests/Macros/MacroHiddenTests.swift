import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

// Classes whose subclasses do not see their properties, and declare properties of the same name.

@KVO private class Plain: KVOObject {
  private var value = 1
  private var isNew: Bool { value == 1 }
  func set(_ value: Int) { self.value = value }
  func add(_ value: Int) { self.value += value }
  func log(in log: Recorder) {
    log.observe(self, \.value, [.old, .new], as: "base")
    log.observe(self, \.isNew, .new, as: "new")
  }
}

@KVO private class Watched: KVOObject {
  private var value = 1 { didSet {} }
  func set(_ value: Int) { self.value = value }
  func add(_ value: Int) { self.value += value }
  func log(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "base") }
}

private final class Thing { init() {} }

@KVO private class Referring: KVOObject {
  private weak var value: Thing?
  private var isNil: Bool { value == nil }
  func set(_ value: Thing?) { self.value = value }
  func log(in log: Recorder) {
    log.observe(self, \.value, [], as: "base")
    log.observe(self, \.isNil, .new, as: "nil")
  }
}

@KVO private class Computing: KVOObject {
  var half = 1
  private var value: Int {
    get { half * 2 }
    set { half = newValue / 2 }
  }
  private var kept: Int { half }
  private static func keyPathsForValuesAffectingKept() -> Set<String> { ["half"] }
  func set(_ value: Int) { self.value = value }
  func add(_ value: Int) { self.value += value }
  func log(in log: Recorder) {
    log.observe(self, \.value, [.old, .new], as: "base")
    log.observe(self, \.kept, [.old, .new], as: "kept")
  }
}

private protocol Hiding: KVOObject {
  func setOwn(_ value: Int)
  func logOwn(in log: Recorder)
}

@KVO private final class PlainOverPlain: Plain, Hiding {
  private var value = 1
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

@KVO private final class WatchedOverPlain: Plain, Hiding {
  private var value = 1 { didSet {} }
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

@KVO private class PlainOverWatched: Watched, Hiding {
  private var value = 1
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

@KVO private final class WatchedOverWatched: Watched, Hiding {
  private var value = 1 { didSet {} }
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

private final class WrappedOverPlain: Plain, Hiding {
  @Observed private var value = 1
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

@KVO private final class ComputingOverComputing: Computing {
  private var third = 1
  private var value: Int {
    get { third * 3 }
    set { third = newValue / 3 }
  }
  private var kept = 3
  func setOwn(_ value: Int) { self.value = value }
  func keep(_ value: Int) { kept = value }
  func logOwn(in log: Recorder) {
    log.observe(self, \.value, [.old, .new], as: "own")
    log.observe(self, \.kept, [.old, .new], as: "own kept")
  }
}

@KVO private final class ReferringOverReferring: Referring {
  private weak var value: Thing?
  func setOwn(_ value: Thing?) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [], as: "own") }
}

private final class Below: PlainOverWatched {}

@KVO private class Silent: KVOObject {
  private var value = 1 { didSet {} }
  private class func automaticallyNotifiesObserversOfValue() -> Bool { false }
  func set(_ value: Int) { self.value = value }
  func announce(_ value: Int) { withChange(of: \.value) { self.value = value } }
  func log(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "base") }
}

@KVO private final class Loud: Silent, Hiding {
  private var value = 1 { didSet {} }
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

@KVO private class Shown: KVOObject {
  var value = 1
  func log(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "base") }
}

@KVO private final class Overriding: Shown {
  override var value: Int {
    didSet { if value > 3 { value = 3 } }
  }
}

@KVO private class ShownSilent: KVOObject {
  var value = 1
  class func automaticallyNotifiesObserversOfValue() -> Bool { false }
}

@KVO private final class OverridingSilent: ShownSilent {
  override var value: Int { didSet {} }
}

/// Q2: properties of one name in a class and its superclass.
@Suite(.leakFree) struct MacroHiddenTests {
  private let log = Recorder()

  @Test("Q2: a property hidden by a subclass's own property of its name is observed by itself")
  func separate() {
    check(PlainOverPlain(), set: { $0.set($1) }, add: { $0.add($1) }, log: { $0.log(in: $1) })
    check(WatchedOverPlain(), set: { $0.set($1) }, add: { $0.add($1) }, log: { $0.log(in: $1) })
    check(WrappedOverPlain(), set: { $0.set($1) }, add: { $0.add($1) }, log: { $0.log(in: $1) })
    check(PlainOverWatched(), set: { $0.set($1) }, add: { $0.add($1) }, log: { $0.log(in: $1) })
    check(WatchedOverWatched(), set: { $0.set($1) }, add: { $0.add($1) }, log: { $0.log(in: $1) })
    check(Below(), set: { $0.set($1) }, add: { $0.add($1) }, log: { $0.log(in: $1) })
  }

  private func check<Object: Hiding>(
    _ object: Object, set: (Object, Int) -> Void, add: (Object, Int) -> Void,
    log observe: (Object, Recorder) -> Void
  ) {
    observe(object, log)
    object.logOwn(in: log)
    set(object, 5)
    expectEqual(log.take().filter { !$0.hasPrefix("new") }, ["base old 1 new 5"])
    object.setOwn(6)
    expectEqual(log.take(), ["own old 1 new 6"])
    add(object, 2)
    expectEqual(log.take().filter { !$0.hasPrefix("new") }, ["base old 5 new 7"])
    expectEqual(try? object.value(forKey: "value") as? Int, 6)
    try? object.setValue(8, forKey: "value")
    expectEqual(log.take(), ["own old 6 new 8"])
  }

  @Test("Q2: a computed property that reads a hidden one follows it")
  func followed() {
    let object = PlainOverPlain()
    object.log(in: log)
    object.setOwn(3)
    expectEqual(log.take(), [])
    object.set(3)
    expectEqual(Set(log.take()), ["base old 1 new 3", "new new false"])
  }

  @Test("Q2: hidden computed and weak properties are observed by themselves")
  func others() {
    let computing = ComputingOverComputing()
    computing.log(in: log)
    computing.logOwn(in: log)
    computing.set(8)
    expectEqual(Set(log.take()), ["base old 2 new 8", "kept old 1 new 4"])
    computing.setOwn(9)
    computing.keep(5)
    expectEqual(log.take(), ["own old 3 new 9", "own kept old 3 new 5"])
    let (referring, thing) = (ReferringOverReferring(), Thing())
    referring.log(in: log)
    referring.logOwn(in: log)
    referring.set(thing)
    expectEqual(Set(log.take()), ["base", "nil new false"])
    referring.setOwn(thing)
    expectEqual(log.take(), ["own"])
  }

  @Test("Q2: each notifies automatically or not, as its own class says")
  func automatic() {
    let object = Loud()
    object.log(in: log)
    object.logOwn(in: log)
    object.set(5)
    expectEqual(log.take(), [])
    object.announce(6)
    expectEqual(log.take(), ["base old 5 new 6"])
    object.setOwn(7)
    expectEqual(log.take(), ["own old 1 new 7"])
  }

  @Test("Q2: an override has the key of the property that it overrides")
  func overriding() throws {
    let object = Overriding()
    object.log(in: log)
    log.observe(object, \.value, [.old, .new], as: "own")
    try log.observe(object, "value", [.old, .new], as: "string")
    object.value = 9
    expectEqual(
      log.take(), ["base old 1 new 3", "own old 1 new 3", "string old 1 new 3"])
  }

  @Test("Q2 E1: what a superclass declares for a property holds for its override")
  func overridingSilent() {
    let object = OverridingSilent()
    log.observe(object, \.value, [.old, .new])
    object.value = 9
    expectEqual(log.take(), [])
  }
}
