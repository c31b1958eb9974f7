// `NSMutableOrderedSet`'s names, each one change where it is not said otherwise. Other ordered sets are
// given as arrays, or as any sequence.

// MARK: Reading

extension MutableOrderedSetProxy {
  /// The member at an index, as `NSOrderedSet` spells it.
  public func object(at index: Int) -> AnyHashable { self[index] }

  /// The members at some indexes, as `NSOrderedSet` spells it. An index beyond the count stops the
  /// program.
  /// - Complexity: O(*n*) in the number of indexes.
  public func objects(at indexes: RangeSet<Int>) -> [Any] { indexes.map { self[$0].base } }

  /// The first member, as `NSOrderedSet` spells it.
  public var firstObject: Any? { first?.base }

  /// The last member, as `NSOrderedSet` spells it.
  public var lastObject: Any? { last?.base }

  /// The members in their order, as `NSOrderedSet` spells it.
  /// - Complexity: O(*n*).
  public var array: [Any] { map(\.base) }

  /// The members as a set, as `NSOrderedSet` spells it.
  /// - Complexity: O(*n*).
  public var set: Set<AnyHashable> { Set(self) }

  /// Where a member is; `Int.max`, which is Foundation's `NSNotFound`, if it is not there.
  /// - Complexity: O(*n*), or what the declared accessor for it takes.
  public func index(of member: AnyHashable) -> Int { firstIndex(of: member) ?? notFound }

  /// Whether all members are among those of another ordered set, or of a set.
  /// - Complexity: O(*n*) in the members of both.
  public func isSubset(of other: some Sequence<AnyHashable>) -> Bool { set.isSubset(of: other) }

  /// Whether a member is among those of another ordered set.
  /// - Complexity: O(*n*) in the members of both.
  public func intersects(_ other: some Sequence<AnyHashable>) -> Bool {
    !set.isDisjoint(with: other)
  }

  /// `intersects(_:)` of a set, as `NSOrderedSet` spells it.
  public func intersectsSet(_ other: Set<AnyHashable>) -> Bool { intersects(other) }

  /// Whether there are the same members, in the same order.
  /// - Complexity: O(*n*).
  public func isEqual(to other: some Sequence<AnyHashable>) -> Bool { elementsEqual(other) }
}

// MARK: Mutation

extension MutableOrderedSetProxy {
  /// Adds those members that are not there at the end: one insertion, none if all are.
  /// - Complexity: O(*n*) in the members of both.
  public func addObjects(from members: [AnyHashable]) throws {
    try insert(members, at: RangeSet(count..<count + members.count))
  }

  /// `remove(at:)`, as `NSMutableOrderedSet` spells it.
  public func removeObject(at index: Int) throws { try remove(at: index) }

  /// `remove(at:)` of several, as `NSMutableOrderedSet` spells it.
  public func removeObjects(at indexes: RangeSet<Int>) throws { try remove(at: indexes) }

  /// Removes the members of a range: one removal.
  public func removeObjects(in range: Range<Int>) throws { try remove(at: RangeSet(range)) }

  /// Removes members: one removal, none if none of them is there.
  /// - Complexity: O(*n*) in the members of both.
  public func removeObjects(in members: [AnyHashable]) throws { try minus(members) }

  /// `removeAll()`, as `NSMutableOrderedSet` spells it.
  public func removeAllObjects() throws { try removeAll() }

  /// `replace(at:with:)`, as `NSMutableOrderedSet` spells it.
  public func replaceObject(at index: Int, with member: AnyHashable) throws {
    try replace(at: index, with: member)
  }

  /// Puts members in the places of as many others: one replacement.
  ///
  /// - Throws: as every mutation; `KeyValueError.validationFailed` if a member would be there twice.
  /// - Complexity: O(*n*).
  public func replaceObjects(at indexes: RangeSet<Int>, with members: [AnyHashable]) throws {
    try replace(at: indexes, with: members)
  }

  /// Puts a member in the place of another, or at the end if the index is the count.
  public func setObject(_ member: AnyHashable, at index: Int) throws {
    try index == count ? add(member) : replace(at: index, with: member)
  }

  /// Exchanges two members: one replacement of both, none if both indexes are one.
  /// - Complexity: O(1).
  public func exchangeObject(at first: Int, withObjectAt second: Int) throws {
    try contents.exchange(first, second)
  }

  /// Takes members out and puts them in, in their order, before what then stands at an index: a removal
  /// and an insertion, neither if there are no indexes.
  ///
  /// - Throws: as every mutation, with the members where they were.
  /// - Complexity: O(*n*).
  public func moveObjects(at indexes: RangeSet<Int>, to index: Int) throws {
    let mutation = try contents.mutable()
    guard !indexes.isEmpty else { return }
    let places = RangeSet(try contents.places(of: indexes, movedTo: index))
    let members = indexes.map { contents.reading.element(at: $0) }
    try mutation.remove(at: indexes)
    do {
      try mutation.insert(members, at: places)
    } catch {
      try? mutation.insert(members, at: indexes)
      throw error
    }
  }

  /// Sorts the members: one replacement of all, none if there is none.
  /// - Complexity: O(*n* log *n*).
  public func sort(by areInIncreasingOrder: (Any, Any) throws -> Bool) throws {
    try contents.rearrange { try $0.sort(by: areInIncreasingOrder) }
  }

  /// Adds those members of another ordered set that are not there at the end: one insertion, none if all
  /// are.
  /// - Complexity: O(*n*) in the members of both.
  public func union(_ other: some Sequence<AnyHashable>) throws {
    try addObjects(from: Array(other))
  }

  /// Takes the members of another ordered set away: one removal, none if none of them is there.
  /// - Complexity: O(*n*) in the members of both.
  public func minus(_ other: some Sequence<AnyHashable>) throws {
    let sought = Set(other)
    try contents.remove { ($0 as? AnyHashable).map(sought.contains) ?? false }
  }

  /// Takes all members away but those of another ordered set: one removal, none if all of them stay.
  /// - Complexity: O(*n*) in the members of both.
  public func intersect(_ other: some Sequence<AnyHashable>) throws {
    let kept = Set(other)
    try contents.remove { !(($0 as? AnyHashable).map(kept.contains) ?? false) }
  }

  /// `union(_:)` of a set, as `NSMutableOrderedSet` spells it.
  public func unionSet(_ other: Set<AnyHashable>) throws { try union(other) }

  /// `minus(_:)` of a set, as `NSMutableOrderedSet` spells it.
  public func minusSet(_ other: Set<AnyHashable>) throws { try minus(other) }

  /// `intersect(_:)` of a set, as `NSMutableOrderedSet` spells it.
  public func intersectSet(_ other: Set<AnyHashable>) throws { try intersect(other) }
}

extension OrderedContents {
  /// Where elements stand once they have been taken out and put in at an index.
  fileprivate func places(of indexes: RangeSet<Int>, movedTo index: Int) throws -> Range<Int> {
    try checkBounds(indexes)
    try check(index)
    let moved = indexes.count
    guard index <= reading.count - moved else { throw outOfBounds(index) }
    return index..<index + moved
  }
}
