import Expectations
import KVORuntime
import ModelFixtures
import Synchronization
import TestSupport
import Testing

/// Q3: weak and unowned properties of a `@KVO` class.
@Suite(.leakFree) struct MacroReferenceTests {
  private let log = Recorder()

  @Test("Q3: a weak property notifies of each assignment, as any other does")
  func assignments() throws {
    let (boat, ada) = (Boat(log.keep(Sailor("Port"))), log.keep(Sailor("Ada")))
    var notified: [String] = []
    let token = boat.observe(\.captain, options: [.old, .new, .prior, .initial]) { _, change in
      let (old, new) = (change.oldValue??.name ?? "-", change.newValue??.name ?? "-")
      notified.append("\(change.isPrior ? "prior " : "")\(old) \(new)")
    }
    boat.captain = ada
    boat.captain = ada
    boat.captain = nil
    expectEqual(
      notified, ["- -", "prior - -", "- Ada", "prior Ada -", "Ada Ada", "prior Ada -", "Ada -"])
    token.invalidate()
    boat.captain = ada
    expect(notified.count == 7 && boat.captain === ada)
  }

  @Test("Q3: it is a key that is read, set and observed, and refuses other objects")
  func coding() throws {
    let (boat, ada) = (Boat(log.keep(Sailor("Port"))), log.keep(Sailor("Ada")))
    try log.observe(boat, "captain.name", [.old, .new], as: "path")
    try boat.setValue(ada, forKey: "captain")
    ada.name = "Eve"
    expectEqual(log.take(), ["path old nil new Ada", "path old Ada new Eve"])
    expect(try boat.value(forKey: "captain") as? Sailor === ada)
    expect(keyValueError { try boat.setValue(1, forKey: "captain") } != nil)
    expect(boat.captain === ada)
    try boat.setValue(nil, forKey: "captain")
    expect(boat.captain == nil && log.take() == ["path old Eve new nil"])
  }

  @Test("Q3: a computed property or path that reads it follows it and no other link")
  func following() {
    let boat = Boat(log.keep(Sailor("Port")))
    let (ada, bob) = (log.keep(Sailor("Ada")), log.keep(Sailor("Bob")))
    log.observe(boat, \.captainName, [.old, .new], as: "computed")
    log.observe(boat, \.captain?.name, [.new], as: "path")
    boat.captain = ada
    boat.mate = bob
    bob.name = "Rob"
    ada.name = "Eve"
    boat.captain = bob
    ada.name = "Ida"
    expectEqual(
      log.take(),
      [
        "path new Ada", "computed old nobody new Ada", "path new Eve", "computed old Ada new Eve",
        "path new Rob", "computed old Eve new Rob",
      ])
  }

  @Test("Q3: it retains nothing, and its object's death notifies no observer")
  func death() {
    let boat = Boat(log.keep(Sailor("Port")))
    log.observe(boat, \.captain?.name, [.new])
    do {
      let ada = Sailor("Ada")
      boat.captain = ada
      expectEqual(log.take(), ["a new Ada"])
    }
    expect(boat.captain == nil && log.take().isEmpty)
    boat.captain = nil
    expectEqual(log.take(), ["a new nil"])
  }

  @Test("Q3: an unowned property is set in init, and notifies of later assignments")
  func unowned() throws {
    let (port, cove) = (log.keep(Sailor("Port")), log.keep(Sailor("Cove")))
    let boat = Boat(port)
    log.observe(boat, \.harbour.name, [.old, .new])
    boat.harbour = cove
    cove.name = "Bay"
    try boat.setValue(port, forKey: "harbour")
    expectEqual(log.take(), ["a old Port new Cove", "a old Cove new Bay", "a old Bay new Port"])
    expect(keyValueError { try boat.setValue(nil, forKey: "harbour") } != nil)
  }

  @Test("Q3: a mirror shows it under its name, and a class describes its kind")
  func notified() {
    let boat = Boat(log.keep(Sailor("Port")))
    let labels = Mirror(reflecting: boat).children.compactMap(\.label)
    expect(labels.contains("captain") && labels.contains("harbour"))
    expect(!labels.contains { $0.hasPrefix("_") })
    expectEqual(Boat.keyValueProperty(forKey: "captain")?.isWeak, true)
    expectEqual(Boat.keyValueProperty(forKey: "captain")?.isWritable, true)
    expect(!Boat.keyValueProperties.contains { $0.key.hasPrefix("_") })
  }

  @Test("Q3: also in generic classes")
  func generic() {
    let (first, second) = (Crate(1, nothing: 0), Crate(2, nothing: 0))
    log.observe(first, \.next?.content, [.new])
    first.next = second
    second.content = 3
    expectEqual(log.take(), ["a new 2", "a new 3"])
  }

  @Test("Q3: threads that set one under a lock lose no change")
  func threads() {
    let boat = Boat(log.keep(Sailor("Port")))
    let (shared, ada) = (Shared(boat), Shared(log.keep(Sailor("Ada"))))
    let lock = Mutex(())
    let calls = Count()
    let token = boat.observe(\.captain) { _, _ in calls.add() }
    onThreads(4) { _ in
      for step in 0..<500 {
        lock.withLock { _ in shared.value.captain = step.isMultiple(of: 2) ? ada.value : nil }
      }
    }
    expectEqual(calls.value, 2_000)
    token.invalidate()
  }
}
