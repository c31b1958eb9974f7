import Expectations
import KVORuntime
import TestSupport
import Testing

private let keepsUncalledMethods = _isDebugAssertConfiguration()

/// J2: methods left over from Objective-C's conventions are reported if hints are on.
@Suite struct ConventionTests {
  /// A stand-in for Foundation's, which these tests do not import.
  struct IndexSet {}

  private class Leftovers: KVOObject {
    @Observed var name = ""
    var fullName: String { name }
    class var keyPathsForValuesAffectingFullName: Set<String> { ["name"] }
    class func keyPathsForValuesAffectingTitle() -> Set<String> { ["name"] }
    class func automaticallyNotifiesObserversOfName() -> Bool { false }
    func validateName(_ value: inout Any?) throws {}
    func validateFullName(_ value: UnsafeMutablePointer<AnyObject?>) throws {}

    func validateForm() {}
    func validateTitle(_ title: String) {}
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }
  }

  /// The methods of ordered keys, one key for each spelling.
  private class Ordered: KVOObject {
    @Observed var name = ""
    var (a, b, c, d, e, f, g, h) = ([0], [0], [0], [0], [0], [0], [0], [0])
    func countOfCounted() -> Int { 0 }
    func object(inItemsAt index: Int) -> Int { 0 }
    func objectInPartsAtIndex(_ index: Int) -> Int { 0 }
    func objectInSongs(at index: Int) -> Int { 0 }
    func insertObject(_ object: String, inTagsAtIndex index: Int) {}
    func insertObject(_ object: String, inTunesAt index: Int) {}
    func insert(_ object: String, inToolsAt index: Int) {}
    func removeObjectFromCars(at index: Int) {}
    func removeObject(fromCatsAt index: Int) {}
    func removeObjectFromCapsAtIndex(_ index: Int) {}
    func replaceObjectInDogs(at index: Int, with object: Int) {}
    func replaceObject(inDotsAt index: Int, with object: Int) {}
    func replaceObjectInDaysAtIndex(_ index: Int, withObject object: Int) {}
    func a(at indexes: IndexSet) -> [Int] { [] }
    func getB(_ buffer: UnsafeMutablePointer<AnyObject>, range: Range<Int>) {}
    func insertC(_ values: [Int], at indexes: IndexSet) {}
    func insertD(_ values: [Int], atIndexes indexes: IndexSet) {}
    func removeE(at indexes: IndexSet) {}
    func removeF(atIndexes indexes: IndexSet) {}
    func replaceG(at indexes: IndexSet, with values: [Int]) {}
    func replaceH(atIndexes indexes: IndexSet, withH values: [Int]) {}

    func insertA(_ value: Int, at index: Int) {}
    func removeA(at index: Int) {}
    func insertObject(_ object: Int, at index: Int) {}
    func removeObject(at index: Int) {}
    func inside() {}
    func countOf(_ value: Int) -> Int { 0 }
    func insertOther(_ values: [Int], at indexes: IndexSet) {}
  }

  private class Unordered: KVOObject {
    @Observed var name = ""
    var (a, b, c, d, e) = (Set([0]), Set([0]), Set([0]), Set([0]), Set([0]))
    func enumeratorOfItems() -> AnyIterator<Int> { AnyIterator { nil } }
    func memberOfParts(_ member: Int) -> Int? { nil }
    func addSongsObject(_ song: Int) {}
    func removeTagsObject(_ tag: Int) {}
    func addA(_ values: Set<Int>) {}
    func removeB(_ values: Set<Int>) {}
    func intersectC(_ values: Set<Int>) {}
    func addToD(_ value: Int) {}
    func removeFromE(_ value: Int) {}

    func addB(_ value: Int) {}
    func addObject(_ value: Int) {}
    func addOthers(_ values: Set<Int>) {}
  }

  private class Declared: KVOObject {
    @Observed var name = ""
    class func automaticallyNotifiesObserversOfName() -> Bool { false }
    class func keyPathsForValuesAffectingTotal() -> Set<String> { ["name"] }
    func validateName(_ value: inout String?) throws {}
    func countOfParts() -> Int { 1 }

    override class func registerKeys() {
      declareKeys {
        $0.automaticallyNotifies("name", automaticallyNotifiesObserversOfName())
        $0.dependency("total", on: keyPathsForValuesAffectingTotal())
        $0.validator("name") { declared, value in try declared.validateName(&value) }
        $0.orderedToMany("parts", count: { $0.countOfParts() }, element: { _, _ in 1 })
      }
    }
  }

  private class Silent: Leftovers {
    @Observed var other = 1
  }

  private static func sayHints() { KVODiagnostics.hint = { say($0 + "\n") } }

  /// The method, the key and the needed declaration of each hint.
  private func expectHints(
    _ result: ExitTest.Result?, _ name: String, _ expected: [(String, String, String)]
  ) throws {
    let lines = try require(result).errors.split(separator: "\n").map(String.init)
    let texts = expected.map { method, key, entry in
      "\(method) of \(name) has a name by which Objective-C's key-value coding would find it for "
        + "\"\(key)\"; Swift's methods aren't found by their names. Declare it in registerKeys(): "
        + "declareKeys { $0.\(entry) }. Or call it otherwise, if it has nothing to do with that key."
    }
    expectEqual(lines.sorted(), texts.sorted())
  }

  @Test(
    "J2: methods named by a convention are reported once, at the first use of the class",
    .enabled(if: keepsUncalledMethods, "the optimiser drops methods that nothing calls"))
  func told() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 { Leftovers().observe(\.name) { _, _ in }.invalidate() }
    }
    try expectHints(
      result, "Leftovers",
      [
        (
          "automaticallyNotifiesObserversOfName()", "name", "automaticallyNotifies(\"name\", …)"
        ),
        ("keyPathsForValuesAffectingFullName", "fullName", "dependency(\"fullName\", on: …)"),
        ("keyPathsForValuesAffectingTitle()", "title", "dependency(\"title\", on: …)"),
        (
          "validateName(_:)", "name",
          "validator(\"name\") { object, value in try object.validateName(&value) }"
        ),
        (
          "validateFullName(_:)", "fullName",
          "validator(\"fullName\") { object, value in try object.validateFullName(&value) }"
        ),
      ])
  }

  @Test(
    "J2: the methods of ordered keys are reported however Swift spells them",
    .enabled(if: keepsUncalledMethods, "the optimiser drops methods that nothing calls"))
  func ordered() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      Ordered().observe(\.name) { _, _ in }.invalidate()
    }
    let named = [
      ("objectInPartsAtIndex(_:)", "parts", "element"), ("objectInSongs(at:)", "songs", "element"),
      ("object(inItemsAt:)", "items", "element"),
      ("insertObject(_:inTagsAtIndex:)", "tags", "insert"),
      ("insertObject(_:inTunesAt:)", "tunes", "insert"),
      ("insert(_:inToolsAt:)", "tools", "insert"),
      ("removeObjectFromCars(at:)", "cars", "remove"),
      ("removeObject(fromCatsAt:)", "cats", "remove"),
      ("removeObjectFromCapsAtIndex(_:)", "caps", "remove"),
      ("replaceObjectInDogs(at:with:)", "dogs", "replace"),
      ("replaceObject(inDotsAt:with:)", "dots", "replace"),
      ("replaceObjectInDaysAtIndex(_:withObject:)", "days", "replace"), ("a(at:)", "a", "elements"),
      ("getB(_:range:)", "b", "elements"), ("insertC(_:at:)", "c", "insert"),
      ("insertD(_:atIndexes:)", "d", "insert"), ("removeE(at:)", "e", "remove"),
      ("removeF(atIndexes:)", "f", "remove"), ("replaceG(at:with:)", "g", "replace"),
      ("replaceH(atIndexes:withH:)", "h", "replace"),
    ]
    try expectHints(
      result, "Ordered",
      named.map { ($0, $1, entry("orderedToMany", $1, ["count", "element"], $2)) }
        + [
          (
            "countOfCounted()", "counted",
            entry("orderedToMany", "counted", ["count", "element"], "count") + " or unorderedToMany"
          )
        ])
  }

  /// A declaration with its arguments, and another.
  private func entry(_ name: String, _ key: String, _ needed: [String], _ other: String) -> String {
    let arguments = needed.contains(other) ? needed : needed + [other]
    return "\(name)(\"\(key)\", \(arguments.map { $0 + ": …" }.joined(separator: ", ")))"
  }

  @Test(
    "J2: the methods of unordered keys are reported however Swift spells them",
    .enabled(if: keepsUncalledMethods, "the optimiser drops methods that nothing calls"))
  func unordered() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      Unordered().observe(\.name) { _, _ in }.invalidate()
    }
    let named = [
      ("enumeratorOfItems()", "items", "elements"), ("memberOfParts(_:)", "parts", "contains"),
      ("addSongsObject(_:)", "songs", "add"), ("removeTagsObject(_:)", "tags", "remove"),
      ("addA(_:)", "a", "add"), ("removeB(_:)", "b", "remove"),
      ("intersectC(_:)", "c", "intersect"),
      ("addToD(_:)", "d", "add"), ("removeFromE(_:)", "e", "remove"),
    ]
    try expectHints(
      result, "Unordered",
      named.map { ($0, $1, entry("unorderedToMany", $1, ["count", "contains", "elements"], $2)) })
  }

  /// Named by a convention, except for labels or the number of parameters.
  private class Otherwise: KVOObject {
    @Observed var name = ""
    var (items, songs) = ([0], Set([0]))
    func countOfItems(in section: Int) -> Int { 0 }
    func countOfSections(where condition: (Int) -> Bool) -> Int { 0 }
    func enumeratorOfItems(from index: Int) -> AnyIterator<Int> { AnyIterator { nil } }
    func memberOfItems(named name: String) -> Int? { nil }
    func addSongs(object: Int) {}
    func removeFromSongs(_ song: Int, animated: Bool) {}
    func addSongs(_ songs: Set<Int>, _ animated: Bool) {}
    func object(inSection section: Int, at index: Int) -> Int { 0 }
    func insert(_ item: (Int, Int), inItemsOf section: Int, at index: Int) {}
    func items(at indexes: IndexSet, in section: Int) -> [Int] { [] }
    func validateName(in form: inout String) {}
    func validateName(_ name: inout String, strictly: Bool) {}
    class func keyPathsForValuesAffectingName(in form: String) -> Set<String> { [] }
    class func automaticallyNotifiesObserversOfName(in form: String) -> Bool { true }
    func `countOf Parts`() -> Int { 0 }
    func `countOfParts.now`() -> Int { 0 }
    func objectInParts(`at.place` index: Int) -> Int { 0 }
  }

  @Test("J2: a method with other labels than a convention's is not reported")
  func otherwise() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      Otherwise().observe(\.name) { _, _ in }.invalidate()
    }
    expectEqual(try #require(result).errors, "")
  }

  /// Its accessors change `@Observed` properties by handles.
  private class Handled: KVOObject {
    @Observed var songs: [String] = []
    @Observed var tags: Set<String> = []
    var rows: [Int] = []
    func countOfSongs() -> Int { songs.count }
    func insertObject(_ song: String, inSongsAt index: Int) {
      mutableArray(\.songs).insert(song, at: index)
    }
    func removeSongs(at indexes: IndexSet) {}
    func addTagsObject(_ tag: String) { mutableSet(\.tags).insert(tag) }
    func removeTags(_ tags: Set<String>) { mutableSet(\.tags).subtract(tags) }
    func insertRows(_ rows: [Int], at indexes: IndexSet) {}
    func validateTags(_ value: inout Any?) throws {}
  }

  @Test(
    "J2: element accessors of an @Observed property are not reported, its other methods are",
    .enabled(if: keepsUncalledMethods, "the optimiser drops methods that nothing calls"))
  func handled() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      Handled().insertObject("a", inSongsAt: 0)
    }
    try expectHints(
      result, "Handled",
      [
        (
          "insertRows(_:at:)", "rows",
          entry("orderedToMany", "rows", ["count", "element"], "insert")
        ),
        (
          "validateTags(_:)", "tags",
          "validator(\"tags\") { object, value in try object.validateTags(&value) }"
        ),
      ])
  }

  @Test(
    "J2: a declared method, or one reported for a superclass, is not reported",
    .enabled(if: keepsUncalledMethods, "the optimiser drops methods that nothing calls"))
  func declared() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      Declared().observe(\.name) { _, _ in }.invalidate()
      _ = try Silent().value(forKey: "other")
    }
    let text = try require(result).errors
    expect(!text.contains("of Declared has") && !text.contains("of Silent has"))
    expect(text.contains("of Leftovers has"))
  }

  @Test("J2: nothing is reported where hints are off")
  func unasked() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Leftovers().observe(\.name) { _, _ in }.invalidate()
    }
    expect(try #require(result).errors.isEmpty)
  }
}
