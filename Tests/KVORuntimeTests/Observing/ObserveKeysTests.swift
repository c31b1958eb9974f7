import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C5, C10: several properties observed with one token.
@Suite(.leakFree) struct ObserveKeysTests {
  private final class Book: KVOObject {
    @Observed var title = "A"
    @Observed var author = "B"
    @Observed var pages = 1
    @Observed var sequel: Book?
    let life = Life(of: Book.self)

    var caption: String { "\(title) by \(author)" }
  }

  private static func name(_ keyPath: PartialKeyPath<Book>) -> String {
    switch keyPath {
    case \Book.title: "title"
    case \Book.author: "author"
    case \Book.pages: "pages"
    case \Book.caption: "caption"
    case \Book.sequel?.title: "sequel.title"
    default: "?"
    }
  }

  private let all: [PartialKeyPath<Book>] = [
    \.title, \.author, \.pages, \.caption, \.sequel?.title,
  ]

  @Test("C5: the handler learns which of the properties changed, stored, computed and paths")
  func which() {
    let book = Book()
    var log: [String] = []
    let token = book.observe(all) { _, keyPath in log.append(Self.name(keyPath)) }
    book.title = "C"
    book.pages = 2
    let sequel = Book()
    book.sequel = sequel
    sequel.title = "D"
    expectEqual(log, ["title", "caption", "pages", "sequel.title", "sequel.title"])
    expectEqual(book.observationInfo.registrations.count, all.count)
    log = []
    token.invalidate()
    book.title = "E"
    sequel.title = "F"
    expect(log == [] && !token.isValid && book.observationInfo.registrations.isEmpty)
  }

  @Test("C5: dropping the token ends all; the handler is released once the last has ended")
  func dropped() {
    let book = Book()
    weak var kept: Life?
    do {
      let life = Life(of: Self.self)
      kept = life
      let token = book.observe(all) { _, _ in life.goesOn() }
      book.title = "C"
      expect(token.isValid)
    }
    expect(kept == nil)
    expect(!book.isObserved(forKey: "title") && !book.isObserved(forKey: "author"))
  }

  @Test("C5: a token of several keys may be invalidated inside its own call, also the initial one")
  func inside() {
    let book = Book()
    for options in [[], .initial] as [KeyValueObservingOptions] {
      var calls = 0
      let holder = Holder()
      holder.token = book.observe(all, options: options) { _, _ in
        calls += 1
        holder.token?.invalidate()
      }
      if options == .initial {
        // The token does not exist yet, so all initial calls are made.
        expectEqual(calls, all.count)
        calls = 0
      }
      book.title = "C\(calls)"
      book.author = "D"
      expect(calls == 1 && holder.token?.isValid == false)
    }
  }

  private final class Holder { var token: KeyValueObservation? }

  @Test("C4: the token of a dead object's keys is inert")
  func deadObject() {
    var token: KeyValueObservation?
    do {
      let book = Book()
      token = book.observe(all) { _, _ in }
    }
    expectEqual(token?.isValid, false)
    token?.invalidate()
    token = nil
  }

  @Test("C1: a key path listed twice is called twice")
  func twice() {
    let book = Book()
    var calls = 0
    let token = book.observe([\.title, \.title]) { _, _ in calls += 1 }
    book.title = "C"
    expectEqual(calls, 2)
    token.invalidate()
  }

  @Test("C5: a token of no key paths is not valid")
  func none() {
    let token = Book().observe([]) { _, _ in }
    expect(!token.isValid)
    token.invalidate()
  }

  @Test("C1: removing all observers of the object ends the token")
  func removeAll() {
    let book = Book()
    let token = book.observe(all, options: .prior) { _, _ in Issue.record("notified") }
    book.removeAllObservers()
    book.title = "C"
    expect(!token.isValid)
  }

  @Test("C3 C5: if the first initial call removes all observers, the token ends with all its keys")
  func removeAllInInitialCall() {
    let book = Book()
    var notified = 0
    let token = book.observe([\.title, \.author], options: .initial) { book, _ in
      notified += 1
      if notified == 1 { book.removeAllObservers() }
    }
    expect(notified == 1 && !token.isValid)
    expect(!book.isObserved(forKey: "title") && !book.isObserved(forKey: "author"))
    book.author = "C"
    expectEqual(notified, 1)
    token.invalidate()
  }

  @Test("D4: prior and final calls come for each of several keys")
  func prior() {
    let book = Book()
    var log: [String] = []
    let token = book.observe([\.title, \.author], options: .prior) { book, keyPath in
      log.append("\(Self.name(keyPath)) \(book.title)\(book.author)")
    }
    book.author = "C"
    expectEqual(log, ["author AB", "author AC"])
    token.invalidate()
  }
}
