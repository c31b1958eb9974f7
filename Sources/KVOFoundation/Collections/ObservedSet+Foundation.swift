public import KVORuntime

/// The interface of `NSMutableSet`, for the handle of an observed set. Each mutation is one change.
extension ObservedSet {
  /// The members in no particular order, as in `NSSet`.
  /// - Complexity: O(*n*).
  public var allObjects: [Element] { Array(self) }

  /// Returns any member; nil if there is none. The name is `NSSet`'s.
  public func anyObject() -> Element? { first { _ in true } }

  /// Returns the member that is equal to a value; nil if there is none. The name is `NSSet`'s.
  /// - Complexity: O(1) on average.
  public func member(_ value: Element) -> Element? { members.own(value) }

  /// Returns whether another set contains all members.
  /// - Complexity: O(*n*).
  public func isSubset(of other: Set<Element>) -> Bool { members.isWithin(other) }

  /// Returns whether another set contains at least one of the members.
  /// - Complexity: O(*n*).
  public func intersects(_ other: Set<Element>) -> Bool { members.contains { other.has($0) } }

  /// Returns whether both sets contain the same members.
  /// - Complexity: O(*n*).
  public func isEqual(to other: Set<Element>) -> Bool {
    members.count == other.count && members.isWithin(other)
  }

  /// Adds a member, as `insert(_:)` does. The name is `NSMutableSet`'s.
  /// - Complexity: O(1) on average.
  public func add(_ member: Element) { insert(member) }

  /// Adds the elements of an array, as one insertion.
  public func addObjects(from members: [Element]) { formUnion(Set(members)) }

  /// Adds the members of another set to this one, as `formUnion(_:)` does. The name is `NSMutableSet`'s.
  public func union(_ other: Set<Element>) { formUnion(other) }

  /// Removes the members of another set, as `subtract(_:)` does. The name is `NSMutableSet`'s.
  public func minus(_ other: Set<Element>) { subtract(other) }

  /// Removes all members that another set does not contain, as `formIntersection(_:)` does. The name is
  /// `NSMutableSet`'s.
  public func intersect(_ other: Set<Element>) { formIntersection(other) }

  /// Replaces all members, as `set(_:)` does. The name is `NSMutableSet`'s.
  public func setSet(_ other: Set<Element>) { set(other) }

  /// Removes all members, as `removeAll()` does. The name is `NSMutableSet`'s.
  public func removeAllObjects() { removeAll() }
}
