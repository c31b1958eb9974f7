import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C8: which strings are the same key, and which are none.
@Suite(.leakFree) struct KeySpellingTests {
  @Test("C8: canonically equivalent strings are one key, whichever observes, changes and removes")
  func equivalent() throws {
    for (observing, changing, removing) in triples() {
      let cafe = Cafe()
      let log = Recorder()
      let watcher = log.watcher()
      let seats = observing.key("sièges")
      try cafe.addObserver(watcher, forKeyPath: seats, options: .new)
      expect(cafe.isObserved(forKey: changing.key("sièges")))
      try cafe.setValue(1, forKey: changing.key("sièges"))
      cafe.withChange(forKey: changing.key("sièges")) {}
      expect(try cafe.value(forKeyPath: "self." + changing.key("sièges")) as? Int == 1)
      try cafe.removeObserver(watcher, forKeyPath: removing.key("sièges"))
      expectEqual(log.take(), ["w: sièges new 1", "w: sièges new 1"])
      expect(!cafe.isObserved(forKey: changing.key("sièges")))
    }
  }

  @Test(
    "C8: a property's own name, however spelled in the source, and its key path are one key too")
  func ownName() throws {
    for (observing, changing) in spellings() {
      let cafe = Cafe()
      let log = Recorder()
      try log.observe(cafe, observing.key("naïve"), .new)
      log.observe(cafe, \.naïve, .new, as: "typed")
      cafe.naïve = 1
      try cafe.setValue(2, forKey: changing.key("naïve"))
      cafe.willChangeValue(forKey: changing.key("naïve"))
      cafe.didChangeValue(for: \.naïve)
      expectEqual(
        log.take(),
        [
          "a new 1", "typed new 1", "a new 2", "typed new 2", "a new 2", "typed new 2",
        ])
    }
  }

  @Test("C8: components of key paths are keys as well, when followed, set and validated")
  func components() throws {
    for (observing, changing) in spellings() {
      let cafe = Cafe()
      let log = Recorder()
      let path = observing.key("voisiné.sièges")
      try log.observe(cafe, path, .new)
      cafe.voisiné = Cafe()
      try cafe.setValue(5, forKeyPath: changing.key("voisiné.sièges"))
      expect(try cafe.value(forKeyPath: path) as? Int == 5)
      expectEqual(log.take(), ["a new 0", "a new 5"])
    }
  }

  @Test("C8: dependencies, declared keys, element and member pairs, and proxies as well")
  func elsewhere() throws {
    for (observing, changing) in spellings() {
      let cafe = Cafe()
      let log = Recorder()
      try log.observe(cafe, observing.key("dérivé"), .new)
      try log.observe(cafe, observing.key("thés"), .new, as: "list")
      try log.observe(cafe, observing.key("cafés"), .new, as: "set")
      try cafe.setValue(1, forKey: changing.key("sièges"))
      cafe.withChange(.insertion, at: RangeSet(0..<1), forKey: changing.key("thés")) {
        cafe.thés = ["vert"]
      }
      try cafe.mutableArrayValue(forKey: changing.key("thés")).append("noir")
      cafe.withChange(.union, using: ["noir"], forKey: changing.key("cafés")) {
        cafe.cafés = ["noir"]
      }
      expectEqual(
        log.take(),
        [
          "a new 2", #"list insertion at 0 new ["vert"]"#, #"list insertion at 1 new ["noir"]"#,
          "set insertion new {noir}",
        ])
    }
  }

  @Test("C8: keys that only the object answers are one key, however spelled")
  func answered() throws {
    for (observing, changing) in spellings() {
      let object = Answering()
      let log = Recorder()
      let watcher = log.watcher()
      try object.addObserver(watcher, forKeyPath: observing.key("état"))
      object.withChange(forKey: changing.key("état")) {}
      try object.removeObserver(watcher, forKeyPath: changing.key("état"))
      expectEqual(log.take(), ["w: état"])
    }
  }

