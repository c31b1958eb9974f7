import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// D6 and E3: manual changes beside automatic ones.
@Suite(.leakFree) struct ManualTests {
  /// A way to open and close pairs.
  enum Form: CaseIterable { case byKey, byKeyPath }

  @Test(
    "D6: every pair is a change of its own, delivered by its did",
    arguments: ChangeScript.all, Form.allCases)
  func pairs(_ script: ChangeScript, _ form: Form) {
    let meter = Meter()
    let log = Recorder()
    for (keyPath, name) in [(\Meter.a, "A"), (\Meter.b, "B")] {
      log.observe(meter, keyPath, [.prior, .old, .new], as: name)
    }
    meter.run(script.steps, form)
    expectEqual(log.take(), script.lines.map(spelledOut))
  }

  @Test("D6: observer objects are notified in the same way", arguments: ChangeScript.all)
  func pairsByString(_ script: ChangeScript) throws {
    let meter = Meter()
    let log = Recorder()
    let watcher = log.watcher("")
    for key in ["a", "b"] {
      try meter.addObserver(watcher, forKeyPath: key, options: [.prior, .old, .new])
    }
    meter.run(script.steps, .byKey)
    let expected = script.lines.map(spelledOut).map {
      ": " + $0.prefix(1).lowercased() + $0.dropFirst()
    }
    expectEqual(log.take(), expected)
  }

  @Test("D6: pairs on an unobserved object change nothing", arguments: ChangeScript.all)
  func pairsUnobserved(_ script: ChangeScript) {
    let meter = Meter()
    meter.run(script.steps, .byKey)
    expect(!isSwapped(meter))
    expectEqual(meter.a, script.steps.split(separator: " ").count { $0 == "fA" || $0 == "sA" })
  }

  @Test("D6: pairs match by object")
  func pairsByObject() {
    let first = Meter()
    let second = Meter()
    let log = Recorder()
    log.observe(first, \.a, [.old, .new], as: "1")
    log.observe(second, \.a, [.old, .new], as: "2")
    first.run("wA fA", .byKey)
    second.run("wA fA fA", .byKey)
    first.run("dA", .byKey)
    second.run("dA", .byKey)
    expectEqual(log.take(), ["1 old 0 new 1", "2 old 0 new 2"])
  }

