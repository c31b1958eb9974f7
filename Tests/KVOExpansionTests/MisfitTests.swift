import Expectations
import Testing

@testable import KVOExpansion

/// Methods named by a convention whose types or effects do not fit it.
@Suite struct MisfitTests {
  private static let read =
    "func objectInSongs(at i: Int) -> Song { s }\nfunc countOfSongs() -> Int { 1 }"
  private static let list = "var songs: [Song] { s }\nfunc removeObject(fromSongsAt i: Int) {}"
  private static let set = "var tags: Set<Int> { s }\nfunc removeTags(_ s: Set<Int>) {}"

  @Test(
    "Q4 Q5: a method whose types or effects don't fit is left out, and reported at its line",
    arguments: [
      (read, "func countOfSongs() -> UInt { 1 }", "it returns UInt, and not Int"),
      (read, "func countOfSongs() -> Int? { 1 }", "it returns Int?, and not Int"),
      (read, "func countOfSongs() throws -> Int { 1 }", "it throws"),
      (read, "func countOfSongs() {}", "it returns nothing"),
      (read, "var countOfSongs: UInt { 1 }", "it is of UInt, and not of Int"),
      (list, "func insertObject(_ s: Song, inSongsAt i: UInt) {}", "it takes UInt, and not Int"),
      (read, "func objectInSongs(at i: Int32) -> Song { s }", "it takes Int32, and not Int"),
      (read, "func objectInSongs(at i: Int) throws -> Song { s }", "it throws"),
      (read, "func objectInSongs(at i: Int) {}", "it returns nothing"),
      (list, "func insertObject(_ s: inout Song, inSongsAt i: Int) {}", "its parameter is inout"),
      (list, "func insertObject(_ s: Int, inSongsAt i: Int) {}", "it takes Int, and not Song"),
      (list, "func insertSongs(_ s: [Int], at i: IndexSet) {}", "it takes [Int], and not [Song]"),
      (
        list, "func insertSongs(_ s: [Song], at i: RangeSet<UInt>) {}",
        "it takes RangeSet<UInt>, and not RangeSet<Int> or IndexSet"
      ),
      (
        list, "func insertSongs(_ s: [Int: Song], at i: IndexSet) {}",
        "it takes [Int:Song], and not [Song]"
      ),
      (set, "func addTags(_ s: Set<String>) {}", "it takes Set<String>, and not Set<Int>"),
      (set, "func addTagsObject(_ s: String) {}", "it takes String, and not Int"),
      (set, "func addTags(_ s: NSSet) {}", "it takes NSSet, and not Set<Int>"),
      (
        list, "func insertSongs(_ s: NSArray, at i: IndexSet) {}",
        "it takes NSArray, and not [Song]"
      ),
      (
        list, "func insertSongs(_ s: [Song], at i: NSIndexSet) {}",
        "it takes NSIndexSet, and not RangeSet<Int> or IndexSet"
      ),
    ])
  func left(_ others: String, _ misfit: String, _ reason: String) {
    // Leaves out the fitting method that the misfit replaces.
    let word = misfit.contains("countOf") ? "countOfSongs" : "objectInSongs"
    let rest = others.split(separator: "\n").filter { others != Self.read || !$0.contains(word) }
    let body = (rest + [misfit[...]]).joined(separator: "\n")
    let line = Asking.declarations(body).first { $0.contains("ToMany") }
    expect(line == nil)
    let messages = Asking.messages("@KVO class A: B {\n\(body)\n}")
    expect(messages.count == 1 && messages[0].hasSuffix(", since \(reason)."), "\(messages)")
    let place = 18 + body.utf8.count - misfit.utf8.count + (misfit.hasPrefix("var ") ? 4 : 5)
    expectEqual(messages.first?.hasPrefix("warning at \(place): @KVO: this "), true, "\(messages)")
  }

