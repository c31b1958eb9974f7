import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// R8: observing defaults by their keys.
@Suite(.leakFree, .serialized) struct UserDefaultsTests {
  private static let count = Count()
  private let suite: String

  init() {
    Self.count.add()
    suite = "kvo-tests-\(ProcessInfo.processInfo.processIdentifier)-\(Self.count.value)"
  }

  final class Settings: KVOUserDefaults, @unchecked Sendable {
    var fontSize: Int {
      get { integer(forKey: "fontSize") }
      set { set(newValue, forKey: "fontSize") }
    }
    override class func registerKeys() { declareKeys { $0.computed("fontSize", \.fontSize) } }
  }

  private func made() throws -> Settings {
    let made = try require(Settings(suiteName: suite))
    made.removePersistentDomain(forName: suite)
    return made
  }

  private func observe(
    _ defaults: KVOUserDefaults, _ key: String, _ notified: Locked<[String]>, as name: String = ""
  ) throws -> KeyValueObservation {
    try defaults.observe(keyPath: key, options: [.old, .new]) { _, change in
      let values = [change.oldValue!, change.newValue!].map { value in
        Mirror(reflecting: value).displayStyle == .optional ? "nil" : "\(value)"
      }
      notified.withLock { $0.append("\(name)\(key) \(values[0]) \(values[1])") }
    }
  }

  @Test("R8: each default notifies under its key, set in any way, and removed")
  func keys() throws {
    let (defaults, notified) = (try made(), Locked<[String]>([]))
    let token = try observe(defaults, "volume", notified)
    let other = try observe(defaults, "defaults", notified)
    defaults.set(1, forKey: "volume")
    defaults.set("loud", forKey: "volume")
    defaults.set(2.5, forKey: "volume")
    defaults.set(true, forKey: "other")
    try defaults.setValue(7, forKey: "volume")
    defaults.removeObject(forKey: "volume")
    defaults.set(nil, forKey: "volume")
    expectEqual(
      notified.withLock { $0 },
      [
        "volume nil 1", "volume 1 loud", "volume loud 2.5", "volume 2.5 7", "volume 7 nil",
        "volume nil nil",
      ])
    expect(try defaults.value(forKey: "other") as? Bool == true && defaults.bool(forKey: "other"))
    withExtendedLifetime((token, other)) {}
  }

  @Test("R8: values have the types with which they were set")
  func values() throws {
    let defaults = try made()
    defaults.set(Float(1.5), forKey: "f")
    defaults.set(["a", "b"], forKey: "a")
    defaults.set(["k": 1], forKey: "d")
    defaults.set(Data([1]), forKey: "data")
    defaults.set(URL(fileURLWithPath: "/tmp"), forKey: "url")
    defaults.set("s", forKey: "s")
    expect(defaults.float(forKey: "f") == 1.5 && defaults.double(forKey: "f") == 1.5)
    expect(
      defaults.stringArray(forKey: "a") == ["a", "b"] && defaults.array(forKey: "a")?.count == 2)
    expect(defaults.dictionary(forKey: "d") as? [String: Int] == ["k": 1])
    expect(
      defaults.data(forKey: "data") == Data([1]) && defaults.url(forKey: "url")?.path == "/tmp")
    expect(defaults.string(forKey: "s") == "s" && defaults.object(forKey: "no") == nil)
    expect(defaults.dictionaryRepresentation()["s"] as? String == "s")
    expectEqual(defaults.integer(forKey: "s"), 0)
    defaults.removePersistentDomain(forName: suite)
  }

  enum Grade: Int { case a, b }
  enum Colour: String { case red }

