import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Swift's objects and a naive model run the same random programs and must record the same log: every call in order
/// with its content, and every state in between.
@Suite(.leakFree) struct ModelTests {
  /// How the objects' properties are stored and set.
  enum Storage: CaseIterable { case observed, overridden, declared }

  @Test(
    "C1 C2 C3 D2 D3 D4 D5 D6 D7: random programs behave as the naive model",
    arguments: Storage.allCases, 11...14 as ClosedRange<UInt64>)
  func sameLog(_ storage: Storage, _ seed: UInt64) {
    let steps = Int(Environment.times(400))
    let runtime = SwiftSystem(storage)
    let model = NaiveModel(objects: RandomProgram.objectCount)
    for system in [runtime, model] as [ObservedSystem] {
      let program = RandomProgram(system, seed: seed)
      program.run(steps: steps)
      withExtendedLifetime(program) {}
      system.reaction = { _ in }
    }
    let difference = firstDifference(runtime.lines, model.lines)
    expect(difference == nil, "\(difference ?? "")")
    expect(model.lines.count > steps + steps / 2)
    expectEqual(runtime.handlersLeft, runtime.validTokens)
  }
}

/// Swift's objects and watchers, which record their notifications.
private final class SwiftSystem: ObservedSystem {
  var reaction: (String) -> Void = { _ in }
  private(set) var lines: [String] = []
  private let storage: ModelTests.Storage
  private var objects: [Model] = []
  private var watchers: [ModelWatcher] = []
  private var tokens: [String: KeyValueObservation] = [:]
  private var handlers: [String: WeakLife] = [:]

  init(_ storage: ModelTests.Storage) {
    self.storage = storage
    objects = (0..<RandomProgram.objectCount).map { _ in make() }
    watchers = (0..<RandomProgram.watcherCount).map { ModelWatcher("w\($0)", self) }
  }

  private func make() -> Model {
    switch storage {
    case .observed: Model()
    case .overridden: OverridingModel()
    case .declared: DeclaredModel()
    }
  }

  /// The living handlers, and the tokens that claim to be valid.
  var handlersLeft: Set<String> { Set(handlers.filter { $0.value.life != nil }.map(\.key)) }
  var validTokens: Set<String> { Set(tokens.filter { $0.value.isValid }.map(\.key)) }

  func note(_ line: String) { lines.append(line) }

  func notified(_ name: String, _ context: UnsafeMutableRawPointer?, _ words: [String]) {
    let number = context.map { "[\(UInt(bitPattern: $0))]" } ?? ""
    note("\(name)\(number): \(words.joined(separator: " "))")
    reaction(name)
  }

  // MARK: Changes

  func set(_ object: Int, _ key: Int, to value: Double, byKey: Bool) {
    let object = objects[object]
    if byKey {
      try? object.setValue(value, forKey: modelKeys[key])
    } else if key == 0 {
      object.balance = value
    } else {
      assign(value, to: &object.interestRate)
    }
  }

  func will(_ object: Int, _ key: Int) { objects[object].willChangeValue(forKey: modelKeys[key]) }

  func did(_ object: Int, _ key: Int) {
    if key == 0 {
      objects[object].didChangeValue(for: \.balance)
    } else {
      objects[object].didChangeValue(forKey: modelKeys[key])
    }
  }

  // MARK: Registrations

  func observe(_ object: Int, _ key: Int, _ options: kvo_options, as name: String) {
    let life = Life(of: SwiftSystem.self)
    handlers[name] = WeakLife(life: life)
    // The handler may be called, and the token may end, before this returns.
    tokens[name] = objects[object].observe(
      key == 0 ? \Model.balance : \.interestRate, options: KeyValueObservingOptions(options)
    ) { [unowned self, life] _, change in
      life.goesOn()
      var words = [modelKeys[key]] + change.words
      if change.isPrior { words.swapAt(0, 1) }
      notified(name, nil, words)
    }
  }

  func invalidate(_ name: String) {
    if name.hasSuffix("0") { tokens[name] = nil } else { tokens[name]?.invalidate() }
  }

  func add(_ watcher: Int, to object: Int, _ key: Int, _ options: kvo_options, context number: Int)
  {
    try? objects[object].addObserver(
      watchers[watcher], forKeyPath: modelKeys[key], options: KeyValueObservingOptions(options),
      context: context(number))
  }

  func remove(_ watcher: Int, from object: Int, _ key: Int, context number: Int?) -> Bool {
    let error = keyValueError {
      if let number {
        try objects[object].removeObserver(
          watchers[watcher], forKeyPath: modelKeys[key], context: context(number))
      } else {
        try objects[object].removeObserver(watchers[watcher], forKeyPath: modelKeys[key])
      }
    }
    return error == nil
  }

  func removeAll(from object: Int) { objects[object].removeAllObservers() }
  func replaceWatcher(_ watcher: Int) { watchers[watcher] = ModelWatcher("w\(watcher)", self) }
  func replaceObject(_ object: Int) { objects[object] = make() }

  func state(of object: Int) -> String {
    let registrations = objects[object].observationInfo.registrations
    let counts = modelKeys.map { key in registrations.count { $0.keyPath == key } }
    for (key, count) in zip(modelKeys, counts)
    where objects[object].isObserved(forKey: key) != (count > 0) {
      note("\(key) is and is not observed")
    }
    return "\(counts) \(isSwapped(objects[object]))"
  }
}

private func assign(_ value: Double, to property: inout Double) { property = value }

private struct WeakLife {
  weak var life: Life?
}

extension KeyValueObservingOptions {
  fileprivate init(_ options: kvo_options) { self.init(rawValue: UInt(options.rawValue)) }
}

private final class ModelWatcher: Tracked {
  private let name: String
  private unowned let system: SwiftSystem

  init(_ name: String, _ system: SwiftSystem) {
    self.name = name
    self.system = system
    super.init()
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    var words = [keyPath ?? "nil"]
    if change?[.notificationIsPriorKey] != nil { words.insert("prior", at: 0) }
    if let old = change?[.oldKey] { words += ["old", shown(old)] }
    if let new = change?[.newKey] { words += ["new", shown(new)] }
    system.notified(name, context, words)
  }
}

// MARK: Objects

private class Model: Tracked {
  @Observed var balance = 0.0
  @Observed var interestRate = 0.0
}

private final class OverridingModel: Model {
  private var sets = 0
  override var balance: Double { didSet { sets += 1 } }
  override var interestRate: Double {
    get { super.interestRate }
    set { super.interestRate = newValue }
  }
}

private final class DeclaredModel: Model {
  override class func registerKeys() {
    DeclaredModel.declareKeys { keys in
      keys.accessors("balance", \.balance, get: { $0.balance }, set: { $0.balance = $1 })
    }
  }
}
