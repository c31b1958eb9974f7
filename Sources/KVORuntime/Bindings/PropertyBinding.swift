internal import CKVORuntime
internal import Synchronization

// One property that follows another (L). Each change of the source calls an observer, which reads the source
// and sets the target. Endless forwarding is prevented in three ways:
//
// * The directions that a thread is forwarding form a chain, from the innermost set outward. A change is an echo
//   if its target is the source of a direction in that chain; it is not forwarded. Each property counts the changes
//   that are being forwarded from it, and the chain is searched only if its target's count is not 0. A change
//   that is passed to an actor keeps its chain. Outside circles, a change that an observer has made of a property that
//   was just set is a new one, and no echo.
// * An active binding is not entered again. A change on another thread is left to the active thread, which
//   reads the source again after it has set the target; so the last value set is the source's. The change
//   keeps its own chain, because it has nothing to do with the active thread's. If an observer of the target
//   sets the source on the active thread, that is handled likewise, but only once, so that it can't go on for
//   ever.
// * If several bindings form a circle, one thread at a time forwards in it (`BindingCircle`). A change is not passed on
//   to a property that it has come to by another way round the circle.
//
// | state | protection |
// |---|---|
// | `state` | its own lock; no user code is called and no object is destroyed while it is held |
// | `edges` | `BindingGraph.lock` |

/// One direction of a binding.
final class BindingDirection {
  let source, target: BindingPlace
  private let transfer: (_ source: BindingPlace, _ target: BindingPlace) throws -> Void
  // Whether the binding is in a circle.
  private let inCircle = Atomic<Bool>(false)

  /// - Parameter transfer: Reads the source and sets the target, unless one of them has died.
  init(
    from source: BoundProperty, to target: BoundProperty,
    _ transfer: @escaping (_ source: BindingPlace, _ target: BindingPlace) throws -> Void
  ) {
    self.source = BindingGraph.place(of: source)
    self.target = BindingGraph.place(of: target)
    self.transfer = transfer
  }

  /// Reads the source and sets the target.
  func forward() throws { try transfer(source, target) }

  /// The caller holds the graph's lock.
  func joinCircle() { inCircle.store(true, ordering: .relaxed) }
  var isInCircle: Bool { inCircle.load(ordering: .relaxed) }

  /// Whether the target is a property that the change being forwarded came from.
  fileprivate var isEcho: Bool {
    if target === source { return true }
    guard target.isForwarding, BindingHop.comes(from: target) else { return false }
    return isInCircle || !BindingHop.isMadeByObserver(of: source)
  }
}

extension BindingDirection: HandlerNaming {
  var handlerName: String? { "a binding of \(target.property.phrase)" }
}

/// A binding of one property to another, or of two to each other.
// Sendable: all mutable state is protected by the binding's lock or the graph's.
final class PropertyBinding: ObservationEnd, @unchecked Sendable {
  private struct State {
    var tokens: [KeyValueObservation] = []
    var isOver = false
    /// The thread that is forwarding. At first it is the thread that makes the binding, which sets the target
    /// even if other threads change the source in between.
    var worker: BindingThread? = .current
    /// Whether the change being forwarded was made by an observer of the change forwarded before it.
    var isRepeating = false
    /// The next change to forward.
    var next: Waiting?
    var circle: BindingCircle?
    /// Whether the thread that is forwarding began before the binding joined a circle. The circle then waits
    /// for it.
    var isAwaited = false

    // Nil if a thread is forwarding.
    mutating func begin(isInCircle: Bool) -> Beginning? {
      guard !isOver else { return .left }
      if !isInCircle, let circle { return .ofCircle(circle) }
      guard worker == nil else { return nil }
      worker = .current
      return .begun
    }
  }
  /// A change to forward: whether the forwarding thread made it inside its own forwarding, and otherwise its
  /// chain.
  private struct Waiting {
    let direction: BindingDirection
    let isNested: Bool
    let chain: BindingChain?

    /// The change to forward if the forwarding thread makes one while this one waits. It is not nested if this one
    /// isn't, so that an observer's answer to another thread's value is still forwarded.
    func joined(byNested other: BindingDirection) -> Waiting {
      Waiting(direction: other, isNested: isNested, chain: direction === other ? chain : nil)
    }
  }
  private enum Beginning {
    case begun
    /// The change is left to the thread that is forwarding, or the binding is over.
    case left
    /// The circle forwards it, with one thread at a time.
    case ofCircle(BindingCircle)
  }

  /// The actor that sets the targets; nil to do it on the thread of a change.
  private let actor: CallingActor?
  /// The directions, one or two. None once the binding has ended, so that its token does not keep the properties.
  var edges: [BindingGraph.Edge] = []
  private let state = LockedValue(State())

  private init(on actor: CallingActor?) { self.actor = actor }

  /// - Parameters:
  ///   - directions: The directions. It forwards in the first one at once.
  ///   - register: Registers with both ends. The binding ends the returned tokens.
  static func make(
    _ directions: BindingDirection..., on actor: CallingActor?,
    register: (PropertyBinding) -> [KeyValueObservation]
  ) -> KeyValueObservation {
    start(directions, on: actor, register).token
  }