  @Test(
    "R8 B12: by key, a null is nil, and an enumeration or a text of another type is what it stands for"
  )
  func byKey() throws {
    let defaults = try made()
    for null: Any in [NSNull(), Int?.none as Any, AnyHashable(NSNull())] {
      try defaults.setValue(1, forKey: "a")
      try defaults.setValue(null, forKey: "a")
      expect(defaults.object(forKey: "a") == nil)
    }
    try defaults.setValue(Grade.b, forKey: "grade")
    try defaults.setValue(Colour.red, forKey: "colour")
    try defaults.setValue(Character("c"), forKey: "letter")
    try defaults.setValue(["grades": [Grade.b], "none": NSNull()] as [String: Any], forKey: "d")
    expect(defaults.integer(forKey: "grade") == 1 && defaults.string(forKey: "colour") == "red")
    expectEqual(defaults.string(forKey: "letter"), "c")
    expectEqual(defaults.dictionary(forKey: "d") as? [String: [Int]], ["grades": [1]])
    try defaults.setValue(Colour.red, forKeyPath: "d.colour")
    try defaults.setValue(NSNull(), forKeyPath: "d.grades")
    expectEqual(defaults.dictionary(forKey: "d") as? [String: String], ["colour": "red"])
    defaults.removePersistentDomain(forName: suite)
  }

