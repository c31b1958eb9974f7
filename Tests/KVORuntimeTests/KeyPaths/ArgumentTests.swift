import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// F6: key paths with subscript arguments, which are values of the program. Serialised: a lookup retains the equal
/// arguments that it finds, also another test's, while it compares them.
@Suite(.leakFree, .serialized) struct ArgumentTests {
  /// An argument that uses key paths while it is being hashed and compared.
  private struct Index: Hashable {
    let number: Int
    let life = Life(of: Index.self)
    var probe: Shelf?

    init(_ number: Int, _ probe: Shelf? = nil) {
      self.number = number
      self.probe = probe
    }

    static func == (a: Index, b: Index) -> Bool {
      a.use()
      return a.number == b.number
    }

    func hash(into hasher: inout Hasher) {
      use()
      hasher.combine(number)
    }

    private func use() {
      guard let probe else { return }
      probe.observe(\.list[probe.list.count - 1]) { _, _ in }.invalidate()
      probe.withChange(of: \.list.count) {}
    }
  }

  private class Shelf: KVOObject {
    @Observed var list = [1, 2, 3]
    subscript(index: Index) -> Int { list[index.number] }
  }

  private final class SmallShelf: Shelf {}

  private final class Boxed: Hashable {
    let life = Life(of: Boxed.self)
    static func == (a: Boxed, b: Boxed) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  private final class Holder: KVOObject {
    @Observed var number = 1
    subscript(boxed: Boxed) -> Int { number }
  }

  @Test("F6 D7: an argument's own code may observe and use key paths")
  func reentrantArgument() {
    let (shelf, probe) = (Shelf(), Shelf())
    let log = Recorder()
    Watchdog.watch {
      for _ in 0..<2 { log.observe(shelf, \.[Index(1, shelf)], [.new]) }
      log.observe(shelf, \.[Index(1, probe)], [.new])
      shelf.list[1] = 5
    }
    expectEqual(log.take(), ["a new 5", "a new 5", "a new 5"])
    expectEqual(Set(shelf.observationInfo.registrations.map(\.keyPath)).count, 1)
  }

