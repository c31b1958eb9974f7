internal import CKVORuntime

// One property that follows another (L). Each change of the source is an observer's call, which reads the source
// and sets the target. What keeps this from going round:
//
// * What a thread is passing on is a chain, from the innermost set outward. A change that would be passed on to a
//   property from which something in that chain has come is an echo: nothing is done.
// * A binding that is at work is not begun again. A change by another thread is left to the thread that is at work,
//   which reads the source once more when it has set the target: the last value set is the source's. It comes with the
//   chain that it has had: what the thread at work is in the middle of has nothing to do with it. So is a change
//   of the source by this thread, made by an observer of the target; but once, lest it go on for ever.
// * Of several bindings that lead in a circle, one thread at a time is at work (`BindingCircle`).
//
// | state | protection |
// |---|---|
// | `state` | its own lock, under which no user code is called and nothing dies |
// | `edges` | `BindingGraph.lock` |

/// A property at one end of a binding.
struct BoundProperty {
  enum Key {
    case keyPath(AnyKeyPath)
    case name(String)
  }

  /// The header of the object, of which only the address is used: neither end is kept alive.
  let header: UnsafeMutablePointer<kvo_object>
  let key: Key

  init(_ object: KVOObject, _ keyPath: AnyKeyPath) {
    header = object.boundHeader
    key = .keyPath(keyPath)
  }

  init(_ object: ForeignObject, _ name: String) {
    header = object.header
    key = .name(name)
  }

  /// The address of the object.
  var address: UnsafeRawPointer { UnsafeRawPointer(header) }

  /// Whether it is the same property of the same object, which both bindings see alive.
  func isSame(as other: BoundProperty) -> Bool {
    guard header == other.header else { return false }
    if case .keyPath(let mine) = key, case .keyPath(let theirs) = other.key {
      if mine == theirs { return true }
      guard type(of: mine).valueType == type(of: theirs).valueType else { return false }
    }
    guard let name else { return false }
    return name == other.name
  }

  // The key that it is observed by; nil for a key path that can't be observed.
  private var name: String? {
    switch key {
    case .name(let name): return name
    case .keyPath(let keyPath):
      // Another object may be at the address of one that has died.
      let object = KVOObject.at(header)
      guard let root = type(of: keyPath).rootType as? KVOObject.Type,
        type(of: object).isSubclass(of: root)
      else { return nil }
      return object.knownKeyName(of: keyPath)?.string
    }
  }
}

/// One direction of a binding.
final class Flow {
  let source, target: BoundProperty
  /// Reads the source and sets the target, unless one of them has died.
  let carry: () throws -> Void

  init(from source: BoundProperty, to target: BoundProperty, _ carry: @escaping () throws -> Void) {
    self.source = source
    self.target = target
    self.carry = carry
  }

  /// Whether its target is where what is passed on has come from.
  fileprivate var isEcho: Bool {
    target.isSame(as: source) || Passage.comes(from: target)
  }
}

/// What a thread is passing on, from the innermost set outward. It is on the thread's stack.
struct Passage {
  let binding: PropertyBinding
  let flow: Flow
  let outer: UnsafeMutablePointer<Passage>?
  /// Of what another thread has left to this one, in place of an outer one: what that thread was passing on.
  let inherited: [Flow]

  private static var innermost: UnsafeMutablePointer<Passage>? {
    kvo_current_flow()?.assumingMemoryBound(to: Passage.self)
  }

  /// - Parameter chain: what it is part of, where that is not what this thread is passing on.
  static func run(_ binding: PropertyBinding, _ flow: Flow, in chain: [Flow]?) throws {
    let current = innermost
    var passage = Passage(
      binding: binding, flow: flow, outer: chain == nil ? current : nil, inherited: chain ?? [])
    try withUnsafeMutablePointer(to: &passage) {
      kvo_set_flow($0)
      defer { kvo_set_flow(current) }
      try flow.carry()
    }
  }