  @Test("D6: pairs match by thread: another thread's is its own")
  func pairsByThread() {
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.a, [.prior, .old, .new], as: "A")
    meter.run("wA fA", .byKey)
    let shared = Shared(meter)
    onThreads(1) { _ in shared.value.run("wA fA dA", .byKey) }
    meter.run("fA dA", .byKey)
    expectEqual(log.take(), ["prior A 0", "prior A 1", "A 1 2", "A 0 3"].map(spelledOut))
  }

  @Test("D6: a key and its key path name the same change")
  func mixedForms() {
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.a, [.old, .new], as: "A")
    meter.willChangeValue(forKey: "a")
    meter.store(\.a, 1)
    meter.didChangeValue(for: \.a)
    meter.willChangeValue(for: \.a)
    meter.store(\.a, 2)
    meter.didChangeValue(forKey: "a")
    expectEqual(log.take(), ["A old 0 new 1", "A old 1 new 2"])
  }

  @Test("D6: a pair inside an automatic change of the key joins it")
  func pairInAutomatic() throws {
    let meter = Bracketing()
    let log = Recorder()
    log.observe(meter, \.a, [.prior, .old, .new], as: "A")
    try meter.setValue(1, forKey: "a")
    expectEqual(log.take(), ["A prior old 0", "A old 0 new 1"])
  }

  @Test("D6: an override with a manual pair that calls super makes a change of each")
  func overrideBrackets() {
    let meter = OverridingMeter()
    let log = Recorder()
    log.observe(meter, \.c, [.prior, .old, .new], as: "C")
    meter.c = 1
    expectEqual(log.take(), ["C prior old 0", "C prior old 0", "C old 0 new 1", "C old 0 new 1"])
  }

  @Test("D6: a pair in a prior call of an automatic change joins it")
  func pairInPrior() {
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.c, [.prior, .old, .new], as: "C") { meter, change in
      guard change.isPrior else { return }
      meter.willChangeValue(for: \.c)
      meter.c = 5
      meter.didChangeValue(for: \.c)
    }
    meter.c = 1
    expectEqual(log.take(), ["C prior old 0", "C old 0 new 1"])
  }

  @Test("D6: a change is closed before its final calls: a pair in one is a change of its own")
  func pairInFinal() {
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.a, [.old, .new], as: "A") { meter, _ in
      if meter.a < 2 { meter.run("wA fA dA", .byKey) }
    }
    meter.run("sA", .byKey)
    expectEqual(log.take(), ["A old 0 new 1", "A old 1 new 2"])
  }

  @Test("D6: a pair may be opened in the prior call and closed in the final one of the same change")
  func pairAcrossCalls() {
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.c, .prior, as: "bridge") { meter, change in
      if change.isPrior {
        meter.willChangeValue(for: \.a)
      } else {
        meter.store(\.a, meter.c * 10)
        meter.didChangeValue(for: \.a)
      }
    }
    log.observe(meter, \.a, [.old, .new], as: "A")
    meter.c = 5
    expectEqual(log.take(), ["bridge prior", "bridge", "A old 0 new 50"])
  }

  // MARK: Around a body

  @Test("E3: withChange brackets a body and returns its result")
  func withChange() {
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.a, [.prior, .old, .new], as: "A")
    let result = meter.withChange(of: \.a) {
      log.note("body")
      meter.store(\.a, 3)
      return "result"
    }
    expectEqual(result, "result")
    expectEqual(meter.withChange(forKey: "a") { meter.a }, 3)
    expectEqual(
      log.take(),
      [
        "A prior old 0", "body", "A old 0 new 3", "A prior old 3", "A old 3 new 3",
      ])
  }

  @Test(
    "E3: withChange closes the change when the body throws, and the error passes through",
    arguments: Form.allCases)
  func withChangeThrowing(_ form: Form) {
    struct Failure: Error {}
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.a, [.old, .new], as: "A")
    #expect(throws: Failure.self) {
      func body() throws {
        meter.store(\.a, 1)
        throw Failure()
      }
      switch form {
      case .byKey: try meter.withChange(forKey: "a", body)
      case .byKeyPath: try meter.withChange(of: \.a, body)
      }
    }
    expectEqual(log.take(), ["A old 0 new 1"])
    meter.withChange(of: \.a) { meter.store(\.a, 2) }
    expectEqual(log.take(), ["A old 1 new 2"])
  }

  // MARK: Beside automatic changes

  @Test("E3: a setter with a manual pair may skip it where nothing changed")
  func skippedPair() {
    let hand = Hand()
    let log = Recorder()
    log.observe(hand, \.balance, [.old, .new])
    for balance in [5.0, 5, 0, 0] { hand.balance = balance }
    expectEqual(log.take(), ["a old 0.0 new 5.0", "a old 5.0 new 0.0"])
  }

  @Test("E3: another key may be set within a manual pair")
  func otherKeyWithinPair() {
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.a, [.prior, .new], as: "A")
    log.observe(meter, \.c, [.prior, .new], as: "C")
    meter.withChange(of: \.a) {
      meter.store(\.a, 1)
      meter.c = 2
    }
    expectEqual(log.take(), ["A prior", "C prior", "C new 2", "A new 1"])
  }

  @Test("E3: a manual pair notifies of an in-place change of plain storage, declared or not")
  func plainStorage() throws {
    let meter = Meter()
    let person = Person()
    let log = Recorder()
    log.observe(meter, \.list, [.old, .new], as: "list")
    try log.observe(person, "motto", [.old, .new], as: "motto")
    meter.withChange(of: \.list) { meter.list.append(1) }
    person.willChangeValue(forKey: "motto")
    person.motto = "onward"
    person.didChangeValue(forKey: "motto")
    expectEqual(log.take(), ["list old [] new [1]", "motto old nil new onward"])
  }

  @Test(
    "E3: setting plain storage without a pair is silent; the next pair delivers the true values")
  func unbracketed() {
    let meter = Meter()
    let log = Recorder()
    log.observe(meter, \.list, [.old, .new])
    meter.list = [1]
    expectEqual(log.take(), [])
    meter.withChange(of: \.list) { meter.list = [1, 2] }
    expectEqual(log.take(), ["a old [1] new [1, 2]"])
  }
}

