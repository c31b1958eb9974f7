/// Operations on a graph, as data that can be written down, shortened and run again. Objects are in slots, shown as
/// letters. A slot always has an object, which may be replaced.
package struct GraphProgram: Sendable {
  package static let slots = 4

  package indirect enum Operation: Sendable, Equatable {
    case set(Int, GraphClass.Key, GraphValue, SetRoute)
    case mutate(Int, GraphClass.Key, Mutation, MutationRoute)
    /// Opens a manual change. Its did has the same mutation.
    case will(Int, GraphClass.Key, Mutation?)
    case did(Int, GraphClass.Key)
    case observe(Int, GraphPath, GraphOptions, as: Int)
    case invalidate(Int)
    case add(Int, to: Int, GraphPath, GraphOptions, context: Int)
    case remove(Int, from: Int, GraphPath, context: Int?)
    case removeAll(Int)
    /// Replaces the slot's object by a new one.
    case renew(Int)
    /// Makes a callback (or an observer object, -1 minus its slot) perform an operation in its n-th call.
    case when(Int, call: Int, Operation)
  }

  package var operations: [Operation]
  /// The names of callbacks.
  package var callbacks: [String]

  /// At the end all registrations are removed and then all objects released; otherwise only the objects are.
  package var endsByRemoval: Bool
  package var dialect: GraphDialect

  package init(
    _ operations: [Operation], callbacks: [String], endsByRemoval: Bool = true,
    dialect: GraphDialect = .c
  ) {
    self.operations = operations
    self.callbacks = callbacks
    self.endsByRemoval = endsByRemoval
    self.dialect = dialect
  }
}

