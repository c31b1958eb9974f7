import Expectations
import KVORuntime
import ModelFixtures
import Synchronization
import TestSupport
import Testing

/// F5, F6, G: a key path whose reads are not what they first seem.
@Suite(.leakFree) struct TrackingEdgeTests {
  fileprivate class Person: KVOObject {
    @Observed var first = "a"
    @Observed var boss: Person?
    @Observed var hits = 0
    @Observed var noise = 0
    var formal = false
    let parent: Person?
    let life = Life(of: Person.self)

    init(parent: Person? = nil) { self.parent = parent }

    var upper: String { formal ? "Dr " + first : first.uppercased() }
    var counted: Int {
      hits = 5
      return boss?.noise ?? 0
    }
    var other: Int { hits + noise }
  }

  private final class Employee: Person {}

  @Test("F5 E3: a manual change of a computed property makes it read again")
  func byHand() {
    let person = Person()
    let log = Recorder()
    log.observe(person, \.upper, [.old, .new])
    person.withChange(of: \.upper) { person.formal = true }
    person.first = "b"
    expectEqual(log.take(), ["a old A new Dr a", "a old Dr a new Dr b"])
  }

  @Test("F6 D2: a superclass's key path and a subclass's are one key")
  func oneKey() {
    let employee = Employee()
    let log = Recorder()
    log.observe(employee, \Employee.upper, as: "1")
    log.observe(employee as Person, \Person.upper, as: "2")
    log.observe(employee, \Employee.upper, as: "3")
    employee.first = "b"
    expectEqual(log.take(), ["1", "2", "3"])
    (employee as Person).withChange(of: \Person.upper) {}
    expectEqual(log.take(), ["1", "2", "3"])
  }

  @Test("D13: a path's observer keeps its order, whatever its root class and first property")
  func places() {
    let parent = Person()
    let employee = Employee(parent: parent)
    employee.boss = parent
    let log = Recorder()
    log.observe(parent, \.first, as: "1 key")
    log.observe(employee, \Employee.boss?.first, as: "2 path of the subclass")
    log.observe(parent, \.first, as: "3 key")
    log.observe(employee as Person, \Person.boss?.first, as: "4 path of the superclass")
    log.observe(employee, \.parent?.first, as: "5 path through a constant")
    log.observe(parent, \.first, as: "6 key")
    parent.first = "b"
    expectEqual(
      log.take(),
      [
        "1 key", "2 path of the subclass", "3 key", "4 path of the superclass",
        "5 path through a constant", "6 key",
      ])
  }

  @Test("D13 F6: so does a key path made through a protocol, for a stored property")
  func requirementPlace() {
    let person = Person()
    let log = Recorder()
    log.observe(person, \.noise, as: "1 key")
    log.observe(person, required(of: Person.self), [.old, .new], as: "2 protocol")
    log.observe(person, \.noise, as: "3 key")
    person.noise = 4
    expectEqual(log.take(), ["1 key", "2 protocol old 0 new 4", "3 key"])
  }

  @Test("D13: unnamed computed properties of one level are ordered by first use")
  func levels() {
    let person = Person()
    let log = Recorder()
    let paths: [KeyPath<Person, Character>] = (0..<12).map { \Person.first[atOffset: $0] }
    for (number, path) in paths.enumerated() { log.observe(person, path, as: "\(number)") }
    person.first = "b"
    expectEqual(log.take(), (0..<12).map(String.init))
  }

  @Test("F6: a path that ends at a nil constant is observed, and silent")
  func nilConstant() {
    let child = Person(parent: Person())
    let root = Person()
    let log = Recorder()
    log.observe(root, \.parent?.parent?.hits, as: "root")
    log.observe(child, \.parent?.hits, [.new], as: "child")
    root.hits = 1
    child.parent?.hits = 2
    expectEqual(log.take(), ["child new 2"])
  }

  @Test("F5: reads for notifying of a getter's set are not recorded as the getter's")
  func settingGetter() {
    let person = Person()
    let log = Recorder()
    person.hits = 1
    log.observe(person, \.other, [.old, .new], as: "other")
    log.observe(person, \.counted, as: "counted")
    _ = log.take()
    person.noise = 1
    expect(log.take().allSatisfy { $0.hasPrefix("other") })
  }

