public import KVORuntime

// The interface of `NSMutableArray`; each mutation is one change unless its comment says otherwise. Indexes
// are a `RangeSet<Int>` instead of an `IndexSet`, and a `Range<Int>` instead of an `NSRange`.

// MARK: Reading

extension MutableArrayProxy {
  /// Returns the element at an index, as `NSArray` does. Stops the program if the index is out of range.
  public func object(at index: Int) -> Any { self[index] }

  /// Returns the elements at several indexes, as `NSArray` does. Stops the program if an index is out of
  /// range.
  /// - Complexity: O(*n*) in the number of indexes.
  public func objects(at indexes: RangeSet<Int>) -> [Any] { indexes.map { self[$0] } }

  /// The first element; nil if there is none. The name is `NSArray`'s.
  public var firstObject: Any? { first }

  /// The last element; nil if there is none. The name is `NSArray`'s.
  public var lastObject: Any? { last }

  /// Returns the first index of an element; `Int.max`, which is Foundation's `NSNotFound`, if there is none.
  /// - Complexity: O(*n*).
  public func index(of element: Any) -> Int { contents.reading.firstIndex(of: element) ?? notFound }

  /// Returns the first index of an object, compared by identity; `Int.max`, which is Foundation's
  /// `NSNotFound`, if there is none.
  /// - Complexity: O(*n*).
  public func indexOfObjectIdentical(to element: Any) -> Int {
    contents.reading.indexes { areIdentical($0, element) }.first ?? notFound
  }

  /// Returns the first index of an element within a range; `Int.max` if there is none. Stops the program if
  /// the range is out of bounds.
  /// - Complexity: O(*n*) in the range.
  public func index(of element: Any, in range: Range<Int>) -> Int {
    let element = contents.reading.sought(element)
    return contents.index(in: range) { areEqual($0, element) }
  }

  /// Returns the first index of an object within a range, compared by identity; `Int.max` if there is none.
  /// Stops the program if the range is out of bounds.
  /// - Complexity: O(*n*) in the range.
  public func indexOfObjectIdentical(to element: Any, in range: Range<Int>) -> Int {
    contents.index(in: range) { areIdentical($0, element) }
  }

  /// Returns the elements of a range, as `NSArray` does. Stops the program if the range is out of bounds.
  /// - Complexity: O(*n*) in the range.
  public func subarray(with range: Range<Int>) -> [Any] { contents.elements(in: range) }

  /// Returns a new array with the elements and one more. The proxy's key is unchanged.
  /// - Complexity: O(*n*).
  public func adding(_ element: Any) -> [Any] { Array(self) + [element] }

  /// Returns a new array with the elements and more elements. The proxy's key is unchanged.
  /// - Complexity: O(*n*) in the elements of both.
  public func addingObjects(from elements: [Any]) -> [Any] { Array(self) + elements }

  /// Returns the descriptions of the elements, joined by a separator.
  /// - Complexity: O(*n*).
  public func componentsJoined(by separator: String) -> String { descriptions(joinedBy: separator) }

  /// Returns the first element that another array contains, too; nil if there is none.
  /// - Complexity: O(*n*) in the elements of both, if those are hashable.
  public func firstObjectCommon(with others: [Any]) -> Any? {
    let sought = contents.reading.soughtElements(others)
    return first { sought.contains($0) }
  }

  /// Returns whether both arrays contain equal elements in the same order.
  /// - Complexity: O(*n*).
  public func isEqual(to others: [Any]) -> Bool {
    elementsEqual(others.map(contents.reading.sought), by: areEqual)
  }
}

// MARK: Mutation

extension MutableArrayProxy {
  /// Inserts an element at the end, as `append(_:)` does. The name is `NSMutableArray`'s.
  public func add(_ element: Any) throws { try append(element) }

  /// Inserts elements at the end, as one insertion.
  public func addObjects(from elements: [Any]) throws {
    try contents.append(elements)
  }

