import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

private struct Nothing {}

private final class Farewell {
  let say: () -> Void
  init(_ say: @escaping () -> Void) { self.say = say }
  deinit { say() }
}

@KVO private class Sheet: KVOObject, @unchecked Sendable {
  var total = 10
  var spare = 20
  var entries = [1, 2]
  var index = ["a": 1]
  var pair = (1, "a")
  var range = (from: 1, to: 2)
  var note: String? = "n"
  var small: UInt8 = 1
  var item: Farewell?
  var nothing = Nothing()
  var other = Nothing()
  var isNothing: Bool { "\(nothing)" == "Nothing()" }
}

private final class DoubledSheet: Sheet, @unchecked Sendable {
  override var total: Int {
    get { 2 * super.total }
    set { super.total = newValue }
  }
}

/// Q1: the properties of a `@KVO` class that have neither observers nor modifiers, which are stored beside the
/// property.
@Suite(.leakFree, .serialized) struct MacroInPlaceTests {
  fileprivate struct Mutation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let line: String
    let mutate: @Sendable (Sheet) -> Void

    init(_ statement: String, _ line: String, _ mutate: @escaping @Sendable (Sheet) -> Void) {
      (testDescription, self.line, self.mutate) = (statement, line, mutate)
    }
  }

  fileprivate static let mutations = [
    Mutation("total = 3", "total old 10 new 3") { $0.total = 3 },
    Mutation("total += 1", "total old 10 new 11") { $0.total += 1 },
    Mutation("small &+= 255", "small old 1 new 0") { $0.small &+= 255 },
    Mutation("small = 7", "small old 1 new 7") { $0.small = 7 },
    Mutation("range = (3, 4)", "range old (from: 1, to: 2) new (from: 3, to: 4)") {
      $0.range = (3, 4)
    },
    Mutation("range.to += 1", "range old (from: 1, to: 2) new (from: 1, to: 3)") {
      $0.range.to += 1
    },
    Mutation("entries = []", "entries old [1, 2] new []") { $0.entries = [] },
    Mutation("entries.append(3)", "entries old [1, 2] new [1, 2, 3]") { $0.entries.append(3) },
    Mutation("entries[0] += 8", "entries old [1, 2] new [9, 2]") { $0.entries[0] += 8 },
    Mutation("index[a]! += 4", #"index old ["a": 1] new ["a": 5]"#) { $0.index["a"]! += 4 },
    Mutation("pair.1 += b", #"pair old (1, "a") new (1, "ab")"#) { $0.pair.1 += "b" },
    Mutation("note = nil", "note old n new nil") { $0.note = nil },
    Mutation("note? += o", "note old n new no") { $0.note? += "o" },
    Mutation("inout whose body throws", "total old 10 new 11") { try? incrementAndFail(&$0.total) },
    Mutation("through a key path", "total old 10 new 12") { $0[keyPath: \Sheet.total] += 2 },
    Mutation("by key", "total old 10 new 6") { try? $0.setValue(6, forKey: "total") },
    Mutation("nothing = Nothing()", "nothing old Nothing() new Nothing()") {
      $0.nothing = Nothing()
    },
    Mutation("inout nothing", "nothing old Nothing() new Nothing()") { renew(&$0.nothing) },
  ]

  fileprivate func observeAll(_ sheet: Sheet, _ options: KeyValueObservingOptions) -> Recorder {
    let log = Recorder()
    func observe<Value>(_ keyPath: KeyPath<Sheet, Value>, _ name: String) {
      log.observe(sheet, keyPath, options, as: name)
    }
    observe(\.total, "total")
    observe(\.spare, "spare")
    observe(\.entries, "entries")
    observe(\.index, "index")
    observe(\.pair, "pair")
    observe(\.range, "range")
    observe(\.note, "note")
    observe(\.small, "small")
    observe(\.nothing, "nothing")
    observe(\.other, "other")
    return log
  }

  @Test("Q1 E4: each way to write a property is one change of it", arguments: mutations)
  fileprivate func oneChange(_ mutation: Mutation) {
    let (sheet, unobserved) = (Sheet(), Sheet())
    let log = observeAll(sheet, [.old, .new])
    mutation.mutate(sheet)
    expectEqual(log.take(), [mutation.line])
    mutation.mutate(unobserved)
    expectEqual(sheet.contents, unobserved.contents)
  }

  @Test("Q1 E4: each is announced before it happens, with the old value", arguments: mutations)
  fileprivate func prior(_ mutation: Mutation) {
    let sheet = Sheet()
    let log = observeAll(sheet, [.old, .prior])
    mutation.mutate(sheet)
    let lines = log.take()
    expectEqual(lines.count, 2)
    expect(lines.first?.contains(" prior old ") == true)
  }

  @Test(
    "Q1 E4: each beside observed properties notifies none of their observers", arguments: mutations)
  fileprivate func beside(_ mutation: Mutation) {
    let sheet = Sheet()
    let log = Recorder()
    log.observe(sheet, \.spare, .new)
    log.observe(sheet, \.other, .new)
    mutation.mutate(sheet)
    expectEqual(log.take(), [])
  }

  @Test(
    "Q1 E4: a collection changes in place without a copy, unless an observer wants its old value",
    arguments: [nil, [], .new, .prior] as [KeyValueObservingOptions?], [true, false])
  func notCopied(_ options: KeyValueObservingOptions?, _ isBeside: Bool) {
    let sheet = Sheet()
    let log = Recorder()
    if isBeside { log.observe(sheet, \.spare, [.old, .new]) }
    if let options { log.observe(sheet, \.entries, options) }
    sheet.entries.reserveCapacity(100)
    let address = sheet.entries.bufferAddress
    for number in 0..<20 { sheet.entries.append(number) }
    expectEqual(sheet.entries.bufferAddress, address)
    expectEqual(sheet.entries.count, 22)
  }

  @Test("Q1: observers get what an overriding getter returns, and otherwise what is stored")
  func overridden() {
    let log = Recorder()
    for sheet in [Sheet(), DoubledSheet()] {
      log.observe(sheet, \.total, [.old, .new])
      sheet.total += 1
    }
    expectEqual(log.take(), ["a old 10 new 11", "a old 20 new 42"])
  }

  @Test("Q1 F5: a getter that reads a value without a size is followed")
  func readWithoutSize() {
    let sheet = Sheet()
    let log = Recorder()
    log.observe(sheet, \.isNothing, .new)
    sheet.nothing = Nothing()
    expectEqual(log.take(), ["a new true"])
  }

  // MARK: Observers that come during a change

  private func register<Value>(
    _ sheet: Sheet, _ keyPath: KeyPath<Sheet, Value> & Sendable, in log: Recorder
  ) {
    let shared = Shared((sheet, log))
    onThreads(1) { _ in
      let (sheet, log) = shared.value
      log.observe(sheet, keyPath, .new)
    }
  }

  @Test(
    "Q1 I3: an in-place change notifies an observer registered during it", arguments: [true, false])
  func late(_ isBeside: Bool) {
    let (sheet, another) = (Sheet(), Sheet())
    let (log, beside) = (Recorder(), Recorder())
    if isBeside { for one in [sheet, another] { beside.observe(one, \.spare, .new) } }
    change(&another.total, to: 5) { register(another, \.entries, in: log) }
    expectEqual(log.take(), [])
    change(&sheet.total, to: 6) { register(sheet, \.total, in: log) }
    change(&sheet.total, to: 7) {}
    expectEqual(log.take(), ["a new 6", "a new 7"])
    expectEqual(beside.take(), [])
  }

  @Test("Q1 I3: so does that of a value without a size", arguments: [true, false])
  func lateWithoutSize(_ isBeside: Bool) {
    let (sheet, another) = (Sheet(), Sheet())
    let (log, beside) = (Recorder(), Recorder())
    if isBeside { for one in [sheet, another] { beside.observe(one, \.spare, .new) } }
    change(&another.nothing, to: Nothing()) { register(another, \.other, in: log) }
    expectEqual(log.take(), [])
    change(&sheet.nothing, to: Nothing()) { register(sheet, \.nothing, in: log) }
    change(&sheet.nothing, to: Nothing()) {}
    expectEqual(log.take(), ["a new Nothing()", "a new Nothing()"])
  }

  @Test("Q1 I3: so does an assignment whose old value registers it", arguments: [true, false])
  func lateInSet(_ isBeside: Bool) {
    let sheet = Sheet()
    let (log, beside) = (Recorder(), Recorder())
    if isBeside { beside.observe(sheet, \.spare, .new) }
    sheet.item = Farewell { self.register(sheet, \.item, in: log) }
    sheet.item = nil
    expectEqual(log.take(), ["a new nil"])
  }

  @Test("Q1 D7: an old value may set the property again while it dies", arguments: [true, false])
  func setAgain(_ isObserved: Bool) {
    let sheet = Sheet()
    let log = Recorder()
    if isObserved { log.observe(sheet, \.item, []) }
    sheet.item = Farewell { [unowned sheet] in sheet.item = nil }
    sheet.item = nil
    expectEqual(log.take().count, isObserved ? 2 : 0)
    expect(sheet.item == nil)
  }

  @Test("Q1 D7: an observer may drop the object during an in-place change")
  func dropped() {
    var sheet: Sheet? = Sheet()
    weak let weakSheet = sheet
    let log = Recorder()
    log.observe(sheet!, \.entries, [.prior, .new]) { _, change in
      if change.isPrior { sheet = nil }
    }
    sheet?.entries.append(3)
    expectEqual(log.take(), ["a prior", "a new [1, 2, 3]"])
    expect(weakSheet == nil)
  }

  @Test("Q1 E4: observers may read a property changed in place, before and after")
  func read() {
    let sheet = Sheet()
    let log = Recorder()
    log.observe(sheet, \.entries, .prior) { sheet, _ in log.note("\(sheet.entries.count)") }
    sheet.entries.append(3)
    expectEqual(log.take(), ["a prior", "2", "a", "3"])
  }

  @Test(
    "Q1 E4: overlapping accesses stop, as they do without observers",
    arguments: [nil, "total", "spare"])
  func overlapping(_ key: String?) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [key] in
      let sheet = Sheet()
      let token = try? key.map { try sheet.observe(keyPath: $0) { _, _ in } }
      change(&sheet.total, to: 1) { sheet.total += 1 }
      withExtendedLifetime(token) {}
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("Fatal access conflict detected"))
  }
}

extension Sheet {
  fileprivate var contents: String {
    "\(total) \(spare) \(entries) \(index) \(pair) \(range) \(note ?? "nil") \(small)"
  }
}

extension [Int] {
  fileprivate var bufferAddress: UnsafeRawPointer? { withUnsafeBytes { $0.baseAddress } }
}

private struct Failure: Error {}

private func incrementAndFail(_ number: inout Int) throws {
  number += 1
  throw Failure()
}

private func renew(_ nothing: inout Nothing) { nothing = Nothing() }

private func change<Value>(_ value: inout Value, to new: Value, after event: () -> Void) {
  event()
  value = new
}