  @Test(
    "Q4 Q5: a set with a misfitting member method gets its members from the property",
    arguments: [
      ("func memberOfTags(_ t: Int) throws -> Int? { t }", "it throws"),
      ("func memberOfTags(_ t: Int) -> Bool { true }", "it returns Bool, and not an optional"),
      ("func enumeratorOfTags() throws -> [Int] { [] }", "it throws"),
      ("func enumeratorOfTags() -> Int { 1 }", "it returns Int, and not a sequence of Int"),
      (
        "func enumeratorOfTags() -> [String] { [] }",
        "it returns [String], and not a sequence of Int"
      ),
      ("func intersectTags(_ s: Set<String>) {}", "it takes Set<String>, and not Set<Int>"),
    ])
  func members(_ misfit: String, _ reason: String) {
    let body = Self.set + "\nfunc addTags(_ s: Set<Int>) {}\n" + misfit
    expectEqual(
      Asking.declarations(body).last,
      "keys.unorderedToMany(\"tags\", count: { $0.tags.count }, contains: { $0.tags.contains($1) }, elements: { AnySequence($0.tags) }, add: { $0.addTags($1) }, remove: { $0.removeTags($1) })"
    )
    let messages = Asking.messages("@KVO class A: B {\n\(body)\n}")
    expect(messages.count == 1 && messages[0].hasSuffix(", since \(reason)."), "\(messages)")
    expectEqual(messages.first?.contains("this method is not used for \"tags\""), true)
  }

  @Test(
    "Q4 Q5: a method whose types are unknown, or fit under another spelling, is used",
    arguments: [
      "func insertObject(_ s: Base, inSongsAt i: Swift.Int) throws -> Bool {}",
      "func insertObject(_ s: Any, inSongsAt i: Int) {}",
      "func insertObject(_ s: Song?, inSongsAt i: Int) {}",
      "func insertObject(_ s: consuming Song, inSongsAt i: Int) {}",
      "func insertSongs(_ s: [ Song ], at i: RangeSet< Int >) {}",
      "func insertSongs(_ s: [any P], at i: IndexSet) {}",
    ])
  func fitting(_ insert: String) {
    let body = Self.list + "\n" + insert
    expectEqual(Asking.declarations(body).last?.contains("insert: {"), true)
    expect(Asking.messages("@KVO class A: B {\n\(body)\n}").isEmpty)
    let counts = "func countOfSongs() -> Count { 1 }\nfunc objectInSongs(at i: Int) -> Song { s }"
    expectEqual(Asking.declarations(counts).count, 1)
    let tags = "var tags: Set<Tag> { s }\nfunc memberOfTags(_ t: Tag) -> Found { t }\n"
    let changes = "func addTags(_ t: Set<Key>) {}\nfunc removeTagsObject(_ t: Tag) {}"
    expectEqual(Asking.declarations(tags + changes).last?.contains("memberOfTags($1) != nil"), true)
    expect(Asking.messages("@KVO class A: B {\n\(tags)\(changes)\n}").isEmpty)
  }

  private static let inserting =
    "func insertObject(_ s: Song, inSongsAt i: Int) {}\nfunc removeObject(fromSongsAt i: Int) {}"
  private static let adding =
    "func addTagsObject(_ t: Tag) {}\nfunc removeTagsObject(_ t: Tag) {}"

  @Test(
    "Q4 Q5: methods of a property whose written type shows no elements are reported",
    arguments: [
      "var songs: Songs { s }", "@KVOIgnored var songs = load()", "var songs: List<Song> { s }",
      "@KVOIgnored var songs: Any = s", "@KVOIgnored var songs: ArraySlice<Song> = []",
    ])
  func unreadable(_ property: String) {
    let reason = """
      the written type of "songs" does not show its elements: write an array or a set in full, or add countOfSongs() and \
      objectInSongs(at:).
      """
    let body = "\(property)\n\(Self.inserting)"
    expect(!Asking.declarations(body).contains { $0.contains("ToMany") })
    let messages = Asking.messages("@KVO class A: B {\n\(body)\n}")
    expect(messages.count == 1 && messages[0].hasSuffix(", since \(reason)"), "\(messages)")
    let place = 18 + property.utf8.count + 1 + 5
    expectEqual(messages.first?.hasPrefix("warning at \(place): @KVO: this method"), true)
    let tags =
      Asking.messages(
        "@KVO class A: B {\n\(property.replacing("songs", with: "tags"))\n\(Self.adding)\n}")
    expectEqual(tags.count, 1)
    expectEqual(tags.first?.contains("memberOfTags(_:) and enumeratorOfTags()."), true)
    let read =
      body + "\nfunc countOfSongs() -> Int { 1 }\nfunc objectInSongs(at i: Int) -> Song { s }"
    expect(Asking.messages("@KVO class A: B {\n\(read)\n}").isEmpty)
  }

