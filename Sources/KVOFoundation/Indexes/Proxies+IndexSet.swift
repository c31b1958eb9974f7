public import Foundation
public import KVORuntime

// What proxies and handles are asked and told with indexes, which moved code has as an `IndexSet` (R2). Each is one
// change, as its namesake with a `RangeSet<Int>`, which it calls; disfavoured, as those of changes by hand.

extension ArrayProxy {
  /// The elements at some indexes, as `NSArray` spells it. An index beyond the count stops the program.
  /// - Complexity: O(*n*) in the number of indexes.
  @_disfavoredOverload
  public func objects(at indexes: IndexSet) -> [Any] { objects(at: RangeSet(indexes)) }
}

extension MutableArrayProxy {
  /// The elements at some indexes, as `NSArray` spells it. An index beyond the count stops the program.
  /// - Complexity: O(*n*) in the number of indexes.
  @_disfavoredOverload
  public func objects(at indexes: IndexSet) -> [Any] { objects(at: RangeSet(indexes)) }

  /// Inserts elements at as many indexes, which are those that they have afterwards: one insertion. Throws as
  /// `insert(_:at:)` with a `RangeSet<Int>`.
  @_disfavoredOverload
  public func insert(_ elements: [Any], at indexes: IndexSet) throws {
    try insert(elements, at: RangeSet(indexes))
  }

  /// Removes the elements at some indexes: one removal. Throws as every mutation.
  @_disfavoredOverload
  public func remove(at indexes: IndexSet) throws { try remove(at: RangeSet(indexes)) }

  /// `remove(at:)` of several, as `NSMutableArray` spells it. Throws as every mutation.
  @_disfavoredOverload
  public func removeObjects(at indexes: IndexSet) throws { try remove(at: RangeSet(indexes)) }

  /// Puts elements in the places of as many others: one replacement. Throws as every mutation.
  @_disfavoredOverload
  public func replace(at indexes: IndexSet, with elements: [Any]) throws {
    try replace(at: RangeSet(indexes), with: elements)
  }

  /// `replace(at:with:)` of several, as `NSMutableArray` spells it. Throws as every mutation.
  @_disfavoredOverload
  public func replaceObjects(at indexes: IndexSet, with elements: [Any]) throws {
    try replace(at: RangeSet(indexes), with: elements)
  }
}

extension MutableOrderedSetProxy {
  /// The members at some indexes, as `NSOrderedSet` spells it. An index beyond the count stops the program.
  /// - Complexity: O(*n*) in the number of indexes.
  @_disfavoredOverload
  public func objects(at indexes: IndexSet) -> [Any] { objects(at: RangeSet(indexes)) }

  /// Inserts those members that are not there: one insertion. Throws as `insert(_:at:)` with a `RangeSet<Int>`.
  @_disfavoredOverload
  public func insert(_ members: [AnyHashable], at indexes: IndexSet) throws {
    try insert(members, at: RangeSet(indexes))
  }

  /// Removes the members at some indexes: one removal. Throws as every mutation.
  @_disfavoredOverload
  public func remove(at indexes: IndexSet) throws { try remove(at: RangeSet(indexes)) }

  /// `remove(at:)` of several, as `NSMutableOrderedSet` spells it. Throws as every mutation.
  @_disfavoredOverload
  public func removeObjects(at indexes: IndexSet) throws { try remove(at: RangeSet(indexes)) }

  /// Puts members in the places of as many others: one replacement. Throws as `replace(at:with:)` with a
  /// `RangeSet<Int>`.
  @_disfavoredOverload
  public func replaceObjects(at indexes: IndexSet, with members: [AnyHashable]) throws {
    try replaceObjects(at: RangeSet(indexes), with: members)
  }

  /// Takes members out and puts them in before what then stands at an index. Throws as `moveObjects(at:to:)` with a
  /// `RangeSet<Int>`.
  @_disfavoredOverload
  public func moveObjects(at indexes: IndexSet, to index: Int) throws {
    try moveObjects(at: RangeSet(indexes), to: index)
  }
}

extension ObservedArray {
  /// The elements at some indexes, as `NSArray` spells it. An index beyond the count stops the program.
  /// - Complexity: O(*n*) in the number of indexes.
  @_disfavoredOverload
  public func objects(at indexes: IndexSet) -> [Element] { objects(at: RangeSet(indexes)) }

  /// Inserts elements at as many indexes, which are those that they have afterwards: one insertion.
  @_disfavoredOverload
  public func insert(_ newElements: [Element], at indexes: IndexSet) {
    insert(newElements, at: RangeSet(indexes))
  }

  /// Removes the elements at some indexes: one removal.
  @_disfavoredOverload
  public func removeObjects(at indexes: IndexSet) { removeSubranges(RangeSet(indexes)) }

  /// Puts elements in the places of as many others: one replacement.
  @_disfavoredOverload
  public func replaceObjects(at indexes: IndexSet, with newElements: [Element]) {
    replaceObjects(at: RangeSet(indexes), with: newElements)
  }
}
