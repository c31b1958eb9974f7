public import KVORuntime

// The interface of `NSMutableOrderedSet`; each mutation is one change unless its comment says otherwise.
// Other ordered sets are passed as arrays or other sequences.

// MARK: Reading

extension MutableOrderedSetProxy {
  /// Returns the member at an index, as `NSOrderedSet` does. Stops the program if the index is out of range.
  public func object(at index: Int) -> AnyHashable { self[index] }

  /// Returns the members at several indexes, as `NSOrderedSet` does. Stops the program if an index is out of
  /// range.
  /// - Complexity: O(*n*) in the number of indexes.
  public func objects(at indexes: RangeSet<Int>) -> [Any] { indexes.map { self[$0].base } }

  /// The first member; nil if there is none. The name is `NSOrderedSet`'s.
  public var firstObject: Any? { first?.base }

  /// The last member; nil if there is none. The name is `NSOrderedSet`'s.
  public var lastObject: Any? { last?.base }

  /// An array of the members in their order. The name is `NSOrderedSet`'s.
  /// - Complexity: O(*n*).
  public var array: [Any] { map(\.base) }

  /// A set of the members. The name is `NSOrderedSet`'s.
  /// - Complexity: O(*n*).
  public var set: Set<AnyHashable> { Set(self) }

  /// Returns the index of a member; `Int.max`, which is Foundation's `NSNotFound`, if there is none.
  /// - Complexity: O(*n*), or that of a declared accessor.
  public func index(of member: AnyHashable) -> Int { firstIndex(of: member) ?? notFound }

  /// Returns whether another ordered set, or a set, contains all members.
  /// - Complexity: O(*n*) in the members of both.
  public func isSubset(of other: some Sequence<AnyHashable>) -> Bool {
    allSatisfy(contents.reading.soughtElements(other).contains)
  }

  /// Returns whether another ordered set contains at least one of the members.
  /// - Complexity: O(*n*) in the members of both.
  public func intersects(_ other: some Sequence<AnyHashable>) -> Bool {
    contains(where: contents.reading.soughtElements(other).contains)
  }

  /// Returns whether a set contains at least one of the members. The name is `NSOrderedSet`'s.
  public func intersectsSet(_ other: Set<AnyHashable>) -> Bool { intersects(other) }

  /// Returns whether both contain the same members in the same order.
  /// - Complexity: O(*n*).
  public func isEqual(to other: some Sequence<AnyHashable>) -> Bool {
    elementsEqual(other.map { contents.reading.sought($0.base) }, by: areEqual)
  }
}

// MARK: Mutation

extension MutableOrderedSetProxy {
  /// Appends the members that are not contained yet, as one insertion. If there are none,
  /// nothing changes.
  /// - Complexity: O(*n*) in the members of both.
  public func addObjects(from members: [AnyHashable]) throws {
    try append(members)
  }

  /// Removes the member at an index, as `remove(at:)` does. The name is `NSMutableOrderedSet`'s.
  public func removeObject(at index: Int) throws { try remove(at: index) }

  /// Removes the members at several indexes, as one removal. The name is `NSMutableOrderedSet`'s.
  public func removeObjects(at indexes: RangeSet<Int>) throws { try remove(at: indexes) }

  /// Removes the members of a range, as one removal.
  public func removeObjects(in range: Range<Int>) throws { try remove(at: RangeSet(range)) }

  /// Removes members, as one removal. If none is contained, nothing changes.
  /// - Complexity: O(*n*) in the members of both.
  public func removeObjects(in members: [AnyHashable]) throws { try minus(members) }

  /// Removes all members, as `removeAll()` does. The name is `NSMutableOrderedSet`'s.
  public func removeAllObjects() throws { try removeAll() }

  /// Replaces the member at an index, as `replace(at:with:)` does. The name is `NSMutableOrderedSet`'s.
  public func replaceObject(at index: Int, with member: AnyHashable) throws {
    try replace(at: index, with: member)
  }

