internal import CKVORuntime

// The directions that a thread is forwarding, by which it finds out where a change came from.

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

  /// This thread's entries, from the innermost outward.
  private static var hops: some Sequence<UnsafeMutablePointer<BindingHop>> {
    sequence(state: innermost) { hop in
      defer { hop = hop?.pointee.outer }
      return hop
    }
  }

  /// Forwards a change in one direction.
  ///
  /// - Parameter chain: The chain of a change that another thread left; nil if the change belongs to this
  ///   thread's chain.
  static func run(
    _ binding: PropertyBinding, _ direction: BindingDirection, in chain: BindingChain?
  ) throws {
    let current = innermost
    let origin = direction.isInCircle ? chain?.origin ?? Self.origin(of: direction.source) : 0
    var hop = BindingHop(
      binding: binding, direction: direction, outer: chain == nil ? current : nil, inherited: chain,
      origin: origin, began: kvo_binding_stamp())
    direction.source.beginForwarding()
    if let chain { for direction in chain.directions { direction.source.beginForwarding() } }
    defer {
      direction.source.endForwarding()
      if let chain { for direction in chain.directions { direction.source.endForwarding() } }
    }
    if direction.isInCircle { direction.target.enter(from: origin, at: hop.began) }
    try withUnsafeMutablePointer(to: &hop) {
      kvo_set_forwarding($0)
      defer { kvo_set_forwarding(current) }
      try direction.forward()
    }
  }

  static func contains(_ binding: PropertyBinding) -> Bool {
    hops.contains { $0.pointee.binding === binding }
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
    let directions = hops.flatMap {
      [$0.pointee.direction] + ($0.pointee.inherited?.directions ?? [])
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
    hops.contains { hop in
      hop.pointee.direction.source === property
        || hop.pointee.inherited?.directions.contains { $0.source === property } ?? false
    }
  }
}