/// Expands `prior A 0` to the recorder's line.
private func spelledOut(_ line: String) -> String {
  let words = line.split(separator: " ")
  return words[0] == "prior"
    ? "\(words[1]) prior old \(words[2])" : "\(words[0]) old \(words[1]) new \(words[2])"
}

/// Keys A and B are accessors, so that a script may store past them. C is observable.
private class Meter: Tracked {
  private var fieldA = 0, fieldB = 0
  @Observed var c = 0
  var list: [Int] = []

  var a: Int {
    get { fieldA }
    set { set("a", \.fieldA, newValue) }
  }
  var b: Int {
    get { fieldB }
    set { set("b", \.fieldB, newValue) }
  }

  override class func registerKeys() {
    Meter.declareKeys { keys in
      keys.accessors("a", \.a, get: { $0.fieldA }, set: { $0.fieldA = $1 })
      keys.accessors("b", \.b, get: { $0.fieldB }, set: { $0.fieldB = $1 })
      keys.stored("list", \.list)
    }
  }

  private func set(_ key: String, _ field: ReferenceWritableKeyPath<Meter, Int>, _ value: Int) {
    withChange(forKey: key) { self[keyPath: field] = value }
  }

  /// Stores without the accessor.
  func store(_ keyPath: KeyPath<Meter, Int>, _ value: Int) {
    if keyPath == \.a { fieldA = value } else { fieldB = value }
  }

  func run(_ steps: String, _ form: ManualTests.Form) {
    for step in steps.split(separator: " ") {
      let isA = step.last == "A"
      let keyPath = isA ? \Meter.a : \Meter.b
      let key = isA ? "a" : "b"
      switch (step.first, form) {
      case ("w", .byKey): willChangeValue(forKey: key)
      case ("w", .byKeyPath): willChangeValue(for: keyPath)
      case ("d", .byKey): didChangeValue(forKey: key)
      case ("d", .byKeyPath): didChangeValue(for: keyPath)
      case ("f", _): store(keyPath, self[keyPath: keyPath] + 1)
      default: self[keyPath: keyPath] += 1
      }
    }
  }
}

/// Key-value coding sets it by this setter, which has a manual pair.
private final class Bracketing: Tracked {
  private var field = 0
  var a: Int {
    get { field }
    set { withChange(forKey: "a") { field = newValue } }
  }

  override class func registerKeys() {
    Bracketing.declareKeys { $0.accessors("a", \.a, get: { $0.a }, set: { $0.a = $1 }) }
  }
}

private final class OverridingMeter: Meter {
  override var c: Int {
    get { super.c }
    set { withChange(of: \.c) { super.c = newValue } }
  }
}

/// The guide's account: balance notifies manually, and only if it changes.
private final class Hand: Tracked {
  @Observed private var stored = 0.0

  var balance: Double {
    get { stored }
    set { if newValue != stored { withChange(of: \.balance) { stored = newValue } } }
  }

  override class func registerKeys() {
    Hand.declareKeys { $0.accessors("balance", \.balance, get: { $0.stored }) }
  }
}
