import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// E1 and E2: automatic notification, and turning it off.
@Suite(.leakFree) struct AutomaticTests {
  /// How a property is set.
  static let ways: [(name: String, set: @Sendable (Quiet, Int) throws -> Void)] = [
    ("assignment", { $0.quiet = $1 }),
    ("in place", { $0.quiet += $1 }),
    ("key path", { $0[keyPath: \.quiet] = $1 }),
    ("key", { try $0.setValue($1, forKey: "quiet") }),
  ]

  @Test("E1: a key that is turned off is silent, however it is set", arguments: 0..<4)
  func off(_ way: Int) throws {
    let object = Quiet()
    let log = Recorder()
    log.observe(object, \.quiet, [.prior, .new])
    try object.addObserver(log.watcher(), forKeyPath: "quiet", options: .new)
    try Self.ways[way].set(object, 5)
    expectEqual(object.quiet, 5)
    expectEqual(log.take(), [])
  }

  @Test("E1: the class's other keys notify, as the superclass decides")
  func others() throws {
    let object = Quiet()
    let log = Recorder()
    log.observe(object, \.loud, .new, as: "loud")
    object.loud = 1
    object.loud += 1
    try object.setValue(3, forKey: "loud")
    expectEqual(log.take(), ["loud new 1", "loud new 2", "loud new 3"])
  }

  @Test("E3: a manual pair notifies of a key that is turned off, also around its setter")
  func byHand() {
    let object = Quiet()
    let log = Recorder()
    log.observe(object, \.quiet, [.prior, .old, .new])
    object.withChange(of: \.quiet) { object.quiet = 2 }
    object.willChangeValue(forKey: "quiet")
    object.quiet += 1
    object.didChangeValue(forKey: "quiet")
    expectEqual(log.take(), ["a prior old 0", "a old 0 new 2", "a prior old 2", "a old 2 new 3"])
  }

  @Test("C3: initial is delivered even where automatic notification is off")
  func initial() throws {
    let object = Quiet()
    let log = Recorder()
    object.quiet = 4
    log.observe(object, \.quiet, [.initial, .new])
    try object.addObserver(log.watcher(), forKeyPath: "quiet", options: [.initial, .new])
    expectEqual(log.take(), ["a new 4", "w: quiet new 4"])
  }

  @Test("E1: a subclass turns off more keys, and may overrule its superclass")
  func subclass() {
    let object = Quieter()
    let log = Recorder()
    log.observe(object, \.quiet, .new, as: "quiet")
    log.observe(object, \.loud, .new, as: "loud")
    log.observe(object, \.extra, .new, as: "extra")
    log.observe(object, \.reopened, .new, as: "reopened")
    object.quiet = 1
    object.loud = 2
    object.extra = 3
    object.reopened = 4
    expectEqual(log.take(), ["extra new 3", "reopened new 4"])
    let parent = Quiet()
    log.observe(parent, \.loud, .new, as: "parent")
    log.observe(parent, \.reopened, .new, as: "parent's")
    parent.loud = 5
    parent.reopened = 6
    expectEqual(log.take(), ["parent new 5"])
  }

  @Test("E1: a class is asked once per class and key")
  func askedOnce() throws {
    for _ in 0..<3 {
      let object = Asked()
      let log = Recorder()
      log.observe(object, \.first)
      try object.addObserver(log.watcher(), forKeyPath: "second")
      object.first = 1
      object.first += 1
      try object.setValue(2, forKey: "second")
    }
    onThreads(4) { _ in
      let object = Asked()
      let token = object.observe(\.first) { _, _ in }
      object.first = 1
      token.invalidate()
    }
    expectEqual(Asked.questions.values.count { $0 == "first" }, 1)
    expectEqual(Asked.questions.values.count { $0 == "second" }, 1)
  }

  @Test("E1: a class is asked while no lock is held that the first use of another class takes")
  func askedUnlocked() {
    onThreads(2) { index in
      if index == 0 {
        withExtendedLifetime(Settable().observe(\.size) { _, _ in }) {}
      } else {
        waitUntil { Settable.isAsked.withLock { $0 } }
        Settable.setting.withLock { _ in
          Settable.isHeld.withLock { $0 = true }
          expect((try? FirstUsed().value(forKey: "number")) as? Int == 0)
        }
      }
    }
    expect(Settable.isAnswered.withLock { $0 })
  }

