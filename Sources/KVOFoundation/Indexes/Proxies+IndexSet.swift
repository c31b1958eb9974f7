public import Foundation
public import KVORuntime

// Functions of proxies and handles with an `IndexSet`, for code that is moved from Apple's platforms (R2).
// Each calls the function of the same name that takes a `RangeSet<Int>`, and is one change like that. They
// are disfavoured, for the reason given in ManualNotification+IndexSet.swift.

/// Access to the elements at the indexes of an `IndexSet`.
extension ArrayProxy {
  /// Returns the elements at several indexes, as `NSArray` does. Stops the program if an index is out of
  /// range.
  /// - Complexity: O(*n*) in the number of indexes.
  @_disfavoredOverload
  public func objects(at indexes: IndexSet) -> [Any] { objects(at: RangeSet(indexes)) }
}

/// Access to the elements at the indexes of an `IndexSet`, and changes of them.
extension MutableArrayProxy {
  /// Returns the elements at several indexes, as `NSArray` does. Stops the program if an index is out of
  /// range.
  /// - Complexity: O(*n*) in the number of indexes.
  @_disfavoredOverload
  public func objects(at indexes: IndexSet) -> [Any] { objects(at: RangeSet(indexes)) }

  /// Inserts elements at several indexes, as one insertion. The indexes are those that the elements have
  /// afterwards.
  ///
  /// - Throws: `KeyValueError`, for instance if there are more or fewer elements than indexes; an error of a
  ///   declared accessor. Then nothing has changed.
  @_disfavoredOverload
  public func insert(_ elements: [Any], at indexes: IndexSet) throws {
    try insert(elements, at: RangeSet(indexes))
  }

  /// Removes the elements at several indexes, as one removal.
  ///
  /// - Throws: `KeyValueError`, or an error of a declared accessor. Then nothing has changed.
  @_disfavoredOverload
  public func remove(at indexes: IndexSet) throws { try remove(at: RangeSet(indexes)) }

  /// Removes the elements at several indexes, as one removal. The name is `NSMutableArray`'s.
  ///
  /// - Throws: `KeyValueError`, or an error of a declared accessor. Then nothing has changed.
  @_disfavoredOverload
  public func removeObjects(at indexes: IndexSet) throws { try remove(at: RangeSet(indexes)) }

  /// Replaces the elements at several indexes, one for each index, as one replacement.
  ///
  /// - Throws: `KeyValueError`, for instance if there are more or fewer elements than indexes; an error of a
  ///   declared accessor. Then nothing has changed.
  @_disfavoredOverload
  public func replace(at indexes: IndexSet, with elements: [Any]) throws {
    try replace(at: RangeSet(indexes), with: elements)
  }

  /// Replaces the elements at several indexes, one for each index, as one replacement. The name is
  /// `NSMutableArray`'s.
  ///
  /// - Throws: `KeyValueError`, for instance if there are more or fewer elements than indexes; an error of a
  ///   declared accessor. Then nothing has changed.
  @_disfavoredOverload
  public func replaceObjects(at indexes: IndexSet, with elements: [Any]) throws {
    try replace(at: RangeSet(indexes), with: elements)
  }
}

/// Access to the elements at the indexes of an `IndexSet`, and changes of them.
extension MutableOrderedSetProxy {
  /// Returns the members at several indexes, as `NSOrderedSet` does. Stops the program if an index is out of
  /// range.
  /// - Complexity: O(*n*) in the number of indexes.
  @_disfavoredOverload
  public func objects(at indexes: IndexSet) -> [Any] { objects(at: RangeSet(indexes)) }

  /// Inserts members at several indexes, as one insertion. Members that the ordered set contains already are
  /// left out. The indexes are those that the members have afterwards, if none is left out.
  ///
  /// - Throws: `KeyValueError`, for instance if there are more or fewer members than indexes; an error of a
  ///   declared accessor. Then nothing has changed.
  @_disfavoredOverload
  public func insert(_ members: [AnyHashable], at indexes: IndexSet) throws {
    try insert(members, at: RangeSet(indexes))
  }

  /// Removes the members at several indexes, as one removal.
  ///
  /// - Throws: `KeyValueError`, or an error of a declared accessor. Then nothing has changed.
  @_disfavoredOverload
  public func remove(at indexes: IndexSet) throws { try remove(at: RangeSet(indexes)) }

  /// Removes the members at several indexes, as one removal. The name is `NSMutableOrderedSet`'s.
  ///
  /// - Throws: `KeyValueError`, or an error of a declared accessor. Then nothing has changed.
  @_disfavoredOverload
  public func removeObjects(at indexes: IndexSet) throws { try remove(at: RangeSet(indexes)) }

  /// Replaces the members at several indexes, one for each index, as one replacement.
  ///
  /// - Throws: `KeyValueError`, for instance if a member would occur twice; an error of a declared accessor.
  ///   Then nothing has changed.
  @_disfavoredOverload
  public func replaceObjects(at indexes: IndexSet, with members: [AnyHashable]) throws {
    try replaceObjects(at: RangeSet(indexes), with: members)
  }

  /// Moves members to an index, in their order: a removal followed by an insertion.
  ///
  /// - Parameters:
  ///   - indexes: the members to move.
  ///   - index: the index of the first of them afterwards.
  /// - Throws: `KeyValueError`, or an error of a declared accessor. Then the members are where they were.
  @_disfavoredOverload
  public func moveObjects(at indexes: IndexSet, to index: Int) throws {
    try moveObjects(at: RangeSet(indexes), to: index)
  }
}

/// Access to the elements at the indexes of an `IndexSet`, and changes of them.
extension ObservedArray {
  /// Returns the elements at several indexes, as `NSArray` does. Stops the program if an index is out of
  /// range.
  /// - Complexity: O(*n*) in the number of indexes.
  @_disfavoredOverload
  public func objects(at indexes: IndexSet) -> [Element] { objects(at: RangeSet(indexes)) }

  /// Inserts elements at several indexes, as one insertion. The indexes are those that the elements have
  /// afterwards. Stops the program if there are more or fewer elements than indexes.
  @_disfavoredOverload
  public func insert(_ newElements: [Element], at indexes: IndexSet) {
    insert(newElements, at: RangeSet(indexes))
  }

  /// Removes the elements at several indexes, as one removal. Stops the program if an index is out of range.
  @_disfavoredOverload
  public func removeObjects(at indexes: IndexSet) { removeSubranges(RangeSet(indexes)) }

  /// Replaces the elements at several indexes, one for each index, as one replacement. Stops the program if
  /// there are more or fewer elements than indexes.
  @_disfavoredOverload
  public func replaceObjects(at indexes: IndexSet, with newElements: [Element]) {
    replaceObjects(at: RangeSet(indexes), with: newElements)
  }
}