  static func contains(_ binding: PropertyBinding) -> Bool {
    var passage = innermost
    while let one = passage {
      if one.pointee.binding === binding { return true }
      passage = one.pointee.outer
    }
    return false
  }

  /// What this thread is passing on.
  static var chain: [Flow] {
    var chain: [Flow] = []
    var passage = innermost
    while let one = passage {
      chain.append(one.pointee.flow)
      chain += one.pointee.inherited
      passage = one.pointee.outer
    }
    return chain
  }

  /// Whether something that this thread is passing on has come from a property.
  static func comes(from property: BoundProperty) -> Bool {
    var passage = innermost
    while let one = passage {
      if property.isSame(as: one.pointee.flow.source) { return true }
      if one.pointee.inherited.contains(where: { property.isSame(as: $0.source) }) { return true }
      passage = one.pointee.outer
    }
    return false
  }
}

/// One property that follows another, or two that follow each other.
// Sendable: what changes is under its lock, or the graph's.
final class PropertyBinding: ObservationEnd, @unchecked Sendable {
  private struct State {
    var tokens: [KeyValueObservation] = []
    var isOver = false
    /// The thread that carries. At first the one that makes the binding: it sets the target, whatever others change
    /// meanwhile.
    var worker: BindingThread? = .current
    /// That what is carried was set by an observer that was notified of what had been carried before.
    var isRepeating = false
    /// What is left to do.
    var next: Waiting?
    var circle: BindingCircle?
    /// Whether the thread that carries began before the binding was in the circle, which waits for it.
    var isAwaited = false
  }
  /// A direction, whether the thread that carries has made it so itself, and if not, what else had been passed on.
  private struct Waiting {
    let flow: Flow
    let isNested: Bool
    let chain: [Flow]?
  }
  private enum Beginning {
    case begun
    /// It is left to the thread that is at work.
    case left
    /// One thread at a time.
    case ofCircle(BindingCircle)
  }

  /// Its directions, one or two.
  let flows: [Flow]
  /// Where they are carried, if not on the thread of a change.
  private let actor: CallingActor?
  var edges: [BindingGraph.Edge] = []
  private let state = Locked(State())

  private init(_ flows: [Flow], on actor: CallingActor?) {
    self.flows = flows
    self.actor = actor
  }

  /// - Parameters:
  ///   - flows: the first is carried at once.
  ///   - register: registers with both ends; what it returns is ended with the binding.
  static func make(
    _ flows: Flow..., on actor: CallingActor?,
    register: (PropertyBinding) -> [KeyValueObservation]
  ) -> KeyValueObservation {
    start(flows, on: actor, register).token
  }

  /// The same where what is there now may be no value of the target: that is thrown, and there is no binding.
  static func makeThrowing(
    _ flows: Flow..., on actor: CallingActor?,
    register: (PropertyBinding) throws -> [KeyValueObservation]
  ) throws -> KeyValueObservation {
    let started = try start(flows, on: actor, register)
    if let error = started.error { throw error }
    return started.token
  }

  private static func start(
    _ flows: [Flow], on actor: CallingActor?,
    _ register: (PropertyBinding) throws -> [KeyValueObservation]
  ) rethrows -> (token: KeyValueObservation, error: (any Error)?) {
    let binding = PropertyBinding(flows, on: actor)
    let token = KeyValueObservation(binding)
    BindingGraph.add(binding)
    do {
      binding.keep(try register(binding))
    } catch {
      binding.end()
      binding.carryWaiting()
      throw error
    }
    return (token, binding.carryFirst())
  }

  // An end may have died meanwhile.
  private func keep(_ tokens: [KeyValueObservation]) {
    let isOver = state.withLock { state in
      if !state.isOver { state.tokens = tokens }
      return state.isOver
    }
    if isOver { for token in tokens { token.invalidate() } }
  }

