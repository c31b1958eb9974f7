import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C8: a property whose name begins with `is` also has its short name as a key, and notifies under both.
@Suite(.leakFree) struct ShortNameTests {
  /// A way to change a property, for each kind of declaration.
  static let ways: [(key: String, set: @Sendable (Switches) throws -> Void)] = [
    ("Wrapped", { $0.isWrapped = true }),
    ("Wrapped", { try $0.setValue(true, forKey: "wrapped") }),
    ("Wrapped", { try $0.setValue(true, forKey: "isWrapped") }),
    ("Plain", { try $0.setValue(true, forKey: "plain") }),
    ("Plain", { try $0.setValue(true, forKey: "isPlain") }),
    ("Plain", { switches in switches.withChange(forKey: "isPlain") { switches.isPlain = true } }),
    ("Stored", { try $0.setValue(true, forKey: "stored") }),
    ("Stored", { try $0.setValue(true, forKey: "isStored") }),
    (
      "Stored",
      { switches in
        switches.willChangeValue(forKey: "isStored")
        switches.isStored = true
        switches.didChangeValue(forKey: "isStored")
      }
    ),
    ("Bracketed", { $0.isBracketed = true }),
    ("Bracketed", { try $0.setValue(true, forKey: "bracketed") }),
    ("Tracked", { $0.source = 1 }),
    ("Derived", { $0.source = 1 }),
    ("Macro", { $0.isMacro = true }),
    ("Macro", { try $0.setValue(true, forKey: "macro") }),
    ("Computed", { $0.isMacro = true }),
  ]

  @Test(
    "C8: a change notifies the observers of either name once, each under its own",
    arguments: 0..<ways.count)
  func notifies(_ index: Int) throws {
    let (suffix, set) = Self.ways[index]
    let (switches, log) = (MacroSwitches(), Recorder())
    let short = suffix.lowercased()
    try log.observe(switches, short, [.old, .new], as: short)
    try log.observe(switches, "is" + suffix, [.old, .new], as: "is" + suffix)
    try set(switches)
    expectEqual(
      log.take().sorted(),
      ["is\(suffix) old false new true", "\(short) old false new true"].sorted(), "\(index)")
    expectEqual(try switches.value(forKey: short) as? Bool, true)
  }

  @Test("C8 F1: a short name on a path, as a dependency and as a typed key notifies")
  func elsewhere() throws {
    let (owner, log) = (SwitchOwner(), Recorder())
    let switches = MacroSwitches()
    owner.switches = switches
    try log.observe(owner, "switches.bracketed", .new, as: "path")
    try log.observe(owner, "status", .new, as: "status")
    let token = switches.observe(
      key: try KeyValueKey<MacroSwitches, Bool>("bracketed"), options: .new
    ) { _, change in
      log.note("key new \(change.newValue!)")
    }
    defer { withExtendedLifetime(token) {} }
    switches.isBracketed = true
    expectEqual(log.take().sorted(), ["key new true", "path new true", "status new on"])
  }
}

class Switches: KVOObject {
  @Observed var isWrapped = false
  @Observed var source = 0
  var isPlain = false
  var isStored = false
  private var flag = false

  var isBracketed: Bool {
    get { flag }
    set { withChange(forKey: "isBracketed") { flag = newValue } }
  }
  var isTracked: Bool { source > 0 }
  var isDerived: Bool { source > 0 }
  var isMacro: Bool {
    get { false }
    set {}
  }

  override class func registerKeys() {
    Switches.declareKeys { keys in
      keys.stored("isStored", \.isStored)
      keys.accessors(
        "isBracketed", \.isBracketed, get: { $0.isBracketed }, set: { $0.isBracketed = $1 })
      keys.computed("isTracked", \.isTracked)
      keys.computed("isDerived", \.isDerived, affectedBy: ["source"])
    }
  }
}

@KVO final class MacroSwitches: Switches {
  private var held = false
  override var isMacro: Bool {
    get { held }
    set { held = newValue }
  }
  var isComputed: Bool { held }
}

private final class SwitchOwner: KVOObject {
  @Observed var switches: MacroSwitches?
  var status: String { switches?.isBracketed == true ? "on" : "off" }

  override class func registerKeys() {
    SwitchOwner.declareKeys { keys in
      keys.computed("status", \.status, affectedBy: ["switches.bracketed"])
    }
  }
}
