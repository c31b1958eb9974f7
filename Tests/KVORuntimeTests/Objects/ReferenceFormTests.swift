import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B2, G3: weak and unowned references, to classes and to protocols, are keys like others.
@Suite(.leakFree) struct ReferenceFormTests {
  static let keys = [
    "anything", "named", "both", "worker", "certain", "bound", "pair", "loose", "looseNamed",
    "looseWorker", "looseCertain",
  ]

  @Test(
    "B2: a reference of any form and type is set and read by key with the property's semantics",
    arguments: keys)
  func setAndRead(_ key: String) throws {
    let first = Person("first")
    let links = Links(first)
    let second = Person("second")
    try links.setValue(second, forKey: key)
    expect(try links.value(forKey: key) as? Person === second)
    expect(links.held(key) === second)
    expect(try links.value(forKeyPath: key + ".name") as? String == "second")
    try links.setValue("renamed", forKeyPath: key + ".name")
    expect(second.name == "renamed" && first.name == "first")
    let error = keyValueError { try links.setValue(3, forKey: key) }
    guard case .typeMismatch = error else {
      return expect(Bool(false), "\(String(describing: error))")
    }
    expect(links.held(key) === second)
  }

  @Test("B2: optional references accept and return nil; others refuse it", arguments: keys)
  func nilled(_ key: String) throws {
    let first = Person("first")
    let links = Links(first)
    try links.setValue(first, forKey: key)
    let error = keyValueError { try links.setValue(nil, forKey: key) }
    if key == "certain" || key == "looseCertain" || key == "bound" {
      expectEqual(error, .nilValue(key: key, className: "Links"))
      expect(links.held(key) === first)
    } else {
      expect(error == nil)
      expect(links.held(key) == nil)
      expect(try links.value(forKey: key) == nil)
    }
  }

  @Test("B2: methods on a protocol's reference set by key are the object's")
  func witnesses() throws {
    let person = Person("Ada")
    let links = Links(person)
    for key in ["named", "both", "pair", "looseNamed"] { try links.setValue(person, forKey: key) }
    expect(links.named?.spoken == "I am Ada" && links.both?.shouted == "ADA")
    expect(links.pair?.first == 1 && links.looseNamed?.spoken == "I am Ada")
    let other = Robot()
    try links.setValue(other, forKey: "named")
    expectEqual(links.named?.spoken, "beep")
    expect(keyValueError { try links.setValue(other, forKey: "both") } != nil)
    expectEqual(links.both?.shouted, "ADA")
  }

  @Test(
    "B2 G3: a key does not retain a reference, which reads as nil after a death",
    arguments: [
      "anything", "named", "both", "worker", "pair",
    ])
  func deaths(_ key: String) throws {
    let first = Person("first")
    let links = Links(first)
    let log = Recorder()
    try log.observe(links, key + ".name", [.old, .new], as: "path")
    try log.observe(links, key, as: "key")
    do {
      let brief = Person("brief")
      try links.setValue(brief, forKey: key)
      brief.name = "short"
      expectEqual(
        log.take(), ["path old nil new brief", "key", "path old brief new short"])
    }
    expect(links.held(key) == nil)
    expect(try links.value(forKey: key) == nil)
    expect(try links.value(forKeyPath: key + ".name") == nil)
    expectEqual(log.take(), [])
    try links.setValue(first, forKey: key)
    expectEqual(log.take(), ["path old nil new first", "key"])
  }

  @Test(
    "B2 E3 G1: a reference is a link of a string path, changed manually, and followed",
    arguments: keys)
  func links(_ key: String) throws {
    let (first, second) = (Person("first"), Person("second"))
    let links = Links(first)
    try links.setValue(first, forKey: key)
    let log = Recorder()
    try log.observe(links, key + ".name", [.old, .new])
    links.withChange(forKey: key) { links.hold(second, key) }
    second.name = "other"
    first.name = "silent"
    expectEqual(log.take(), ["a old first new second", "a old second new other"])
    links.withChange(forKey: key) { links.hold(first, key) }
    expectEqual(log.take(), ["a old other new silent"])
  }

  @Test("B2: a generic class's weak references, in any specialisation")
  func generic() throws {
    let person = Person("Ada")
    let holder = Holder<Person>()
    try holder.setValue(person, forKey: "held")
    try holder.setValue(person, forKey: "source")
    expect(holder.held === person && holder.source === person)
    expect(try holder.value(forKeyPath: "held.name") as? String == "Ada")
    expectEqual(holder.source?.item, "Ada")
    expect(keyValueError { try holder.setValue(Robot(), forKey: "source") } != nil)
  }

  @Test("B2: structs' references to protocols that are not class-only are values as before")
  func values() throws {
    let holder = Holder<Person>()
    try holder.setValue(3, forKey: "value")
    expect(holder.value as? Int == 3)
  }
}

private protocol Named: AnyObject {
  var spoken: String { get }
}

private protocol Loud: AnyObject {
  var shouted: String { get }
}

private protocol Source<Item>: AnyObject {
  associatedtype Item
  var item: Item { get }
}

private protocol Value {}
extension Int: Value {}

private class Person: Tracked, Named, Loud, Source {
  @Observed var name: String
  var first = 1

  init(_ name: String) {
    self.name = name
    super.init()
  }

  var spoken: String { "I am \(name)" }
  var shouted: String { name.uppercased() }
  var item: String { name }
}

private final class Robot: Named {
  let spoken = "beep"
}

private final class Links: Tracked {
  weak var anything: AnyObject?
  weak var named: (any Named)?
  weak var both: (any Named & Loud)?
  weak var worker: Person?
  unowned var certain: AnyObject
  unowned var bound: any Named & Loud
  weak var pair: (Person & Named)?
  unowned(unsafe) var loose: AnyObject?
  unowned(unsafe) var looseNamed: (any Named)?
  unowned(unsafe) var looseWorker: Person?
  unowned(unsafe) var looseCertain: Person
  var after = 1

  init(_ person: Person) {
    certain = person
    bound = person
    looseCertain = person
    super.init()
  }

  /// The value that Swift reads from the property.
  func held(_ key: String) -> AnyObject? {
    expectEqual(after, 1)
    return switch key {
    case "anything": anything
    case "named": named
    case "both": both
    case "worker": worker
    case "certain": certain
    case "bound": bound
    case "pair": pair
    case "loose": loose
    case "looseNamed": looseNamed
    case "looseWorker": looseWorker
    default: looseCertain
    }
  }

  func hold(_ person: Person, _ key: String) {
    switch key {
    case "anything": anything = person
    case "named": named = person
    case "both": both = person
    case "worker": worker = person
    case "certain": certain = person
    case "bound": bound = person
    case "pair": pair = person
    case "loose": loose = person
    case "looseNamed": looseNamed = person
    case "looseWorker": looseWorker = person
    default: looseCertain = person
    }
  }
}

private final class Holder<Held: AnyObject>: Tracked {
  weak var held: Held?
  weak var source: (any Source<String>)?
  var value: any Value = 1
}