  @Test("R8: a value that no property list can contain is an error, and the default is unchanged")
  func notStored() throws {
    let defaults = try made()
    let faults: [(value: Any, name: String)] = [
      (UUID(), "UUID"), (Set([1]), "Set<Int>"), (Int128(1), "Int128"),
      (Set<Decimal>([1]), "Set<Decimal>"),
      ([1, UUID()] as [Any], "[Any], whose element 1 is UUID"),
      ([NSNull()], "[NSNull], whose element 0 is nil"),
      (
        ["k": [Int128(1)]],
        "[String: [Int128]], whose key \"k\" is [Int128], whose element 0 is Int128"
      ),
      ([1: 2], "[Int: Int], with the key 1 of type Int"), (NSSet(array: [1]), "NSSet"),
    ]
    defaults.set(1, forKey: "a")
    for (value, name) in faults {
      #expect(
        throws: KeyValueError.typeMismatch(
          key: "a", className: "Settings", expected: "a property list value", found: name)
      ) {
        try defaults.setValue(value, forKey: "a")
      }
    }
    expectEqual(defaults.integer(forKey: "a"), 1)
    defaults.set(["k": 1], forKey: "d")
    #expect(throws: KeyValueError.self) { try defaults.setValue(UUID(), forKeyPath: "d.k") }
    expectEqual(defaults.dictionary(forKey: "d") as? [String: Int], ["k": 1])
    defaults.removePersistentDomain(forName: suite)
  }

  @Test("R8: all numbers, texts, dates, data and URLs are stored by key as by the functions")
  func stored() throws {
    let defaults = try made()
    let values: [Any] = [
      Int8(1), UInt16(1), Int32(1), UInt64(1), UInt(1), Float(1), 1.0, CGFloat(1), Decimal(1), true,
      NSNumber(value: 1), NSDecimalNumber(value: 1), "1"[...], NSString("1"),
    ]
    for value in values {
      try defaults.setValue(value, forKey: "n")
      expectEqual(defaults.integer(forKey: "n"), 1)
    }
    for text in ["9.99", "0.5", "1e20", "-0.25"] {
      let (decimal, double) = (try require(Decimal(string: text)), try require(Double(text)))
      defaults.register(defaults: ["registered": decimal])
      expectEqual(defaults.double(forKey: "registered"), double)
      try defaults.setValue(decimal, forKey: "n")
      expectEqual(defaults.double(forKey: "n"), double)
      defaults.set(NSDecimalNumber(decimal: decimal), forKey: "n")
      expectEqual(defaults.double(forKey: "n"), double)
      try defaults.setValue([decimal], forKey: "n")
      expectEqual(defaults.array(forKey: "n")?.first as? Double, double)
      defaults.setPersistentDomain(["n": ["k": decimal]], forName: suite)
      expectEqual(defaults.dictionary(forKey: "n")?["k"] as? Double, double)
    }
    let date = Date(timeIntervalSince1970: 7)
    try defaults.setValue(date, forKey: "date")
    try defaults.setValue(date as NSDate, forKey: "object")
    try defaults.setValue(NSData(data: Data([1])), forKey: "data")
    try defaults.setValue(URL(fileURLWithPath: "/tmp"), forKey: "url")
    try defaults.setValue(NSArray(array: [1, "a"]), forKey: "array")
    expect(defaults.object(forKey: "date") as? Date == date)
    expect(defaults.object(forKey: "object") as? Date == date)
    expect(
      defaults.data(forKey: "data") == Data([1]) && defaults.url(forKey: "url")?.path == "/tmp")
    expectEqual(defaults.array(forKey: "array")?.count, 2)
    defaults.removePersistentDomain(forName: suite)
  }

  @Test("R8: registering notifies for keys without a value; removing restores registered values")
  func registering() throws {
    let (defaults, notified) = (try made(), Locked<[String]>([]))
    let (registered, set) = ("registered-\(suite)", "set-\(suite)")
    let tokens = try [registered, set].map { try observe(defaults, $0, notified) }
    defaults.set(1, forKey: set)
    defaults.register(defaults: [registered: 5, set: 6])
    defaults.set(7, forKey: registered)
    defaults.removeObject(forKey: registered)
    expectEqual(
      notified.withLock { $0 },
      [
        "\(set) nil 1", "\(registered) nil 5", "\(registered) 5 7", "\(registered) 7 5",
      ])
    expectEqual(defaults.integer(forKey: set), 1)
    withExtendedLifetime(tokens) {}
  }

  @Test("R8: registering notifies in each suite for the keys without a value there")
  func registeringForAll() throws {
    let (defaults, notified, key) = (try made(), Locked<[String]>([]), "shared-\(suite)")
    let another = try require(KVOUserDefaults(suiteName: suite + "-other"))
    defaults.set(1, forKey: key)
    let tokens = try [
      observe(defaults, key, notified, as: "own "), observe(another, key, notified, as: "another "),
    ]
    defaults.register(defaults: [key: 5])
    another.register(defaults: [key: 6])
    expectEqual(
      notified.withLock { $0 }, ["another \(key) nil 5", "another \(key) 5 6"])
    defaults.removePersistentDomain(forName: suite)
    expectEqual(notified.withLock { $0.last }, "own \(key) 1 6")
    withExtendedLifetime(tokens) {}
  }

  @Test("R8: registering compares values of the program's own defaults, written or not")
  func registeringUnwritten() async {
    await #expect(processExitsWith: .success) {
      let (tests, name) = (UserDefaultsTests(), ProcessInfo.processInfo.processName)
      let (defaults, notified) = (KVOUserDefaults.standard, Locked<[String]>([]))
      defaults.removePersistentDomain(forName: name)
      defaults.set(1, forKey: "removed")
      defaults.synchronize()
      defaults.removeObject(forKey: "removed")
      defaults.set(2, forKey: "set")
      let all = Count()
      let tokens = try [
        tests.observe(defaults, "removed", notified), tests.observe(defaults, "set", notified),
        defaults.observe(keyPath: "dictionaryRepresentation") { _, _ in all.add() },
      ]
      defaults.register(defaults: ["removed": 7, "set": 7])
      defaults.register(defaults: ["removed": 8, "set": 2])
      defaults.register(defaults: ["set": 9])
      let changes = notified.withLock { $0 }
      precondition(changes == ["removed nil 7", "removed 7 8"], "\(changes)")
      precondition(all.value == 2 && defaults.integer(forKey: "set") == 2)
      defaults.removePersistentDomain(forName: name)
      withExtendedLifetime(tokens) {}
    }
  }

  @Test("R8: all objects of one suite notify, others do not")
  func suites() throws {
    let (defaults, notified) = (try made(), Locked<[String]>([]))
    let same = try require(KVOUserDefaults(suiteName: suite))
    let another = try require(KVOUserDefaults(suiteName: suite + "-other"))
    let tokens = try [
      observe(same, "a", notified, as: "same "), observe(another, "a", notified, as: "another "),
    ]
    defaults.set(1, forKey: "a")
    expectEqual(notified.withLock { $0 }, ["same a nil 1"])
    another.setPersistentDomain(["a": 2], forName: suite)
    expectEqual(notified.withLock { $0.last }, "same a 1 2")
    another.removePersistentDomain(forName: suite)
    expect(notified.withLock { $0.last } == "same a 2 nil" && defaults.object(forKey: "a") == nil)
    expectEqual(notified.withLock { $0.count }, 3)
    withExtendedLifetime(tokens) {}
  }

  @Test("R8: the program's own defaults are replaced and removed with a change for each key")
  func ownDefaults() async {
    await #expect(processExitsWith: .success) {
      let (tests, name) = (UserDefaultsTests(), ProcessInfo.processInfo.processName)
      let (defaults, notified) = (KVOUserDefaults.standard, Locked<[String]>([]))
      let (same, another) = (try require(KVOUserDefaults(suiteName: name)), try tests.made())
      defaults.removePersistentDomain(forName: name)
      let tokens = try [
        tests.observe(defaults, "written", notified), tests.observe(same, "unwritten", notified),
      ]
      defaults.set(1, forKey: "written")
      defaults.synchronize()
      defaults.set(2, forKey: "unwritten")
      another.setPersistentDomain(["written": 3], forName: name)
      same.removePersistentDomain(forName: name)
      let changes = notified.withLock { $0 }
      precondition(
        changes == [
          "written nil 1", "unwritten nil 2", "written 1 3", "unwritten 2 nil", "written 3 nil",
        ], "\(changes)")
      precondition(defaults.object(forKey: "written") == nil)
      withExtendedLifetime(tokens) {}
    }
  }

  @Test("R8: a property is observed by key path, whichever object it is set by")
  func typed() throws {
    let settings = try made()
    let values = Locked<[Int]>([])
    let token = settings.observe(\.fontSize, options: [.new]) { _, change in
      values.withLock { $0.append(change.newValue!) }
    }
    settings.fontSize = 12
    settings.set(13, forKey: "fontSize")
    let same = try require(KVOUserDefaults(suiteName: suite))
    same.set(14, forKey: "fontSize")
    expectEqual(values.withLock { $0 }, [12, 13, 14])
    expect(try settings.value(forKey: "fontSize") as? Int == 14)
    settings.removePersistentDomain(forName: suite)
    expectEqual(settings.fontSize, 0)
    withExtendedLifetime(token) {}
  }

  @Test("R8: a change past the object does not notify, and is read all the same")
  func past() throws {
    let (defaults, notified) = (try made(), Locked<[String]>([]))
    let token = try observe(defaults, "a", notified)
    UserDefaults(suiteName: suite)?.set(1, forKey: "a")
    expect(notified.withLock { $0 } == [] && defaults.integer(forKey: "a") == 1)
    defaults.removePersistentDomain(forName: suite)
    expectEqual(notified.withLock { $0 }, ["a 1 nil"])
    withExtendedLifetime(token) {}
  }

  @Test("R8: threads set, register and read at once")
  func threads() throws {
    let defaults = try made()
    let changes = Count()
    let token = try defaults.observe(keyPath: "a") { _, _ in changes.add() }
    let suite = suite
    onThreads(4) { index in
      for number in 0..<50 {
        defaults.set(number, forKey: "a")
        defaults.register(defaults: ["r-\(suite)-\(index)": number])
        _ = defaults.integer(forKey: "r-\(suite)-\(index)")
      }
    }
    expect(changes.value == 200 && defaults.integer(forKey: "a") == 49)
    defaults.removePersistentDomain(forName: suite)
    withExtendedLifetime(token) {}
  }

  // MARK: All orders of two threads

  /// Runs a change of a default concurrently with something else, and returns whether its observer knows the last
  /// value.
  private func isKnown(
    _ orders: Orders, from first: Int?, _ change: @escaping @Sendable (Settings) -> Void,
    and other: @escaping @Sendable (Settings) -> Void
  ) throws -> Bool {
    let (defaults, newest) = (try made(), Newest<Int>())
    if let first { defaults.fontSize = first }
    let read: @Sendable () -> Int = { defaults.fontSize }
    newest.note(read)
    let token = try defaults.observe(keyPath: "fontSize") { _, _ in newest.note(read) }
    orders.run {
      change(defaults)
    } and: {
      other(defaults)
    }
    return withExtendedLifetime(token) { newest.value == read() }
  }

  @Test(
    "R8: a key set or removed during a bulk change is known, in every order"
  )
  func replacedWhileSet() async throws {
    LibraryLocks.areGates()
    let suite = suite
    let replaced = try await inAllOrders(ofSwitches: 2) { orders in
      try isKnown(orders, from: nil) {
        $0.setPersistentDomain(["other": 1], forName: suite)
      } and: {
        $0.fontSize = 2
      }
    }
    expectEqual(replaced.failure, nil)
    let registered = try await inAllOrders(ofSwitches: 2) { orders in
      try isKnown(orders, from: 1) {
        $0.register(defaults: ["fontSize": 2])
      } and: {
        $0.removeObject(forKey: "fontSize")
      }
    }
    expectEqual(registered.failure, nil)
  }

  @Test(
    "R8: a new object of the suite notifies of a change begun before it was made, in every order"
  )
  func madeWhileSet() async throws {
    LibraryLocks.areGates()
    let suite = suite
    let tried = try await inAllOrders(ofSwitches: 2) { orders in
      let (defaults, newest) = (try made(), Newest<Int>())
      let kept = Locked<KeyValueObservation?>(nil)
      orders.run {
        defaults.fontSize = 1
      } and: {
        let other = Settings(suiteName: suite)!
        let token = other.observe(\.fontSize, options: .initial) { other, _ in
          newest.note { other.fontSize }
        }
        kept.withLock { $0 = token }
        Lifetimes.keep(other)
      }
      return kept.withLock { $0 } != nil && newest.value == 1
    }
    expectEqual(tried.failure, nil)
  }

  @Test("R8: objects die while another thread makes others, and handlers make more")
  func dieWhileMade() {
    onThreads(2) { _ in
      for _ in 0..<100 {
        let made = (0..<64).map { _ in KVOUserDefaults() }
        let tokens = made.map { $0.onDeinit { _ = KVOUserDefaults() } }
        withExtendedLifetime((made, tokens)) {}
      }
    }
  }

  @Test("R8: any number of keys notify each on a small stack")
  func manyKeys() async {
    await #expect(processExitsWith: .success) {
      let defaults = KVOUserDefaults()
      let notified = Count()
      let token = try defaults.observe(keyPath: "k19999") { _, _ in notified.add() }
      defaults.register(
        defaults: Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("k\($0)", $0) }))
      precondition(notified.value == 1)
      withExtendedLifetime(token) {}
    }
  }

  // MARK: Keys with dots

  final class Named: KVOUserDefaults, @unchecked Sendable {
    var size: Int {
      get { integer(forKey: "com.example.size") }
      set { set(newValue, forKey: "com.example.size") }
    }
    override class func registerKeys() {
      declareKeys { $0.computed("com.example.size", \.size) }
    }
  }

  private func named() throws -> Named {
    let made = try require(Named(suiteName: suite))
    made.removePersistentDomain(forName: suite)
    return made
  }

  @Test("R8 C12: a default whose key has dots is observed by its declared property, and by a key")
  func dots() throws {
    let (defaults, values) = (try named(), Locked<[String]>([]))
    let key = try KeyValueKey<Named, Int>("com.example.size")
    let tokens = [
      defaults.observe(\.size, options: [.old, .new]) { _, change in
        values.withLock { $0.append("\(change.oldValue!) \(change.newValue!)") }
      },
      defaults.observe(key: key, options: [.old, .new]) { _, change in
        values.withLock { $0.append("key \(change.oldValue!) \(change.newValue!)") }
      },
    ]
    defaults.size = 1
    try require(KVOUserDefaults(suiteName: suite)).set(2, forKey: "com.example.size")
    try defaults.setValue(3, for: key)
    try defaults.setValue(4, forKey: "com.example.size")
    defaults.removeObject(forKey: "com.example.size")
    let changes = ["0 1", "1 2", "2 3", "3 4", "4 0"]
    let notified = values.withLock { $0 }
    expectEqual(notified.filter { !$0.hasPrefix("key") }, changes)
    expectEqual(notified.filter { $0.hasPrefix("key") }, changes.map { "key \($0)" })
    defaults.size = 5
    expectEqual(try defaults.value(for: key), 5)
    withExtendedLifetime(tokens) {}
  }

  @Test("R8: by a string a default whose key has dots is an error that says so, declared or there")
  func dotsAsString() throws {
    let defaults = try named()
    defaults.set("x", forKey: "com.example.there")
    for key in ["com.example.size", "com.example.there"] {
      let error = KeyValueError.invalidKeyPath(
        keyPath: key, component: key, className: "Named")
      #expect(throws: error) { try defaults.observe(keyPath: key) { _, _ in } }
      #expect(throws: error) { try defaults.value(forKeyPath: key) }
      #expect(throws: error) { try defaults.setValue(1, forKeyPath: key) }
      expect("\(error)".contains("\"\(key)\" of Named is one key, with dots"))
    }
    defaults.set(["example": ["size": 7]], forKey: "com")
    expectEqual(try defaults.value(forKeyPath: "com.example.size") as? Int, 7)
    defaults.removePersistentDomain(forName: suite)
  }

  @Test("R8 J2: a default whose key has dots, set while its text is observed as a path, is a hint")
  func dotsHint() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      sayHints()
      let defaults = KVOUserDefaults()
      let token = try defaults.observe(keyPath: "org.example.late") { _, _ in }
      defaults.set(["example": ["late": 1]], forKey: "org")
      for value in 1...2 { defaults.set(value, forKey: "org.example.late") }
      withExtendedLifetime(token) {}
    }
    let notified = hints(in: result)
    expect(
      notified.count == 1 && notified[0].contains("\"org.example.late\" of KVOUserDefaults is set"))
  }

  // MARK: Reads

  final class Page: KVOObject {
    let defaults: Settings
    init(_ defaults: Settings) { self.defaults = defaults }
    @Observed var scale = 1
    var size: Int { defaults.fontSize * scale }
    var margin: Double { defaults.double(forKey: "page.margin") }
    var count: Int { defaults.dictionaryRepresentation().keys.count { $0.hasPrefix("page.") } }
  }

  @Test("R8 F5: what a computed property reads of defaults affects it, of another object too")
  func tracked() throws {
    let (defaults, notified) = (try made(), Locked<[String]>([]))
    let page = Page(defaults)
    let tokens = [
      page.observe(\.size, options: .new) { _, change in
        notified.withLock { $0.append("size \(change.newValue!)") }
      },
      page.observe(\.margin, options: .new) { _, change in
        notified.withLock { $0.append("margin \(change.newValue!)") }
      },
      page.observe(\.count, options: .new) { _, change in
        notified.withLock { $0.append("count \(change.newValue!)") }
      },
      page.observe(\.defaults.fontSize, options: .new) { _, change in
        notified.withLock { $0.append("path \(change.newValue!)") }
      },
    ]
    defaults.fontSize = 3
    page.scale = 2
    try require(KVOUserDefaults(suiteName: suite)).set(0.5, forKey: "page.margin")
    defaults.removeObject(forKey: "page.margin")
    let seen = notified.withLock { $0 }
    expectEqual(seen.filter { $0.hasPrefix("size") }, ["size 3", "size 6"])
    expectEqual(seen.filter { $0.hasPrefix("path") }, ["path 3"])
    expectEqual(seen.filter { $0.hasPrefix("margin") }, ["margin 0.5", "margin 0.0"])
    expectEqual(seen.filter { $0.hasPrefix("count") }, ["count 0", "count 1", "count 0"])
    defaults.removePersistentDomain(forName: suite)
    withExtendedLifetime(tokens) {}
  }

  @Test("R8 J2: observing a property that is declared as the documentation says is no hint")
  func noHint() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      sayHints()
      let settings = Settings()
      let tokens = [
        settings.observe(\.fontSize) { _, _ in },
        try settings.observe(keyPath: "fontSize") { _, _ in },
      ]
      settings.fontSize += 1
      withExtendedLifetime(tokens) {}
    }
    expectEqual(hints(in: result), [])
  }
}
