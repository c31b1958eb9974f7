// `NSMutableArray`'s names, each one change. What goes wrong stops the program, as with the others.

extension ObservedArray {
  /// The element at an index, as `NSArray` spells it.
  public func object(at index: Int) -> Element { self[index] }

  /// The elements at some indexes, as `NSArray` spells it.
  /// - Complexity: O(*n*) in the number of indexes.
  public func objects(at indexes: RangeSet<Int>) -> [Element] { indexes.map { self[$0] } }

  /// The first element, as `NSArray` spells it.
  public var firstObject: Element? { first }

  /// The last element, as `NSArray` spells it.
  public var lastObject: Element? { last }

  /// The elements of a range, as `NSArray` spells it.
  /// - Complexity: O(*n*) in the range.
  public func subarray(with range: Range<Int>) -> [Element] { Array(self[range]) }

  /// An array of its own with an element more. The property stays as it is.
  /// - Complexity: O(*n*).
  public func adding(_ element: Element) -> [Element] { Array(self) + [element] }

  /// An array of its own with more elements. The property stays as it is.
  /// - Complexity: O(*n*) in the elements of both.
  public func addingObjects(from elements: [Element]) -> [Element] { Array(self) + elements }

  /// What the elements are described as, with a separator between them.
  /// - Complexity: O(*n*).
  public func componentsJoined(by separator: String) -> String {
    descriptions(joinedBy: separator)
  }

  /// `append(_:)`, as `NSMutableArray` spells it.
  /// - Complexity: O(1), amortised.
  public func add(_ element: Element) { append(element) }

  /// Adds elements at the end, as one insertion.
  public func addObjects(from elements: [Element]) { append(contentsOf: elements) }

  /// `remove(at:)`, as `NSMutableArray` spells it.
  public func removeObject(at index: Int) { remove(at: index) }

  /// `removeSubranges(_:)`, as `NSMutableArray` spells it.
  public func removeObjects(at indexes: RangeSet<Int>) { removeSubranges(indexes) }

  /// `removeSubrange(_:)`, as `NSMutableArray` spells it.
  public func removeObjects(in range: Range<Int>) { removeSubrange(range) }

  /// `removeLast()`, as `NSMutableArray` spells it.
  public func removeLastObject() { removeLast() }

  /// `removeAll()`, as `NSMutableArray` spells it.
  public func removeAllObjects() { removeAll() }

  /// Puts an element in the place of another: one replacement.
  /// - Complexity: O(1).
  public func replaceObject(at index: Int, with element: Element) { self[index] = element }

  /// `replaceSubrange(_:with:)`, as `NSMutableArray` spells it.
  public func replaceObjects(in range: Range<Int>, withObjectsFrom elements: [Element]) {
    replaceSubrange(range, with: elements)
  }

  /// `replaceSubrange(_:with:)` with some of other elements, as `NSMutableArray` spells it.
  public func replaceObjects(
    in range: Range<Int>, withObjectsFrom elements: [Element], range other: Range<Int>
  ) { replaceSubrange(range, with: elements[other]) }

  /// `swapAt(_:_:)`, as `NSMutableArray` spells it.
  /// - Complexity: O(1).
  public func exchangeObject(at first: Int, withObjectAt second: Int) { swapAt(first, second) }
}

extension ObservedArray where Element: Equatable {
  /// Where an element is first; `Int.max`, which is Foundation's `NSNotFound`, if it is not there.
  /// - Complexity: O(*n*).
  public func index(of element: Element) -> Int { firstIndex(of: element) ?? notFound }

  /// Where an element is first in a range; `Int.max` if it is not there.
  /// - Complexity: O(*n*) in the range.
  public func index(of element: Element, in range: Range<Int>) -> Int {
    self[range].firstIndex(of: element) ?? notFound
  }

  /// The first element that is among others, too; nil if none is.
  /// - Complexity: O(*n* · *m*).
  public func firstObjectCommon(with others: [Element]) -> Element? {
    first { others.contains($0) }
  }

  /// Whether there are the same elements, in the same order.
  /// - Complexity: O(*n*).
  public func isEqual(to others: [Element]) -> Bool { elementsEqual(others) }

  /// Removes an element wherever it is in a range: one removal, none if it is not there.
  /// - Complexity: O(*n*).
  public func remove(_ element: Element, in range: Range<Int>) {
    removeSubranges(self[range].indices { $0 == element })
  }

  /// Removes an element wherever it is: one removal, none if it is not there.
  /// - Complexity: O(*n*).
  public func remove(_ element: Element) { removeAll { $0 == element } }

  /// Removes elements wherever they are: one removal, none if none of them is there.
  /// - Complexity: O(*n* · *m*).
  public func removeObjects(in elements: [Element]) { removeAll { elements.contains($0) } }
}

extension ObservedArray where Element: Hashable {
  /// Removes elements wherever they are: one removal, none if none of them is there.
  /// - Complexity: O(*n*) in the elements of both.
  public func removeObjects(in elements: [Element]) {
    let sought = Set(elements)
    removeAll { sought.contains($0) }
  }
}

extension ObservedArray where Element: AnyObject {
  /// Where an object is first; `Int.max`, which is Foundation's `NSNotFound`, if it is not there.
  /// - Complexity: O(*n*).
  public func indexOfObjectIdentical(to object: Element) -> Int {
    firstIndex { $0 === object } ?? notFound
  }

  /// Where an object is first in a range; `Int.max` if it is not there.
  /// - Complexity: O(*n*) in the range.
  public func indexOfObjectIdentical(to object: Element, in range: Range<Int>) -> Int {
    self[range].firstIndex { $0 === object } ?? notFound
  }

  /// Removes an object wherever it is, and none that is only equal: one removal, none if it is not there.
  /// - Complexity: O(*n*).
  public func removeObject(identicalTo object: Element) { removeAll { $0 === object } }

  /// Removes an object wherever it is in a range: one removal, none if it is not there.
  /// - Complexity: O(*n*).
  public func removeObject(identicalTo object: Element, in range: Range<Int>) {
    removeSubranges(self[range].indices { $0 === object })
  }
}
