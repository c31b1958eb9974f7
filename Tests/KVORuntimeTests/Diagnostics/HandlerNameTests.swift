import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// J1: Swift handlers are listed by the function that contains their code.
@Suite(
  .leakFree,
  .enabled(
    if: fixture_can_fork() && !fixture_has_address_sanitizer(),
    "a sanitizer's allocator keeps no sizes by which contexts are known"))
struct HandlerNameTests {
  private final class Panel {
    var token: KeyValueObservation?

    func watch(_ account: Account) {
      token = account.observe(\.balance, target: self, action: Panel.balanceChanged)
    }
    func watchByClosure(_ account: Account) {
      token = account.observe(\.balance, target: self) { panel in { panel.balanceChanged($0) } }
    }
    func balanceChanged(_ change: KeyValueObservedChange<Double>) {}
  }

  private func names(_ account: Account) -> [String] {
    account.observationInfo.registrations.map(\.observer)
  }

  private func change(_ account: Account, _ change: KeyValueObservedChange<Double>) {}

  @Test("J1: of two closures each is listed with the function that it is written in")
  func closures() throws {
    let account = Account()
    var calls = 0
    let tokens = [
      account.observe(\.balance) { _, _ in },
      account.observe(\.balance) { _, change in calls += change.isPrior ? 1 : 2 },
      account.observe(\.balance, changeHandler: change),
    ]
    let found = names(account)
    expectEqual(
      found.prefix(2),
      ["closure #1 in HandlerNameTests.closures()", "closure #2 in HandlerNameTests.closures()"])
    expect(found.last?.hasSuffix(" in HandlerNameTests.closures()") == true)
    let dump = account.observationInfo.debugDescription
    expect(
      dump.contains("\"balance\" observed by closure #1 in HandlerNameTests.closures(), options []")
    )
    withExtendedLifetime(tokens) {}
    expectEqual(calls, 0)
  }

  /// A closure as it is in memory. It has no captures, and its code is in no file. Generic, so that it is registered
  /// without a thunk.
  private struct GeneratedCode<Object: KVOObject, Value> {
    let call: (Object, KeyValueObservedChange<Value>) -> Void

    init(at address: UnsafeMutableRawPointer) {
      let words: (UnsafeMutableRawPointer, UnsafeRawPointer?) = (address, nil)
      self = unsafeBitCast(words, to: Self.self)
    }

    func observe(_ object: Object, _ keyPath: KeyPath<Object, Value>) -> KeyValueObservation {
      object.observe(keyPath, changeHandler: call)
    }
  }

  @Test("J1: a closure whose code is generated at run time is listed, and its code is not touched")
  func generatedCode() async {
    await #expect(processExitsWith: .success) {
      let page = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 16)
      page.initializeMemory(as: UInt8.self, repeating: 0x90, count: 4096)
      let account = Account()
      let token = GeneratedCode(at: page + 64).observe(account, \.balance)
      precondition(account.observationInfo.registrations.count == 1)
      precondition(account.observationInfo.debugDescription.contains("\"balance\" observed by"))
      withExtendedLifetime(token) {}
    }
  }

  @Test("J1: the closure is found in whatever form it is registered")
  func forms() throws {
    let account = Account()
    let tokens = try Self.registerInAllForms(account)
    let found = names(account)
    let words = found.map { $0.split(separator: " ") }
    expectEqual(
      Set(words.map { $0.dropFirst(2).joined(separator: " ") }),
      ["in static HandlerNameTests.registerInAllForms(_:)"])
    expectEqual(Set(found).count, 5)
    withExtendedLifetime(tokens) {}
  }

  @Test("J1: the closure is found behind what watches its token while hints are wanted")
  func watched() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.hint = { _ in }
      let account = Account()
      let tokens = try HandlerNameTests.registerInAllForms(account)
      say(account.observationInfo.description)
      withExtendedLifetime(tokens) {}
    }
    let lines = try require(result).errors.split(separator: "\n")
    expectEqual(lines.count, 6)
    expect(
      lines.allSatisfy {
        $0.contains(" in static HandlerNameTests.registerInAllForms(_:), options")
      })
  }

  private static func registerInAllForms(_ account: Account) throws -> [KeyValueObservation] {
    let key = try KeyValueKey<Account, Double>("balance")
    return try [
      account.observe(\.balance) { _, _, _ in },
      account.observe(keyPath: "balance") { _, _ in },
      account.observe(key: key) { _, _ in },
      account.observe(keys: [key, key]) { _, _, _ in },
      account.observe([\.balance]) { _, _ in },
    ]
  }

  @Test("J1: a method of an object is listed with the object's class")
  func targets() {
    let account = Account()
    let panels = [Panel(), Panel()]
    panels[0].watch(account)
    panels[1].watchByClosure(account)
    expectEqual(
      names(account),
      [
        "a method of Panel in HandlerNameTests.Panel.watch(_:)",
        "closure #1 of Panel in HandlerNameTests.Panel.watchByClosure(_:)",
      ])
    withExtendedLifetime(panels) {}
  }

  @Test("J1: a binding is listed with the property that it sets")
  func bindings() {
    let (account, label) = (Account(), Label())
    let token = label.bind(\.text, to: account, \.balance) { "\($0)" }
    let found = names(account)
    expect(found.count == 1 && found[0].hasPrefix("a binding of \\Label.text of 0x"))
    withExtendedLifetime(token) {}
  }

  @Test(
    "J1: a closure that observes an object of C is listed with its function, C's own by its address"
  )
  func foreign() throws {
    let account = CAccount()
    let token = try account.wrapped.observe("balance", as: Double.self) { _, _ in }
    let found = account.wrapped.observationInfo.registrations.map(\.observer)
    expectEqual(found, ["closure #1 in HandlerNameTests.foreign()"])
    withExtendedLifetime(token) {}
    let callback: kvo_callback = { _, _, _, _ in }
    try require(
      kvo_add_callback(account.pointer.object, "balance", [], callback, nil, nil, nil, nil)
        == .KVO_OK)
    let bare = account.wrapped.observationInfo.registrations.map(\.observer)
    expect(bare.last?.hasPrefix("callback 0x") == true)
    kvo_remove_all_observers(account.pointer.object)
  }
}

@KVO private final class Label: KVOObject {
  var text = ""
}
