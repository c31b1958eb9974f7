import CFixtures
import CKVORuntime
import Expectations
import Glibc
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// F6: `key(of:)`, the string of a key path.
@Suite struct KeyNameTests {
  class Person: KVOObject {
    @Observed var name = ""
    @Observed final var age = 1
    @Observed var boss: Person?
    var nick = ""
    final var tail = 1
    final var title = ""
    lazy var late = 2
    weak var owner: Person?
    private final var secret = 1
    var upper: String { name.uppercased() }
    var lower: String { name.lowercased() }
    final var limit = Limit()
    final var friends: [Person] = []
    struct Limit { var amount = 1 }

    override class func registerKeys() {
      declareKeys {
        $0.computed("capitals", \.upper)
        $0.stored("end", \.tail)
        $0.computed("boss", \.boss)
      }
    }

    class func own() -> [String] { [key(of: \.title), Person.key(of: \.secret)] }
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
    final var content: Content
    var twice: [Content] { [content, content] }
    init(_ content: Content) {
      self.content = content
      super.init()
    }
    override class func registerKeys() { declareKeys { $0.computed("twice", \.twice) } }
  }

  @Test(
    "F6: a class gives the keys of declared properties and of final plain ones, and calls no program code"
  )
  func classes() {
    expectEqual(Person.key(of: \.title), "title")
    expectEqual(Person.own(), ["title", "secret"])
    expect(Student.key(of: \.room) == "room" && Student.key(of: \.title) == "title")
    expect(Box<Int>.key(of: \.content) == "content" && Box<String>.key(of: \.content) == "content")
    expectEqual(Box<Int>.key(of: \.twice), "twice")
    expectEqual(Person.key(of: \.self), "self")
  }

