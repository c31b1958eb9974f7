import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

// Superclasses that name their hidden properties, in declarations and in code that the macro generates for them.

@Suite(.leakFree) struct MacroHiddenNamesTests {
  private let log = Recorder()

  @Test("Q2 F1: the keys that a class names as affecting another are its own, not a subclass's")
  func dependencies() throws {
    let object = DependingBelow()
    for key in ["total", "answered"] { try log.observe(object, key, as: key) }
    log.observe(object, \.cached, [.old, .new], as: "cached")
    object.logDoubled(in: log)
    object.set(5)
    expectEqual(
      Set(log.take()),
      ["total", "answered", "cached old 1 new 5", "doubled old 2 new 10"])
    object.rename("b")
    expectEqual(log.take(), ["total"])
    object.setOwn(6)
    expectEqual(log.take(), [])
    expectEqual(DependingBelow.keyPathsForValuesAffectingValue(forKey: "own"), ["value"])
  }

  @Test("Q2 Q6: an override that a further subclass hides has the key of what it overrides")
  func overriding() {
    let object = OverridingBelow()
    object.log(in: log)
    object.logOverride(in: log)
    object.logOwn(in: log)
    object.set(5)
    expectEqual(Set(log.take()), ["base old 1 new 5", "override old 1 new 5"])
    object.set(50)
    expectEqual(Set(log.take()), ["base old 5 new 10", "override old 5 new 10"])
    object.setOwn(6)
    expectEqual(log.take(), ["own old 1 new 6"])
  }

  @Test(
    "Q2: hidden properties without a size are observed by themselves",
    .disabled(
      if: fixture_has_thread_sanitizer(), "the thread sanitizer takes their addresses for memory"))
  func withoutSize() {
    let object = SizelessBelow()
    object.log(in: log)
    object.logOwn(in: log)
    object.set()
    object.change { _ in }
    expectEqual(log.take(), ["base", "base"])
    object.setOwn(2)
    expectEqual(log.take(), ["own"])
    let reader = SizelessReader(SizelessBelow())
    log.observe(reader, \.count, as: "reader")
    reader.source.set()
    expectEqual(log.take(), ["reader"])
  }

