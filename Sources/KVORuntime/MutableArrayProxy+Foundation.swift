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

  /// Removes elements wherever they are: one removal, none if none of them is there.
  /// - Complexity: O(*n*) in the elements of both, if those are hashable.
  public func removeObjects(in elements: [Any]) throws {
    let sought = SoughtElements(elements)
    try contents.remove { sought.contains($0) }
  }

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