  @Test("C8: a key with a NUL is invalid everywhere: it is never truncated there")
  func nul() throws {
    let cafe = Cafe()
    let log = Recorder()
    let watcher = log.watcher()
    try cafe.addObserver(watcher, forKeyPath: "seats", options: .new)
    expect(!cafe.isObserved(forKey: "seats\0x"))
    cafe.willChangeValue(forKey: "seats\0x")
    cafe.didChangeValue(forKey: "seats\0x")
    cafe.withChange(.insertion, at: RangeSet(0..<1), forKey: "seats\0") {}
    cafe.withChange(.union, using: [], forKey: "seats\0") {}
    for key in ["seats\0x", "\0seats", "seats\0"] {
      #expect(throws: KeyValueError.self) { try cafe.removeObserver(watcher, forKeyPath: key) }
      #expect(throws: KeyValueError.self) {
        try cafe.removeObserver(watcher, forKeyPath: key, context: nil)
      }
      #expect(throws: KeyValueError.self) { try cafe.value(forKey: key) }
      #expect(throws: KeyValueError.self) { try cafe.value(forKeyPath: "self." + key) }
      #expect(throws: KeyValueError.self) { try cafe.setValue(1, forKey: key) }
      #expect(throws: KeyValueError.self) { try cafe.observe(keyPath: key) { _, _ in } }
      #expect(throws: KeyValueError.self) { try cafe.mutableArrayValue(forKey: key) }
    }
    expectEqual(log.take(), [])
    cafe.seats = 1
    expectEqual(log.take(), ["w: seats new 1"])
  }

  @Test("C8: a key that only the object answers is invalid too if it has a NUL")
  func answeredNul() throws {
    let object = Answering()
    expect(try object.value(forKey: "a\0b") as? String == "a\0b")
    #expect(throws: KeyValueError.self) { try object.observe(keyPath: "a\0b") { _, _ in } }
    #expect(throws: KeyValueError.self) { try object.mutableArrayValue(forKey: "a\0b") }
  }

  @Test("C8: a declaration and a dependency with a NUL are reported, and ignored")
  func declaredNul() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let object = Misdeclared()
      let log = Recorder()
      try log.observe(object, "sum", .new)
      expect(keyValueError { _ = try object.value(forKey: "pl") } != nil)
      try object.setValue(2, forKey: "plain")
      expectEqual(log.take(), [])
    }
    let reports = try require(result).errors.split(separator: "\n")
    expectEqual(reports.count, 2, "\(reports)")
    expect(reports.contains { $0.contains("Misdeclared") && $0.contains("pl\\0ain") })
    expect(reports.contains { $0.contains("\"sum\"") && $0.contains("plain\\0") }, "\(reports)")
  }
}

/// The Unicode form of a key.
private enum Spelling: CaseIterable {
  case composed, decomposed

  /// Converts a composed key to this form.
  func key(_ key: String) -> String {
    guard self == .decomposed else { return key }
    let marks: [Character: String] = ["é": "e\u{301}", "è": "e\u{300}", "ï": "i\u{308}"]
    return key.map { marks[$0] ?? String($0) }.joined()
  }
}

/// All pairs.
private func spellings() -> [(Spelling, Spelling)] {
  Spelling.allCases.flatMap { first in Spelling.allCases.map { (first, $0) } }
}

private func triples() -> [(Spelling, Spelling, Spelling)] {
  spellings().flatMap { pair in Spelling.allCases.map { (pair.0, pair.1, $0) } }
}

private class Cafe: Tracked {
  @Observed var seats = 0
  // swift-format-ignore: IdentifiersMustBeASCII
  @Observed var sièges = 0
  // Decomposed.
  // swift-format-ignore: IdentifiersMustBeASCII
  @Observed var naïve = 0
  // swift-format-ignore: IdentifiersMustBeASCII
  @Observed var voisiné: Cafe?
  // swift-format-ignore: IdentifiersMustBeASCII
  var thés: [String] = []
  // swift-format-ignore: IdentifiersMustBeASCII
  var cafés: Set<String> = []
  // swift-format-ignore: IdentifiersMustBeASCII
  var dérivé: Int { sièges * 2 }

  override class func registerKeys() {
    declareKeys { keys in
      keys.computed(Spelling.decomposed.key("dérivé"), \.dérivé, affectedBy: ["sièges"])
      keys.stored(Spelling.decomposed.key("thés"), \.thés)
    }
  }
}

private class Answering: Tracked {
  override func value(forUndefinedKey key: String) throws -> Any? { key }
}

private class Misdeclared: Tracked {
  var plain = 0
  override class func registerKeys() {
    declareKeys { keys in
      keys.stored("pl\0ain", \.plain)
      keys.accessors("sum", get: { $0.plain })
      keys.dependency("sum", on: ["plain\0"])
    }
  }
}
