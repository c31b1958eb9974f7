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
// * If several bindings form a circle, one thread at a time forwards in it (`BindingCycle`). A change is not passed on
//   to a property that it has come to by another way round the circle.
//
// | state | protection |
// |---|---|
// | `state` | its own lock; no user code is called and no object is destroyed while it is held |
// | `edges` | `BindingGraph.lock` |

/// The property at one end of a binding.
struct BoundProperty {
  enum Key {
    /// A property of a Swift object, and its key, which is found once: the same property may have several key paths,
    /// and key paths with arguments only lease their keys. Nil if the property can't be observed.
    case keyPath(AnyKeyPath, ObservedKey?)
    /// A key of a C object. The memory of Swift objects is kept by their `BindingPlace`.
    case name(String, WeakForeignObject)
  }

  /// The object's header. A binding retains neither end.
  let header: UnsafeMutablePointer<kvo_object>
  let key: Key

  /// A property to observe. Stops the program if it can't be observed.
  init(source: KVOObject, _ keyPath: AnyKeyPath, _ caller: Caller?) {
    header = source.boundHeader
    key = .keyPath(keyPath, source.observedKey(of: keyPath, caller))
  }

  /// A property to set. Evaluates the key path on its first use with the class, as for the key of any key path.
  init(target: KVOObject, _ keyPath: AnyKeyPath) {
    header = target.boundHeader
    key = .keyPath(keyPath, target.knownKey(of: keyPath))
  }

  init(_ object: WeakForeignObject, at header: UnsafeMutablePointer<kvo_object>, _ name: String) {
    self.header = header
    key = .name(name, object)
  }

  /// The address of the object.
  var address: UnsafeRawPointer { UnsafeRawPointer(header) }

  /// The object as a Swift one; nil if it is a C object.
  var swiftObject: UnsafeMutableRawPointer? {
    if case .keyPath = key { ObjectHeader.object(of: header) } else { nil }
  }

  /// Whether both are the same property. If the addresses are equal, an object lives there. Calls no code of the
  /// program.
  func isSame(as other: BoundProperty) -> Bool {
    guard header == other.header else { return false }
    switch (key, other.key) {
    case (.keyPath(let mine, let key), .keyPath(let theirs, let otherKey)):
      if let key, let otherKey { return key.name === otherKey.name }
      // A key path without arguments may have got its key only since the other end was bound.
      return !mine.mayHaveArguments && !theirs.mayHaveArguments && mine == theirs
    case (.name(let mine, let object), .name(let theirs, let other)):
      // Another object may be at the address of a C object that has died.
      return mine == theirs && object.isAlive && other.isAlive
    default: return false
    }
  }
}

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

  fileprivate func carry() throws { try transfer(source, target) }

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

extension BoundProperty {
  fileprivate var phrase: String {
    switch key {
    case .keyPath(let keyPath, _): "\(keyPath.text) of \(ObjectHeader.object(of: header))"
    case .name(let name, _): "\(quoted(name)) of \(address)"
    }
  }
}

/// The directions that led to a change, for a thread that forwards it in place of another. Immutable.
final class BindingChain {
  let directions: [BindingDirection]
  /// The stamp of the change's delivery (`kvo_binding_delivery_stamp`), and its origin (`BindingHop.origin(of:)`).
  let delivery, origin: UInt64

  init(directions: [BindingDirection], delivery: UInt64, origin: UInt64) {
    self.directions = directions
    self.delivery = delivery
    self.origin = origin
  }
}

/// An entry in the list of directions that a thread is forwarding, from the innermost set outward. It is on the
/// thread's stack.
struct BindingHop {
  // The caller of `run` holds both.
  unowned(unsafe) let binding: PropertyBinding
  unowned(unsafe) let direction: BindingDirection
  let outer: UnsafeMutablePointer<BindingHop>?
  /// The chain of a change that another thread left to this one. It replaces an outer entry.
  let inherited: BindingChain?
  /// In a circle, the origin of the change (`origin(of:)`). Otherwise 0.
  let origin: UInt64
  /// A stamp of the time when it began (`kvo_binding_stamp`).
  let began: UInt64

  private static var innermost: UnsafeMutablePointer<BindingHop>? {
    kvo_current_forwarding()?.assumingMemoryBound(to: BindingHop.self)
  }