  /// Replaces the members at several indexes, one for each index, as one replacement.
  ///
  /// - Throws: the errors of `replace(at:with:)`, in particular `KeyValueError.validationFailed` if a member
  ///   would occur twice.
  /// - Complexity: O(*n*).
  public func replaceObjects(at indexes: RangeSet<Int>, with members: [AnyHashable]) throws {
    try replace(at: indexes, with: members)
  }

  /// Replaces the member at an index; if the index is the count, inserts the member at the end.
  public func setObject(_ member: AnyHashable, at index: Int) throws {
    try index == count ? add(member) : replace(at: index, with: member)
  }

  /// Exchanges two members, as one replacement of both. If both indexes are the same, nothing changes.
  /// - Complexity: O(1).
  public func exchangeObject(at first: Int, withObjectAt second: Int) throws {
    try contents.exchange(first, second)
  }

  /// Moves members to an index, in their order: a removal followed by an insertion. If no member moves, nothing
  /// changes.
  ///
  /// - Parameters:
  ///   - indexes: the members to move.
  ///   - index: the index of the first of them afterwards.
  /// - Throws: the errors of `insert(_:at:)`. The members are then inserted where they were; if that fails, too, they
  ///   stay removed.
  /// - Complexity: O(*n*).
  public func moveObjects(at indexes: RangeSet<Int>, to index: Int) throws {
    var places = RangeSet<Int>()
    var members: [Any] = []
    try contents.apply {
      guard !indexes.isEmpty else { return nil }
      places = RangeSet(try contents.places(of: indexes, movedTo: index))
      guard places != indexes else { return nil }
      members = indexes.map { contents.reading.element(at: $0) }
      return .removal(at: indexes)
    }
    guard !members.isEmpty else { return }
    do {
      try contents.insert(members, at: places)
    } catch {
      try? contents.insert(members, at: indexes)
      throw error
    }
  }

  /// Sorts the members by a predicate, as one replacement of all. Without members nothing changes.
  /// - Complexity: O(*n* log *n*).
  public func sort(by areInIncreasingOrder: (Any, Any) throws -> Bool) throws {
    try contents.rearrange { try $0.sort(by: areInIncreasingOrder) }
  }

  /// Appends the members of another ordered set that are not contained yet, as one insertion. If
  /// there are none, nothing changes.
  /// - Complexity: O(*n*) in the members of both.
  public func union(_ other: some Sequence<AnyHashable>) throws {
    try addObjects(from: Array(other))
  }

  /// Removes the members of another ordered set, as one removal. If none is contained, nothing changes.
  /// - Complexity: O(*n*) in the members of both.
  public func minus(_ other: some Sequence<AnyHashable>) throws {
    let sought = contents.reading.soughtElements(other)
    try contents.remove { sought.contains($0) }
  }

  /// Removes all members that another ordered set does not contain, as one removal. If there are none,
  /// nothing changes.
  /// - Complexity: O(*n*) in the members of both.
  public func intersect(_ other: some Sequence<AnyHashable>) throws {
    let kept = contents.reading.soughtElements(other)
    try contents.remove { !kept.contains($0) }
  }

  /// Appends the members of a set that are not contained yet, as one insertion. The name is
  /// `NSMutableOrderedSet`'s.
  public func unionSet(_ other: Set<AnyHashable>) throws { try union(other) }

  /// Removes the members of a set, as one removal. The name is `NSMutableOrderedSet`'s.
  public func minusSet(_ other: Set<AnyHashable>) throws { try minus(other) }

  /// Removes all members that a set does not contain, as one removal. The name is `NSMutableOrderedSet`'s.
  public func intersectSet(_ other: Set<AnyHashable>) throws { try intersect(other) }
}

extension OrderedContents {
  /// The indexes of elements after they were moved to an index.
  fileprivate func places(of indexes: RangeSet<Int>, movedTo index: Int) throws -> Range<Int> {
    try checkBounds(indexes)
    try check(index)
    let moved = indexes.count
    guard index <= reading.count - moved else { throw outOfBounds(index) }
    return index..<index + moved
  }
}
