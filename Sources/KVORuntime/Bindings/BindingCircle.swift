internal import CKVORuntime

// Bindings that lead in a circle (L4): two opposite ones, or a ring of several. If two threads passed on there at once, what
// one carries would cross what the other does, and each would stop where it came from: the properties stayed unequal. So one
// thread at a time passes on in a circle, and others leave their changes to it, as they do with a single binding. Each is
// carried all the way round, so the last one makes all properties equal.
//
// A circle is found when the binding that closes it is made. The properties that bindings connect are places of a graph, and
// the bindings' directions are its edges. What leads from a place back to it belongs to one circle; two circles that a new
// binding connects become one. A circle that loses a binding stays as it is.
//
// | state | protection |
// |---|---|
// | `places`, each circle | `BindingGraph.lock`, under which no user code is called and nothing dies |

/// A thread that passes on.
struct BindingThread: Hashable {
  private let number: UInt

  /// The thread that asks.
  static var current: BindingThread {
    BindingThread(number: UInt(bitPattern: kvo_binding_thread()))
  }
}

/// A change that one thread leaves to the one that passes on.
struct LeftChange {
  let binding: PropertyBinding
  let flow: Flow
  /// What the thread that left it was passing on.
  let chain: [Flow]
}

/// Several bindings that lead in a circle.
final class BindingCircle: Sendable {
  fileprivate struct State {
    /// The threads that pass on, and how many of their calls do. There are two or more only where they began before
    /// what they pass on became one circle.
    var workers: [BindingThread: Int] = [:]
    var left: [LeftChange] = []
    /// The circle that this one has become part of.
    var successor: BindingCircle?
  }

  // Under the graph's lock.
  private nonisolated(unsafe) var state = State()

  // Those on the way have it as their successor from then on: it is short, and so is the end of the first of them.
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

  /// Passes a change on, or leaves it to the thread that passes on already.
  func pass(on flow: Flow, of binding: PropertyBinding) {
    guard begins(flow, of: binding) else { return }
    binding.carryInCircle(flow)
    end()
  }

  /// One of this thread's calls has passed on. The last one does what other threads have left meanwhile.
  func end() {
    while let next = goesOn() { next.binding.carryInCircle(next.flow, in: next.chain) }
  }

  private func begins(_ flow: Flow, of binding: PropertyBinding) -> Bool {
    var dropped: [LeftChange] = []
    let begins = BindingGraph.lock.withLock {
      if root.state.begins() { return true }
      dropped = root.state.leave(LeftChange(binding: binding, flow: flow, chain: Passage.chain))
      return false
    }
    withExtendedLifetime(dropped) {}
    return begins
  }

  private func goesOn() -> LeftChange? {
    BindingGraph.lock.withLock { root.state.goesOn() }
  }

  // MARK: Joining

  /// Makes one circle of bindings, and of the circles that some of them are in. Under the graph's lock.
  /// - Parameter binding: the one that closes the circle, which this thread is making.
  static func join(_ bindings: [PropertyBinding], closedBy binding: PropertyBinding) {
    // A circle that is closed again and again stays the same.
    let whole = bindings.lazy.compactMap(\.circle).first?.root ?? BindingCircle()
    for binding in bindings {
      let joined = binding.join(whole)
      if let worker = joined.worker { whole.state.workers[worker, default: 0] += 1 }
      if let circle = joined.circle { whole.absorb(circle.root) }
    }
    // What other threads are passing on may cross what this one does. The last of them carries it once more.
    if whole.state.workers.count > 1 {
      whole.state.left.append(LeftChange(binding: binding, flow: binding.flows[0], chain: []))
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
  // False where another thread passes on.
  fileprivate mutating func begins() -> Bool {
    let thread = BindingThread.current
    guard workers.isEmpty || workers[thread] != nil else { return false }
    workers[thread, default: 0] += 1
    return true
  }

  // The newest change of one direction is enough: what is carried is what there is then. Returns the ones before it.
  fileprivate mutating func leave(_ change: LeftChange) -> [LeftChange] {
    defer {
      left.removeAll { $0.flow === change.flow }
      left.append(change)
    }
    return left.filter { $0.flow === change.flow }
  }

  fileprivate mutating func goesOn() -> LeftChange? {
    let thread = BindingThread.current
    let calls = workers[thread, default: 1] - 1
    workers[thread] = calls > 0 ? calls : nil
    guard workers.isEmpty, !left.isEmpty else { return nil }
    workers[thread] = 1
    return left.removeFirst()
  }
}

// MARK: The graph

/// The properties that bindings connect.
enum BindingGraph {
  final class Place {
    let property: BoundProperty
    /// How many ends of flows are here, or about to be.
    fileprivate var uses = 1
    // By flow.
    fileprivate var outgoing: [ObjectIdentifier: Edge] = [:]
    fileprivate var incoming: [ObjectIdentifier: Edge] = [:]

    init(_ property: BoundProperty) { self.property = property }
  }
  struct Edge {
    fileprivate let flow: Flow
    fileprivate let binding: PropertyBinding
    fileprivate let source, target: Place
    fileprivate var id: ObjectIdentifier { ObjectIdentifier(flow) }
  }

  static let lock = Lock(isOuter: true)
  // Under the lock. By the address of the object.
  private nonisolated(unsafe) static var places: [UnsafeRawPointer: [Place]] = [:]

  /// A binding is made, whose objects the caller holds: where it closes a circle, the bindings there are in one.
  static func add(_ binding: PropertyBinding) {
    let edges = binding.flows.map { flow in
      Edge(
        flow: flow, binding: binding, source: place(of: flow.source), target: place(of: flow.target)
      )
    }
    lock.withLock {
      for edge in edges {
        edge.source.outgoing[edge.id] = edge
        edge.target.incoming[edge.id] = edge
      }
      binding.edges = edges
      let circle = circle(through: edges[0])
      if circle.count > 1 { BindingCircle.join(circle, closedBy: binding) }
    }
  }

  /// A binding has ended. Again is harmless.
  static func remove(_ binding: PropertyBinding) {
    var edges: [Edge] = []
    lock.withLock {
      swap(&edges, &binding.edges)
      for edge in edges {
        edge.source.outgoing[edge.id] = nil
        edge.target.incoming[edge.id] = nil
        for place in [edge.source, edge.target] { release(place) }
      }
    }
    withExtendedLifetime(edges) {}
  }

  private static func release(_ place: Place) {
    place.uses -= 1
    guard place.uses == 0 else { return }
    let address = place.property.address
    places[address]?.removeAll { $0 === place }
    if places[address]?.isEmpty == true { places[address] = nil }
  }

  // Whether two are the same property is asked without the lock: that may call a getter.
  private static func place(of property: BoundProperty) -> Place {
    while true {
      let known = lock.withLock { places[property.address] ?? [] }
      let same = known.first { $0.property.isSame(as: property) }
      let place = lock.withLock { () -> Place? in
        let present = places[property.address] ?? []
        if let same {
          guard present.contains(where: { $0 === same }) else { return nil }
          same.uses += 1
          return same
        }
        guard present.allSatisfy({ place in known.contains { $0 === place } }) else { return nil }
        let made = Place(property)
        places[property.address, default: []].append(made)
        return made
      }
      if let place { return place }
    }
  }

  /// The bindings of all edges on a way from the edge's target to its source, and its own; none where there is no such way.
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
    from start: Place, _ neighbours: (Place) -> [Place]
  ) -> [ObjectIdentifier: Place] {
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
