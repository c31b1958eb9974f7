// What code from Apple's platforms calls otherwise: the proxies' methods under the names of Foundation's
// collections, and validation of what is held as an object.

extension KVOObject {
  /// As `validateValue(_:forKey:)` of an `Any?`, for a value that is held as an object, as it must be
  /// on Apple's platforms.
  ///
  /// - Throws: what the validator does; the value is as it was then.
  public func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
    var validated: Any? = value
    try validateValue(&validated, forKey: key)
    value = validated as AnyObject?
  }
}

extension ArrayProxy {
  /// The element at an index, as `NSArray` spells it.
  public func object(at index: Int) -> Any { self[index] }

  /// The first element, as `NSArray` spells it.
  public var firstObject: Any? { first }

  /// The last element, as `NSArray` spells it.
  public var lastObject: Any? { last }
}

extension MutableArrayProxy {
  /// The element at an index, as `NSArray` spells it.
  public func object(at index: Int) -> Any { self[index] }

  /// The first element, as `NSArray` spells it.
  public var firstObject: Any? { first }

  /// The last element, as `NSArray` spells it.
  public var lastObject: Any? { last }

  /// `append(_:)`, as `NSMutableArray` spells it.
  public func add(_ element: Any) throws { try append(element) }

  /// Adds elements at the end, as one insertion.
  public func addObjects(from elements: [Any]) throws {
    try insert(elements, at: RangeSet(count..<count + elements.count))
  }

  /// `remove(at:)`, as `NSMutableArray` spells it.
  public func removeObject(at index: Int) throws { try remove(at: index) }

  /// `remove(at:)` of several, as `NSMutableArray` spells it.
  public func removeObjects(at indexes: RangeSet<Int>) throws { try remove(at: indexes) }

  /// Removes the last element.
  public func removeLastObject() throws { try remove(at: count - 1) }

  /// `removeAll()`, as `NSMutableArray` spells it.
  public func removeAllObjects() throws { try removeAll() }

  /// `replace(at:with:)`, as `NSMutableArray` spells it.
  public func replaceObject(at index: Int, with element: Any) throws {
    try replace(at: index, with: element)
  }

  /// `replace(at:with:)` of several, as `NSMutableArray` spells it.
  public func replaceObjects(at indexes: RangeSet<Int>, with elements: [Any]) throws {
    try replace(at: indexes, with: elements)
  }
}

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

extension MutableOrderedSetProxy {
  /// The member at an index, as `NSOrderedSet` spells it.
  public func object(at index: Int) -> AnyHashable { self[index] }

  /// `remove(at:)`, as `NSMutableOrderedSet` spells it.
  public func removeObject(at index: Int) throws { try remove(at: index) }

  /// `remove(at:)` of several, as `NSMutableOrderedSet` spells it.
  public func removeObjects(at indexes: RangeSet<Int>) throws { try remove(at: indexes) }

  /// `removeAll()`, as `NSMutableOrderedSet` spells it.
  public func removeAllObjects() throws { try removeAll() }

  /// `replace(at:with:)`, as `NSMutableOrderedSet` spells it.
  public func replaceObject(at index: Int, with member: AnyHashable) throws {
    try replace(at: index, with: member)
  }
}