  /// Removes the element at an index, as `remove(at:)` does. The name is `NSMutableArray`'s.
  public func removeObject(at index: Int) throws { try remove(at: index) }

  /// Removes the elements at several indexes, as one removal. The name is `NSMutableArray`'s.
  public func removeObjects(at indexes: RangeSet<Int>) throws { try remove(at: indexes) }

  /// Removes the elements of a range, as one removal.
  public func removeObjects(in range: Range<Int>) throws { try remove(at: RangeSet(range)) }

  /// Removes all occurrences of an element, as one removal. If there are none, nothing changes.
  /// - Complexity: O(*n*).
  public func remove(_ element: Any) throws {
    let element = contents.reading.sought(element)
    try contents.remove { areEqual($0, element) }
  }

  /// Removes all occurrences of an object, compared by identity, as one removal. If there are none, nothing
  /// changes.
  /// - Complexity: O(*n*).
  public func removeObject(identicalTo element: Any) throws {
    try contents.remove { areIdentical($0, element) }
  }

  /// Removes all occurrences of an element within a range, as one removal. If there are none, nothing
  /// changes.
  /// - Complexity: O(*n*).
  public func remove(_ element: Any, in range: Range<Int>) throws {
    let element = contents.reading.sought(element)
    try contents.remove(in: range) { areEqual($0, element) }
  }

  /// Removes all occurrences of an object within a range, compared by identity, as one removal. If there are
  /// none, nothing changes.
  /// - Complexity: O(*n*).
  public func removeObject(identicalTo element: Any, in range: Range<Int>) throws {
    try contents.remove(in: range) { areIdentical($0, element) }
  }

  /// Removes all occurrences of several elements, as one removal. If there are none, nothing changes.
  /// - Complexity: O(*n*) in the elements of both, if those are hashable.
  public func removeObjects(in elements: [Any]) throws {
    let sought = contents.reading.soughtElements(elements)
    try contents.remove { sought.contains($0) }
  }

  /// Removes the last element. Throws `KeyValueError.indexOutOfBounds` if there is none.
  public func removeLastObject() throws {
    try contents.apply {
      let last = Swift.max(count - 1, 0)
      return try contents.removal(at: RangeSet(last..<last + 1))
    }
  }

  /// Removes all elements, as `removeAll()` does. The name is `NSMutableArray`'s.
  public func removeAllObjects() throws { try removeAll() }

  /// Replaces the element at an index, as `replace(at:with:)` does. The name is `NSMutableArray`'s.
  public func replaceObject(at index: Int, with element: Any) throws {
    try replace(at: index, with: element)
  }

  /// Replaces the elements at several indexes, one for each index, as one replacement. The name is
  /// `NSMutableArray`'s.
  public func replaceObjects(at indexes: RangeSet<Int>, with elements: [Any]) throws {
    try replace(at: indexes, with: elements)
  }

  /// Replaces the elements of a range by others. This is one replacement if there are as many, a removal if
  /// there are none, and an insertion if the range is empty; otherwise it is a removal followed by an
  /// insertion.
  ///
  /// - Throws: the errors of `insert(_:at:)`; then the elements are unchanged.
  public func replaceObjects(in range: Range<Int>, withObjectsFrom elements: [Any]) throws {
    try contents.replace(range, with: elements)
  }

  /// Replaces the elements of a range by some of an array's elements, as
  /// `replaceObjects(in:withObjectsFrom:)` does. Stops the program if `other` is out of the array's bounds.
  public func replaceObjects(
    in range: Range<Int>, withObjectsFrom elements: [Any], range other: Range<Int>
  ) throws { try contents.replace(range, with: Array(elements[other])) }

  /// Replaces all elements, as one change of kind setting. For a C object's key it is a replacement if there
  /// are as many new elements, otherwise a removal and an insertion.
  /// - Complexity: O(*n*).
  public func setArray(_ elements: [Any]) throws { try contents.mutable().set(elements) }