  @Test(
    "Q4 B13: the elements of Foundation's collections and of optional ones are read from the property",
    arguments: [
      (
        "NSOrderedSet", "{ $0.songs.count }",
        "{ $0._element($0.songs[$1], of: \"songs\") as Song }"
      ), ("[Song]?", "{ $0.songs?.count ?? 0 }", "{ $0.songs![$1] }"),
      (
        "NSMutableArray!", "{ $0.songs?.count ?? 0 }",
        "{ $0._element($0.songs![$1], of: \"songs\") as Song }"
      ),
    ])
  func readElements(_ type: String, _ count: String, _ element: String) {
    let body = "var songs: \(type) { s }\n\(Self.inserting)"
    let line = Asking.declarations(body).last
    expectEqual(
      line?.hasPrefix("keys.orderedToMany(\"songs\", count: \(count), element: \(element), insert"),
      true, line ?? "")
    expect(Asking.messages("@KVO class A: B {\n\(body)\n}").isEmpty)
  }

  @Test(
    "Q4 B13: so are the members of sets",
    arguments: [
      (
        "NSSet", "count: { $0.tags.count }, contains: { $0.tags.contains($1) }, ",
        "AnySequence(object.tags.map { object._element($0, of: \"tags\") as Tag })"
      ),
      (
        "NSMutableSet?",
        "count: { $0.tags?.count ?? 0 }, contains: { $0.tags?.contains($1) == true }, ",
        "AnySequence(object.tags?.map { object._element($0, of: \"tags\") as Tag } ?? [])"
      ),
      (
        "Set<Tag>?",
        "count: { $0.tags?.count ?? 0 }, contains: { $0.tags?.contains($1) == true }, ",
        "{ AnySequence($0.tags ?? []) }"
      ),
    ])
  func readMembers(_ type: String, _ reading: String, _ members: String) {
    let line = Asking.declarations("var tags: \(type) { s }\n\(Self.adding)").last
    expectEqual(line?.contains(reading), true, line ?? "")
    expectEqual(line?.contains(members), true, line ?? "")
  }

  @Test(
    "Q4 B13: members that are taken as values of any type are hashable in between",
    arguments: [
      "Any", "AnyObject", "any Tag", "(any Tag)", "Any & Sendable", "NSObject&M.Tag", "Any?",
      "(any Tag)?", "Optional<AnyObject>",
    ])
  func membersOfAnyType(_ type: String) {
    let body = """
      func addTagsObject(_ t: \(type)) {}
      func removeTagsObject(_ t: \(type)) {}
      """
    let line = Asking.declarations("var tags: NSSet { s }\n\(body)").last
    let made = "object._element($0, of: \"tags\") as AnyHashable"
    expectEqual(line?.contains("object.tags.map { \(made) }"), true, line ?? "")
    let members = Asking.members("@KVO class A: B {\nvar tags: NSSet { s }\n\(body)\n}")
    for method in ["addTagsObject", "removeTagsObject"] {
      expect(members.contains("object.\(method)(object._element(element, of: \"tags\"))"), members)
    }
    let readers = """
      func countOfTags() -> Int { 1 }
      func memberOfTags(_ t: \(type)) -> Tag? { t }
      func enumeratorOfTags() -> NSEnumerator { e }
      """
    let read = Asking.declarations("\(readers)\n\(body)").last
    expectEqual(read?.contains("object.enumeratorOfTags().map { \(made) }"), true, read ?? "")
    expectEqual(read?.contains("$0.memberOfTags($0._element($1, of: \"tags\")) != nil"), true)
  }

  @Test("Q4 B13: the members of an NSEnumerator are read as the methods take them")
  func enumerated() {
    let readers = """
      func countOfTags() -> Int { 1 }
      func memberOfTags(_ t: Tag) -> Tag? { t }
      func enumeratorOfTags() -> NSEnumerator { e }
      """
    let line = Asking.declarations("\(readers)\n\(Self.adding)").last
    let made = "object._element($0, of: \"tags\") as Tag"
    let elements = "{ object in AnySequence(object.enumeratorOfTags().map { \(made) }) }"
    expectEqual(line?.contains("elements: \(elements)"), true, line ?? "")
  }

