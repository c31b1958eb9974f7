import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// B2: setting by key has the same effect whatever the class was used for before.
@Suite(.leakFree) struct SetByKeyTests {
  @Test(
    "B2 E2: an undeclared key sets the storage, bypassing didSet and override, at any time"
  )
  func undeclared() throws {
    for object in [Size(), WatchedSize(), FinalSize(), DoubledSize()] {
      for naming in namings {
        try expectStorageSet(object)
        try naming(object)
      }
      try expectStorageSet(object)
    }
  }

  // Expects of each way to set by key: the storage has the value, observers are notified once, and no code of the
  // class runs.
  private func expectStorageSet(_ object: Size) throws {
    let owner = Owner()
    owner.item = object
    let ways: [(Int) throws -> Void] = [
      { try object.setValue($0, forKey: "size") },
      { try object.setValue($0, forKeyPath: "self.size") },
      { try owner.setValue($0, forKeyPath: "item.size") },
      { try object.setValuesForKeys(["size": $0]) },
      { try [object].setSize($0) },
    ]
    for (index, way) in ways.enumerated() {
      let log = Recorder()
      try log.observe(object, "size", as: "notified")
      object.ran = []
      try way(index + 10)
      expect(try object.value(forKey: "size") as? Int == index + 10)
      expectEqual(object.stored, index + 10)
      expectEqual(object.ran, [])
      expectEqual(log.take(), ["notified"])
    }
    try expectStorageChanged(object)
  }

  private func expectStorageChanged(_ object: Size) throws {
    let log = Recorder()
    try log.observe(object, "rows", .new, as: "notified")
    try object.setValue([1], forKey: "rows")
    object.ran = []
    try object.mutableArrayValue(forKey: "rows").append(2)
    try object.mutableOrderedSetValue(forKey: "rows").add(3)
    expectEqual(object.ran, [])
    expectEqual(
      log.take(),
      ["notified new [1]", "notified insertion at 1 new [2]", "notified insertion at 2 new [3]"])
  }

  @Test(
    "B2 E2: a declared key sets the property, with didSet and override, at any time")
  func declared() throws {
    let classes: [(DeclaredSize, [String])] = [
      (DeclaredSize(), ["didSet"]), (WatchedDeclaredSize(), ["didSet", "override"]),
      (FinalDeclaredSize(), ["didSet", "override"]),
    ]
    for (object, code) in classes {
      for naming in [{ _ in }] + namings {
        try naming(object)
        try expectPropertySet(object, code)
      }
    }
  }

  private func expectPropertySet(_ object: DeclaredSize, _ code: [String]) throws {
    let owner = Owner()
    owner.item = object
    let log = Recorder()
    try log.observe(object, "size", [.old, .new], as: "notified")
    object.size = 1
    _ = log.take()
    object.ran = []
    try object.setValue(2, forKey: "size")
    try owner.setValue(3, forKeyPath: "item.size")
    try object.setValuesForKeys(["size": 4])
    expectEqual(object.ran, code + code + code)
    expectEqual(
      log.take(), ["notified old 1 new 2", "notified old 2 new 3", "notified old 3 new 4"])
    object.ran = []
    try object.mutableArrayValue(forKey: "rows").append(2)
    object.mutableArray(\.rows).append(3)
    expectEqual(object.ran, ["rows", "rows"])
  }

  @Test("B2 D5: an overridden getter is not called by key, but observers get its value")
  func getter() throws {
    let object = DoubledSize()
    try object.setValue(4, forKey: "size")
    expect(try object.value(forKey: "size") as? Int == 4 && object.size == 8)
    let log = Recorder()
    log.observe(object, \.size, [.old, .new])
    try object.setValue(5, forKey: "size")
    expect(try object.value(forKey: "size") as? Int == 5)
    expect(try object.value(forKeyPath: "self.size") as? Int == 5)
    expectEqual(log.take(), ["a old 8 new 10"])
  }

  @Test("B2: a set by key that bypasses an override is a hint, once, with the remedy")
  func hint() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.hint = { say($0 + "\n") }
      let object = WatchedSize()
      let token = object.observe(\.size) { _, _ in }
      for value in 1...3 { try object.setValue(value, forKey: "size") }
      token.invalidate()
      object.observe(\.rows) { _, _ in }.invalidate()
      try object.mutableOrderedSetValue(forKey: "rows").add(1)
      KVODiagnostics.hint = nil
    }
    let hints = try require(result).errors.split(separator: "\n")
    expectEqual(hints.count, 2)
    expect(hints.last?.contains("\"rows\", and what changes its elements by a proxy") == true)
    for word in ["WatchedSize", "\"size\"", "override", "stored"] {
      expectEqual(hints.first?.contains(word), true)
    }
  }

  /// Every use that may reveal the property, in the class or a superclass.
  private var namings: [(Size) throws -> Void] {
    [
      { object in object.observe(\.size) { _, _ in }.invalidate() },
      { $0.withChange(of: \.size) {} },
      { object in object.observe([\.size, \.rows]) { _, _ in }.invalidate() },
      { _ = $0.mutableArray(\.rows).count },
      { $0.size += 1 },
      { ($0 as? WatchedSize)?.name() },
      { ($0 as? FinalSize)?.name() },
      { ($0 as? FinalDeclaredSize)?.name() },
      { object in object.observe(\.twice) { _, _ in }.invalidate() },
      { object in try object.observe(keyPath: "size") { _, _ in }.invalidate() },
      { object in object.rows.append(0) },
    ]
  }
}

extension [Size] {
  /// Sets by a key path over the elements.
  fileprivate func setSize(_ size: Int) throws {
    let owner = Owner()
    owner.items = self
    try owner.setValue(size, forKeyPath: "items.size")
  }
}

private class Owner: Tracked {
  @Observed var item: Size?
  @Observed var items: [Size] = []
}

private class Size: Tracked {
  @Observed var size = 0 { didSet { ran.append("didSet") } }
  @Observed var rows: [Int] = [] { didSet { ran.append("rows") } }
  var ran: [String] = []
  var twice: Int { size * 2 }
  /// The stored value, read past overrides.
  final var stored: Int { Mirror(reflecting: self).value(of: "size") as? Int ?? -1 }
}

extension Mirror {
  fileprivate func value(of label: String) -> Any? {
    sequence(first: self, next: \.superclassMirror).lazy.compactMap { $0.descendant(label) }.first
  }
}

private class WatchedSize: Size {
  override var size: Int { didSet { ran.append("override") } }
  override var rows: [Int] { didSet { ran.append("override") } }
  func name() { observe(\.size) { _, _ in }.invalidate() }
}

private final class FinalSize: Size {
  override var size: Int {
    get { super.size }
    set {
      ran.append("override")
      super.size = newValue
    }
  }
  func name() { observe(\.size) { _, _ in }.invalidate() }
}

private final class DoubledSize: Size {
  override var size: Int {
    get { super.size * 2 }
    set { super.size = newValue / 2 }
  }
}

private class DeclaredSize: Size {
  override class func registerKeys() {
    declareKeys { keys in
      keys.stored("size", \.size)
      keys.stored("rows", \.rows)
    }
  }
}

private class WatchedDeclaredSize: DeclaredSize {
  override var size: Int { didSet { ran.append("override") } }
}

private final class FinalDeclaredSize: DeclaredSize {
  override var size: Int {
    get { super.size }
    set {
      super.size = newValue
      ran.append("override")
    }
  }
  func name() { observe(\.size) { _, _ in }.invalidate() }
}
