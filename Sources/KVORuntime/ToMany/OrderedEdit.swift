/// A mutation of an ordered to-many key: the elements that it inserts, removes or replaces.
///
/// A prior observer may change the key that is about to be changed (D7). So mutations are functions that work an edit
/// out from the present elements. They are called before observers are, and again if these have changed the elements.
package struct OrderedEdit<Element> {
  package let kind: KeyValueChange
  /// The indexes of the inserted elements afterwards, or of the removed or replaced ones before.
  package let indexes: RangeSet<Int>
  /// The new elements, one for each index; none for a removal.
  package let elements: [Element]

  package static func insertion(_ elements: [Element], at indexes: RangeSet<Int>) -> Self {
    Self(kind: .insertion, indexes: indexes, elements: elements)
  }

  package static func removal(at indexes: RangeSet<Int>) -> Self {
    Self(kind: .removal, indexes: indexes, elements: [])
  }

  package static func replacement(at indexes: RangeSet<Int>, with elements: [Element]) -> Self {
    Self(kind: .replacement, indexes: indexes, elements: elements)
  }

  func map<Other>(_ transform: (Element) throws -> Other) rethrows -> OrderedEdit<Other> {
    OrderedEdit<Other>(kind: kind, indexes: indexes, elements: try elements.map(transform))
  }

  /// The first index at which the edit is not possible; nil if it is possible.
  func firstBeyond(_ count: Int) -> Int? {
    kind == .insertion ? indexes.firstBeyond(insertingInto: count) : indexes.firstBeyond(count)
  }
}

extension Array {
  /// Applies an edit whose indexes are valid.
  /// - Returns: the removed elements.
  mutating func apply(_ edit: OrderedEdit<Element>) -> [Element] {
    let gone = edit.kind == .insertion ? [] : edit.indexes.ranges.flatMap { self[$0] }
    switch edit.kind {
    case .insertion: insert(edit.elements, at: edit.indexes)
    case .removal: removeSubranges(edit.indexes)
    default: replace(at: edit.indexes, with: edit.elements)
    }
    return gone
  }

  /// Inserts as many elements as there are indexes. The indexes are those that the elements have afterwards.
  mutating func insert(_ elements: [Element], at indexes: RangeSet<Int>) {
    var next = elements.startIndex
    for range in indexes.ranges {
      insert(contentsOf: elements[next..<next + range.count], at: range.lowerBound)
      next += range.count
    }
  }

  /// Replaces the elements at the indexes, one for each index.
  mutating func replace(at indexes: RangeSet<Int>, with elements: [Element]) {
    var next = elements.startIndex
    for range in indexes.ranges {
      replaceSubrange(range, with: elements[next..<next + range.count])
      next += range.count
    }
  }
}

// MARK: Bounds

extension RangeSet<Int> {
  var hasSeveral: Bool { ranges.count > 1 || (ranges.first?.count ?? 0) > 1 }

  /// The first index at which an insertion is not possible, or nil. An index may be at most the count, plus
  /// the number of elements that the same insertion inserts before it.
  func firstBeyond(insertingInto count: Int) -> Int? {
    var present = count
    for range in ranges {
      if range.lowerBound < 0 || range.lowerBound > present { return range.lowerBound }
      present += range.count
    }
    return nil
  }

  /// The first index without an element; nil if all have one.
  func firstBeyond(_ count: Int) -> Int? {
    if let first, first < 0 { return first }
    guard let range = ranges.last, range.upperBound > count else { return nil }
    return Swift.max(range.lowerBound, count)
  }
}