/// Runs a program on a system. Reactions depend only on the operations and on the observers called, so systems that
/// behave alike run alike.
package final class GraphInterpreter {
  private let system: GraphSystem
  /// Skips misuse: a did without a will, and the death of an object with an open pair. Skips also what the rules leave
  /// open (`unannounced`).
  private let isCautious: Bool
  private let dialect: GraphDialect
  private var slots: [Int] = []
  private var made = 0
  /// The letters of all objects so far.
  package private(set) var names: [String] = []
  private var pairs: [(object: Int, key: GraphClass.Key, mutation: Mutation?)] = []
  private var calls: [Int: Int] = [:]
  /// Registrations being made without a token yet, and whether to end them once there is one.
  private var beginning: [Int: Bool] = [:]
  /// Collections in which elements were stored without a change since the last setting. A change that names its
  /// elements may leave those out (C6).
  private var unannounced: [(object: Int, key: GraphClass.Key)] = []
  /// Collections that a change which names its elements is in progress for, manual changes excepted.
  private var mutating: [(object: Int, key: GraphClass.Key)] = []
  /// Lists that are being changed through a handle.
  private var handled: [(object: Int, key: GraphClass.Key)] = []
  private var reactions: [(caller: Int, call: Int, operation: GraphProgram.Operation)] = []
  /// The number of operations run, reactions included.
  package private(set) var steps = 0

  package init(_ system: GraphSystem, isCautious: Bool, dialect: GraphDialect = .c) {
    self.system = system
    self.isCautious = isCautious
    self.dialect = dialect
    for slot in 0..<GraphProgram.slots { slots.append(make(slot)) }
    system.reaction = { [unowned self] in react($0) }
  }

  private func make(_ slot: Int) -> Int {
    let letter = String(UnicodeScalar(UInt8(97 + slot)))
    let older = names.count { $0.hasPrefix(letter) }
    names.append(letter + String(repeating: "'", count: older))
    system.make(made)
    made += 1
    return made - 1
  }

  package func run(_ operation: GraphProgram.Operation) {
    steps += 1
    let held = mentioned(by: operation).map { slots[$0] }
    for object in held { system.retain(object) }
    perform(operation)
    for object in held { system.release(object) }
  }

  /// Closes open changes and releases everything, after ending all registrations if `byRemoval`.
  package func end(byRemoval: Bool) {
    while let pair = pairs.last { did(pair.object, pair.key) }
    system.reaction = { _ in }
    if byRemoval { system.removeEverything() }
    for object in slots { system.release(object) }
    system.end()
  }

  private func mentioned(by operation: GraphProgram.Operation) -> [Int] {
    switch operation {
    case .set(let slot, _, let value, _): [slot] + value.objects
    case .mutate(let slot, _, let mutation, _): [slot] + mutation.objects
    case .will(let slot, _, let mutation): [slot] + (mutation?.objects ?? [])
    case .did(let slot, _), .observe(let slot, _, _, _), .removeAll(let slot): [slot]
    case .add(let observer, let slot, _, _, _), .remove(let observer, let slot, _, _):
      [observer, slot]
    case .invalidate, .renew, .when: []
    }
  }

  private func perform(_ operation: GraphProgram.Operation) {
    let slots = slots
    let id: (Int) -> Int = { slots[$0] }
    switch operation {
    case .set(let slot, let key, let value, let route):
      guard !isHandled(id(slot), key, nil), admitsSet(id(slot), key, route) else { return }
      system.set(id(slot), key, to: value.mapped(id), by: route)
    case .mutate(let slot, let key, let mutation, let route):
      let mutation = mutation.mapped(id)
      guard !isHandled(id(slot), key, mutation), admits(mutation, id(slot), key, route) else {
        return
      }
      mutate(id(slot), key, mutation, by: route)
    case .will(let slot, let key, let mutation): will(id(slot), key, mutation?.mapped(id))
    case .did(let slot, let key): did(id(slot), key)
    case .observe(let slot, let path, let options, let callback):
      observe(id(slot), path, options, as: callback)
    case .invalidate(let callback): invalidate(callback)
    case .add(let observer, let slot, let path, let options, let context):
      system.add(id(observer), to: id(slot), path, options, context: context)
    case .remove(let observer, let slot, let path, let context):
      system.remove(id(observer), from: id(slot), path, context: context)
    case .removeAll(let slot): system.removeAll(from: id(slot))
    case .renew(let slot): renew(slot)
    case .when(let caller, let call, let operation): reactions.append((caller, call, operation))
    }
  }

  /// A handle checks its indexes before it notifies of the change. If an observer then removed elements, the program
  /// would stop.
  private func isHandled(_ object: Int, _ key: GraphClass.Key, _ mutation: Mutation?) -> Bool {
    if let mutation, mutation.form != .remove { return false }
    return handled.contains { $0 == (object, key) }
  }

  private func mutate(
    _ object: Int, _ key: GraphClass.Key, _ mutation: Mutation, by route: MutationRoute
  ) {
    let isHandle = dialect == .swift && route == .accessor && !mutation.form.isOfSet
    if isHandle { handled.append((object, key)) }
    mutating.append((object, key))
    system.mutate(object, key, mutation, by: route)
    mutating.removeLast()
    if isHandle { handled.removeLast() }
  }

  private func observe(
    _ object: Int, _ path: GraphPath, _ options: GraphOptions, as callback: Int
  ) {
    let knowsToken = dialect == .c || TokenForm(callback, path) == .withToken
    if !knowsToken { beginning[callback] = false }
    system.observe(object, path, options, as: callback)
    if beginning.removeValue(forKey: callback) == true { system.invalidate(callback) }
  }

  private func invalidate(_ callback: Int) {
    if beginning[callback] == nil {
      system.invalidate(callback)
    } else {
      beginning[callback] = true
    }
  }

  /// Whether a collection may be set now.
  private func admitsSet(_ object: Int, _ key: GraphClass.Key, _ route: SetRoute) -> Bool {
    guard isCautious, GraphClass.keys[key].isToMany else { return true }
    if route == .store {
      guard !isBeingMutated(object, key) else { return false }
      unannounced.append((object, key))
    } else {
      unannounced.removeAll { $0 == (object, key) }
    }
    return true
  }

  private func isBeingMutated(_ object: Int, _ key: GraphClass.Key) -> Bool {
    mutating.contains { $0 == (object, key) }
      || pairs.contains { $0.object == object && $0.key == key && $0.mutation != nil }
  }

  private func admits(
    _ mutation: Mutation, _ object: Int, _ key: GraphClass.Key, _ route: MutationRoute
  ) -> Bool {
    guard isCautious else { return true }
    guard route == .store else { return !isUnannounced(object, key) }
    let pair = pairs.last { $0.object == object && $0.key == key }
    return pair?.mutation == mutation && !mutating.contains { $0 == (object, key) }
  }

  private func isUnannounced(_ object: Int, _ key: GraphClass.Key) -> Bool {
    unannounced.contains { $0 == (object, key) }
  }

  private func will(_ object: Int, _ key: GraphClass.Key, _ mutation: Mutation?) {
    let mutation = isCautious && isUnannounced(object, key) ? nil : mutation
    pairs.append((object, key, mutation))
    for member in mutation?.objects ?? [] { system.retain(member) }
    system.willChange(object, key, mutation)
  }

  private func did(_ object: Int, _ key: GraphClass.Key) {
    guard let index = pairs.lastIndex(where: { $0.object == object && $0.key == key }) else {
      if !isCautious { system.didChange(object, key, nil) }
      return
    }
    let pair = pairs.remove(at: index)
    if pair.mutation == nil { unannounced.removeAll { $0 == (object, key) } }
    system.didChange(object, key, pair.mutation)
    for member in pair.mutation?.objects ?? [] { system.release(member) }
  }

  private func renew(_ slot: Int) {
    guard !isCautious || !pairs.contains(where: { $0.object == slots[slot] }) else { return }
    let old = slots[slot]
    slots[slot] = make(slot)
    system.release(old)
  }

  /// An observer object reacts as the slot that it is in. One that has left its slot does not react.
  private func react(_ caller: Int) {
    var caller = caller
    if caller < 0 {
      guard let slot = slots.firstIndex(of: -1 - caller) else { return }
      caller = -1 - slot
    }
    calls[caller, default: 0] += 1
    for reaction in reactions where reaction.caller == caller && reaction.call == calls[caller] {
      run(reaction.operation)
    }
  }
}

/// A program's log on a system: where each operation's part begins, and all names.
package struct GraphRun {
  package var log: GraphLog
  package var starts: [Int]
  package var names: [String]
  package var steps: Int

  package init(_ program: GraphProgram, on system: GraphSystem, isCautious: Bool = true) {
    let interpreter = GraphInterpreter(
      system, isCautious: isCautious, dialect: program.dialect)
    starts = []
    for operation in program.operations {
      starts.append(system.log.words.count)
      interpreter.run(operation)
    }
    starts.append(system.log.words.count)
    interpreter.end(byRemoval: program.endsByRemoval)
    log = system.log
    names = interpreter.names
    steps = interpreter.steps
  }

  /// The lines of each operation, then those of the end.
  package func lines(callbacks: [String]) -> [[String]] {
    let all = starts + [log.words.count]
    let texts = all.dropLast().map { log.lines(from: $0, callbacks: callbacks, objects: names) }
    return texts.indices.map { index in
      let rest = index + 1 < texts.count ? texts[index + 1].count : 0
      return Array(texts[index].dropLast(rest))
    }
  }
}