  @Test(
    "F6: another property stops with class and remedies, whatever symbols the program has",
    arguments: ["name", "age", "nick", "late", "owner", "lower", "path", "object"])
  func unknown(_ which: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [which] in
      // It makes no difference that an object has been observed, or asked for its key, by the key path.
      let person = Person()
      person.observe(\.name) { _, _ in }.invalidate()
      expectEqual(person.key(of: \.name), "name")
      switch which {
      case "name": _ = Person.key(of: \.name)
      case "age": _ = Person.key(of: \.age)
      case "nick": _ = Person.key(of: \.nick)
      case "late": _ = Person.key(of: \.late)
      case "owner": _ = Person.key(of: \.owner)
      case "path": _ = Person.key(of: \.boss?.name)
      case "object": _ = person.key(of: \.lower)
      default: _ = Person.key(of: \.lower)
      }
    }
    let text = try require(result).errors
    let type = ["age": "Int", "late": "Int", "owner": "Optional<Person>"][which] ?? "String"
    let paths = ["path": "boss?.<a property of type String>?", "name": "name"]
    let path = paths[which] ?? "<a property of type \(type)>"
    expect(
      text.contains(
        "key(of:) can't name \\Person.\(path): the name of this property of Person is unknown, since it is "
          + "computed, @Observed or @KVOIgnored, or may be overridden. Give the class @KVO, and the property no "
          + "@KVOIgnored; or declare the key in registerKeys(), "
      ), "\(text)")
  }

  @Test("F6: a declared property has the key under which it was declared")
  func declared() {
    expect(Person.key(of: \.upper) == "capitals" && Person.key(of: \.tail) == "end")
    expect(Student.key(of: \.upper) == "capitals" && Person().key(of: \.tail) == "end")
  }

  @Test("F6: a declaration also applies to a key path that was named before")
  func declaredLater() {
    expectEqual(Late.key(of: \.total), "total")
    Late.declareKeys { $0.stored("sum", \.total) }
    expectEqual(Late.key(of: \.total), "sum")
  }
  private class Late: KVOObject {
    final var total = 1
  }

  /// Its properties have raw identifiers.
  class Raw: KVOObject {
    @Observed var `first name` = ""
    @Observed final var `last name` = ""
    @Observed var `my.name` = ""
    @Observed var `@count` = 1
    var `plain one` = 1
    final var `final : (one)` = 1
    final var `fin.al` = 1
    lazy var `late one` = 1
    weak var `the boss`: Raw?
    var `whole <name>`: String { `first name` + `my.name` }
    var `read.alone`: Int { 1 }
    var `old.name` = ""
    @Observed var `class` = 1
    override class func registerKeys() { declareKeys { $0.stored("oldName", \.`old.name`) } }
  }
  @Test("F6: a raw identifier is the key without its backticks")
  func rawNames() throws {
    expect(
      Raw.key(of: \.`final : (one)`) == "final : (one)" && Raw.key(of: \.`old.name`) == "oldName")
    let raw = Raw()
    let names: [(PartialKeyPath<Raw>, String)] = [
      (\.`first name`, "first name"), (\.`last name`, "last name"), (\.`class`, "class"),
    ]
    for (keyPath, name) in names { expectEqual(raw.key(of: keyPath), name) }
    for key in ["first name", "last name", "my.name", "@count", "plain one", "the boss", "oldName"]
    {
      #expect(throws: Never.self) { try raw.value(forKey: key) }
    }
    try raw.setValue("Ada", forKey: "first name")
    try raw.setValue("x", forKey: "my.name")
    expect(raw.`first name` == "Ada" && raw.`my.name` == "x")
    expect(try raw.value(forKeyPath: "self.first name") as? String == "Ada")
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
    arguments: ["my.name", "@count", "fin.al"])
  func divided(_ which: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [which] in
      switch which {
      case "my.name": _ = Raw().key(of: \.`my.name`)
      case "@count": _ = Raw().key(of: \.`@count`)
      default: _ = Raw.key(of: \.`fin.al`)
      }
    }
    let text = try require(result).errors
    expect(text.contains("key(of:) can't name \\Raw."))
    expect(text.contains(": the name of this property of Raw can't be a key"))
    expect(text.contains("declareKeys { $0.stored(\"<key>\", \\.`\(which)`) } if it is stored"))
  }

  @Test("F6: messages show such a name as written in the source")
  func rawMessage() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Raw().observe(\.`fin.al`) { _, _ in }
    }
    let text = try require(result).errors
    expect(text.contains("The key path \\Raw.`fin.al` of type Int can't be observed"), "\(text)")
    expect(text.contains("declareKeys { $0.stored(\"fin.al\", \\.`fin.al`) }"))
  }

  @Test("F6: a key path over objects gives the string key path, optional links or not")
  func paths() {
    expectEqual(Person.key(of: \.boss?.title), "boss.title")
    expectEqual(Person.key(of: \.boss!.boss?.upper), "boss.boss.capitals")
    expectEqual(Person.key(of: \.boss?.tail), "boss.end")
  }

  @Test("F6: an object names @Observed properties as well, and key-value coding accepts the string")
  func objects() throws {
    let person = Person()
    person.boss = Person()
    person.boss?.tail = 5
    expect(person.key(of: \.name) == "name" && Student().key(of: \.name) == "name")
    expect(person.key(of: \.age) == "age" && Student().key(of: \.school) == "school")
    expect(try person.value(forKeyPath: person.key(of: \.boss?.tail)) as? Int == 5)
    expect(try person.value(forKey: Person.key(of: \.upper)) as? String == "")
    expect(person.observationInfo == nil)
  }

  @Test(
    "F6: a key path without a key stops, naming the key path and the cause",
    arguments: ["part", "element", "count"])
  func refused(_ which: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [which] in
      switch which {
      case "part": _ = Person.key(of: \.limit.amount)
      case "element": _ = Person.key(of: \.friends[0])
      default: _ = Person.key(of: \.friends.count)
      }
    }
    let text = try require(result).errors
    let expected = [
      "part": "key(of:) can't name \\Person.limit.amount: a value of type Limit has no keys.",
      "element": "key(of:) can't name \\Person.friends[…]: a subscript is not a key.",
      "count":
        "key(of:) can't name \\Person.friends.<a property of type Int>: a value of type [Person] has no keys.",
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
