import CFixtures
import CKVORuntime
import Glibc
import KVORuntime
import TestSupport
import Testing

/// F6: `key(of:)`, the string that a key path stands for.
@Suite(.enabled(if: _isDebugAssertConfiguration(), "by symbols that optimised code lacks"))
struct KeyNameTests {
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

  @Test("F6: a class gives the key of each of its properties, whatever they are, and calls nothing")
  func classes() {
    #expect(Person.key(of: \.name) == "name")
    #expect(Person.key(of: \.age) == "age")
    #expect(Person.key(of: \.nothing) == "nothing")
    #expect(Person.key(of: \.nick) == "nick")
    #expect(Person.key(of: \.late) == "late")
    #expect(Person.key(of: \.owner) == "owner")
    #expect(Person.own() == ["name", "secret"])
    #expect(Student.key(of: \.school) == "school" && Student.key(of: \.room) == "room")
    #expect(Student.key(of: \.name) == "name" && Student.key(of: \.nick) == "nick")
    #expect(Box<Int>.key(of: \.content) == "content" && Box<String>.key(of: \.plain) == "plain")
    #expect(Person.key(of: \.self) == "self")
  }

  @Test("F6: a declared property has the key under which it was declared")
  func declared() {
    #expect(Person.key(of: \.upper) == "capitals" && Person.key(of: \.tail) == "end")
    #expect(Student.key(of: \.upper) == "capitals" && Person().key(of: \.tail) == "end")
  }

  @Test("F6: a declaration counts also for a key path that was named before")
  func declaredLater() {
    #expect(Late.key(of: \.total) == "total")
    Late.declareKeys { $0.computed("sum", \.total) }
    #expect(Late.key(of: \.total) == "sum")
  }
  private class Late: KVOObject {
    var total: Int { 1 }
  }

  @Test("F6: a key path over objects gives the key path, with or without a mark for nil")
  func paths() {
    #expect(Person.key(of: \.boss?.name) == "boss.name")
    #expect(Person.key(of: \.boss!.boss?.upper) == "boss.boss.capitals")
    #expect(Person.key(of: \.owner?.boss?.nick) == "owner.boss.nick")
    #expect(Person.key(of: \.boss?.tail) == "boss.end")
  }

  @Test("F6: an object gives the same, and the string is one that key-value coding takes")
  func objects() throws {
    let person = Person()
    person.boss = Person()
    person.boss?.name = "Ada"
    #expect(person.key(of: \.name) == "name" && Student().key(of: \.name) == "name")
    #expect(try person.value(forKeyPath: person.key(of: \.boss?.name)) as? String == "Ada")
    #expect(try person.value(forKey: Person.key(of: \.upper)) as? String == "")
    #expect(person.observationInfo == nil)
  }

  @Test(
    "F6: what is no key stops, with the key path and the cause named",
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
    let text = try #require(result).errors
    let expected = [
      "part": "key(of:) can't name \\Person.limit.amount: a value of type Limit has no keys.",
      "element": "key(of:) can't name \\Person.friends[…]: a subscript is no key.",
      "count":
        "key(of:) can't name \\Person.friends.count: a value of type Array<Person> has no keys.",
    ]
    #expect(text.contains(expected[which]!))
  }

  /// What was visited.
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
    #expect(Visit(near: place).places["kvo_visit_symbols"] == place)
    #expect(Visit(near: UnsafeRawPointer(bitPattern: 16)!).places.isEmpty)
    // A library mostly is stripped of what the dynamic linker does not need.
    let library = Visit(near: dlsym(nil, "qsort")!).places
    #expect(library.isEmpty || library["qsort"] != nil)
  }
}
