import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B14: dictionaries on key paths, in every form, whatever their contents at registration.
@Suite(.leakFree) struct DictionaryPathTests {
  final class Holder: Tracked {
    @Observed var colours = ["red": 1]
    @Observed var maybe: [String: Int]?
    @Observed var nested: [String: [String: Int]] = [:]
    @Observed var mixed: [AnyHashable: Any] = [:]
    @Observed var content: Any?
    @Observed var people: [String: Holder] = [:]
    @Observed var rows: [[String: Any]] = []
    @Observed var number = 0
    @Observed var groups: [[String: [Holder]]] = []
    @Observed var next: Holder?
    var hue: Int { (try? value(forKeyPath: "colours.red") as? Int) ?? -1 }
    override class func registerKeys() {
      declareKeys { $0.computed("hue", \.hue, affectedBy: ["colours.red", "people.a.number"]) }
    }
  }

  static let forms: [(path: String, set: @Sendable (Holder, Int?) -> Void)] = [
    ("colours.red", { $0.colours["red"] = $1 }),
    ("maybe.red", { $0.maybe = $1.map { ["red": $0] } }),
    ("nested.a.red", { $0.nested["a"] = $1.map { ["red": $0] } }),
    ("mixed.red", { $0.mixed["red"] = $1 }),
    ("mixed.a.red", { $0.mixed = $1.map { ["a": ["red": $0]] } ?? [:] }),
    ("content.red", { $0.content = $1.map { ["red": $0] as [String: Any] } }),
    ("content.a.red", { $0.content = $1.map { ["a": ["red": $0] as [AnyHashable: Any]] } }),
    (
      "people.a.number",
      {
        $0.people["a"]?.number = $1 ?? 0
        if $1 == nil { $0.people["a"] = nil }
      }
    ),
    ("next.colours.red", { $0.next?.colours["red"] = $1 }),
  ]

  @Test(
    "B14: a dictionary's key is read and observed, registered before or after the dictionary is set",
    arguments: 0..<forms.count, [true, false])
  func keys(_ index: Int, _ isEarly: Bool) throws {
    let (path, set) = Self.forms[index]
    let holder = Holder()
    holder.colours = [:]
    holder.next = Holder()
    holder.next?.colours = [:]
    holder.people = ["a": Holder()]
    if !isEarly { set(holder, 1) }
    let log = Recorder()
    try log.observe(holder, path, [.new])
    if isEarly { set(holder, 1) }
    _ = log.take()
    set(holder, 2)
    expectEqual(try holder.value(forKeyPath: path) as? Int, 2)
    expectEqual(log.take(), ["a new 2"])
    set(holder, nil)
    expect(log.take().last == "a new nil")
  }

  @Test(
    "B14: a path is registered that a value without keys in a dictionary ends, and followed later",
    arguments: ["content.user.number", "mixed.user.number", "mixed.a.user.number"])
  func deadEnd(_ path: String) throws {
    let holder = Holder()
    func set(_ user: Any?) {
      let users = user.map { ["user": $0] } ?? [:]
      holder.content = users
      holder.mixed = ["user": user as Any, "a": users]
    }
    let (log, user) = (Recorder(), Holder())
    for value in [5, "x", true, 2.5] as [Any] {
      set(value)
      try log.observe(holder, path, [.new], as: "path")
    }
    #expect(throws: KeyValueError.self) { try holder.value(forKeyPath: path) }
    for operation in ["people.@count", "user.@count", "user.@sum.number", "user.@max.self"] {
      try log.observe(holder, "content." + operation, [.new], as: "operation")
    }
    _ = log.take()
    set(user)
    _ = log.take()
    user.number = 3
    expectEqual(
      log.take().filter { $0.hasPrefix("path") }, Array(repeating: "path new 3", count: 4))
    set([user])
    _ = log.take()
    user.number = 4
    expect(log.take().contains("operation new 4"))
    #expect(throws: KeyValueError.self) { try log.observe(holder, "number.user", [.new]) }
  }

  @Test("B14 G2: an object removed from a dictionary is silent")
  func detached() throws {
    let holder = Holder()
    let first = Holder()
    let second = Holder()
    holder.people = ["a": first]
    let log = Recorder()
    try log.observe(holder, "people.a.number", [.old, .new])
    holder.people["a"] = second
    first.number = 9
    second.number = 1
    holder.people = [:]
    second.number = 2
    expectEqual(log.take(), ["a old 0 new 0", "a old 0 new 1", "a old 1 new nil"])
  }

