import CFixtures
import CKVORuntime
import Expectations
import Glibc
import KVORuntime
import TestSupport
import Testing

/// F6: `key(of:)`, the string of a key path.
@Suite struct KeyNameTests {
  class Person: KVOObject {
    @Observed var name = ""
    @Observed private(set) var age = 1
    @Observed var boss: Person?
    @Observed var nothing: Void = ()
    var nick = ""
    final var tail = 1
    lazy var late = 2
    weak var owner: Person?
    private var secret = 1
    var upper: String { name.uppercased() }
    var limit = Limit()
    @Observed var friends: [Person] = []
    struct Limit { var amount = 1 }
    subscript() -> Int { 1 }

    override class func registerKeys() {
      declareKeys {
        $0.computed("capitals", \.upper)
        $0.stored("end", \.tail)
      }
    }

    class func own() -> [String] { [key(of: \.name), Person.key(of: \.secret)] }
  }
  final class Student: Person {
    @Observed var school = ""
    var room = 1
    override var name: String {
      get { super.name }
      set { super.name = newValue + "!" }
    }
  }
  class Box<Content>: KVOObject {
    @Observed var content: Content
    var plain: Content
    init(_ content: Content) {
      self.content = content
      plain = content
      super.init()
    }
  }

  @Test("F6: a class gives each of its properties' keys, of any kind, and calls no program code")
  func classes() {
    expectEqual(Person.key(of: \.name), "name")
    expectEqual(Person.key(of: \.age), "age")
    expectEqual(Person.key(of: \.nothing), "nothing")
    expectEqual(Person.key(of: \.nick), "nick")
    expectEqual(Person.key(of: \.late), "late")
    expectEqual(Person.key(of: \.owner), "owner")
    expectEqual(Person.own(), ["name", "secret"])
    expect(Student.key(of: \.school) == "school" && Student.key(of: \.room) == "room")
    expect(Student.key(of: \.name) == "name" && Student.key(of: \.nick) == "nick")
    expect(Box<Int>.key(of: \.content) == "content" && Box<String>.key(of: \.plain) == "plain")
    expectEqual(Person.key(of: \.self), "self")
  }

  /// Properties of every kind. Several getters have the same body.
  class Sorts: KVOObject, HasLength {
    @Observed var observed = 1
    @Observed final var finalObserved = 1
    @Observed private var privateObserved = 1
    var stored = 1
    final var finalStored = 1
    private var privateStored = 1
    fileprivate let constant = 1
    var computed: Int { 7 }
    var alsoComputed: Int { 7 }
    final var finalComputed: Int { 7 }
    final var alsoFinalComputed: Int { 7 }
    private var privateComputed: Int { 7 }
    private var alsoPrivateComputed: Int { 7 }
    private final var privateFinal: Int { 7 }
    private final var alsoPrivateFinal: Int { 7 }
    var writable: Int {
      get { stored }
      set { stored = newValue }
    }
    class var own: [(PartialKeyPath<Sorts>, String)] {
      [
        (\.privateObserved, "privateObserved"), (\.privateStored, "privateStored"),
        (\.privateComputed, "privateComputed"), (\.alsoPrivateComputed, "alsoPrivateComputed"),
        (\.privateFinal, "privateFinal"), (\.alsoPrivateFinal, "alsoPrivateFinal"),
      ]
    }
  }
  /// Members in the same order, with the same bodies.
  class Twins: KVOObject, HasLength {
    @Observed var seen = 1
    @Observed final var finalSeen = 1
    @Observed private var privateSeen = 1
    var kept = 1
    var reckoned: Int { 7 }
    final var finalReckoned: Int { 7 }
    private var privateReckoned: Int { 7 }
    class var own: [(PartialKeyPath<Twins>, String)] {
      [(\.privateSeen, "privateSeen"), (\.privateReckoned, "privateReckoned")]
    }
  }
  class Subsorts: Sorts {
    override var computed: Int { 8 }
    override var observed: Int { didSet {} }
  }
  final class FinalSorts: Subsorts {
    override var computed: Int { 9 }
    override var stored: Int {
      get { 1 }
      set {}
    }
  }