  override func end() {
    let tokens = state.withLock { state in
      state.isOver = true
      defer { state.tokens = [] }
      return state.tokens
    }
    for token in tokens { token.invalidate() }
    BindingGraph.remove(self)
  }

  override var isValid: Bool { !state.withLock { $0.isOver } }

  // MARK: Carrying

  // Returns what was wrong with that alone: what comes behind it is no part of making the binding.
  private func carryFirst() -> (any Error)? {
    var error: (any Error)?
    run(Waiting(flow: flows[0], isNested: false, chain: nil)) { error = $0 }
    carryWaiting()
    return error
  }

  /// The source has changed.
  func changed(_ flow: Flow) {
    guard !flow.isEcho else { return }
    switch begins(flow, nil, isInCircle: false) {
    case .begun: carry(flow, nil)
    case .ofCircle(let circle): circle.pass(on: flow, of: self)
    case .left: break
    }
  }

  /// Carries what has changed in the binding's circle, where this thread is the one that passes on.
  /// - Parameter chain: what it is part of, where that is not what this thread is passing on.
  func carryInCircle(_ flow: Flow, in chain: [Flow]? = nil) {
    if case .begun = begins(flow, chain, isInCircle: true) { carry(flow, chain) }
  }

  private func carry(_ flow: Flow, _ chain: [Flow]?) {
    run(Waiting(flow: flow, isNested: false, chain: chain), failed: Self.report)
    carryWaiting()
  }

  private func carryWaiting() {
    while let next = goOn() { run(next, failed: Self.report) }
  }

  // Also what another thread has left to this one, in a circle, is left to the actor.
  private func run(_ waiting: Waiting, failed: (any Error) -> Void) {
    if let actor, !actor.isCurrent {
      let flow = waiting.flow
      return actor.callLater { [weak self] in self?.changed(flow) }
    }
    do { try Passage.run(self, waiting.flow, in: waiting.chain) } catch { failed(error) }
  }

  private static func report(_ error: any Error) {
    KVODiagnostics.report(misuse: "A binding passes on nothing: \(error)")
  }

  private func begins(_ flow: Flow, _ chain: [Flow]?, isInCircle: Bool) -> Beginning {
    let isNested = Passage.contains(self)
    var waiting: Waiting? = Waiting(
      flow: flow, isNested: isNested, chain: isNested ? nil : chain ?? Passage.chain)
    return state.withLock { state in
      guard !state.isOver else { return .left }
      if !isInCircle, let circle = state.circle { return .ofCircle(circle) }
      guard state.worker != nil else {
        state.worker = .current
        return .begun
      }
      if !(isNested && state.isRepeating) { swap(&state.next, &waiting) }
      return .left
    }
  }

  private func goOn() -> Waiting? {
    var waiting: Waiting?
    var awaiting: BindingCircle?
    let goesOn = state.withLock { state in
      swap(&state.next, &waiting)
      state.isRepeating = waiting?.isNested ?? false
      if waiting != nil && !state.isOver { return true }
      state.worker = nil
      if state.isAwaited { awaiting = state.circle }
      state.isAwaited = false
      return false
    }
    awaiting?.end()
    return goesOn ? waiting : nil
  }

  /// Under the graph's lock.
  var circle: BindingCircle? { state.withLock { $0.circle } }

  /// The binding is in a circle from now on. Under the graph's lock.
  /// - Returns: the circle that it was in, or the thread that carries outside of any, which the new one waits for.
  func join(_ circle: BindingCircle) -> (circle: BindingCircle?, worker: BindingThread?) {
    state.withLock { state in
      defer { state.circle = circle }
      guard state.circle == nil else { return (state.circle, nil) }
      state.isAwaited = state.worker != nil
      return (nil, state.worker)
    }
  }
}

/// Held by the handlers of a binding's registrations: where one of them has ended, by whatever way, so has the
/// binding.
final class BindingLife: Sendable {
  let binding: PropertyBinding

  init(_ binding: PropertyBinding) { self.binding = binding }

  deinit { binding.end() }
}