  @Test("D8 E3: a pair of a key path with arguments that has no observer is not reported")
  func unobservedPair() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let shelf = Shelf()
      // Their keys are idle afterwards.
      for token in (0..<2).map({ shelf.observe(\.list[$0]) { _, _ in } }) { token.invalidate() }
      let other = shelf.observe(\.list) { _, _ in }
      for index in 0..<3 {
        shelf.willChangeValue(for: \.list[index])
        shelf.didChangeValue(for: \.list[index])
      }
      withExtendedLifetime(other) {}
    }
    expectEqual(try require(result).errors, "")
  }

  @Test("D6 E3: a pair of a key path with arguments notifies its observer")
  func observedPair() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.list[1], [.old, .new])
    shelf.willChangeValue(for: \.list[1])
    shelf.didChangeValue(for: \.list[1])
    expectEqual(log.take(), ["a old 2 new 2"])
  }

  @Test("F6 C5: an argument dies with the registrations")
  func argumentsEnd() {
    let holder = Holder()
    weak var gone: Boxed?
    do {
      let boxed = Boxed()
      gone = boxed
      var calls = 0
      let token = holder.observe(\.[boxed]) { _, _ in calls += 1 }
      let keys = holder.observe([\.[boxed], \.number]) { _, _ in calls += 10 }
      holder.withChange(of: \.[boxed]) {}
      holder.number = 2
      expectEqual(calls, 11 + 21)
      token.invalidate()
      keys.invalidate()
    }
    expect(gone == nil)
  }

  @Test("F6: successive arguments take no more keys than simultaneous ones")
  func keysAreUsedAgain() {
    let shelf = Shelf()
    shelf.list = Array(0..<300)
    var names: Set<String> = []
    for index in 0..<300 {
      var notified: [Int] = []
      let token = shelf.observe(\.list[index], options: [.old, .new]) { _, change in
        notified += [change.oldValue!, change.newValue!]
      }
      names.formUnion(shelf.observationInfo.registrations.map(\.keyPath))
      shelf.list[index] = -1
      token.invalidate()
      expectEqual(notified, [index, -1])
    }
    expectEqual(names.count, 1)
  }

  @Test("F6: equal arguments are one key, for class and superclass; others are other keys")
  func oneKeyEach() {
    let shelf = SmallShelf()
    let log = Recorder()
    for index in 0..<3 {
      log.observe(shelf, \SmallShelf.[Index(index)], [.new], as: "small \(index)")
      log.observe(shelf as Shelf, \Shelf.[Index(index)], [.new], as: "shelf \(index)")
    }
    expectEqual(Set(shelf.observationInfo.registrations.map(\.keyPath)).count, 3)
    (shelf as Shelf).withChange(of: \Shelf.[Index(1)]) {}
    expectEqual(log.take(), ["small 1 new 2", "shelf 1 new 2"])
    shelf.list = [4, 5, 6]
    expectEqual(
      log.take().sorted(),
      [
        "shelf 0 new 4", "shelf 1 new 5", "shelf 2 new 6", "small 0 new 4", "small 1 new 5",
        "small 2 new 6",
      ])
  }

  private class Sender: KVOObject {
    @Observed var lines = ["x", "y"]
    @Observed var sender: Sender?
  }
  private final class LateSender: Sender {}

  @Test(
    "F6: a key path with a late argument is observed on a subclass's object")
  func behindComponents() {
    let sender = LateSender()
    let log = Recorder()
    for index in 0..<2 {
      log.observe(sender as Sender, \Sender.lines[index], [.new], as: "own \(index)")
      log.observe(sender as Sender, \Sender.sender?.lines[index], [.new], as: "next \(index)")
    }
    sender.lines = ["a", "b"]
    expectEqual(log.take().sorted(), ["own 0 new a", "own 1 new b"])
    let next = LateSender()
    sender.sender = next
    _ = log.take()
    next.lines[1] = "c"
    expect(log.take().contains { $0.hasPrefix("next 1 new") && $0.contains("c") })
  }

  @Test("F6: a key path that goes on after an argument is observed on a subclass's object")
  func goingOn() {
    let shelf = SmallShelf()
    let log = Recorder()
    for index in 0..<2 {
      log.observe(shelf as Shelf, \Shelf.[Index(index)].bigEndian, [.new], as: "on \(index)")
      log.observe(shelf as Shelf, \Shelf.[Index(index)], [.new], as: "it \(index)")
    }
    shelf.list = [256, 512, 0]
    expectEqual(
      log.take().sorted(),
      [
        "it 0 new 256", "it 1 new 512", "on 0 new \(256.bigEndian)", "on 1 new \(512.bigEndian)",
      ])
  }

  private class Declared: KVOObject {
    @Observed var lines = [1, 2]
    @Observed var number = 3

    override class func registerKeys() {
      declareKeys { keys in
        keys.computed("second", \.lines[1])
        keys.computed("next", \.[0].bigEndian)
      }
    }
    subscript(index: Int) -> Int { lines[index] }
  }
  private final class LateDeclared: Declared {}

  @Test("F6: a key path is compared with a superclass's declared ones that have arguments")
  func besideDeclared() {
    let object = LateDeclared()
    let log = Recorder()
    log.observe(object, \LateDeclared.number, [.new], as: "number")
    log.observe(object, \LateDeclared.lines[1], [.new], as: "second")
    log.observe(object, \LateDeclared.[0].bigEndian, [.new], as: "next")
    log.observe(object as Declared, \Declared.lines[1], [.new], as: "its second")
    object.number = 4
    object.lines[1] = 5
    let notified = log.take().filter { !$0.hasPrefix("next") }
    expectEqual(notified, ["number new 4", "second new 5", "its second new 5"])
  }

  private final class Safe: KVOObject, @unchecked Sendable {
    @Observed var list = Array(0..<8)
  }

  @Test("F6 I1: threads observe with equal and with different arguments")
  func threads() {
    let safe = Safe()
    let calls = Count()
    onThreads(4) { thread in
      for round in 0..<200 {
        let index = (round + thread) % 8
        safe.observe(\.list[index], options: .initial) { _, _ in calls.add() }.invalidate()
      }
    }
    expectEqual(calls.value, 800)
    expect(safe.observationInfo.registrations.isEmpty)
  }
}
