import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// Observing a key path again uses caches, and notifies the same.
@Suite(.leakFree) struct ObserveAgainTests {
  @Test("E1: a key path that was observed before uses the subclass's setting on its objects")
  func subclass() {
    let log = Recorder()
    for _ in 0..<3 { set(Loud(), log) }
    expectEqual(log.take(), ["1", "1", "1"])
    for _ in 0..<3 { set(Hushed(), log) }
    expectEqual(log.take(), [])
    set(Loud(), log)
    expectEqual(log.take(), ["1"])
  }

  // One literal for both classes.
  private func set(_ object: Loud, _ log: Recorder) {
    let token = object.observe(\.word, options: .new) { log.note("\($1.newValue!)") }
    object.word = 1
    token.invalidate()
  }

  @Test("F6: a key path that was observed before uses declarations made since")
  func declaredSince() {
    let object = Declared()
    expectEqual((0..<3).map { _ in isNamed(object) }, [false, false, false])
    Declared.declareHidden()
    expectEqual((0..<3).map { _ in isNamed(object) }, [true, true, true])
  }

  // A class caches the addresses of 4096 key paths. Later key paths are freed, and new ones reuse their addresses.
  @Test("F6: a key path at the address of a freed one has its own name")
  func reusedAddress() {
    let object = Twin<Int>()
    var (values, expected): ([Int], [Int]) = ([], [])
    for round in 0..<4_160 {
      let keyPath = Twin<Int>.keyPath(round)
      let token = object.observe(keyPath, options: .new) { values.append($1.newValue!) }
      (object.first, object.second) = (1, 2)
      expected.append(object[keyPath: keyPath])
      token.invalidate()
    }
    expect(values == expected)
  }

  // Whether the key path has the declared key, not a key of its own.
  private func isNamed(_ object: Declared) -> Bool {
    let token = object.observe(\.hidden) { _, _ in }
    defer { token.invalidate() }
    return object.isObserved(forKey: "hidden")
  }

  @Test("J2: a hint enabled later is given when the key is observed again")
  func hintsWantedLater() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let (object, other) = (Mute(), Mute())
      for isWanted in [false, false, false, true] {
        if isWanted { KVODiagnostics.hint = { say($0 + "\n") } }
        object.observe(\.typed) { _, _ in }.invalidate()
        try other.observe(keyPath: "named") { _, _ in }.invalidate()
      }
      KVODiagnostics.hint = nil
    }
    let hints = try require(result).errors.split(separator: "\n")
    expectEqual(hints.count, 2, "\(hints)")
    expectEqual(hints.first?.hasPrefix("\"typed\" of Mute is observed"), true)
    expectEqual(hints.last?.hasPrefix("\"named\" of Mute is observed"), true)
  }

  @Test("C5: a handler is released when its registration ends, however often its key was observed")
  func letGo() throws {
    let (object, kept) = (Loud(), Loud())
    var witness: Witness? = Witness()
    weak let gone = witness
    for _ in 0..<3 {
      let tokens = [
        object.observe(\.word) { [witness] _, _ in _ = witness },
        object.observe(\.words[0]) { [witness] _, _ in _ = witness },
        try object.observe(keyPath: "word") { [witness] _, _ in _ = witness },
        object.observe(\.word, withToken: { [witness] _, _, _ in _ = witness }),
        object.observe(\.word, options: .initial) { [witness] _, _ in _ = witness },
      ]
      object.word = 1
      expect(
        keyValueError { _ = try kept.observe(keyPath: "none") { [witness] _, _ in _ = witness } }
          != nil)
      for token in tokens { token.invalidate() }
    }
    witness = nil
    expect(gone == nil)
  }

  @Test("F1: a derived key's dependencies are released with its last observer")
  func derived() throws {
    let object = Loud()
    let observer = Recorder().watcher()
    for _ in 0..<2 {
      try object.addObserver(observer, forKeyPath: "twice", context: nil)
      expect(isSwapped(object))
      try object.removeObserver(observer, forKeyPath: "twice", context: nil)
      expect(!isSwapped(object))
    }
  }
}

private final class Witness {}

private class Loud: KVOObject {
  @Observed var word = 0
  @Observed var words = [1, 2]
  var twice: Int { word * 2 }

  override class func registerKeys() {
    Loud.declareKeys { $0.computed("twice", \.twice) }
  }
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    key == "twice" ? ["word"] : super.keyPathsForValuesAffectingValue(forKey: key)
  }
}

private final class Hushed: Loud {
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "word" }
}

private final class Twin<Content>: KVOObject {
  @Observed var first = 1
  @Observed var second = 2

  // Literals in generic code create a new key path each time.
  static func keyPath(_ round: Int) -> KeyPath<Twin, Int> {
    round % 2 == 0 ? \Twin.first : \Twin.second
  }
}

private final class Declared: KVOObject {
  @Observed var seen = 0
  private var unseen = 0
  var hidden: Int { seen + unseen }

  static func declareHidden() {
    declareKeys { $0.accessors("hidden", \.hidden, get: { $0.hidden }, set: { $0.unseen = $1 }) }
  }
}

/// The getters of its keys read nothing observable.
private final class Mute: KVOObject {
  private var number = 0
  var typed: Int {
    get { number }
    set { number = newValue }
  }
  var named: Int {
    get { number }
    set { number = newValue }
  }

  override class func registerKeys() {
    Mute.declareKeys {
      $0.computed("typed", \.typed)
      $0.computed("named", \.named)
    }
  }
}
