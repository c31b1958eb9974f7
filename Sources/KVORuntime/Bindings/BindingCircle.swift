internal import CKVORuntime
internal import CSwiftRuntime
internal import Synchronization

// Circles of bindings (L4): two opposite bindings, or a ring of several. If two threads forwarded changes in
// a circle at once, their changes would cross. Each would stop at the property where the other began, and the
// properties would stay unequal. So one thread at a time forwards in a circle, and others leave their changes
// to it, as with a single binding. Each change is forwarded all the way round, so the last one makes all
// properties equal.
//
// The binding that closes a circle finds it, when it is made. Properties are the nodes of a graph
// (`BindingPlace`), and the directions of bindings are its edges. All paths from a node back to itself belong
// to one circle, and two circles that a new binding connects are merged. A circle that loses a binding is not
// split.
//
// In a circle a change may reach a property by several ways, and their number may grow exponentially with that of the
// bindings. So each property notes when a binding of a circle last began to set it, and the origin of that: the change
// with which it began. If that is after the change of a binding's source began to be delivered, and has the same
// origin, the change has already come to the target by another way, and the binding passes on nothing. Where one-way
// bindings part and meet again, each passes on the change: a transform may use further properties, which the change has
// reached by the other ways.
//
// | state | protection |
// |---|---|
// | `places`, each circle | `BindingGraph.lock`; while it is held, no user code is called and no object destroyed |

/// A thread that forwards changes.
struct BindingThread: Hashable {
  private let number: UInt

  /// The current thread.
  static var current: BindingThread {
    BindingThread(number: UInt(bitPattern: kvo_binding_thread()))
  }
}

/// A change that one thread leaves to the thread that is forwarding.
struct LeftChange {
  let binding: PropertyBinding
  let direction: BindingDirection
  /// What the thread that left the change was forwarding.
  let chain: BindingChain
}

/// Several bindings that form a circle.
final class BindingCircle: Sendable {
  fileprivate struct State {
    /// The forwarding threads, with the number of their active calls. There are two or more only if they
    /// began before their bindings became one circle.
    var workers: [BindingThread: Int] = [:]
    var left: [LeftChange] = []
    /// The circle into which this one was merged.
    var successor: BindingCircle?
  }

  // Protected by the graph's lock.
  private nonisolated(unsafe) var state = State()

  // Compresses the path: each circle on the way gets the root as its successor, so that chains stay short and
  // are not destroyed recursively.
  private var root: BindingCircle {
    var root = self
    while let successor = root.state.successor { root = successor }
    var circle = self
    while let successor = circle.state.successor, successor !== root {
      circle.state.successor = root
      circle = successor
    }
    return root
  }

  /// Forwards a change, or leaves it to the thread that is forwarding already.
  /// - Parameter chain: The chain of a change that another thread has passed to an actor; nil if the change
  ///   belongs to this thread's chain.
  func pass(
    on direction: BindingDirection, of binding: PropertyBinding, in chain: BindingChain?
  ) {
    guard beginOrLeave(direction, of: binding, in: chain) else { return }
    let delivery = chain?.delivery ?? kvo_binding_delivery_stamp()
    let origin = chain?.origin ?? BindingHop.origin(of: direction.source)
    if !direction.isOvertaken(since: delivery, origin) {
      binding.forwardInCircle(direction, in: chain)
    }
    end()
  }

  /// Ends one of this thread's calls. The last call forwards the changes that other threads have left.
  func end() {
    while let next = endOrTakeLeft() {
      next.binding.forwardInCircle(next.direction, in: next.chain)
    }
  }

  private func beginOrLeave(
    _ direction: BindingDirection, of binding: PropertyBinding, in chain: BindingChain?
  ) -> Bool {
    var dropped: [LeftChange] = []
    let begins = BindingGraph.lock.withLock {
      if root.state.begin() { return true }
      dropped = root.state.leave(
        LeftChange(
          binding: binding, direction: direction,
          chain: chain ?? BindingHop.chain(of: direction.source)))
      return false
    }
    withExtendedLifetime(dropped) {}
    return begins
  }

  private func endOrTakeLeft() -> LeftChange? {
    BindingGraph.lock.withLock { root.state.endOrTakeLeft() }
  }

  // MARK: Joining

