import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Programming errors: which stop the program, with which message, and which are only reported. Each test has a
/// process of its own.
@Suite struct MisuseTests {
  @Test(
    "E2: observing an undeclared plain stored property stops, naming it and the remedy")
  func plainStored() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Shelf().observe(\.width) { _, _ in }
    }
    let text = try require(result).errors
    for word in ["Shelf", "width", "@Observed", "declareKeys", "stored"] {
      expect(text.contains(word))
    }
  }

  @Test("E2: so does observing a constant")
  func constant() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Shelf().observe(\.maker) { _, _ in }
    }
    let text = try require(result).errors
    for word in ["Shelf", "maker", "never changes"] { expect(text.contains(word)) }
  }

  @Test("E2: so does observing a lazy property")
  func lazyProperty() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Shelf().observe(\.label) { _, _ in }
    }
    let text = try require(result).errors
    for word in ["Shelf", "String", "declareKeys"] { expect(text.contains(word)) }
  }

  @Test("E2: so does observing the object itself")
  func itself() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Shelf().observe(\.self) { _, _ in }
    }
    let text = try require(result).errors
    for word in ["Shelf", "self", "@Observed"] { expect(text.contains(word)) }
  }

  @Test("E2: a property of another module's class is named by its type and the candidates")
  func plainOfOtherModule() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Person().observe(\.motto) { _, _ in }
    }
    let text = try require(result).errors
    for word in ["Person", "motto", "@Observed", "declareKeys"] { expect(text.contains(word)) }
  }

  @Test("E2: declaring a key that is in use with another type stops, naming key, class and types")
  func otherType() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let shelf = Shelf()
      try shelf.addObserver(shelf, forKeyPath: "width")
      Shelf.declareKeys { $0.stored("width", \.width) }
      say("declared")
      Shelf.declareKeys { $0.accessors("width", get: { "\($0.width)" }) }
      say("declared again")
    }
    let text = try require(result).errors
    for word in ["declared", "Shelf", "width", "Double", "String"] { expect(text.contains(word)) }
    expect(!text.contains("declared again"))
  }

  @Test(
    "E4: overlapping accesses to an observed property stop, as they do without observers",
    arguments: [true, false])
  func exclusivity(_ observed: Bool) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [observed] in
      let ledger = Ledger()
      let token = observed ? ledger.observe(\.entries) { _, _ in } : nil
      appendTwice(&ledger.entries) { ledger.entries.append(2) }
      withExtendedLifetime(token) {}
    }
    expect(try require(result).errors.contains("Fatal access conflict detected"))
  }

  enum Read: String, CaseIterable {
    case initial, path, will, did, bracket, lateBracket, affected, coding, byKey, byProxy
  }

  @Test(
    "E4: a read during an in-place mutation stops, whatever asks for it",
    arguments: Read.allCases.map(\.rawValue), [true, false])
  func reading(_ name: String, _ isMade: Bool) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name, isMade] in
      let shelf = Shelf()
      let book = shelf.book
      let (key, asked) = (isMade ? "made" : "stored", Read(rawValue: name)!)
      if asked == .did {
        try! book.addObserver(shelf, forKeyPath: key, options: .new)
        book.willChangeValue(forKey: key)
      }
      let read = {
        let options: KeyValueObservingOptions = asked == .initial ? [.initial, .new] : .old
        try! book.addObserver(shelf, forKeyPath: asked == .path ? "title" : key, options: options)
        switch asked {
        case .initial: break
        case .path:
          try! shelf.addObserver(shelf, forKeyPath: "book." + key, options: [.initial, .new])
        case .will: book.willChangeValue(forKey: key)
        case .did: book.didChangeValue(forKey: key)
        case .affected: book.title += "!"
        case .bracket: book.withChange(forKey: key) {}
        case .lateBracket:
          book.removeAllObservers()
          book.withChange(forKey: key) {
            try! book.addObserver(shelf, forKeyPath: key, options: .new)
          }
        case .byKey: try! book.setValue([2], forKey: key)
        case .byProxy:
          (isMade ? book.mutableArray(\.made) : book.mutableArray(\.stored)).setArray([2])
        case .coding: _ = try! book.value(forKey: key)
        }
        say("it was read")
      }
      if isMade { appendTwice(&book.made, read) } else { appendTwice(&book.stored, read) }
    }
    let errors = try require(result).errors
    expect(errors.contains("Fatal access conflict detected"))
    expect(!errors.contains("it was read"))
  }

  @Test("E4: observers may read a property changed in place, before and after")
  func readingInPlace() async {
    await #expect(processExitsWith: .success) {
      let ledger = Ledger()
      var counts: [Int] = []
      let token = ledger.observe(\.entries, options: .prior) { ledger, _ in
        counts.append(ledger.entries.count)
      }
      ledger.entries.append(3)
      expectEqual(counts, [2, 3])
      token.invalidate()
    }
  }

  // MARK: Reported

  @Test("D6: a did without a will is reported to the hook, naming class and key, and ignored")
  func didWithoutWill() async {
    await #expect(processExitsWith: .success) {
      let heard = Collected<String>()
      KVODiagnostics.misuse = { heard.append([$0]) }
      let account = Account()
      let log = Recorder()
      log.observe(account, \.balance, .prior)
      account.didChangeValue(forKey: "balance")
      account.willChangeValue(forKey: "balance")
      account.didChangeValue(forKey: "owner")
      expectEqual(
        heard.values.last,
        """
        didChangeValue for "owner" of Account without a willChangeValue on this thread; it is ignored. The \
        last one that is open is for "balance": did you mean that?
        """)
      account.didChangeValue(for: \.balance)
      account.didChangeValue(for: \.balance)
      expectEqual(heard.values.count, 3)
      for (message, key) in zip(heard.values, ["balance", "owner", "balance"]) {
        expect(message.contains("Account") && message.contains(key))
      }
      expectEqual(log.take(), ["a prior", "a"])
      account.balance = 1
      expectEqual(log.take(), ["a prior", "a"])
    }
  }

  @Test("D6: a did on another thread than the will is a did without will")
  func didOnAnotherThread() async {
    await #expect(processExitsWith: .success) {
      let heard = Collected<String>()
      KVODiagnostics.misuse = { heard.append([$0]) }
      let account = Account()
      let log = Recorder()
      log.observe(account, \.balance)
      account.willChangeValue(forKey: "balance")
      let shared = Shared(account)
      onThreads(1) { _ in shared.value.didChangeValue(forKey: "balance") }
      expectEqual(heard.values.count, 1)
      expectEqual(log.take(), [])
      account.didChangeValue(forKey: "balance")
      expectEqual(heard.values.count, 1)
      expectEqual(log.take(), ["a"])
    }
  }

  @Test("D6: without a hook a misuse is a line on stderr, also after the hook was removed")
  func onStandardError() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { _ in say("to the hook") }
      Account().didChangeValue(forKey: "owner")
      KVODiagnostics.misuse = nil
      expect(KVODiagnostics.misuse == nil)
      Account().didChangeValue(forKey: "interestRate")
    }
    let text = try require(result).errors
    expect(text.contains("to the hook"))
    expect(text.contains("Account") && text.contains("interestRate"))
    expect(!text.contains("owner"))
  }
}

private class Shelf: KVOObject {
  var width = 80.0
  let maker = "unknown"
  lazy var label = "empty"
  @Observed var books = 0
  @Observed var book = Book()

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

@KVO private class Book: KVOObject {
  var title = "Emma"
  var made = [1]
  @Observed var stored = [1]

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    key == "title" ? [] : ["title"]
  }
}

private func appendTwice(_ list: inout [Int], _ body: () -> Void) {
  body()
  list.append(1)
}
