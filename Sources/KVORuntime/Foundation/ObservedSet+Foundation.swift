// `NSMutableSet`'s names, each one change, made by the handle's own mutations.

extension ObservedSet {
  /// The members in no particular order, as `NSSet` spells it.
  /// - Complexity: O(*n*).
  public var allObjects: [Element] { Array(self) }

  /// Some member, nil if there is none, as `NSSet` spells it.
  public func anyObject() -> Element? { first { _ in true } }

  /// The member that is equal to a value, nil if there is none, as `NSSet` spells it.
  /// - Complexity: O(1) on average.
  public func member(_ value: Element) -> Element? {
    let members = members
    return members.firstIndex(of: value).map { members[$0] }
  }

  /// Whether all members are among others.
  /// - Complexity: O(*n*).
  public func isSubset(of other: Set<Element>) -> Bool { members.isSubset(of: other) }

  /// Whether there is a member among others.
  /// - Complexity: O(*n*).
  public func intersects(_ other: Set<Element>) -> Bool { !members.isDisjoint(with: other) }

  /// Whether there are the same members.
  /// - Complexity: O(*n*).
  public func isEqual(to other: Set<Element>) -> Bool { members == other }

  /// `insert(_:)`, as `NSMutableSet` spells it.
  /// - Complexity: O(1) on average.
  public func add(_ member: Element) { insert(member) }

  /// Adds members, as one union.
  public func addObjects(from members: [Element]) { formUnion(Set(members)) }

  /// `formUnion(_:)`, as `NSMutableSet` spells it: this set is changed.
  public func union(_ other: Set<Element>) { formUnion(other) }

  /// `subtract(_:)`, as `NSMutableSet` spells it.
  public func minus(_ other: Set<Element>) { subtract(other) }

  /// `formIntersection(_:)`, as `NSMutableSet` spells it.
  public func intersect(_ other: Set<Element>) { formIntersection(other) }

  /// `set(_:)`, as `NSMutableSet` spells it.
  public func setSet(_ other: Set<Element>) { set(other) }

  /// `removeAll()`, as `NSMutableSet` spells it.
  public func removeAllObjects() { removeAll() }
}