  @Test("F6: a class names properties of every kind, also in optimised programs")
  func sorts() {
    let all: [(PartialKeyPath<Sorts>, String)] =
      Sorts.own + [
        (\.observed, "observed"), (\.finalObserved, "finalObserved"), (\.stored, "stored"),
        (\.finalStored, "finalStored"), (\.constant, "constant"), (\.computed, "computed"),
        (\.alsoComputed, "alsoComputed"), (\.finalComputed, "finalComputed"),
        (\.alsoFinalComputed, "alsoFinalComputed"), (\.writable, "writable"),
        (\.extended, "extended"), (\.alsoExtended, "alsoExtended"), (\.length, "length"),
        (\.alsoLength, "alsoLength"),
      ]
    for (keyPath, name) in all { expectEqual(Sorts.key(of: keyPath), name) }
    let twins: [(PartialKeyPath<Twins>, String)] =
      Twins.own + [
        (\.seen, "seen"), (\.finalSeen, "finalSeen"), (\.kept, "kept"), (\.reckoned, "reckoned"),
        (\.finalReckoned, "finalReckoned"), (\.length, "length"),
      ]
    for (keyPath, name) in twins { expectEqual(Twins.key(of: keyPath), name) }
  }

  @Test("F6: a subclass names inherited and overridden properties, also in optimised programs")
  func subclasses() {
    let middle: [(PartialKeyPath<Subsorts>, String)] = [
      (\.computed, "computed"), (\.alsoComputed, "alsoComputed"), (\.observed, "observed"),
      (\.finalComputed, "finalComputed"), (\.extended, "extended"), (\.length, "length"),
      (\.writable, "writable"),
    ]
    for (keyPath, name) in middle { expectEqual(Subsorts.key(of: keyPath), name) }
    let last: [(PartialKeyPath<FinalSorts>, String)] = [
      (\.computed, "computed"), (\.stored, "stored"), (\.alsoComputed, "alsoComputed"),
      (\.observed, "observed"), (\.finalStored, "finalStored"), (\.alsoLength, "alsoLength"),
    ]
    for (keyPath, name) in last { expectEqual(FinalSorts.key(of: keyPath), name) }
  }

  class Generic<Content>: KVOObject {
    @Observed var observed: Content
    @Observed final var finalObserved = 1
    var stored: Content
    final var finalStored: Content
    var computed: Content { stored }
    final var finalComputed: Content { stored }
    var number: Int { 7 }
    final var finalNumber: Int { 7 }
    init(_ content: Content) {
      observed = content
      stored = content
      finalStored = content
      super.init()
    }

    static var all: [(PartialKeyPath<Generic>, String)] {
      [
        (\.observed, "observed"), (\.finalObserved, "finalObserved"), (\.stored, "stored"),
        (\.finalStored, "finalStored"), (\.computed, "computed"),
        (\.finalComputed, "finalComputed"), (\.number, "number"), (\.finalNumber, "finalNumber"),
        (\.extended, "extended"),
      ]
    }
  }
  final class Special: Generic<Int> {
    override var number: Int { 8 }
    override var computed: Int { 8 }
  }

  @Test("F6: a generic class names its properties, in generic code and outside it")
  func generics() {
    for (keyPath, name) in Generic<Int>.all { expectEqual(Generic<Int>.key(of: keyPath), name) }
    for (keyPath, name) in Generic<[String]>.all {
      expectEqual(Generic<[String]>.key(of: keyPath), name)
    }
    expectEqual(Generic<Int>.key(of: \.observed), "observed")
    expectEqual(Generic<Int>.key(of: \.finalComputed), "finalComputed")
    expectEqual(Generic<String>.key(of: \.stored), "stored")
    expectEqual(Generic<Int>.key(of: \.onlyOfNumbers), "onlyOfNumbers")
    expect(Special.key(of: \.number) == "number" && Special.key(of: \.computed) == "computed")
    expect(Special.key(of: \.observed) == "observed" && Special.key(of: \.extended) == "extended")
  }

  @Test("F6: a class inside a function names its properties")
  func local() {
    class Local: KVOObject {
      @Observed var observed = 1
      var computed: Int { 7 }
      final var finalComputed: Int { 7 }
    }
    class Sublocal: Local { override var computed: Int { 8 } }
    expect(Local.key(of: \.observed) == "observed" && Local.key(of: \.computed) == "computed")
    expectEqual(Local.key(of: \.finalComputed), "finalComputed")
    expectEqual(Sublocal.key(of: \.computed), "computed")
    expectEqual(Sublocal.key(of: \.finalComputed), "finalComputed")
  }

  @Test("F6: a declared property has the key under which it was declared")
  func declared() {
    expect(Person.key(of: \.upper) == "capitals" && Person.key(of: \.tail) == "end")
    expect(Student.key(of: \.upper) == "capitals" && Person().key(of: \.tail) == "end")
  }

  @Test("F6: a declaration also applies to a key path that was named before")
  func declaredLater() {
    expectEqual(Late.key(of: \.total), "total")
    Late.declareKeys { $0.computed("sum", \.total) }
    expectEqual(Late.key(of: \.total), "sum")
  }
  private class Late: KVOObject {
    var total: Int { 1 }
  }