  @Test("Q2: a hidden property that is read before its class is used is followed")
  func readFirst() async {
    // In a process that has used no class with hidden properties.
    await #expect(processExitsWith: .success) {
      let (reader, log) = (FirstReader(FirstReadBelow()), Recorder())
      log.observe(reader, \.tenfold, [.old, .new], as: "reader")
      reader.source.set(2)
      expectEqual(log.take(), ["reader old 10 new 20"])
    }
  }

  @Test("Q2 I3: an observer that another thread adds while a hidden property is set is notified")
  func late() {
    let object = LateBelow()
    let calls = Locked<[String]>([])
    let tokens = Locked<[KeyValueObservation]>([])
    object.set(
      Parting {
        let shared = Shared(object)
        onThreads(1) { _ in
          let base = shared.value.observeBase { calls.withLock { $0.append("base") } }
          let own = shared.value.observeOwn { calls.withLock { $0.append("own") } }
          tokens.withLock { $0 += [base, own] }
        }
      })
    object.set(nil)
    expectEqual(calls.withLock { $0 }, ["base"])
    let other = LateBelow()
    other.count { number in
      let shared = Shared(other)
      onThreads(1) { _ in
        let token = shared.value.observeNumber { calls.withLock { $0.append("number") } }
        tokens.withLock { $0.append(token) }
      }
      number += 1
    }
    expectEqual(calls.withLock { $0 }, ["base", "number"])
    for token in tokens.withLock({ $0 }) { token.invalidate() }
  }

  @Test("Q2 H2: accessors and validators of a class are about its own property, not a subclass's")
  func methods() throws {
    let object = ListingBelow()
    try object.mutableArrayValue(forKey: "songs").append("b")
    expectEqual(object.songs, ["a", "b"])
    expectEqual(object.added, [])
    var age: Any? = 9
    try object.validateValue(&age, forKey: "age")
    expectEqual(age as? Int, 9)
    log.observe(object, \.age, [.old, .new], as: "own")
    object.age = 7
    expectEqual(log.take(), ["own old 5 new 7"])
  }

  @Test("Q2: properties of classes of one name that hide each other are separate")
  func namesakes() {
    let object = HighNamesakes.Model()
    object.logLow(in: log)
    object.logMiddle(in: log)
    object.logHigh(in: log)
    object.low = 5
    object.middle = 6
    object.high = 7
    expectEqual(log.take(), ["low old 1 new 5", "middle old 1 new 6", "high old 1 new 7"])
  }

  @Test("Q2 F6: a hidden property has no key by which strings name it", arguments: [false, true])
  func naming(_ isPath: Bool) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [isPath] in
      _ = isPath ? LoggedBelow().pathOfCount() : LoggedBelow().keyOfCount()
    }
    expect(
      try require(result).errors.contains(
        "LoggedBelow has another property of this name, which hides Logged."))
    expectEqual(Logged().keyOfCount(), "count")
  }

  @Test("Q2 D7: a message names a hidden property with its class")
  func message() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      KVODiagnostics.depthLimit = 100
      let object = LoggedBelow()
      let token = object.countUp()
      object.set(5)
      token.invalidate()
    }
    expect(try require(result).errors.contains("observers of \"Logged.count\" of LoggedBelow"))
  }

  @Test("Q2: an @Observed property is hidden by a subclass's computed one")
  func observed() throws {
    let object = ComputingBelow()
    object.log(in: log)
    object.logOwn(in: log)
    try log.observe(object, "value", [.old, .new], as: "string")
    object.set(5)
    expectEqual(log.take(), ["base old 1 new 5"])
    object.setOwn(6)
    expectEqual(Set(log.take()), ["own old 1 new 6", "string old 1 new 6"])
  }

  @Test("Q2 E5: methods that announce changes get the name of a hidden property")
  func announced() {
    let object = AnnouncingBelow()
    object.logBase(in: log)
    object.logOwn(in: log)
    object.note = { [log] in log.note($0) }
    object.set(5)
    expectEqual(log.take(), ["will value", "base old 1 new 5", "did value"])
    object.bracket(6)
    let inner = ["will value", "base old 5 new 6", "did value"]
    expectEqual(log.take(), ["will value"] + inner + ["base old 5 new 6", "did value"])
    object.setOwn(7)
    expectEqual(log.take(), ["will value", "own old 1 new 7", "did value"])
  }

  @Test("Q2: a property that is declared by hand is hidden by a subclass's own")
  func declared() throws {
    let object = DeclaringBelow()
    object.log(in: log)
    object.logOwn(in: log)
    object.set(5)
    expectEqual(log.take(), ["base old 1 new 5"])
    object.setOwn(6)
    expectEqual(log.take(), ["own old 1 new 6"])
  }

  @Test("Q2 J1: a description of registrations names a hidden property as its class does")
  func described() {
    let object = LoggedBelow()
    object.log(in: log)
    expectEqual(object.observationInfo.registrations.map(\.keyPath), ["count"])
  }
}

// MARK: - Models

@KVO private final class Link: KVOObject {
  var name = "a"
}

@KVO private class Depending: KVOObject {
  private var value = 1 { didSet { kept = nil } }
  private var link = Link()
  private var doubled: Int { value * 2 }
  private class func keyPathsForValuesAffectingDoubled() -> Set<String> { ["value"] }
  @KVOIgnored private var kept: Int?
  var cached: Int {
    kept = kept ?? value
    return kept!
  }
  var total: Int { 0 }
  class func keyPathsForValuesAffectingTotal() -> Set<String> { ["value", "link.name"] }
  var answered: Int { 0 }
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let declared = super.keyPathsForValuesAffectingValue(forKey: key)
    return key == "answered" ? declared.union(["value"]) : declared
  }
  func set(_ value: Int) { self.value = value }
  func rename(_ name: String) { link.name = name }
  func logDoubled(in log: Recorder) { log.observe(self, \.doubled, [.old, .new], as: "doubled") }
}

@KVO private final class DependingBelow: Depending {
  private var value = 1
  private var link = Link()
  private var doubled = "own"
  var own: Int { 0 }
  class func keyPathsForValuesAffectingOwn() -> Set<String> { ["value"] }
  func setOwn(_ value: Int) {
    self.value = value
    link.name = "own"
  }
}

private struct Nothing {}

@KVO private class Sizeless: KVOObject {
  private var value = Nothing()
  var count: Int {
    _ = value
    return 0
  }
  func set() { value = Nothing() }
  func change(_ body: (inout Nothing) -> Void) { body(&value) }
  func log(in log: Recorder) { log.observe(self, \.value, as: "base") }
}

@KVO private final class SizelessBelow: Sizeless {
  private var value = 1
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, as: "own") }
}

@KVO private final class SizelessReader: KVOObject {
  @KVOIgnored let source: SizelessBelow
  init(_ source: SizelessBelow) { self.source = source }
  var count: Int { source.count }
}