  /// Exchanges two elements, as one replacement of both. If both indexes are the same, nothing changes.
  /// - Complexity: O(1).
  public func exchangeObject(at first: Int, withObjectAt second: Int) throws {
    try contents.exchange(first, second)
  }

  /// Sorts the elements by a predicate, as one replacement of all. Without elements nothing changes.
  /// - Complexity: O(*n* log *n*).
  public func sort(by areInIncreasingOrder: (Any, Any) throws -> Bool) throws {
    try contents.rearrange { try $0.sort(by: areInIncreasingOrder) }
  }
}

// MARK: For both ordered proxies

extension OrderedContents {
  /// Removes the elements that satisfy a condition, as one removal. If there are none, nothing changes.
  func remove(where condition: (Any) -> Bool) throws {
    try apply { removal(ofPresent: reading.indexes(where: condition)) }
  }

  /// Removes the elements within a range that satisfy a condition, as one removal. If there are none, nothing
  /// changes.
  func remove(in range: Range<Int>, where condition: (Any) -> Bool) throws {
    try apply {
      try check(range)
      return removal(ofPresent: indexes(in: range, where: condition))
    }
  }

  private func removal(ofPresent indexes: RangeSet<Int>) -> OrderedEdit<Any>? {
    indexes.isEmpty ? nil : .removal(at: indexes)
  }

  /// The index of the first element within a range that satisfies a condition. Stops the program if the range
  /// is out of bounds.
  func index(in range: Range<Int>, where condition: (Any) -> Bool) -> Int {
    perform { try check(range) }
    return indexes(in: range, where: condition).first ?? notFound
  }

  /// The elements of a range. Stops the program if the range is out of bounds.
  func elements(in range: Range<Int>) -> [Any] {
    perform { try check(range) }
    return reading.elements(in: range)
  }

  private func indexes(in range: Range<Int>, where condition: (Any) -> Bool) -> RangeSet<Int> {
    let found = reading.elements(in: range).indices(where: condition)
    return RangeSet(
      found.ranges.map { $0.lowerBound + range.lowerBound..<$0.upperBound + range.lowerBound })
  }

  private func check(_ range: Range<Int>) throws {
    let count = reading.count
    guard range.lowerBound < 0 || range.upperBound > count else { return }
    throw outOfBounds(range.lowerBound < 0 ? range.lowerBound : Swift.max(range.lowerBound, count))
  }

  /// Replaces the elements of a range.
  func replace(_ range: Range<Int>, with elements: [Any]) throws {
    let mutation = try mutable()
    try check(range)
    if range.count == elements.count { return try replace(at: RangeSet(range), with: elements) }
    // Throws for elements that can't be converted before anything is removed.
    _ = try elements.map(mutation.converted)
    var gone: [Any] = []
    try apply {
      try check(range)
      gone = reading.elements(in: range)
      return try removal(at: RangeSet(range))
    }
    do {
      let end = range.lowerBound + elements.count
      try insert(elements, at: RangeSet(range.lowerBound..<end))
    } catch {
      try? insert(gone, at: RangeSet(range))
      throw error
    }
  }

  /// Exchanges two elements.
  func exchange(_ first: Int, _ second: Int) throws {
    try check(first)
    try check(second)
    let (low, high) = (Swift.min(first, second), Swift.max(first, second))
    let both = RangeSet([low..<low + 1, high..<high + 1])
    try apply {
      try checkBounds(both)
      guard low != high else { return nil }
      return .replacement(at: both, with: [reading.element(at: high), reading.element(at: low)])
    }
  }

  /// Replaces all elements by the same ones in another order.
  func rearrange(_ body: (inout [Any]) throws -> Void) throws {
    try apply {
      var elements = reading.elements(in: 0..<reading.count)
      guard !elements.isEmpty else { return nil }
      try body(&elements)
      return .replacement(at: RangeSet(0..<elements.count), with: elements)
    }
  }
}