  /// Makes a binding whose first value may not be valid for the target. Then the error is thrown, and no
  /// binding exists.
  static func makeThrowing(
    _ directions: BindingDirection..., on actor: CallingActor?,
    register: (PropertyBinding) throws -> [KeyValueObservation]
  ) throws -> KeyValueObservation {
    let started = try start(directions, on: actor, register)
    if let error = started.error { throw error }
    return started.token
  }

  private static func start(
    _ directions: [BindingDirection], on actor: CallingActor?,
    _ register: (PropertyBinding) throws -> [KeyValueObservation]
  ) rethrows -> (token: KeyValueObservation, error: (any Error)?) {
    let binding = PropertyBinding(on: actor)
    let token = KeyValueObservation(binding)
    BindingGraph.add(binding, directions)
    do {
      binding.keep(try register(binding))
    } catch {
      binding.end()
      binding.forwardWaiting()
      throw error
    }
    return (token, binding.forward(first: directions[0]))
  }

  // An object may have died during registration.
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

  // MARK: Forwarding

  // Returns only the error of the first time. Later ones are not part of making the binding.
  private func forward(first direction: BindingDirection) -> (any Error)? {
    var error: (any Error)?
    run(direction, nil) { error = $0 }
    forwardWaiting()
    return error
  }

  /// Called after a change of the source.
  func changed(_ direction: BindingDirection) {
    guard !direction.isEcho else { return }
    pass(on: direction, in: nil)
  }

  /// Forwards a change, or leaves it to the thread that is forwarding.
  /// - Parameter chain: The chain of a change that another thread has passed to the actor; nil if the change
  ///   belongs to this thread's chain.
  private func pass(on direction: BindingDirection, in chain: BindingChain?) {
    switch begins(direction, chain, isInCircle: false) {
    case .begun: forward(direction, chain)
    case .ofCircle(let circle): circle.pass(on: direction, of: self, in: chain)
    case .left: break
    }
  }

  /// Forwards a change in the binding's circle. This thread is the one that forwards there.
  /// - Parameter chain: The chain of a change that another thread left; nil if the change belongs to this
  ///   thread's chain.
  func forwardInCircle(_ direction: BindingDirection, in chain: BindingChain? = nil) {
    if case .begun = begins(direction, chain, isInCircle: true) { forward(direction, chain) }
  }

  private func forward(_ direction: BindingDirection, _ chain: BindingChain?) {
    run(direction, chain, failed: Self.report)
    forwardWaiting()
  }

  private func forwardWaiting() {
    while let next = goOn() { run(next.direction, next.chain, failed: Self.report) }
  }

  // A change that another thread left in a circle is passed to the actor as well.
  private func run(
    _ direction: BindingDirection, _ chain: BindingChain?, failed: (any Error) -> Void
  ) {
    if let actor, !actor.isCurrent {
      let chain = chain ?? BindingHop.chain(of: direction.source)
      return actor.callLater { [weak self] in self?.pass(on: direction, in: chain) }
    }
    do {
      try BindingHop.run(self, direction, in: chain)
    } catch {
      if direction.isInCircle { direction.target.forgetEntry() }
      failed(error)
    }
  }

  private static func report(_ error: any Error) {
    KVODiagnostics.report(misuse: "A binding passes on nothing: \(error)")
  }

  private func begins(_ direction: BindingDirection, _ chain: BindingChain?, isInCircle: Bool)
    -> Beginning
  {
    if let beginning = state.withLock({ $0.begin(isInCircle: isInCircle) }) { return beginning }
    let isNested = chain == nil && BindingHop.contains(self)
    var waiting: Waiting? = Waiting(
      direction: direction, isNested: isNested,
      chain: isNested ? nil : chain ?? BindingHop.chain(of: direction.source))
    return state.withLock { state in
      if let beginning = state.begin(isInCircle: isInCircle) { return beginning }
      if isNested, let next = state.next { waiting = next.joined(byNested: direction) }
      if !(isNested && state.isRepeating) { swap(&state.next, &waiting) }
      return .left
    }
  }

  private func goOn() -> Waiting? {
    var waiting: Waiting?
    var awaiting: BindingCircle?
    let goesOn = state.withLock { state in
      state.isRepeating = state.next?.isNested ?? false
      if state.next != nil {
        swap(&state.next, &waiting)
        if !state.isOver { return true }
      }
      state.worker = nil
      if state.isAwaited { awaiting = state.circle }
      state.isAwaited = false
      return false
    }
    awaiting?.end()
    return goesOn ? waiting : nil
  }

  /// The circle that the binding is in. The caller holds the graph's lock.
  var circle: BindingCircle? { state.withLock { $0.circle } }

  /// Puts the binding into a circle. The caller holds the graph's lock.
  /// - Returns: The circle that it was in before; or, if none, the thread that is forwarding, for which the
  ///   new circle waits.
  func join(_ circle: BindingCircle) -> (circle: BindingCircle?, worker: BindingThread?) {
    state.withLock { state in
      defer { state.circle = circle }
      guard state.circle == nil else { return (state.circle, nil) }
      state.isAwaited = state.worker != nil
      return (nil, state.worker)
    }
  }
}

/// Ends the binding when one of its registrations has ended for any reason. The registrations' handlers hold
/// this object.
final class BindingLife: Sendable {
  let binding: PropertyBinding

  init(_ binding: PropertyBinding) { self.binding = binding }

  deinit { binding.end() }
}