  @Test("E1: a thread can use a class for which another one is still asking")
  func usedWhileAsked() {
    let notified = Count()
    onThreads(2) { index in
      if index == 1 { waitUntil { Slow.asked.withLock { $0 } > 0 } }
      let object = Slow()
      let token = object.observe(\.number) { _, _ in notified.add() }
      object.number = 1
      token.invalidate()
      if index == 1 { Slow.isUsed.withLock { $0 = true } }
    }
    expectEqual(notified.value, 2)
  }

  @Test("E1: a declaration turns a key off and on, in the class and for its subclasses")
  func declared() {
    let object = Declared()
    let sub = DeclaredSub()
    let log = Recorder()
    log.observe(object, \.muted, .new, as: "muted")
    log.observe(object, \.plain, .new, as: "plain")
    log.observe(sub, \.muted, .new, as: "sub's")
    for each in [object, sub] {
      each.muted = 1
      each.plain = 2
    }
    expectEqual(log.take(), ["plain new 2", "sub's new 1"])
  }

  @Test("E2: setting a key with a setter by key notifies once, a plain stored key too")
  func onceByKey() throws {
    let person = Person()
    let log = Recorder()
    for key in ["age", "shoeSize", "pin", "rank"] {
      try person.addObserver(log.watcher(), forKeyPath: key, options: [.prior, .old, .new])
    }
    try person.setValue(37, forKey: "age")
    try person.setValue(39, forKey: "shoeSize")
    try person.setValue(1, forKey: "pin")
    try person.setValue(2, forKey: "rank")
    expectEqual(
      log.take(),
      [
        "w: age prior old 36", "w: age old 36 new 37", "w: shoeSize prior old 38",
        "w: shoeSize old 38 new 39", "w: pin prior old 1234", "w: pin old 1234 new 1",
        "w: rank prior old 1", "w: rank old 1 new 2",
      ])
  }

  @Test("E2: setting plain storage directly notifies no observer")
  func plainDirectly() throws {
    let person = Person()
    let log = Recorder()
    try person.addObserver(log.watcher(), forKeyPath: "shoeSize", options: [.old, .new])
    person.shoeSize = 40
    person.shoeSize += 1
    expectEqual(log.take(), [])
    try person.setValue(50, forKey: "shoeSize")
    expectEqual(log.take(), ["w: shoeSize old 41 new 50"])
  }
}

class Quiet: Tracked {
  @Observed var quiet = 0
  @Observed var loud = 0
  @Observed var reopened = 0

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key == "quiet" || key == "reopened" ? false : super.automaticallyNotifiesObservers(forKey: key)
  }
}

private final class Quieter: Quiet {
  @Observed var extra = 0

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    switch key {
    case "loud": false
    case "reopened": true
    default: super.automaticallyNotifiesObservers(forKey: key)
    }
  }
}

private final class Asked: Tracked {
  static let questions = Collected<String>()
  @Observed var first = 0
  @Observed var second = 0

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    questions.append([key])
    return super.automaticallyNotifiesObservers(forKey: key)
  }
}

/// A class that takes a lock of the program when it is asked, after another thread has taken it.
private final class Settable: KVOObject, @unchecked Sendable {
  static let isAsked = Locked(false)
  static let isHeld = Locked(false)
  static let isAnswered = Locked(false)
  static let setting = Locked(true)
  var size: Int { 0 }

  override class func registerKeys() {
    declareKeys { $0.computed("size", \.size) }
  }

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    guard key == "size" else { return true }
    isAsked.withLock { $0 = true }
    waitUntil { isHeld.withLock { $0 } }
    let answer = setting.withLock { $0 }
    isAnswered.withLock { $0 = true }
    return answer
  }
}

private final class FirstUsed: KVOObject {
  @Observed var number = 0
}

/// A class whose first answer takes until another thread has used it.
private final class Slow: KVOObject, @unchecked Sendable {
  static let asked = Locked(0)
  static let isUsed = Locked(false)
  @Observed var number = 0

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    let isFirst = asked.withLock { asked in
      asked += 1
      return asked == 1
    }
    if isFirst { waitUntil { isUsed.withLock { $0 } } }
    return true
  }
}

private class Declared: Tracked {
  @Observed var muted = 0
  @Observed var plain = 0

  override class func registerKeys() {
    Declared.declareKeys { $0.automaticallyNotifies("muted", false) }
  }
}

private final class DeclaredSub: Declared {
  override class func registerKeys() {
    DeclaredSub.declareKeys {
      $0.automaticallyNotifies("muted", true)
      $0.automaticallyNotifies("plain", false)
    }
  }
}
