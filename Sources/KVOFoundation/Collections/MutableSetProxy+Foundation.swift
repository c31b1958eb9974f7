public import KVORuntime

// The interface of `NSMutableSet`. Each mutation is one change.

// MARK: Reading

/// The interface of `NSMutableSet`, for a proxy that changes a set.
extension MutableSetProxy {
  /// The members in no particular order, as in `NSSet`.
  /// - Complexity: O(*n*).
  public var allObjects: [Any] { contents.reading.members.map(\.base) }

  /// Returns any member; nil if there is none. The name is `NSSet`'s.
  /// - Complexity: O(*n*).
  public func anyObject() -> Any? { contents.reading.members.first?.base }

  /// Returns the member that is equal to a value; nil if there is none. The name is `NSSet`'s.
  /// - Complexity: O(*n*) if it is there.
  public func member(_ value: AnyHashable) -> Any? { contents.reading.original(of: value) }

  /// Returns whether another set contains all members.
  /// - Complexity: O(*n*).
  public func isSubset(of other: Set<AnyHashable>) -> Bool {
    contents.reading.members.removing(contents.reading.sought(other)).isEmpty
  }

  /// Returns whether another set contains at least one of the members.
  /// - Complexity: O(*n*).
  public func intersects(_ other: Set<AnyHashable>) -> Bool {
    !contents.reading.members.keeping(contents.reading.sought(other)).isEmpty
  }

  /// Returns whether both sets contain the same members.
  /// - Complexity: O(*n*).
  public func isEqual(to other: Set<AnyHashable>) -> Bool {
    let (reading, members) = (contents.reading, contents.reading.members)
    return members.removing(reading.sought(other)).isEmpty
      && other.allSatisfy { reading.contains($0) }
  }
}

// MARK: Mutation

extension MutableSetProxy {
  /// Adds the members of another set, as `formUnion(_:)` does. The name is `NSMutableSet`'s.
  public func union(_ other: Set<AnyHashable>) throws { try formUnion(other) }

  /// Removes the members of another set, as `subtract(_:)` does. The name is `NSMutableSet`'s.
  public func minus(_ other: Set<AnyHashable>) throws { try subtract(other) }

  /// Removes all members that another set does not contain, as `formIntersection(_:)` does. The name is
  /// `NSMutableSet`'s.
  public func intersect(_ other: Set<AnyHashable>) throws { try formIntersection(other) }

  /// Replaces all members, as `set(_:)` does. The name is `NSMutableSet`'s.
  public func setSet(_ other: Set<AnyHashable>) throws { try set(other) }

  /// Adds the elements of an array, as one insertion.
  public func addObjects(from members: [AnyHashable]) throws { try formUnion(Set(members)) }

  /// Removes all members, as one change.
  public func removeAllObjects() throws { try formIntersection([]) }
}