  @Test(
    "Q4 Q5: the message about Foundation's collections says what to write",
    arguments: [
      (
        "var tags: NSCountedSet { s }\n\(adding)",
        "an NSCountedSet is read neither as an array nor as a set: add countOfTags(), memberOfTags(_:) and enumeratorOfTags()"
      ),
      (
        "@KVOIgnored var tags = NSCountedSet()\n\(adding)",
        "an NSCountedSet is read neither as an array nor as a set: add countOfTags(), memberOfTags(_:) and enumeratorOfTags()"
      ),
      (
        "var songs: NSArray { s }\nfunc insertSongs(_ s: NSArray, at i: IndexSet) {}\nfunc removeSongs(at i: IndexSet) {}",
        "it takes NSArray, and not a Swift array of the elements"
      ),
      (
        "var tags: NSSet { s }\nfunc addTags(_ s: NSSet) {}\nfunc removeTagsObject(_ t: Tag) {}",
        "it takes NSSet, and not a Swift set of the elements"
      ),
    ])
  func messagesOfFoundation(_ body: String, _ reason: String) {
    let messages = Asking.messages("@KVO class A: B {\n\(body)\n}")
    expect(messages.count == 1 && messages[0].hasSuffix(", since \(reason)."), "\(messages)")
  }

  @Test(
    "Q4 Q5: a key for which no accessor is called is not reported",
    arguments: [
      "func countOfSongs() -> UInt { 1 }", "func insertObject(_ s: inout Int, inSongsAt i: Int) {}",
      "func objectInSongs(at i: Int32) -> Int { 1 }",
      "func memberOfTags(_ t: Int) -> Bool { true }",
      "@KVOIgnored var songs: [S] = []\nfunc insertObject(_ s: Int, inSongsAt i: Int) {}",
      "class func keyPathsForValuesAffectingValue(forKey k: String) -> [String] { [] }",
      // Conditional properties, and ones whose getters are async or throw.
      "#if X\nvar songs: [S] { s }\n#endif\nfunc insertObject(_ s: S, inSongsAt i: Int) {}\nfunc removeObject(fromSongsAt i: Int) {}",
      "var tags: Set<S> { get async { s } }\nfunc addTags(_ s: Set<S>) {}\nfunc removeTags(_ s: Set<S>) {}",
    ])
  func untold(_ body: String) {
    expect(!Asking.declarations(body).contains { $0.contains("ToMany") })
    expect(Asking.messages("@KVO class A: B {\n\(body)\n}").isEmpty)
  }

  @Test(
    "Q4 Q5: a method with a wrong type, or that waits or throws, is left out and reported",
    arguments: [
      (
        "class func keyPathsForValuesAffectingX() -> [String] { [] }",
        "it returns [String], and not Set<String>"
      ),
      (
        "static func automaticallyNotifiesObserversOfX() -> Int { 1 }",
        "it returns Int, and not Bool"
      ),
      ("class func keyPathsForValuesAffectingX() {}", "it returns Void, and not Set<String>"),
      (
        "static var keyPathsForValuesAffectingX: [String] { [] }",
        "it is of [String], and not of Set<String>"
      ),
      (
        "static var keyPathsForValuesAffectingX: Set<String> { get throws { [] } }",
        "its getter waits or throws"
      ),
      (
        "static func automaticallyNotifiesObserversOfX() async -> Bool { true }",
        "it waits or throws"
      ),
    ])
  func statements(_ member: String, _ reason: String) {
    let body = "var x: Int { 1 }\n" + member
    expectEqual(Asking.declarations(body), ["keys.computed(\"x\", \\.x)"])
    let messages = Asking.messages("@KVO class A: B {\n\(body)\n}")
    expect(messages.count == 1 && messages[0].hasSuffix(", since \(reason)."), "\(messages)")
    expectEqual(messages.first?.contains(" is not used for \"x\""), true)
    for type in ["Set<Key>", "Keys", "Swift.Set<String>"] {
      let other = "var x: Int { 1 }\nstatic var keyPathsForValuesAffectingX: \(type) { [] }"
      expect(Asking.declarations(other)[0].contains("affectedBy: keyPathsForValuesAffectingX"))
    }
  }
}
