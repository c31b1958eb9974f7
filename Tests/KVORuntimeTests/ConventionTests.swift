import CKVORuntime
import KVORuntime
import TestSupport
import Testing

/// J2: what is left over from Objective-C's conventions is told where the log is asked for it.
@Suite struct ConventionTests {
  private class Leftovers: KVOObject {
    @Observed var name = ""
    @Observed var items: [String] = []
    var fullName: String { name }
    class var keyPathsForValuesAffectingFullName: Set<String> { ["name"] }
    class func automaticallyNotifiesObserversOfName() -> Bool { false }
    func validateName(_ value: inout Any?) throws {}
    func validateForm() {}
    func insertObject(_ object: String, inItemsAtIndex index: Int) {}
    func removeObjectFromItems(at index: Int) {}
    private func countOfParts() -> Int { 0 }
    func addTagsObject(_ tag: String) {}
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }
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

  @Test(
    "J2: methods that nothing calls are told once, at the first use of the class, with what to declare",
    .enabled(if: _isDebugAssertConfiguration(), "the optimiser drops methods that nothing calls"))
  func told() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      _ = kvo_set_conventions_logged(true)
      for _ in 0..<2 { _ = Leftovers().observe(\.name) { _, _ in } }
    }
    let lines = try #require(result).errors.split(separator: "\n").filter { $0.hasPrefix("KVO: ") }
    let expected = [
      ("addTagsObject", "orderedToMany(\"tags\", …) or unorderedToMany"),
      ("automaticallyNotifiesObserversOfName", "automaticallyNotifies(\"name\", …)"),
      ("countOfParts", "orderedToMany(\"parts\", …) or unorderedToMany"),
      ("insertObject", "orderedToMany(\"items\", …) or unorderedToMany"),
      ("keyPathsForValuesAffectingFullName", "dependency(\"fullName\", on: …)"),
      ("removeObjectFromItems", "orderedToMany(\"items\", …) or unorderedToMany"),
      ("validateName", "validator(\"name\") { object, value in try object.validateName(&value) }"),
    ].map { method, entry in
      "KVO: Leftovers has \(method), which nothing calls: methods of Swift aren't found by their "
        + "names. Declare it in registerKeys(): declareKeys { $0.\(entry) }."
    }
    #expect(lines.map(String.init) == expected)
  }

  @Test("J2: what the class declares, and what a superclass was told of, is not told")
  func declared() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      _ = kvo_set_conventions_logged(true)
      _ = Declared().observe(\.name) { _, _ in }
      _ = try Silent().value(forKey: "other")
    }
    let text = try #require(result).errors
    #expect(!text.contains("Declared has") && !text.contains("Silent has"))
  }

  @Test("J2: nothing is told where the log is not asked for it")
  func unasked() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      _ = Leftovers().observe(\.name) { _, _ in }
    }
    #expect(!(try #require(result).errors.contains("KVO:")))
  }
}