  /// - Parameter chain: The chain of a change that another thread left; nil if the change belongs to this
  ///   thread's chain.
  static func run(
    _ binding: PropertyBinding, _ direction: BindingDirection, in chain: BindingChain?
  ) throws {
    let current = innermost
    let origin = direction.isInCircle ? chain?.origin ?? Self.origin(of: direction.source) : 0
    var passage = BindingHop(
      binding: binding, direction: direction, outer: chain == nil ? current : nil, inherited: chain,
      origin: origin, began: kvo_binding_stamp())
    direction.source.beginForwarding()
    if let chain { for direction in chain.directions { direction.source.beginForwarding() } }
    defer {
      direction.source.endForwarding()
      if let chain { for direction in chain.directions { direction.source.endForwarding() } }
    }
    if direction.isInCircle { direction.target.enter(from: origin, at: passage.began) }
    try withUnsafeMutablePointer(to: &passage) {
      kvo_set_forwarding($0)
      defer { kvo_set_forwarding(current) }
      try direction.carry()
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

  /// A number for what began the change of a property that this thread delivers: the stamp of a change that no binding
  /// in a circle has made. What bindings set because of that change has the same origin.
  static func origin(of source: BindingPlace) -> UInt64 {
    if let outer = innermost?.pointee, outer.direction.target === source, outer.origin != 0 {
      return outer.origin
    }
    return kvo_binding_delivery_stamp()
  }

  /// The directions that this thread is forwarding, which led to the change of a property that it delivers.
  static func chain(of source: BindingPlace) -> BindingChain {
    var directions: [BindingDirection] = []
    var passage = innermost
    while let one = passage {
      directions.append(one.pointee.direction)
      directions += one.pointee.inherited?.directions ?? []
      passage = one.pointee.outer
    }
    return BindingChain(
      directions: directions, delivery: kvo_binding_delivery_stamp(), origin: origin(of: source))
  }

  /// Whether the change of a property that this thread delivers was made by an observer of the property that the
  /// thread is setting, or of one that depends on it, and not by setting that property.
  static func isMadeByObserver(of property: BindingPlace) -> Bool {
    guard let hop = innermost?.pointee, hop.direction.target !== property else { return false }
    return kvo_binding_is_made_by_observer(hop.began)
  }

  /// Whether a change that this thread is forwarding came from a property.
  static func comes(from property: BindingPlace) -> Bool {
    var passage = innermost
    while let one = passage {
      if property === one.pointee.direction.source { return true }
      if one.pointee.inherited?.directions.contains(where: { property === $0.source }) == true {
        return true
      }
      passage = one.pointee.outer
    }
    return false
  }
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
    var circle: BindingCycle?
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
    case ofCircle(BindingCycle)
  }

  /// The actor that sets the targets; nil to do it on the thread of a change.
  private let actor: CallingActor?
  /// The directions, one or two; none once the binding has ended. A token of it then keeps no property.
  var edges: [BindingGraph.Edge] = []
  private let state = LockedValue(State())

  private init(on actor: CallingActor?) { self.actor = actor }

  /// - Parameters:
  ///   - directions: The directions. The first is carried at once.
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
      binding.carryWaiting()
      throw error
    }
    return (token, binding.carry(first: directions[0]))
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

  // MARK: Carrying

  // Returns only the error of the first carry; later ones are not part of making the binding.
  private func carry(first direction: BindingDirection) -> (any Error)? {
    var error: (any Error)?
    run(direction, nil) { error = $0 }
    carryWaiting()
    return error
  }

  /// Called after a change of the source.
  func changed(_ direction: BindingDirection) {
    guard !direction.isEcho else { return }
    pass(on: direction, in: nil)
  }

  /// Carries a change, or leaves it to the thread that is forwarding.
  /// - Parameter chain: The chain of a change that another thread has passed to the actor; nil if the change
  ///   belongs to this thread's chain.
  private func pass(on direction: BindingDirection, in chain: BindingChain?) {
    switch begins(direction, chain, isInCircle: false) {
    case .begun: carry(direction, chain)
    case .ofCircle(let circle): circle.pass(on: direction, of: self, in: chain)
    case .left: break
    }
  }

  /// Carries a change in the binding's circle. This thread is the one that forwards there.
  /// - Parameter chain: The chain of a change that another thread left; nil if the change belongs to this
  ///   thread's chain.
  func carryInCircle(_ direction: BindingDirection, in chain: BindingChain? = nil) {
    if case .begun = begins(direction, chain, isInCircle: true) { carry(direction, chain) }
  }

  private func carry(_ direction: BindingDirection, _ chain: BindingChain?) {
    run(direction, chain, failed: Self.report)
    carryWaiting()
  }

  private func carryWaiting() {
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
    var awaiting: BindingCycle?
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
  var circle: BindingCycle? { state.withLock { $0.circle } }

  /// Puts the binding into a circle. The caller holds the graph's lock.
  /// - Returns: The circle that it was in before; or, if none, the thread that is forwarding, for which the
  ///   new circle waits.
  func join(_ circle: BindingCycle) -> (circle: BindingCycle?, worker: BindingThread?) {
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
