// `NSMutableArray`'s names, each one change. Indexes are a `RangeSet<Int>` where those have an `IndexSet`,
// and a `Range<Int>` where they have an `NSRange`.

// MARK: Reading

extension MutableArrayProxy {
  /// The element at an index, as `NSArray` spells it.
  public func object(at index: Int) -> Any { self[index] }

  /// The elements at some indexes, as `NSArray` spells it. An index beyond the count stops the program.
  /// - Complexity: O(*n*) in the number of indexes.
  public func objects(at indexes: RangeSet<Int>) -> [Any] { indexes.map { self[$0] } }

  /// The first element, as `NSArray` spells it.
  public var firstObject: Any? { first }

  /// The last element, as `NSArray` spells it.
  public var lastObject: Any? { last }

  /// Whether an element is there: one that is equal, or the same object where there is no `==`.
  /// - Complexity: O(*n*).
  public func contains(_ element: Any) -> Bool { contents.reading.firstIndex(of: element) != nil }

  /// Where an element is first; `Int.max`, which is Foundation's `NSNotFound`, if it is not there.
  /// - Complexity: O(*n*).
  public func index(of element: Any) -> Int { contents.reading.firstIndex(of: element) ?? notFound }

  /// Where an object is first; `Int.max`, which is Foundation's `NSNotFound`, if it is not there.
  /// - Complexity: O(*n*).
  public func indexOfObjectIdentical(to element: Any) -> Int {
    contents.reading.indexes { areIdentical($0, element) }.first ?? notFound
  }

  /// Where an element is first in a range; `Int.max` if it is not there. A range beyond the count stops the
  /// program.
  /// - Complexity: O(*n*) in the range.
  public func index(of element: Any, in range: Range<Int>) -> Int {
    contents.index(in: range) { areEqual($0, element) }
  }

  /// Where an object is first in a range; `Int.max` if it is not there. A range beyond the count stops the
  /// program.
  /// - Complexity: O(*n*) in the range.
  public func indexOfObjectIdentical(to element: Any, in range: Range<Int>) -> Int {
    contents.index(in: range) { areIdentical($0, element) }
  }

  /// The elements of a range, as `NSArray` spells it. A range beyond the count stops the program.
  /// - Complexity: O(*n*) in the range.
  public func subarray(with range: Range<Int>) -> [Any] { contents.elements(in: range) }

  /// An array of its own with an element more. The proxy's key stays as it is.
  /// - Complexity: O(*n*).
  public func adding(_ element: Any) -> [Any] { Array(self) + [element] }

  /// An array of its own with more elements. The proxy's key stays as it is.
  /// - Complexity: O(*n*) in the elements of both.
  public func addingObjects(from elements: [Any]) -> [Any] { Array(self) + elements }

  /// What the elements are described as, with a separator between them.
  /// - Complexity: O(*n*).
  public func componentsJoined(by separator: String) -> String { descriptions(joinedBy: separator) }

  /// The first element that is among others, too; nil if none is.
  /// - Complexity: O(*n*) in the elements of both, if those are hashable.
  public func firstObjectCommon(with others: [Any]) -> Any? {
    let sought = SoughtElements(others)
    return first { sought.contains($0) }
  }

  /// Whether there are the same elements, in the same order.
  /// - Complexity: O(*n*).
  public func isEqual(to others: [Any]) -> Bool {
    count == others.count && zip(self, others).allSatisfy { areEqual($0, $1) }
  }
}

// MARK: Mutation

extension MutableArrayProxy {
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

  /// Removes the elements of a range: one removal.
  public func removeObjects(in range: Range<Int>) throws { try remove(at: RangeSet(range)) }

  /// Removes an element wherever it is: one removal, none if it is not there.
  /// - Complexity: O(*n*).
  public func remove(_ element: Any) throws {
    try contents.remove { areEqual($0, element) }
  }

  /// Removes an object wherever it is, and none that is only equal: one removal, none if it is not there.
  /// - Complexity: O(*n*).
  public func removeObject(identicalTo element: Any) throws {
    try contents.remove { areIdentical($0, element) }
  }

  /// Removes an element wherever it is in a range: one removal, none if it is not there.
  /// - Complexity: O(*n*).
  public func remove(_ element: Any, in range: Range<Int>) throws {
    try contents.remove(in: range) { areEqual($0, element) }
  }