  /// Its properties have raw identifiers.
  class Raw: KVOObject {
    @Observed var `first name` = ""
    @Observed final var `last name` = ""
    @Observed var `my.name` = ""
    @Observed var `@count` = 1
    var `plain one` = 1
    final var `final : (one)` = 1
    lazy var `late one` = 1
    weak var `the boss`: Raw?
    var `whole <name>`: String { `first name` + `my.name` }
    var `full.name`: String { `my.name` }
    var `read.alone`: Int { 1 }
    var `old.name` = ""
    @Observed var `class` = 1
    override class func registerKeys() { declareKeys { $0.stored("oldName", \.`old.name`) } }
  }
  class `Raw.Box`: KVOObject {
    @Observed var name = ""
    var upper: String { name.uppercased() }
    var `low er`: String { name.lowercased() }
  }

  @Test("F6: a raw identifier is the key without its backticks")
  func rawNames() throws {
    let names: [(PartialKeyPath<Raw>, String)] = [
      (\.`first name`, "first name"), (\.`last name`, "last name"), (\.`plain one`, "plain one"),
      (\.`final : (one)`, "final : (one)"), (\.`late one`, "late one"), (\.`the boss`, "the boss"),
      (\.`whole <name>`, "whole <name>"), (\.`class`, "class"), (\.`old.name`, "oldName"),
      (\.`the boss`?.`first name`, "the boss.first name"),
    ]
    for (keyPath, name) in names { expectEqual(Raw.key(of: keyPath), name) }
    let raw = Raw()
    for key in ["first name", "last name", "my.name", "@count", "plain one", "the boss", "oldName"]
    {
      #expect(throws: Never.self) { try raw.value(forKey: key) }
    }
    try raw.setValue("Ada", forKey: "first name")
    try raw.setValue("x", forKey: "my.name")
    expect(raw.`first name` == "Ada" && raw.`my.name` == "x")
    expect(try raw.value(forKeyPath: "self.first name") as? String == "Ada")
    expect(`Raw.Box`.key(of: \.upper) == "upper" && `Raw.Box`.key(of: \.`low er`) == "low er")
    // The standard library's mirrors replace each space by a no-break space.
    let labels = Mirror(reflecting: raw).children.compactMap {
      $0.label?.replacing("\u{A0}", with: " ")
    }
    expectEqual(
      labels.prefix(5), ["`first name`", "`last name`", "`my.name`", "`@count`", "`plain one`"])
  }

  @Test("F6: a raw identifier is observed as any other name")
  func rawObserved() throws {
    let raw = Raw()
    let log = Recorder()
    log.observe(raw, \.`my.name`, .new, as: "a")
    log.observe(raw, \.`last name`, .new, as: "b")
    log.observe(raw, \.`whole <name>`, .new, as: "c")
    try log.observe(raw, "first name", .new, as: "d")
    raw.`my.name` = "1"
    expectEqual(log.take(), ["a new 1", "c new 1"])
    raw.`last name` = "2"
    expectEqual(log.take(), ["b new 2"])
    raw.`first name` = "3"
    expectEqual(log.take(), ["d new 3", "c new 31"])
  }

  /// Its declared keys have strings that are key paths.
  final class Divided: KVOObject {
    @Observed var owner = Raw()
    @Observed var title = 1
    override class func registerKeys() {
      declareKeys {
        $0.stored("owner.first name", \.title)
        $0.computed("@double", \.double)
      }
    }
    var double: Int { 2 * title }
  }

  @Test("F6: a declared key with a dot is not observed as a key path")
  func dividedDeclared() throws {
    let object = Divided()
    let log = Recorder()
    log.observe(object, \.title, .new, as: "a")
    log.observe(object, \.double, .new, as: "b")
    object.owner.`first name` = "no number"
    expectEqual(log.take(), [])
    object.title = 2
    expectEqual(log.take(), ["a new 2", "b new 4"])
    try object.setValue(3, forKey: "owner.first name")
    expect(object.title == 3 && log.take() == ["a new 3", "b new 6"])
    object.withChange(of: \.title) {}
    expectEqual(log.take(), ["a new 3", "b new 6"])
  }