  /// Merges bindings, and the circles that some of them are in, into one circle. The caller holds the graph's
  /// lock.
  /// - Parameter edge: The edge that closes the circle, of a binding which this thread is making.
  static func join(_ bindings: [PropertyBinding], closedBy edge: BindingGraph.Edge) {
    // A circle is reused, so that one that is closed repeatedly stays the same object.
    let whole = bindings.lazy.compactMap(\.circle).first?.root ?? BindingCircle()
    for binding in bindings {
      for edge in binding.edges { edge.direction.joinCircle() }
      let joined = binding.join(whole)
      if let worker = joined.worker { whole.state.workers[worker, default: 0] += 1 }
      if let circle = joined.circle { whole.absorb(circle.root) }
    }
    // Other threads' changes may cross this thread's, so the last thread to end forwards the new binding once
    // more.
    if whole.state.workers.count > 1 {
      let stamp = kvo_binding_stamp()
      let chain = BindingChain(directions: [], delivery: stamp, origin: stamp)
      whole.state.left.append(
        LeftChange(binding: edge.binding, direction: edge.direction, chain: chain))
    }
  }

  private func absorb(_ other: BindingCircle) {
    guard other !== self else { return }
    state.workers.merge(other.state.workers, uniquingKeysWith: +)
    state.left += other.state.left
    other.state = State(successor: self)
  }
}

extension BindingCircle.State {
  // Returns false if another thread is forwarding.
  fileprivate mutating func begin() -> Bool {
    let thread = BindingThread.current
    guard workers.isEmpty || workers[thread] != nil else { return false }
    workers[thread, default: 0] += 1
    return true
  }

  // One change for each direction is enough, because forwarding it reads the current value. Returns the older
  // ones.
  fileprivate mutating func leave(_ change: LeftChange) -> [LeftChange] {
    defer {
      left.removeAll { $0.direction === change.direction }
      left.append(change)
    }
    return left.filter { $0.direction === change.direction }
  }

  fileprivate mutating func endOrTakeLeft() -> LeftChange? {
    let thread = BindingThread.current
    let calls = workers[thread, default: 1] - 1
    workers[thread] = calls > 0 ? calls : nil
    guard workers.isEmpty, !left.isEmpty else { return nil }
    workers[thread] = 1
    return left.removeFirst()
  }
}

// MARK: The graph

/// A property that bindings begin or end at. While directions retain it, it is the only one for that property.
final class BindingPlace {
  let property: BoundProperty
  private let swiftObject: UnsafeMutableRawPointer?
  // Keyed by direction. Protected by the graph's lock.
  fileprivate var outgoing: [ObjectIdentifier: BindingGraph.Edge] = [:]
  fileprivate var incoming: [ObjectIdentifier: BindingGraph.Edge] = [:]
  // The number of changes from here that threads are forwarding.
  private let changes = Atomic<Int>(0)
  // The stamp of the last time when a binding of a circle began to set the property, and the origin of that change; 0
  // at first. Only the thread that forwards in the circle stores them.
  private let entry = Atomic<UInt64>(0)
  private let entryOrigin = Atomic<UInt64>(0)

  fileprivate init(_ property: BoundProperty) {
    self.property = property
    swiftObject = property.swiftObject
    // So that no other object gets its address.
    if let swiftObject { kvo_swift_unowned_retain(swiftObject) }
  }

  deinit {
    BindingGraph.forget(self)
    if let swiftObject { kvo_swift_unowned_release(swiftObject) }
  }

  /// The object, unless it has died. It must be a Swift object of that class.
  @inline(__always)
  func object<Object: KVOObject>() -> Object? {
    guard let swiftObject, kvo_swift_try_retain(swiftObject) else { return nil }
    return Unmanaged<Object>.fromOpaque(swiftObject).takeRetainedValue()
  }

  /// Whether threads, possibly others than this one, are forwarding changes from here.
  var isForwarding: Bool { changes.load(ordering: .relaxed) != 0 }

  func beginForwarding() { changes.wrappingAdd(1, ordering: .relaxed) }
  func endForwarding() { changes.wrappingSubtract(1, ordering: .relaxed) }

  // MARK: In a circle

  /// Notes that a binding begins to set the property: before it reads its source, so that a later change of that does
  /// not count as passed on.
  func enter(from origin: UInt64, at stamp: UInt64) {
    entry.store(stamp, ordering: .relaxed)
    entryOrigin.store(origin, ordering: .relaxed)
  }

  /// Notes that the binding has failed to set it.
  func forgetEntry() { entry.store(0, ordering: .relaxed) }

  fileprivate var lastEntry: UInt64 { entry.load(ordering: .relaxed) }
  fileprivate var lastOrigin: UInt64 { entryOrigin.load(ordering: .relaxed) }
}