  /// Removes an object wherever it is in a range: one removal, none if it is not there.
  /// - Complexity: O(*n*).
  public func removeObject(identicalTo element: Any, in range: Range<Int>) throws {
    try contents.remove(in: range) { areIdentical($0, element) }
  }

  /// Removes elements wherever they are: one removal, none if none of them is there.
  /// - Complexity: O(*n*) in the elements of both, if those are hashable.
  public func removeObjects(in elements: [Any]) throws {
    let sought = SoughtElements(elements)
    try contents.remove { sought.contains($0) }
  }

  /// Removes the last element.
  public func removeLastObject() throws { try remove(at: Swift.max(count - 1, 0)) }

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

  /// Puts elements in place of a range: one replacement if there are as many, a removal if there are none,
  /// an insertion if the range is empty, otherwise a removal followed by an insertion.
  ///
  /// - Throws: as every mutation, with the elements as they were.
  public func replaceObjects(in range: Range<Int>, withObjectsFrom elements: [Any]) throws {
    try contents.replace(range, with: elements)
  }

  /// Puts some of other elements in place of a range: as `replaceObjects(in:withObjectsFrom:)`. Of what is
  /// beyond the others' count the program stops, as an `Array` does.
  public func replaceObjects(
    in range: Range<Int>, withObjectsFrom elements: [Any], range other: Range<Int>
  ) throws { try contents.replace(range, with: Array(elements[other])) }

  /// Puts other elements in place of all: one setting. (Of a C object's key a replacement, if there are
  /// as many, else a removal and an insertion.)
  /// - Complexity: O(*n*).
  public func setArray(_ elements: [Any]) throws { try contents.mutable().set(elements) }

  /// Exchanges two elements: one replacement of both, none if both indexes are one.
  /// - Complexity: O(1).
  public func exchangeObject(at first: Int, withObjectAt second: Int) throws {
    try contents.exchange(first, second)
  }

  /// Sorts the elements: one replacement of all, none if there is none.
  /// - Complexity: O(*n* log *n*).
  public func sort(by areInIncreasingOrder: (Any, Any) throws -> Bool) throws {
    try contents.rearrange { try $0.sort(by: areInIncreasingOrder) }
  }
}

// MARK: Of either ordered proxy

extension OrderedContents {
  /// Removes the elements of which a condition is true: one removal, none if there are none.
  func remove(where condition: (Any) -> Bool) throws {
    _ = try mutable()
    try remove(at: reading.indexes(where: condition))
  }

  /// The same among the elements of a range.
  func remove(in range: Range<Int>, where condition: (Any) -> Bool) throws {
    _ = try mutable()
    try check(range)
    try remove(at: indexes(in: range, where: condition))
  }

  /// Where in a range a condition is true first. A range beyond the count stops the program.
  func index(in range: Range<Int>, where condition: (Any) -> Bool) -> Int {
    perform { try check(range) }
    return indexes(in: range, where: condition).first ?? notFound
  }

  /// The elements of a range. One beyond the count stops the program.
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

  /// Puts elements in place of a range.
  func replace(_ range: Range<Int>, with elements: [Any]) throws {
    let mutation = try mutable()
    try check(range)
    if range.count == elements.count { return try replace(at: RangeSet(range), with: elements) }
    // What can't come is an error before anything has gone.
    _ = try elements.map(mutation.converted)
    let gone = reading.elements(in: range)
    try remove(at: RangeSet(range))
    do {
      let end = range.lowerBound + elements.count
      try insert(elements, at: RangeSet(range.lowerBound..<end))
    } catch {
      try? mutation.insert(gone, at: RangeSet(range))
      throw error
    }
  }

  /// Exchanges two elements.
  func exchange(_ first: Int, _ second: Int) throws {
    try check(first)
    try check(second)
    let (low, high) = (Swift.min(first, second), Swift.max(first, second))
    let both = RangeSet([low..<low + 1, high..<high + 1])
    try checkBounds(both)
    let mutation = try mutable()
    guard low != high else { return }
    let elements = [reading.element(at: high), reading.element(at: low)]
    try mutation.replace(at: both, with: elements)
  }

  /// Puts the elements in another order.
  func rearrange(_ body: (inout [Any]) throws -> Void) throws {
    let mutation = try mutable()
    var elements = reading.elements(in: 0..<reading.count)
    guard !elements.isEmpty else { return }
    try body(&elements)
    try mutation.replace(at: RangeSet(0..<elements.count), with: elements)
  }
}
