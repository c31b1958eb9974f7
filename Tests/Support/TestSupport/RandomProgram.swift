import CKVORuntime

/// A random program on an observed system. It depends only on its seed and on the notifications of the system, so
/// that two systems that behave alike run the same program.
///
/// Observers react to some of their calls: they set, bracket, register, remove, or let others die. They do not set a
/// key during prior calls of a manual pair for it, because the rules do not say what the set would join.
package final class RandomProgram {
  private static let objects = 3, watchers = 3, mostPerObject = 8, deepest = 3

  private let system: ObservedSystem
  private let seed: UInt64
  private var random: Random
  /// Callbacks whose registration has returned, and the number of callbacks.
  private var names: [String] = []
  private var made = 0
  private var calls: [String: Int] = [:]
  private var depth = 0
  private var openPairs: [[Int]]
  /// The number of prior calls of manual pairs in progress.
  private var beingWilled: [[Int]]
  /// The observers with calls in progress.
  private var active: [String] = []

  package init(_ system: ObservedSystem, seed: UInt64) {
    self.system = system
    self.seed = seed
    random = Random(seed: seed)
    openPairs = Array(repeating: modelKeys.map { _ in 0 }, count: Self.objects)
    beingWilled = openPairs
    system.reaction = { [unowned self] in react($0) }
  }

  package static var objectCount: Int { objects }
  package static var watcherCount: Int { watchers }

  package func run(steps: Int) {
    for step in 0..<steps {
      var random = random
      self.step(&random)
      self.random = random
      system.note("after \(step): \((0..<Self.objects).map(system.state).joined(separator: ", "))")
    }
    closeAllPairs()
  }

  // MARK: Steps

  private func step(_ random: inout Random) {
    let object = random.next(Self.objects)
    let key = random.next(modelKeys.count)
    switch random.next(100) {
    case 0..<8: open(object, key)
    case 8..<18: close(object, key)
    case 18..<20: if openPairs[object].allSatisfy({ $0 == 0 }) { system.replaceObject(object) }
    default: act(object, key, &random)
    }
  }

  private func open(_ object: Int, _ key: Int) {
    guard openPairs[object][key] < 3 else { return }
    openPairs[object][key] += 1
    will(object, key)
  }

  private func close(_ object: Int, _ key: Int) {
    guard openPairs[object][key] > 0 else { return }
    openPairs[object][key] -= 1
    system.did(object, key)
  }

  private func closeAllPairs() {
    for object in openPairs.indices {
      for key in modelKeys.indices { while openPairs[object][key] > 0 { close(object, key) } }
    }
  }

  private func will(_ object: Int, _ key: Int) {
    beingWilled[object][key] += 1
    system.will(object, key)
    beingWilled[object][key] -= 1
  }

  // MARK: Actions of the program and of observers

  private func act(_ object: Int, _ key: Int, _ random: inout Random) {
    let value = Double(random.next(4))
    let watcher = random.next(Self.watchers)
    let context = random.next(3)
    switch random.next(16) {
    case 0..<6: set(object, key, value, byKey: random.next(3) == 0)
    case 6: bracket(object, key, value)
    case 7..<9: observe(object, key, options(&random))
    case 9..<11: add(watcher, object, key, options(&random), context)
    case 11: invalidate(&random)
    case 12: remove(watcher, object, key, context: nil)
    case 13: remove(watcher, object, key, context: context)
    case 14: if random.next(3) == 0 { system.removeAll(from: object) }
    default: if !active.contains("w\(watcher)") { system.replaceWatcher(watcher) }
    }
  }

  private func options(_ random: inout Random) -> kvo_options {
    let options = kvo_options(rawValue: UInt32(random.next(16)))
    return random.next(5) == 0 ? [.KVO_DISTINCT, .KVO_NEW] : options
  }

  private func set(_ object: Int, _ key: Int, _ value: Double, byKey: Bool) {
    guard beingWilled[object][key] == 0 else { return }
    system.set(object, key, to: value, byKey: byKey)
  }

  private func bracket(_ object: Int, _ key: Int, _ value: Double) {
    guard beingWilled[object][key] == 0 else { return }
    will(object, key)
    set(object, key, value, byKey: false)
    system.did(object, key)
  }

  private func observe(_ object: Int, _ key: Int, _ options: kvo_options) {
    guard hasRoom(object) else { return }
    let name = "c\(made)"
    made += 1
    system.observe(object, key, options, as: name)
    names.append(name)
  }

  private func add(
    _ watcher: Int, _ object: Int, _ key: Int, _ options: kvo_options, _ context: Int
  ) {
    guard hasRoom(object) else { return }
    system.add(watcher, to: object, key, options, context: context)
  }

  private func hasRoom(_ object: Int) -> Bool {
    let digits = system.state(of: object).split { !$0.isNumber }.compactMap { Int($0) }
    return digits.reduce(0, +) < Self.mostPerObject
  }

  /// One of the latest, which is probably still alive.
  private func invalidate(_ random: inout Random) {
    guard !names.isEmpty else { return }
    system.invalidate(names[names.count - 1 - random.next(min(names.count, 12))])
  }

  private func remove(_ watcher: Int, _ object: Int, _ key: Int, context: Int?) {
    system.note("removed \(system.remove(watcher, from: object, key, context: context))")
  }

  // MARK: Reactions

  private func react(_ name: String) {
    calls[name, default: 0] += 1
    guard depth < Self.deepest else { return }
    var random = Random(seed: seed ^ fingerprint(name, calls[name]!))
    guard random.next(6) == 0 else { return }
    depth += 1
    active.append(name)
    act(random.next(Self.objects), random.next(modelKeys.count), &random)
    active.removeLast()
    depth -= 1
  }

  private func fingerprint(_ name: String, _ call: Int) -> UInt64 {
    var mixed = Random(seed: UInt64(call))
    return name.utf8.reduce(mixed.next()) { ($0 &* 31) &+ UInt64($1) }
  }
}
