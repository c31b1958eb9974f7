import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// E4, D1, D3: each way to write a property in Swift is one change of that property.
@Suite(.leakFree) struct InPlaceTests {
  /// A statement about a ledger, and its notifications.
  struct Mutation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let mutate: @Sendable (Ledger) -> Void
    let lines: [String]

    init(_ statement: String, _ lines: String..., mutate: @escaping @Sendable (Ledger) -> Void) {
      testDescription = statement
      self.mutate = mutate
      self.lines = lines
    }
  }

  static let assignments = [
    Mutation("total = 3", "total old 10 new 3") { $0.total = 3 },
    Mutation("total = total", "total old 10 new 10") { $0.total = $0.total },
    Mutation("entries = []", "entries old [1, 2] new []") { $0.entries = [] },
    Mutation("pair = (2, b)", #"pair old (1, "a") new (2, "b")"#) { $0.pair = (2, "b") },
    Mutation("lastPlace = nil", "lastPlace old (3.0, 4.0) new nil") { $0.lastPlace = nil },
    Mutation("account = nil", "account old nil new nil") { $0.account = nil },
    Mutation("from the inside", "total old 10 new 11", "revision old 0 new 1") { $0.revise() },
    Mutation("through a protocol", "total old 10 new 5") { ($0 as any Totalled).total = 5 },
    Mutation("through a generic parameter", "total old 10 new 6") { setTotal(of: $0, to: 6) },
    Mutation("through a key path", "total old 10 new 4") { $0[keyPath: \Ledger.total] = 4 },
    Mutation("through two key paths", "place old (1.0, 2.0) new (9.0, 2.0)") {
      let place: ReferenceWritableKeyPath<Ledger, Place> = \.place
      $0[keyPath: place.appending(path: \.latitude)] = 9
    },
  ]

  static let inPlace = [
    Mutation("total += 1", "total old 10 new 11") { $0.total += 1 },
    Mutation("total += 0", "total old 10 new 10") { $0.total += 0 },
    Mutation("entries.append(3)", "entries old [1, 2] new [1, 2, 3]") { $0.entries.append(3) },
    Mutation("entries[0] = 9", "entries old [1, 2] new [9, 2]") { $0.entries[0] = 9 },
    Mutation("entries[0] += 1", "entries old [1, 2] new [2, 2]") { $0.entries[0] += 1 },
    Mutation("entries.removeAll()", "entries old [1, 2] new []") { $0.entries.removeAll() },
    Mutation("entries.swapAt(0, 1)", "entries old [1, 2] new [2, 1]") { $0.entries.swapAt(0, 1) },
    Mutation("index[a] = 2", #"index old ["a": 1] new ["a": 2]"#) { $0.index["a"] = 2 },
    Mutation("index[a]! += 4", #"index old ["a": 1] new ["a": 5]"#) { $0.index["a"]! += 4 },
    Mutation("index[a, default: 0] += 5", #"index old ["a": 1] new ["a": 6]"#) {
      $0.index["a", default: 0] += 5
    },
    Mutation("tags.insert(x)", "tags old {} new {x}") { $0.tags.insert("x") },
    Mutation("pair.0 = 7", #"pair old (1, "a") new (7, "a")"#) { $0.pair.0 = 7 },
    Mutation("pair.1 += b", #"pair old (1, "a") new (1, "ab")"#) { $0.pair.1 += "b" },
    Mutation("place.latitude = 9", "place old (1.0, 2.0) new (9.0, 2.0)") { $0.place.latitude = 9 },
    Mutation("lastPlace?.longitude -= 4", "lastPlace old (3.0, 4.0) new (3.0, 0.0)") {
      $0.lastPlace?.longitude -= 4
    },
    Mutation("lastPlace!.latitude = 0", "lastPlace old (3.0, 4.0) new (0.0, 4.0)") {
      $0.lastPlace!.latitude = 0
    },
    Mutation("colour.invert()", "colour old red new inverse(ModelFixtures.Colour.red)") {
      $0.colour.invert()
    },
    Mutation("inout", "total old 10 new 11") { increment(&$0.total) },
    Mutation("inout that does nothing", "total old 10 new 10") { leave(&$0.total) },
    Mutation("inout of an element", "entries old [1, 2] new [1, 3]") { increment(&$0.entries[1]) },
    Mutation("inout whose body throws", "total old 10 new 11") { try? incrementAndFail(&$0.total) },
    Mutation("an element's inout whose body throws", "entries old [1, 2] new [2, 2]") {
      try? incrementAndFail(&$0.entries[0])
    },
    Mutation("+= through a key path", "total old 10 new 12") { $0[keyPath: \Ledger.total] += 2 },
    Mutation("append through a key path", "entries old [1, 2] new [1, 2, 5]") {
      $0[keyPath: \Ledger.entries].append(5)
    },
    Mutation("a leaf through a key path", "place old (1.0, 2.0) new (1.0, 7.0)") {
      $0[keyPath: \Ledger.place.longitude] += 5
    },
    Mutation("+= through a protocol", "total old 10 new 11") { ($0 as any Totalled).total += 1 },
    Mutation("a pointer", "total old 10 new 8") {
      withUnsafeMutablePointer(to: &$0.total) { $0.pointee -= 2 }
    },
    Mutation("+= with a didSet of Swift's own", "audited old 0 new 1") { $0.audited += 1 },
  ]

  @Test(
    "E4: each way to write a property is one change, of that property alone",
    arguments: assignments + inPlace)
  func oneChange(_ mutation: Mutation) {
    let ledger = Ledger()
    let log = Recorder()
    log.observeAll(of: ledger, [.old, .new])
    mutation.mutate(ledger)
    expectEqual(log.take(), mutation.lines)
  }

  @Test(
    "E4: each is announced before it happens, with the old value",
    arguments: assignments + inPlace)
  func prior(_ mutation: Mutation) {
    let ledger = Ledger()
    let log = Recorder()
    log.observeAll(of: ledger, [.old, .prior])
    mutation.mutate(ledger)
    let lines = log.take()
    expectEqual(lines.count, 2 * mutation.lines.count)
    expect(
      stride(from: 0, to: lines.count, by: 2).map { lines[$0] }.allSatisfy {
        $0.contains(" prior old ")
      })
  }

  @Test(
    "D1: all observers have been called when the statement is over, on its thread",
    arguments: assignments + inPlace)
  func synchronous(_ mutation: Mutation) {
    let ledger = Ledger()
    let log = Recorder()
    for name in ["first", "second"] { log.observeAll(of: ledger, [], as: name) }
    log.note("begin")
    mutation.mutate(ledger)
    log.note("end")
    let lines = log.take()
    expect(lines.first == "begin" && lines.last == "end")
    expectEqual(lines.count, 2 + 2 * mutation.lines.count)
  }

  @Test(
    "A6: each has the same effect on an observed and an unobserved object",
    arguments: assignments + inPlace)
  func sameEffect(_ mutation: Mutation) {
    let plain = Ledger()
    let observed = Ledger()
    let log = Recorder()
    log.observeAll(of: observed, [.old, .new, .prior])
    mutation.mutate(plain)
    mutation.mutate(observed)
    expectEqual(plain.contents, observed.contents)
    expectEqual(plain.audits, observed.audits)
  }

  @Test("E4: a change through a class reference is a change of the object with the property")
  func behindReference() {
    let ledger = Ledger()
    let account = Account()
    let log = Recorder()
    ledger.account = account
    log.observeAll(of: ledger, [.old, .new])
    log.observe(account, \.balance, [.old, .new], as: "balance")
    ledger.account?.balance = 4
    ledger.account!.balance += 1
    ledger[keyPath: \Ledger.account!.balance] = 6
    expectEqual(
      log.take(),
      [
        "balance old 0.0 new 4.0", "balance old 4.0 new 5.0", "balance old 5.0 new 6.0",
      ])
  }

  @Test("E4: two properties changed in place at once are a change each")
  func swapped() {
    let ledger = Ledger()
    let log = Recorder()
    log.observeAll(of: ledger, [.old, .new])
    swap(&ledger.total, &ledger.spare)
    expectEqual(log.take().sorted(), ["spare old 20 new 10", "total old 10 new 20"])
  }

  @Test("D3: there is no filter on equality: each set notifies, nil over nil too")
  func noFilter() {
    let ledger = Ledger()
    let log = Recorder()
    ledger.lastPlace = nil
    log.observeAll(of: ledger, [.old, .new])
    for _ in 0..<2 { ledger.total = 10 }
    for _ in 0..<2 { ledger.lastPlace = nil }
    expectEqual(
      log.take(),
      Array(repeating: "total old 10 new 10", count: 2)
        + Array(repeating: "lastPlace old nil new nil", count: 2))
  }

  @Test("E4: Swift's own didSet runs as often as the property is written")
  func didSet() {
    let ledger = Ledger()
    let log = Recorder()
    log.observe(ledger, \.audited, [.new]) { ledger, _ in log.note("audits \(ledger.audits)") }
    ledger.audited = 1
    ledger.audited += 1
    try? incrementAndFail(&ledger.audited)
    expectEqual(ledger.audits, 3)
    expectEqual(
      log.take().filter { $0.hasPrefix("a") && !$0.hasPrefix("audits") },
      [
        "a new 1", "a new 2", "a new 3",
      ])
  }
}

// MARK: Collections in place

extension InPlaceTests {
  static let withoutOld: [KeyValueObservingOptions?] = [
    nil, [], .new, .prior, .initial, [.new, .prior, .initial],
  ]

  @Test(
    "E4: a collection changes in place without a copy unless its old value is wanted",
    arguments: withoutOld)
  func notCopied(_ options: KeyValueObservingOptions?) {
    let ledger = Ledger()
    let log = Recorder()
    ledger.entries = Array(0..<1000)
    ledger.entries.reserveCapacity(2000)
    if let options { log.observe(ledger, \.entries, options) }
    let address = ledger.entries.bufferAddress
    for index in 0..<10 {
      ledger.entries[index] = -1
      ledger.entries.append(index)
      expectEqual(ledger.entries.bufferAddress, address)
    }
    expectEqual(ledger.entries.count, 1010)
  }

  @Test("E4: a collection whose old value was asked for is delivered as it was")
  func copied() {
    let ledger = Ledger()
    ledger.entries = [1, 2, 3]
    var notified: [[Int]] = []
    let token = ledger.observe(\.entries, options: [.old, .new]) { _, change in
      notified += [change.oldValue!, change.newValue!]
    }
    ledger.entries[1] = 0
    ledger.entries.removeLast()
    token.invalidate()
    expectEqual(notified, [[1, 2, 3], [1, 0, 3], [1, 0, 3], [1, 0]])
  }
}

extension Recorder {
  /// Observes every property of a ledger; each line begins with the property's name.
  fileprivate func observeAll(
    of ledger: Ledger, _ options: KeyValueObservingOptions, as prefix: String? = nil
  ) {
    func observe<Value>(_ keyPath: KeyPath<Ledger, Value>, _ name: String) {
      self.observe(ledger, keyPath, options, as: prefix ?? name)
    }
    observe(\.total, "total")
    observe(\.spare, "spare")
    observe(\.entries, "entries")
    observe(\.index, "index")
    observe(\.tags, "tags")
    observe(\.pair, "pair")
    observe(\.place, "place")
    observe(\.lastPlace, "lastPlace")
    observe(\.colour, "colour")
    observe(\.account, "account")
    observe(\.revision, "revision")
    observe(\.audited, "audited")
  }
}

extension Ledger {
  fileprivate var contents: String {
    "\(total) \(spare) \(entries) \(index) \(tags) \(pair) \(place) \(shown(lastPlace)) \(colour)"
      + " \(account == nil) \(revision) \(audited)"
  }
}

extension [Int] {
  fileprivate var bufferAddress: UnsafeRawPointer? { withUnsafeBytes { $0.baseAddress } }
}

private struct Failure: Error {}

private func setTotal(of totalled: some Totalled, to total: Int) { totalled.total = total }
private func increment(_ number: inout Int) { number += 1 }
private func leave(_ number: inout Int) {}
private func incrementAndFail(_ number: inout Int) throws {
  number += 1
  throw Failure()
}
