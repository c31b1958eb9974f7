// `NSMutableSet`'s names, each one change, made by the proxy's own mutations.

// MARK: Reading

extension MutableSetProxy {
  /// The members in no particular order, as `NSSet` spells it.
  /// - Complexity: O(*n*).
  public var allObjects: [Any] { contents.reading.members.map(\.base) }

  /// Some member, nil if there is none, as `NSSet` spells it.
  /// - Complexity: O(*n*).
  public func anyObject() -> Any? { contents.reading.members.first?.base }

  /// The member that is equal to a value, nil if there is none, as `NSSet` spells it.
  /// - Complexity: O(*n*) if it is there.
  public func member(_ value: AnyHashable) -> Any? { contents.reading.original(of: value) }

  /// Whether all members are among others.
  /// - Complexity: O(*n*).
  public func isSubset(of other: Set<AnyHashable>) -> Bool {
    contents.reading.members.isSubset(of: other)
  }

  /// Whether there is a member among others.
  /// - Complexity: O(*n*).
  public func intersects(_ other: Set<AnyHashable>) -> Bool {
    !contents.reading.members.isDisjoint(with: other)
  }

  /// Whether there are the same members.
  /// - Complexity: O(*n*).
  public func isEqual(to other: Set<AnyHashable>) -> Bool { contents.reading.members == other }
}

// MARK: Mutation

extension MutableSetProxy {
  /// `formUnion(_:)`, as `NSMutableSet` spells it.
  public func union(_ other: Set<AnyHashable>) throws { try formUnion(other) }

  /// `subtract(_:)`, as `NSMutableSet` spells it.
  public func minus(_ other: Set<AnyHashable>) throws { try subtract(other) }

  /// `formIntersection(_:)`, as `NSMutableSet` spells it.
  public func intersect(_ other: Set<AnyHashable>) throws { try formIntersection(other) }

  /// `set(_:)`, as `NSMutableSet` spells it.
  public func setSet(_ other: Set<AnyHashable>) throws { try set(other) }

  /// Adds members, as one union.
  public func addObjects(from members: [AnyHashable]) throws { try formUnion(Set(members)) }

  /// Removes all members, as one change.
  public func removeAllObjects() throws { try formIntersection([]) }
}