extension BindingDirection {
  /// Whether a change of the source has come to the target by another way round the circle: a binding has begun to set
  /// the target since the change began to be delivered, because of a change with the same origin, and none has set the
  /// source again since then.
  fileprivate func isOvertaken(since delivery: UInt64, _ origin: UInt64) -> Bool {
    target.lastOrigin == origin && target.lastEntry > max(delivery, source.lastEntry)
  }
}

/// The graph of properties that bindings connect.
enum BindingGraph {
  struct Edge {
    fileprivate let direction: BindingDirection
    fileprivate let binding: PropertyBinding
    fileprivate var id: ObjectIdentifier { ObjectIdentifier(direction) }
    fileprivate var source: BindingPlace { direction.source }
    fileprivate var target: BindingPlace { direction.target }
  }
  private struct Entry {
    let id: ObjectIdentifier
    weak var place: BindingPlace?

    init(_ place: BindingPlace) {
      id = ObjectIdentifier(place)
      self.place = place
    }
  }

  static let lock = Lock(isOuter: true)
  // Protected by the lock. Keyed by the address of the object.
  private nonisolated(unsafe) static var places: [UnsafeRawPointer: [Entry]] = [:]

  /// Adds a new binding, whose objects the caller holds. If it closes a circle, the circle's bindings are
  /// joined.
  static func add(_ binding: PropertyBinding, _ directions: [BindingDirection]) {
    let edges = directions.map { Edge(direction: $0, binding: binding) }
    lock.withLock {
      for edge in edges {
        edge.source.outgoing[edge.id] = edge
        edge.target.incoming[edge.id] = edge
      }
      binding.edges = edges
      let circle = circle(through: edges[0])
      if circle.count > 1 { BindingCircle.join(circle, closedBy: edges[0]) }
    }
  }

  /// Removes a binding that has ended. Later calls have no effect.
  static func remove(_ binding: PropertyBinding) {
    var edges: [Edge] = []
    lock.withLock {
      swap(&edges, &binding.edges)
      for edge in edges {
        edge.source.outgoing[edge.id] = nil
        edge.target.incoming[edge.id] = nil
      }
    }
    withExtendedLifetime(edges) {}
  }

  /// The place of a property whose object the caller holds.
  static func place(of property: BoundProperty) -> BindingPlace {
    // Keeps the places until the lock is released: if their owners release them now, they are destroyed outside it.
    var present: [BindingPlace] = []
    defer { withExtendedLifetime(present) {} }
    return lock.withLock {
      present = places[property.address]?.compactMap(\.place) ?? []
      if let same = present.first(where: { $0.property.isSame(as: property) }) { return same }
      let made = BindingPlace(property)
      places[property.address, default: []].append(Entry(made))
      return made
    }
  }

  fileprivate static func forget(_ place: BindingPlace) {
    let (address, id) = (place.property.address, ObjectIdentifier(place))
    lock.withLock {
      places[address]?.removeAll { $0.id == id }
      if places[address]?.isEmpty == true { places[address] = nil }
    }
  }

  /// The bindings of all edges on a path from the edge's target to its source, and the edge's own; empty if
  /// there is no such path.
  private static func circle(through edge: Edge) -> [PropertyBinding] {
    guard !edge.source.incoming.isEmpty, !edge.target.outgoing.isEmpty else { return [] }
    let ahead = reach(from: edge.target) { $0.outgoing.values.map(\.target) }
    guard ahead[ObjectIdentifier(edge.source)] != nil else { return [] }
    let behind = reach(from: edge.source) { $0.incoming.values.map(\.source) }
    let round = ahead.filter { behind[$0.key] != nil }
    var bindings: [ObjectIdentifier: PropertyBinding] = [:]
    for edge in round.values.flatMap(\.outgoing.values)
    where round[ObjectIdentifier(edge.target)] != nil {
      bindings[ObjectIdentifier(edge.binding)] = edge.binding
    }
    return Array(bindings.values)
  }

  private static func reach(
    from start: BindingPlace, _ neighbours: (BindingPlace) -> [BindingPlace]
  ) -> [ObjectIdentifier: BindingPlace] {
    var reached = [ObjectIdentifier(start): start]
    var waiting = [start]
    while let place = waiting.popLast() {
      for next in neighbours(place)
      where reached.updateValue(next, forKey: ObjectIdentifier(next)) == nil {
        waiting.append(next)
      }
    }
    return reached
  }
}
