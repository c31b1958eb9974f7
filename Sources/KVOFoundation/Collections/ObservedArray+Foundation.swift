public import KVORuntime

// The interface of `NSMutableArray`. Each mutation is one change; an error stops the program.

extension ObservedArray {
  /// Returns the element at an index, as `NSArray` does. Stops the program if the index is out of range.
  public func object(at index: Int) -> Element { self[index] }

  /// Returns the elements at several indexes, as `NSArray` does. Stops the program if an index is out of
  /// range.
  /// - Complexity: O(*n*) in the number of indexes.
  public func objects(at indexes: RangeSet<Int>) -> [Element] { indexes.map { self[$0] } }

  /// The first element; nil if there is none. The name is `NSArray`'s.
  public var firstObject: Element? { first }

  /// The last element; nil if there is none. The name is `NSArray`'s.
  public var lastObject: Element? { last }

  /// Returns the elements of a range, as `NSArray` does. Stops the program if the range is out of bounds.
  /// - Complexity: O(*n*) in the range.
  public func subarray(with range: Range<Int>) -> [Element] { Array(self[range]) }

  /// Returns a new array with the elements and one more. The property is unchanged.
  /// - Complexity: O(*n*).
  public func adding(_ element: Element) -> [Element] { Array(self) + [element] }

  /// Returns a new array with the elements and more elements. The property is unchanged.
  /// - Complexity: O(*n*) in the elements of both.
  public func addingObjects(from elements: [Element]) -> [Element] { Array(self) + elements }

  /// Returns the descriptions of the elements, joined by a separator.
  /// - Complexity: O(*n*).
  public func componentsJoined(by separator: String) -> String {
    descriptions(joinedBy: separator)
  }

  /// Adds an element at the end, as `append(_:)` does. The name is `NSMutableArray`'s.
  /// - Complexity: O(1), amortised.
  public func add(_ element: Element) { append(element) }

  /// Adds elements at the end, as one insertion.
  public func addObjects(from elements: [Element]) { append(contentsOf: elements) }

  /// Removes the element at an index, as `remove(at:)` does. The name is `NSMutableArray`'s.
  public func removeObject(at index: Int) { remove(at: index) }

  /// Removes the elements at several indexes, as `removeSubranges(_:)` does. The name is `NSMutableArray`'s.
  public func removeObjects(at indexes: RangeSet<Int>) { removeSubranges(indexes) }

  /// Removes the elements of a range, as `removeSubrange(_:)` does. The name is `NSMutableArray`'s.
  public func removeObjects(in range: Range<Int>) { removeSubrange(range) }

  /// Removes the last element, as `removeLast()` does. The name is `NSMutableArray`'s.
  public func removeLastObject() { removeLast() }

  /// Removes all elements, as `removeAll()` does. The name is `NSMutableArray`'s.
  public func removeAllObjects() { removeAll() }

  /// Replaces the element at an index, as one replacement.
  /// - Complexity: O(1).
  public func replaceObject(at index: Int, with element: Element) { self[index] = element }

  /// Replaces the elements of a range, as `replaceSubrange(_:with:)` does. The name is `NSMutableArray`'s.
  public func replaceObjects(in range: Range<Int>, withObjectsFrom elements: [Element]) {
    replaceSubrange(range, with: elements)
  }

  /// Replaces the elements of a range by some of an array's elements, as `replaceSubrange(_:with:)` does. The
  /// name is `NSMutableArray`'s.
  public func replaceObjects(
    in range: Range<Int>, withObjectsFrom elements: [Element], range other: Range<Int>
  ) { replaceSubrange(range, with: elements[other]) }

  /// Exchanges two elements, as `swapAt(_:_:)` does. The name is `NSMutableArray`'s.
  /// - Complexity: O(1).
  public func exchangeObject(at first: Int, withObjectAt second: Int) { swapAt(first, second) }
}

extension ObservedArray where Element: Equatable {
  /// Returns the first index of an element; `Int.max`, which is Foundation's `NSNotFound`, if there is none.
  /// - Complexity: O(*n*).
  public func index(of element: Element) -> Int {
    firstIndex { isSame($0, element) } ?? notFound
  }

  /// Returns the first index of an element within a range; `Int.max` if there is none.
  /// - Complexity: O(*n*) in the range.
  public func index(of element: Element, in range: Range<Int>) -> Int {
    self[range].firstIndex { isSame($0, element) } ?? notFound
  }

  /// Returns the first element that another array contains, too; nil if there is none.
  /// - Complexity: O(*n* · *m*).
  public func firstObjectCommon(with others: [Element]) -> Element? {
    first { element in others.contains { isSame($0, element) } }
  }

  /// Returns whether both arrays contain equal elements in the same order.
  /// - Complexity: O(*n*).
  public func isEqual(to others: [Element]) -> Bool { elementsEqual(others, by: isSame) }

  /// Removes all occurrences of an element within a range, as one removal. If there are none, nothing
  /// changes.
  /// - Complexity: O(*n*).
  public func remove(_ element: Element, in range: Range<Int>) {
    removeAll(in: range) { isSame($0, element) }
  }

  /// Removes all occurrences of an element, as one removal. If there are none, nothing changes.
  /// - Complexity: O(*n*).
  public func remove(_ element: Element) { removeAll { isSame($0, element) } }

  /// Removes all occurrences of several elements, as one removal. If there are none, nothing changes.
  /// - Complexity: O(*n* · *m*).
  public func removeObjects(in elements: [Element]) {
    removeAll { element in elements.contains { isSame($0, element) } }
  }
}

/// Whether two elements are equal, or both NaN.
private func isSame<Element: Equatable>(_ a: Element, _ b: Element) -> Bool {
  a == b || (a != a && b != b)
}

extension ObservedArray where Element: Hashable {
  /// Removes all occurrences of several elements, as one removal. If there are none, nothing changes.
  /// - Complexity: O(*n*) in the elements of both.
  public func removeObjects(in elements: [Element]) {
    let sought = Set(elements)
    removeAll { sought.has($0) }
  }
}

extension ObservedArray where Element: AnyObject {
  /// Returns the first index of an object, compared by identity; `Int.max`, which is Foundation's
  /// `NSNotFound`, if there is none.
  /// - Complexity: O(*n*).
  public func indexOfObjectIdentical(to object: Element) -> Int {
    firstIndex { $0 === object } ?? notFound
  }

  /// Returns the first index of an object within a range, compared by identity; `Int.max` if there is none.
  /// - Complexity: O(*n*) in the range.
  public func indexOfObjectIdentical(to object: Element, in range: Range<Int>) -> Int {
    self[range].firstIndex { $0 === object } ?? notFound
  }

  /// Removes all occurrences of an object, compared by identity, as one removal. If there are none, nothing
  /// changes.
  /// - Complexity: O(*n*).
  public func removeObject(identicalTo object: Element) { removeAll { $0 === object } }

  /// Removes all occurrences of an object within a range, compared by identity, as one removal. If there are
  /// none, nothing changes.
  /// - Complexity: O(*n*).
  public func removeObject(identicalTo object: Element, in range: Range<Int>) {
    removeAll(in: range) { $0 === object }
  }
}
