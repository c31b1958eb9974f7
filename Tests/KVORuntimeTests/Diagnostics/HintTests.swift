import Expectations
import KVORuntime
import TestSupport
import Testing

/// J2: code that is legal, but probably not meant, is reported once, with class, key and remedy.
@Suite struct HintTests {
  private class Doc: KVOObject {
    var plain = 1
    weak var owner: Doc?
    lazy var late = 2
    let fixed = 3
    var declared = 4
    @Observed var title = ""
    @Observed var model: Model? = Model()
    @Observed var sizes = ["a": 1]
    var index: Int {
      get { model?.index ?? 0 }
      set { model?.index = newValue }
    }

    override class func registerKeys() { declareKeys { $0.stored("declared", \.declared) } }
  }
  private final class Model {
    var index = 1
  }

  private class Misspelt: KVOObject {
    @Observed var title = ""
    @Observed var people: [Int] = []
    var total: Int { people.count }
    var whole: Int { total }

    override class func registerKeys() {
      declareKeys { keys in
        keys.computed("total", \.total, affectedBy: ["peple.@count", "title"])
        keys.automaticallyNotifies("tilte", false)
        keys.automaticallyNotifies("title", true)
        keys.validator("pepole") { (_, _: inout Int?) in }
        keys.dependency("toal", on: ["people"])
        keys.dependency("whole", on: ["people"])
      }
    }
  }
  /// Answers any key, so no key is provably missing.
  private final class Answering: Misspelt {
    override func value(forUndefinedKey key: String) throws -> Any? { 1 }

    override class func registerKeys() {
      declareKeys { $0.automaticallyNotifies("anything", false) }
    }
  }

  private static func sayHints() { KVODiagnostics.hint = { say($0 + "\n") } }

  private func hints(in result: ExitTest.Result?) throws -> [String] {
    try require(result).errors.split(separator: "\n").map(String.init)
  }