  @Test(
    "F6: a name that a key path would split stops, and says what to declare",
    arguments: ["my.name", "full.name", "@count", "of an object", "later"])
  func divided(_ which: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [which] in
      switch which {
      case "my.name": _ = Raw.key(of: \.`my.name`)
      case "full.name": _ = Raw.key(of: \.`full.name`)
      case "@count": _ = Raw.key(of: \.`@count`)
      case "later": _ = Raw.key(of: \.`the boss`?.`my.name`)
      default: _ = Raw().key(of: \.`my.name`)
      }
    }
    let name = which == "of an object" || which == "later" ? "my.name" : which
    let text = try require(result).errors
    let path = which == "later" ? "`the boss`?.`my.name`?" : "`\(name)`"
    expect(
      text.contains("key(of:) can't name \\Raw.\(path): the name of this property of Raw is no key")
    )
    expect(text.contains("declareKeys { $0.stored(\"<key>\", \\.`\(name)`) } if it is stored"))
  }

  @Test("F6: messages show such a name as written in the source")
  func rawMessage() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Raw().observe(\.`read.alone`) { _, _ in }
    }
    let text = try require(result).errors
    expect(text.contains("The key path \\Raw.`read.alone` of type Int can't be observed"))
    expect(text.contains("It is \"read.alone\", which is computed"))
    expect(text.contains("declareKeys { $0.computed(\"read.alone\", \\.`read.alone`) }"))
  }

  @Test("F6: a key path over objects gives the string key path, optional links or not")
  func paths() {
    expectEqual(Person.key(of: \.boss?.name), "boss.name")
    expectEqual(Person.key(of: \.boss!.boss?.upper), "boss.boss.capitals")
    expectEqual(Person.key(of: \.owner?.boss?.nick), "owner.boss.nick")
    expectEqual(Person.key(of: \.boss?.tail), "boss.end")
  }

  @Test("F6: an object gives the same string, and key-value coding accepts it")
  func objects() throws {
    let person = Person()
    person.boss = Person()
    person.boss?.name = "Ada"
    expect(person.key(of: \.name) == "name" && Student().key(of: \.name) == "name")
    expect(try person.value(forKeyPath: person.key(of: \.boss?.name)) as? String == "Ada")
    expect(try person.value(forKey: Person.key(of: \.upper)) as? String == "")
    expect(person.observationInfo == nil)
  }

  @Test(
    "F6: a key path without a key stops, naming the key path and the cause",
    arguments: ["part", "element", "count", "bare subscript"])
  func refused(_ which: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [which] in
      switch which {
      case "part": _ = Person.key(of: \.limit.amount)
      case "element": _ = Person.key(of: \.friends[0])
      case "bare subscript": _ = Person.key(of: \.boss?[])
      default: _ = Person.key(of: \.friends.count)
      }
    }
    let text = try require(result).errors
    let expected = [
      "part": "key(of:) can't name \\Person.limit.amount: a value of type Limit has no keys.",
      "element": "key(of:) can't name \\Person.friends[…]: a subscript is no key.",
      "bare subscript": "key(of:) can't name \\Person.boss?[…]?: a subscript is no key.",
      "count":
        "key(of:) can't name \\Person.friends.count: a value of type [Person] has no keys.",
    ]
    expect(text.contains(expected[which]!))
  }

  /// The symbols that were visited.
  private final class Visit {
    var places: [String: UnsafeRawPointer] = [:]

    init(near address: UnsafeRawPointer) {
      kvo_visit_symbols(
        address,
        { context, name, address in
          let visit = Unmanaged<Visit>.fromOpaque(context!).takeUnretainedValue()
          visit.places[String(cString: name)] = address
        }, Unmanaged.passUnretained(self).toOpaque())
    }
  }

  @Test("J1: the symbols of a program are visited with their names and addresses")
  func symbols() {
    typealias Function =
      @convention(c) (
        UnsafeRawPointer,
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>, UnsafeRawPointer) -> Void,
        UnsafeMutableRawPointer?
      ) -> Void
    let function: Function = kvo_visit_symbols
    let place = unsafeBitCast(function, to: UnsafeRawPointer.self)
    expectEqual(Visit(near: place).places["kvo_visit_symbols"], place)
    expect(Visit(near: UnsafeRawPointer(bitPattern: 16)!).places.isEmpty)
    // Libraries are usually stripped of everything that the dynamic linker does not need.
    let library = Visit(near: dlsym(nil, "qsort")!).places
    expect(library.isEmpty || library["qsort"] != nil)
  }
}

protocol HasLength: AnyObject {}

extension HasLength {
  var length: Int { 7 }
  var alsoLength: Int { 7 }
}

extension KeyNameTests.Sorts {
  var extended: Int { 7 }
  private var hidden: Int { 7 }
  fileprivate var alsoExtended: Int { hidden }
}

extension KeyNameTests.Generic {
  var extended: Int { 7 }
}

extension KeyNameTests.Generic where Content == Int {
  var onlyOfNumbers: Int { 7 }
}