@KVO private class FirstRead: KVOObject {
  private var value = 1 { didSet {} }
  var read: Int { value }
  func set(_ value: Int) { self.value = value }
}

@KVO private final class FirstReadBelow: FirstRead {
  private var value = 3
}

@KVO private final class FirstReader: KVOObject {
  @KVOIgnored let source: FirstReadBelow
  init(_ source: FirstReadBelow) { self.source = source }
  var tenfold: Int { source.read * 10 }
}

private final class Parting {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
  deinit { body() }
}

@KVO private class LateBase: KVOObject, @unchecked Sendable {
  private var value: Parting?
  private var number = 1
  func count(_ body: (inout Int) -> Void) { body(&number) }
  func observeNumber(_ body: @escaping @Sendable () -> Void) -> KeyValueObservation {
    observe(\.number) { _, _ in body() }
  }
  func set(_ value: Parting?) { self.value = value }
  func observeBase(_ body: @escaping @Sendable () -> Void) -> KeyValueObservation {
    observe(\.value) { _, _ in body() }
  }
}

@KVO private final class LateBelow: LateBase, @unchecked Sendable {
  private var value = 1
  private var number = 1
  func observeOwn(_ body: @escaping @Sendable () -> Void) -> KeyValueObservation {
    observe(\.value) { _, _ in body() }
  }
}

@KVO private class Listing: KVOObject {
  @KVOIgnored fileprivate var added: [Int] = []
  private var songs: [Int] { added }
  private func insertObject(_ song: Int, inSongsAt index: Int) {
    added.insert(song, at: index)
  }
  private func removeObject(fromSongsAt index: Int) { added.remove(at: index) }
  private var age = 1
  private func validateAge(_ age: inout Int?) throws { age = min(age ?? 0, 3) }
  override class func registerKeys() {
    super.registerKeys()
    declareKeys { $0.automaticallyNotifies("age", false) }
  }
}

@KVO private final class ListingBelow: Listing {
  var songs = ["a"]
  var age = 5
}

private enum LowNamesakes {
  @KVO class Model: KVOObject {
    var low = 1
    private var value: Int { low }
    func logLow(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "low") }
  }
}

private enum MiddleNamesakes {
  @KVO class Model: LowNamesakes.Model {
    var middle = 1
    private var value: Int { middle }
    func logMiddle(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "middle") }
  }
}

private enum HighNamesakes {
  @KVO final class Model: MiddleNamesakes.Model {
    var high = 1
    private var value: Int { high }
    func logHigh(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "high") }
  }
}

@KVO private class Logged: KVOObject {
  private var count = 1
  private var link: Link? = Link()
  func set(_ count: Int) { self.count = count }
  func countUp() -> KeyValueObservation { observe(\.count) { object, _ in object.count += 1 } }
  func keyOfCount() -> String { key(of: \.count) }
  func pathOfCount() -> String { key(of: \.link?.name) }
  func log(in log: Recorder) { log.observe(self, \.count, as: "base") }
}

@KVO private final class LoggedBelow: Logged {
  private var count = 2
  private var link: Link?
  func setOwn(_ count: Int) { self.count = count }
}

@KVO private class Announcing: KVOObject {
  @KVOIgnored var note: (String) -> Void = { _ in }
  private var value = 1
  func set(_ value: Int) { self.value = value }
  func bracket(_ value: Int) { withChange(of: \.value) { self.value = value } }
  func logBase(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "base") }
  override func willChangeValue(forKey key: String) {
    note("will \(key)")
    super.willChangeValue(forKey: key)
  }
  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    note("did \(key)")
  }
}

@KVO private final class AnnouncingBelow: Announcing {
  private var value = 1
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

private class Declaring: KVOObject {
  private var value = 1
  override class func registerKeys() { declareKeys { $0.stored("value", \.value) } }
  func set(_ value: Int) { withChange(of: \.value) { self.value = value } }
  func log(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "base") }
}

@KVO private final class DeclaringBelow: Declaring {
  private var value = 1
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

private class ObservedAbove: KVOObject {
  @Observed private var value = 1
  func set(_ value: Int) { self.value = value }
  func log(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "base") }
}

@KVO private final class ComputingBelow: ObservedAbove {
  private var own = 1
  private var value: Int {
    get { own }
    set { own = newValue }
  }
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}

@KVO private final class OverridingBelow: HiddenOverride {
  private var value = 1
  func setOwn(_ value: Int) { self.value = value }
  func logOwn(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "own") }
}