  private class TwinBase: KVOObject {
    @Observed private var level = 1
    var doubled: Int { level * 2 }
    func raise() { level += 1 }
  }

  private final class TwinSub: TwinBase {
    @Observed private var level = "own"
    var own: String { level }
    func rename() { level = "other" }
  }

  @Test("F5: two private properties of one name are both followed")
  func twins() {
    let twin = TwinSub()
    let log = Recorder()
    log.observe(twin as TwinBase, \TwinBase.doubled, [.old, .new], as: "base")
    log.observe(twin, \TwinSub.own, [.old, .new], as: "sub")
    twin.raise()
    expectEqual(log.take(), ["base old 2 new 4"])
    twin.rename()
    expectEqual(log.take(), ["sub old own new other"])
  }

  private final class Box<Value>: KVOObject {
    @Observed var value: Value?
    @Observed var count = 0
    var twice: Int { count * 2 }
  }

  @Test("C5: keys of classes with unusual names are observed together as well")
  func oddNames() {
    let box = Box<@Sendable () -> Void>()
    var calls = 0
    let token = box.observe([\.twice, \.count]) { _, _ in calls += 1 }
    box.count = 1
    expectEqual(calls, 2)
    token.invalidate()
  }

  private final class Gated: KVOObject, @unchecked Sendable {
    @Observed var link: Person?
    @Observed var via: Gated?
    var gate: (() -> Void)?

    var name: String {
      let link = link
      gate?()
      return link?.first ?? "-"
    }
  }

  @Test("F5: a value set during a computed property's first read is followed once observe returns")
  func setWhileRead() {
    let gated = Gated()
    let (before, after) = (Person(), Person())
    gated.link = before
    var rounds = 0
    gated.gate = {
      rounds += 1
      // Simulates another thread's set between the read and the registration.
      if rounds == 2 { gated.link = after }
    }
    let log = Recorder()
    log.observe(gated, \.name, [.new])
    gated.gate = nil
    before.first = "silent"
    after.first = "notified"
    expectEqual(log.take(), ["a new notified"])
  }

  private final class Chief: KVOObject {
    @Observed var name = "a"
    var gate: (() -> Void)?
    let life = Life(of: Chief.self)

    var shown: String {
      gate?()
      return name
    }
  }

  private final class Clerk: KVOObject {
    @Observed var chief: Chief?
    let life = Life(of: Clerk.self)
    init(_ chief: Chief) { self.chief = chief }
  }

  @Test("C4 F5: a registration that dies while others are read is not notified", arguments: 1...10)
  func diesWhileRead(_ call: Int) {
    let chief = Chief()
    let (first, last) = (Clerk(chief), Clerk(chief))
    var middle: [Clerk] = (0..<8).map { _ in Clerk(chief) }
    let log = Recorder()
    log.observe(first, \.chief?.shown, [.old, .new], as: "first")
    for clerk in middle { log.observe(clerk, \.chief?.shown, [.old, .new], as: "middle") }
    log.observe(last, \.chief?.shown, [.old, .new], as: "last")
    var calls = 0
    chief.gate = {
      calls += 1
      // At this point some are being read, and others not yet.
      if calls == call * 2 { middle.removeAll() }
    }
    chief.name = "b"
    chief.gate = nil
    expect(middle.isEmpty && calls >= call * 2)
    expectEqual(
      log.take().filter { $0 != "middle old a new b" },
      [
        "first old a new b", "last old a new b",
      ])
    chief.name = "c"
    expectEqual(log.take(), ["first old b new c", "last old b new c"])
  }
}

private protocol Noisy: KVOObject {
  var noise: Int { get set }
}

extension TrackingEdgeTests.Person: Noisy {}

private func required<Object: Noisy>(of type: Object.Type) -> KeyPath<Object, Int> { \.noise }

extension String {
  /// A part of a value, by a subscript with an argument.
  fileprivate subscript(atOffset offset: Int) -> Character {
    self[index(startIndex, offsetBy: min(offset, count - 1))]
  }
}