  @Test("C8 J2: a plain property that is observed by its key is a hint, also as a link")
  func plain() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 {
        let doc = Doc()
        for key in ["plain", "owner.title", "late", "fixed", "declared", "title"] {
          try doc.observe(keyPath: key) { _, _ in }.invalidate()
        }
        try doc.addObserver(doc, forKeyPath: "plain")
      }
      KVODiagnostics.hint = nil
    }
    func text(_ key: String, _ remedy: String) -> String {
      "\"\(key)\" of Doc is observed, and is a plain property: assigning to it alone notifies no observer. "
        + "\(remedy) to it in withChange(forKey: \"\(key)\") { … }. Setting it by key notifies, "
        + "unless automatic notification is off for it."
    }
    let silent = "\"declared\" of Doc is observed, and its getter reads no @Observed property"
    let hinted = try hints(in: result)
    expectEqual(
      hinted.filter { !$0.hasPrefix(silent) },
      [
        text("plain", "Mark it @Observed. Or assign"), text("owner", "Assign"),
        text("late", "Assign"),
      ])
  }

  @Test("Q3 J2: weak and unowned properties of a @KVO class are no hint, since they notify")
  func references() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      let harbour = Sailor("Port")
      let boat = Boat(harbour)
      for key in ["captain", "harbour", "captain.name", "captainName"] {
        try boat.observe(keyPath: key) { _, _ in }.invalidate()
      }
      boat.observe(\.captain) { _, _ in }.invalidate()
      withExtendedLifetime(harbour) { KVODiagnostics.hint = nil }
    }
    expectEqual(try hints(in: result), [])
  }

  @Test("E3 J2: a manually announced key is no hint")
  func byHand() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      let marked = Marked()
      try marked.observe(keyPath: "count") { _, _ in }.invalidate()
      marked.observe(\.count) { _, _ in }.invalidate()
      KVODiagnostics.hint = nil
    }
    expectEqual(try hints(in: result), [])
  }

  private final class Locked: KVOObject {
    private var stored = (1, 2)
    var announced: Int {
      get { stored.0 }
      set { withChange(of: \.announced) { stored.0 = newValue } }
    }
    var silent: Int {
      get { stored.1 }
      set { change { $0.1 = newValue } }
    }
    private func change(_ body: (inout (Int, Int)) -> Void) { body(&stored) }

    override class func registerKeys() {
      declareKeys { keys in
        keys.computed("announced", \.announced)
        keys.automaticallyNotifies("announced", false)
        keys.computed("silent", \.silent)
      }
    }
  }

  @Test("E2 J2: a declared property that is observed by a protocol's key path is a hint")
  func requirement() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      observeByProtocol(Heading())
      KVODiagnostics.hint = nil
    }
    func text(_ key: String) -> String {
      "A key path names \"\(key)\" of Heading by a protocol. It is tracked by what it reads: what the class declares "
        + "of the key does not apply, and neither do notifications of its setter. Observe the key, "
        + "observe(keyPath: \"\(key)\"), or use a key path of the class."
    }
    expectEqual(try hints(in: result), [text("full"), text("scaled"), text("size")])
  }

  @Test("E2 E3 J2: a computed property whose setter may not announce the change is a hint")
  func bracketedSetter() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      let locked = Locked()
      for key in ["announced", "silent"] {
        try locked.observe(keyPath: key) { _, _ in }.invalidate()
      }
      locked.observe(\.announced) { _, _ in }.invalidate()
      locked.announced = 2
      KVODiagnostics.hint = nil
    }
    let hinted = try hints(in: result)
    expect(
      hinted.count == 1
        && hinted[0].hasPrefix("\"silent\" of Locked is observed, and its getter reads no"))
  }

  @Test("E2 J2: a manual change of a key that an unobserved object does not have is a hint, once")
  func unknownUnobserved() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 {
        let doc = Doc()
        doc.withChange(forKey: "tilte") {}
        doc.willChangeValue(forKey: "modle")
        doc.didChangeValue(forKey: "modle")
        doc.withChange(forKey: "title") {}
        Answering().withChange(forKey: "anything") {}
      }
      KVODiagnostics.hint = nil
    }
    let hinted = try hints(in: result).filter { $0.hasPrefix("A manual change of") }
    expectEqual(hinted.count, 2)
    for (key, near) in [("tilte", "title"), ("modle", "model")] {
      expect(
        hinted.contains {
          $0.hasPrefix("A manual change of \"\(key)\" of Doc notifies no observer")
            && $0.contains("\"\(near)\"")
        })
    }
  }

  @Test("Q1 J2: a plain property beside dynamic ones is a hint that says to mark it")
  func besideDynamic() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      let mixed = PartlyMarked()
      for key in ["plain", "title"] { try mixed.observe(keyPath: key) { _, _ in }.invalidate() }
      KVODiagnostics.hint = nil
    }
    expectEqual(
      try hints(in: result),
      [
        "\"plain\" of PartlyMarked is observed, and is a plain property: assigning to it alone notifies no observer. PartlyMarked has the "
          + "macro @KVO, which leaves this property plain: take its @KVOIgnored away or, if PartlyMarked marks its observed "
          + "properties dynamic, mark it so. Or assign to it in withChange(forKey: \"plain\") { … }. Setting it by key notifies, "
          + "unless automatic notification is off for it."
      ])
  }

  @Test("F6 J2: an object without keys on a key path that is observed is a hint")
  func keyless() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 { Doc().observe(\.model?.index) { _, _ in }.invalidate() }
      KVODiagnostics.hint = nil
    }
    expectEqual(
      try hints(in: result),
      [
        "The key path \\Doc.<a property of type Optional<Model>>?.index? is observed, and goes through an object of Model, which is not a "
          + "KVOObject: replacing the object notifies observers, changing what it contains does not."
      ])
  }

  private final class Leading: KVOObject {
    @Observed var model = Model()
    @Observed var next: Linked?
    @Observed var models: [Model] = []
    var declared: Int { model.index }
    var answered: Int { model.index }

    override class func registerKeys() {
      declareKeys { keys in
        keys.computed(
          "declared", \.declared,
          affectedBy: ["model.index", "model", "next.name", "models.@count"])
        keys.computed("answered", \.answered)
      }
    }
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "answered" ? ["model.index"] : super.keyPathsForValuesAffectingValue(forKey: key)
    }
  }

  @Test("F1 J2: a key path that affects a key and goes through an object without keys is a hint")
  func keylessLink() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 {
        for key in ["declared", "answered"] {
          try Leading().observe(keyPath: key) { _, _ in }.invalidate()
        }
      }
      Leading().observe(\.answered) { _, _ in }.invalidate()
      KVODiagnostics.hint = nil
    }
    expectEqual(
      try hints(in: result),
      ["declared", "answered"].map {
        "The key path \"model.index\" affects \"\($0)\" of Leading, but a change of \"index\" notifies no observer. It goes through an "
          + "object of Model, which is not a KVOObject. Make Model one; or give Leading a computed property, declared in "
          + "registerKeys(), whose setter announces the change: set { withChange(of: \\.<key>) { … } }."
      })
  }

  private final class Keeping: KVOObject {
    @Observed var text = "a"
    var counts: [String: Int] = [:]
    var tracked: Int { count("tracked") }
    var declared: Int { count("declared") }
    var affected: Int { count("affected") }
    var answered: Int {
      get { count("answered") }
      set { text = String(repeating: "n", count: newValue) }
    }
    var unkept: Int { text.count }

    func count(_ key: String) -> Int {
      if counts[key] == nil { counts[key] = text.count }
      return counts[key]!
    }
    override class func registerKeys() {
      declareKeys { keys in
        keys.computed("declared", \.declared)
        keys.computed("affected", \.affected, affectedBy: ["text"])
        keys.computed("answered", \.answered)
      }
    }
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "answered" ? ["text"] : super.keyPathsForValuesAffectingValue(forKey: key)
    }
  }

  private final class Linked: KVOObject {
    @Observed var name = "a"
    weak var parent: Linked?
    var title: String { (parent?.name ?? "") + name }
    override class func registerKeys() {
      declareKeys { $0.computed("title", \.title, affectedBy: ["name", "parent.name"]) }
    }
  }

  @Test("D8 J2: a plain property is a hint as the link of a key path that affects an observed key")
  func plainLink() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 { try Linked().observe(keyPath: "title") { _, _ in }.invalidate() }
      Linked().observe(\.title) { _, _ in }.invalidate()
      KVODiagnostics.hint = nil
    }
    expectEqual(
      try hints(in: result),
      [
        "\"parent\" of Linked affects \"title\", which is observed, and is a plain property: assigning to it alone notifies no observer. Assign to it "
          + "in withChange(forKey: \"parent\") { … }. Setting it by key notifies, unless automatic notification is off for it."
      ])
  }

  private final class Mistaken: KVOObject, KeyValueObservingCustomization {
    @Observed var a = 1
    var odd: Int { 1 }
    var sum: Int { a + odd }

    override class func registerKeys() { declareKeys { $0.computed("sum", \.sum) } }
    static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
      key == \Mistaken.sum ? [\Mistaken.odd] : []
    }
    static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { true }
  }

  @Test("F1 J2 J3: a key path that can't affect a key is reported once, also if hints are wanted")
  func impossibleDependency() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      KVODiagnostics.misuse = { say($0 + "\n") }
      let object = Mistaken()
      object.observe(\.sum) { _, _ in }.invalidate()
      try object.observe(keyPath: "sum") { _, _ in }.invalidate()
      KVODiagnostics.misuse = nil
      KVODiagnostics.hint = nil
    }
    let reported = try hints(in: result)
    expectEqual(reported.count { $0.contains("can't depend on the key path") }, 1)
  }

  @Test(
    "F5 J2: an observed getter that reads nothing any more, since it keeps its value, is a hint")
  func kept() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 {
        let keeping = Keeping()
        for keyPath in [\Keeping.tracked, \.declared, \.affected, \.answered, \.unkept] {
          keeping.observe(keyPath) { _, _ in }.invalidate()
        }
        for key in ["declared", "affected", "answered", "text"] {
          try keeping.observe(keyPath: key) { _, _ in }.invalidate()
        }
      }
      KVODiagnostics.hint = nil
    }
    expectEqual(
      try hints(in: result),
      ["\\Keeping.<a property of type Int> (text)", "\"declared\" of Keeping"].map {
        "\($0) is observed, and its getter has kept its value: it reads no @Observed property any more, so its observers "
          + "get manual notifications only. Declare what the value is made from: declareKeys { $0.computed(…, affectedBy: […]) }."
      })
  }

  @Test("D6 J2: a manual change of a key that an object lacks is a hint, however it is announced")
  func changes() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      Doc().withChange(forKey: "tilte") {}
      let doc = Doc()
      let token = doc.observe(\.title) { _, _ in }
      for _ in 0..<2 {
        doc.withChange(forKey: "titel") {}
        doc.willChangeValue(forKey: "titles")
        doc.didChangeValue(forKey: "titles")
        doc.withChange(.insertion, at: RangeSet(0..<1), forKey: "Title") {}
        doc.withChange(.union, using: [1], forKey: "tile") {}
        doc.withChange(forKey: "index") {}
        doc.withChange(forKey: "elsewhere") {}
        for key in ["plain", "title", "declared", "self"] { doc.withChange(forKey: key) {} }
        doc.withChange(of: \.model?.index) {}
      }
      let other = Answering()
      let otherToken = other.observe(\.title) { _, _ in }
      KVODiagnostics.hint = { say($0.contains("anything") || $0.contains("Answering") ? $0 : "") }
      other.withChange(forKey: "titel") {}
      KVODiagnostics.hint = nil
      token.invalidate()
      otherToken.invalidate()
    }
    func text(_ key: String, _ remedy: String = " Did you mean \"title\"?") -> String {
      "A manual change of \"\(key)\" of Doc notifies no observer: Doc has no key "
        + "\"\(key)\"." + remedy
    }
    let hinted = try hints(in: result).filter { $0.hasPrefix("A manual change of") }
    expectEqual(
      hinted,
      [
        text("tilte"), text("titel"), text("titles"), text("Title"), text("tile"),
        text("index", ""), text("elsewhere", ""),
      ])
  }

  @Test("E1 F1 J2: a declaration for a key that the class does not have is a hint")
  func declarations() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 { _ = try Misspelt().value(forKey: "title") }
      _ = try Answering().value(forKey: "title")
      Misspelt.declareKeys { $0.automaticallyNotifies("titlee", false) }
      KVODiagnostics.hint = nil
    }
    func text(_ what: String, _ key: String, _ meant: String) -> String {
      "Misspelt declares \(what): Misspelt has no key \"\(key)\". Did you mean \"\(meant)\"?"
    }
    expectEqual(
      try hints(in: result),
      [
        text("automaticallyNotifies for \"tilte\"", "tilte", "title"),
        text("a validator for \"pepole\"", "pepole", "people"),
        text("a dependency for \"toal\"", "toal", "total"),
        "Misspelt declares a dependency for \"whole\": Misspelt has no key \"whole\".",
        text("that \"peple\" affects \"total\"", "peple", "people"),
        text("automaticallyNotifies for \"titlee\"", "titlee", "title"),
      ])
  }

  @Test("C5 J2: a token dropped where it was made is a hint, whoever else observes the key")
  func tokens() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      // The thread may be suspended longer than a token is watched.
      for _ in 0..<100 {
        let (doc, other) = (Doc(), Doc())
        let token = doc.observe(\.title) { _, _ in }
        _ = doc.observe(\.title) { _, _ in }
        _ = try doc.observe(keyPath: "model") { _, _ in }
        _ = other.observe(\.model?.index) { _, _ in }
        _ = other.observe(\.sizes["a"]) { _, _ in }
        doc.observe(\.declared) { _, _ in }.invalidate()
        _ = doc.observe(\.declared, options: .initial) { _, _ in }
        let called = doc.observe(\.declared) { _, _ in }
        doc.withChange(forKey: "declared") {}
        _ = consume called
        token.invalidate()
      }
      KVODiagnostics.hint = nil
    }
    let hinted = try hints(in: result).filter { $0.hasPrefix("An observation") }
    let names = [
      "\"title\" of Doc", "\"model\" of Doc",
      "\\Doc.<a property of type Optional<Model>>?.index? (model)",
      "\\Doc.<a property of type Dictionary<String, Int>>[…]",
    ]
    expectEqual(
      Set(hinted),
      Set(
        names.map {
          "An observation of \($0) ended where it was made, before its handler was called. Keep the token that "
            + "observe returns, in a property: "
            + "a release build lets go of a local variable or array after its last use."
        }))
  }

  private final class Alias: KVOObject {
    @Observed var title = ""
    @Observed var size = 1

    override class func registerKeys() {
      declareKeys { keys in
        keys.stored("heading", \.title)
        keys.stored("size", \.size)
      }
    }
  }

  @Test("E1 J2: an @Observed property that is declared as stored under another key is a hint")
  func otherName() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 {
        let alias = Alias()
        let tokens = [
          try alias.observe(keyPath: "heading") { _, _ in say("notified\n") },
          try alias.observe(keyPath: "title") { _, _ in say("title\n") },
          try alias.observe(keyPath: "size") { _, _ in },
        ]
        alias.title = "a"
        for token in tokens { token.invalidate() }
      }
      KVODiagnostics.hint = nil
    }
    expectEqual(
      try hints(in: result),
      [
        #"""
        "heading" of Alias is observed, and is declared as stored, but is the @Observed property "title": \#
        assigning to that notifies observers of the key "title" only. A property under another key is declared in \#
        registerKeys() as computed: declareKeys { $0.computed("heading", \.title) }.
        """#, "title", "title",
      ])
  }

  @Test("C8 F1 J2: a string key path that fails behind a nil link is a hint")
  func deadEnds() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.sayHints()
      for _ in 0..<2 {
        let link = Link()
        var tokens: [KeyValueObservation] = []
        for path in [
          "next.lable", "next.next.lable", "next.label", "model.index", "next.model.index",
          "special.extra",
          "answering.any", "next.label.count", "next.@count",
        ] {
          if let token = try? link.observe(keyPath: path, changeHandler: { _, _ in }) {
            tokens.append(token)
          }
        }
        link.special = Special()
        withExtendedLifetime(tokens) {}
        try Link.special().observe(keyPath: "special.extra") { _, _ in }.invalidate()
      }
      KVODiagnostics.hint = nil
    }
    func text(_ path: String, _ link: String, _ key: String, _ reason: String) -> String {
      "The key path \"\(path)\" of Link is observed, and leads nowhere at \"\(key)\" once \"\(link)\" is no longer "
        + "nil. \(reason)"
    }
    let hinted = try hints(in: result).filter {
      !$0.contains(" declares ") && !$0.hasPrefix("An observation")
    }
    let misspelt = "Link has no key \"lable\". Did you mean \"label\"?"
    expectEqual(
      hinted,
      [
        text("next.lable", "next", "lable", misspelt),
        text("next.next.lable", "next.next", "lable", misspelt),
        text("next.model.index", "next.model", "index", throughModel("Link")),
        text("special.extra", "special", "extra", "Link has no key \"extra\"."),
      ])
  }
  private class Link: KVOObject {
    @Observed var label = ""
    @Observed var next: Link?
    @Observed var special: Link?
    @Observed var answering: Answering?
    var model: Model?

    static func special() -> Link {
      let link = Link()
      link.special = Special()
      return link
    }
  }
  private final class Special: Link {
    @Observed var extra = 1
  }

  @Test("B6 D5: what an observed operator can't add up is delivered as nil, and reported once")
  func sums() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let group = Group()
      let token = try group.observe(keyPath: "docs.@sum.title", options: [.new, .old]) {
        _, change in
        say("\(change)\n")
      }
      group.docs = [Doc()]
      group.docs[0].title = "a"
      KVODiagnostics.misuse = nil
      token.invalidate()
    }
    let lines = try hints(in: result)
    expectEqual(lines.count, 3)
    expectEqual(lines.first?.hasPrefix("\"docs.@sum.title\" of Group is reported as nil: "), true)
    expectEqual(
      lines.first?.contains("needs numbers, but an element gives a value of type String"), true)
    expectEqual(lines.dropFirst().first?.contains("newValue: nil"), true)
  }

  @Test("C6 F1: the error for a Swift path says a key is missing, not a getter or an ivar")
  func words() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let group = Group()
      let token = try group.observe(keyPath: "docs.@sum.titel") { _, _ in }
      for _ in 0..<2 { group.docs.append(Doc()) }
      try Misspelt().observe(keyPath: "total") { _, _ in }.invalidate()
      KVODiagnostics.misuse = nil
      token.invalidate()
    }
    expectEqual(
      try hints(in: result),
      [
        #""docs.@sum.titel" of Group can't be observed further: Doc has no key "titel"."#,
        #""total" of Misspelt can't depend on "peple.@count": Misspelt has no key "peple"."#,
      ])
  }

  private final class Group: KVOObject {
    @Observed var docs: [Doc] = []
  }
}

/// The advice for a key path through an object of `Model`.
func throughModel(_ owner: String) -> String {
  """
  It goes through an object of Model, which is not a KVOObject. Make Model one; or give \(owner) a computed property, \
  declared in registerKeys(), whose setter announces the change: set { withChange(of: \\.<key>) { … } }.
  """
}

@KVO private final class PartlyMarked: KVOObject {
  dynamic var title = ""
  var plain = 1
}

private protocol Titled: KVOObject {
  var title: String { get set }
  var plain: String { get }
  var full: String { get }
  var scaled: Int { get }
  var size: Double { get set }
}

extension Titled {
  fileprivate var other: String { title + "!" }
}

@KVO private final class Heading: KVOObject, Titled {
  var title = "" { didSet { _ = title } }
  var plain: String { title }
  var full: String { title + "." }
  var trigger = 0
  var scaled: Int { trigger }
  var size: Double {
    get { Double(trigger) }
    set { withAutomaticChange(of: \.size) { trigger = Int(newValue) } }
  }

  class func keyPathsForValuesAffectingFull() -> Set<String> { ["trigger"] }
  class func automaticallyNotifiesObserversOfScaled() -> Bool { false }
}

// Only `full`, `scaled` and `size` have another source of notifications than what they read.
private func observeByProtocol<T: Titled>(_ object: T) {
  object.observe(\.title) { _, _ in }.invalidate()
  object.observe(\.plain) { _, _ in }.invalidate()
  object.observe(\.other) { _, _ in }.invalidate()
  object.observe(\.full) { _, _ in }.invalidate()
  object.observe(\.scaled) { _, _ in }.invalidate()
  object.observe(\.size) { _, _ in }.invalidate()
}
