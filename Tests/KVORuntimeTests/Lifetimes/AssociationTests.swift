import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// P1, P2: handlers and values that end with an object.
@Suite(.leakFree) struct AssociationTests {
  private class Document: Tracked {
    @Observed var title = ""
    let atDeinit: () -> Void
    init(_ atDeinit: @escaping () -> Void = {}) { self.atDeinit = atDeinit }
    deinit { atDeinit() }
  }

  private static let label = KVOAssociation<String>()
  private static let object = KVOAssociation<Document>()
  private let notified = Locked<[String]>([])

  private func note(_ text: String) { notified.withLock { $0.append(text) } }

  // MARK: Deaths

  @Test("P1: handlers are called once, in order, after the deinits and the ends of registrations")
  func deaths() {
    var document: Document? = Document { [notified] in notified.withLock { $0.append("deinit") } }
    weak let gone = document
    let observer = document!.observe(\.title) { _, _ in }
    let tokens = (0..<3).map { index in
      document!.onDeinit { [notified] in
        notified.withLock { $0.append("\(index) \(gone == nil) \(observer.isValid)") }
      }
    }
    let dropped = document!.onDeinit { [notified] in notified.withLock { $0.append("dropped") } }
    tokens[1].invalidate()
    expect(tokens.map(\.isValid) == [true, false, true] && dropped.isValid)
    dropped.invalidate()
    document = nil
    expectEqual(notified.withLock { $0 }, ["deinit", "0 true false", "2 true false"])
    expect(tokens.allSatisfy { !$0.isValid })
    tokens[0].invalidate()
  }

  @Test(
    "P1: a dropped token ends the registration and releases its handler; death ends all")
  func tokens() {
    let document = Document()
    var life: Life? = Life(of: Document.self)
    weak let handlers = life
    var token: KeyValueObservation? = document.onDeinit { [life] in life?.goesOn() }
    life = nil
    expect(handlers != nil && token?.isValid == true)
    token = nil
    expect(handlers == nil)
    document.removeAllObservers()
    let kept = document.onDeinit {}
    document.removeAllObservers()
    expect(kept.isValid)
  }

  @Test("P1: a handler may end others, register for other deaths, and release last references")
  func inside() {
    let other = Document()
    var first: Document? = Document()
    var tokens: [KeyValueObservation] = []
    tokens.append(
      first!.onDeinit { [self] in
        tokens.append(other.onDeinit { [notified] in notified.withLock { $0.append("other") } })
        tokens[1].invalidate()
        note("first")
      })
    tokens.append(first!.onDeinit { [notified] in notified.withLock { $0.append("second") } })
    first = nil
    expectEqual(notified.withLock { $0 }, ["first"])
    expect(tokens[2].isValid && !tokens[1].isValid)
  }

  @Test("P1: threads register and end while the object dies on one of them")
  func threads() {
    for _ in 0..<100 {
      let shared = Locked<Document?>(Document())
      let calls = Count()
      let made = Count()
      onThreads(3) { thread in
        if thread == 0 { return shared.withLock { $0 = nil } }
        for index in 0..<10 {
          guard let document = shared.withLock({ $0 }) else { return }
          let token = document.onDeinit { calls.add() }
          if index % 2 == 0 {
            token.invalidate()
          } else {
            made.add()
            Lifetimes.keep(token)
          }
        }
      }
      expectEqual(calls.value, made.value)
    }
  }

  // MARK: Values

  @Test("P2: each key has its value with each object, which nil takes away")
  func values() {
    let (one, two) = (Document(), Document())
    expect(one[Self.label] == nil)
    one[Self.label] = "a"
    two[Self.label] = "b"
    one[Self.object] = two
    expect(one[Self.label] == "a" && two[Self.label] == "b" && one[Self.object] === two)
    one[Self.label] = "c"
    expectEqual(one[Self.label], "c")
    one[Self.label] = nil
    expect(one[Self.label] == nil && two[Self.label] == "b" && one[Self.object] === two)
    expect(one.observationInfo.registrations.isEmpty)
  }

  @Test("P2: values live as long as their objects, keys as long as values, observed or not")
  func ends() {
    var document: Document? = Document()
    var key: KVOAssociation<Document>? = KVOAssociation()
    weak let value: Document?
    do {
      let made = Document()
      document![key!] = made
      value = made
    }
    weak let kept = key
    key = nil
    expect(value != nil && kept != nil)
    let token = document!.observe(\.title) { _, _ in }
    document!.title = "x"
    token.invalidate()
    expect(value != nil)
    document = nil
    expect(value == nil && kept == nil)
  }

  @Test("P2: a replaced value is released at once, and may use the object in its deinit")
  func replaced() {
    final class Reader {
      weak var document: Document?
      let notified: Locked<[String]>
      init(_ document: Document, _ notified: Locked<[String]>) {
        (self.document, self.notified) = (document, notified)
      }
      deinit { notified.withLock { $0.append(document?[AssociationTests.label] ?? "none") } }
    }
    let key = KVOAssociation<Reader>()
    var document: Document? = Document()
    document![Self.label] = "there"
    document![key] = Reader(document!, notified)
    document![key] = Reader(document!, notified)
    expectEqual(notified.withLock { $0 }, ["there"])
    document = nil
    expectEqual(notified.withLock { $0 }, ["there", "none"])
  }

  @Test("P2: threads read and replace one value while others observe")
  func valueThreads() {
    let document = Shared(Document())
    let key = KVOAssociation<Document>()
    onThreads(4) { thread in
      for _ in 0..<500 {
        switch thread {
        case 0: document.value[key] = Document()
        case 1: document.value[key] = nil
        case 2: _ = document.value[key]?.title
        default: document.value.observe(\.title) { _, _ in }.invalidate()
        }
      }
    }
    document.value[key] = nil
    expect(!document.value.observationInfo.debugDescription.contains("title"))
  }

  // MARK: C objects

  @Test("P1 P2: also of a C object, whichever wrapper is used")
  func foreign() {
    let made = kvo_object_create(account_class())!
    var wrapped: ForeignObject? = ForeignObject(OpaquePointer(made))
    kvo_object_release(made)
    wrapped![Self.label] = "account"
    expectEqual(ForeignObject(OpaquePointer(made))[Self.label], "account")
    let token = wrapped!.onDeinit { [notified] in notified.withLock { $0.append("died") } }
    expect(token.isValid)
    wrapped = nil
    expect(notified.withLock { $0 } == ["died"] && !token.isValid)
  }
}