  @Test("B14 C6: an operator follows a dictionary's objects, and dictionaries in an array")
  func operators() throws {
    let holder = Holder()
    let first = Holder()
    let second = Holder()
    holder.people = ["a": first]
    holder.rows = [["n": first], ["n": 5]]
    let log = Recorder()
    try log.observe(holder, "people.@sum.number", [.new], as: "people")
    try log.observe(holder, "rows.@unionOfObjects.n.number", [.initial], as: "rows")
    _ = log.take()
    first.number = 3
    expectEqual(log.take().filter { $0.hasPrefix("people") }, ["people new 3"])
    holder.people["b"] = second
    second.number = 4
    expectEqual(log.take().filter { $0.hasPrefix("people") }, ["people new 3", "people new 7"])
  }

  @Test(
    "B14 C6: arrays that dictionaries hold are followed under an operator",
    arguments: [
      "groups.@unionOfArrays.items.number", "groups.@unionOfArrays.items.@unionOfObjects.number",
      "rows.@unionOfArrays.items.number", "rows.@unionOfArrays.items.@unionOfObjects.number",
    ])
  func arrays(_ path: String) throws {
    let holder = Holder()
    let first = Holder()
    let second = Holder()
    holder.groups = [["items": [first]], [:]]
    holder.rows = [["items": [first]], ["items": 5], [:]]
    let log = Recorder()
    try log.observe(holder, path, [.initial], as: "path")
    expectEqual(log.take().count, 1)
    first.number = 1
    expectEqual(log.take().count, 1)
    holder.groups[1]["items"] = [first, second]
    holder.rows[2]["items"] = [first, second]
    _ = log.take()
    second.number = 2
    expectEqual(log.take().count, 1)
    holder.groups = []
    holder.rows = []
    _ = log.take()
    first.number = 3
    second.number = 3
    expectEqual(log.take(), [])
  }

  @Test(
    "B14 C6: dictionaries and objects are followed together; a dictionary's leaf values are not"
  )
  func mixed() throws {
    let holder = Holder()
    let (first, second, last) = (Holder(), Holder(), Holder())
    first.next = last
    holder.content =
      [first, ["next": second], ["next": ["number": 100]], ["next": 5]] as [Any]
    let log = Recorder()
    let path = "content.@unionOfObjects.next.number"
    try log.observe(holder, path, [.new], as: "path")
    second.number = 1
    expectEqual(log.take().count, 1)
    last.number = 2
    expectEqual(log.take().count, 1)
    holder.content = [["next": last], ["next": second]] as [Any]
    expectEqual(log.take(), ["path new [2, 1]"])
    first.next = nil
    expectEqual(log.take(), [])
    last.number = 3
    expectEqual(log.take(), ["path new [3, 1]"])
  }

  @Test("B14 F1: a dictionary's key is a dependency, and so is a key of an object in it")
  func dependencies() throws {
    let holder = Holder()
    let person = Holder()
    let log = Recorder()
    log.observe(holder, \.hue, [.new])
    holder.colours = ["red": 7]
    holder.people["a"] = person
    person.number = 1
    expectEqual(log.take().count, 3)
  }

  @Test("B14: a dictionary's key is set, on a path of any length")
  func setting() throws {
    let holder = Holder()
    holder.nested = ["a": [:]]
    holder.mixed = ["a": ["red": 1]]
    holder.content = ["red": 1] as [AnyHashable: Any]
    try holder.setValue(5, forKeyPath: "nested.a.red")
    try holder.setValue(6, forKeyPath: "mixed.a.red")
    try holder.setValue(7, forKeyPath: "content.red")
    expect(holder.nested == ["a": ["red": 5]])
    expect(try holder.value(forKeyPath: "mixed.a.red") as? Int == 6)
    expect(try holder.value(forKeyPath: "content.red") as? Int == 7)
  }

  @Test(
    "B6: an operator without its @ is suggested", arguments: ["sum", "count", "unionOfObjects"])
  func suggestion(_ name: String) {
    let error = keyValueError { _ = try [Holder()].value(forKeyPath: "\(name).number") }
    expect("\(error!)".hasSuffix("Did you mean \"@\(name)\"?"))
  }
}
