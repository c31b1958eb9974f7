internal import CKVORuntime

/// A handle to an array property through which elements are changed one by one. Each mutation is one change,
/// and notifies observers with its indexes and elements.
///
/// ```swift
/// let token = cart.observe(\.items, options: .new) { _, change in
///   print(change.kind, change.indexes!, change.newValue!)
/// }
/// cart.mutableArray(\.items).append(apple)  // insertion at 0, [apple]
/// ```
///
/// Copies of the handle refer to the same property, also after that was set to another array. They can mutate
/// the property without being variables. Mutations happen in place: an `append` copies nothing. They bypass a
/// property's `didSet`, unless its key is declared with `stored`; then the array is copied and set. An index
/// out of range stops the program, as with an `Array`, before any observer is notified.
///
/// Replacing a range by as many elements is one replacement. By no elements it is a removal, and replacing an
/// empty range is an insertion. Otherwise it is a removal followed by an insertion. Sorting and other
/// rearrangements are one replacement of all elements. A mutation that changes nothing notifies no observer.
///
/// Slices and iterators contain the elements of the moment when they were made. `init()`, and functions that
/// make a collection from elements, return a handle to a free array, which belongs to no object. Generic code
/// that assigns to its collection, instead of mutating it, replaces the handle. The standard library's
/// `removeAll()` does so if it only knows that the collection is a `RangeReplaceableCollection`.
public struct ObservedArray<Element> {
  private let handle: any CollectionHandle<[Element]>

  init(_ handle: any CollectionHandle<[Element]>) {
    self.handle = handle
  }

  /// Creates an empty free array, which belongs to no object.
  public init() {
    handle = FreeCollection([])
  }

  private var elements: [Element] { handle.contents }
}

extension KeyValueObserving where Self: KVOObject {
  /// Returns a handle to an array property, through which elements are changed one by one.
  ///
  /// - Parameter keyPath: an array property. If it can't be observed, the program stops with a message.
  public func mutableArray<Element>(
    _ keyPath: ReferenceWritableKeyPath<Self, [Element]>
  ) -> ObservedArray<Element> {
    ObservedArray(WholeProperty(self, keyPath))
  }

  /// Returns a handle to an optional array property, through which elements are changed one by one. While the
  /// property is nil, it reads as empty, and the first insertion makes it an array.
  ///
  /// - Parameter keyPath: an optional array property. If it can't be observed, the program stops with a
  ///   message.
  public func mutableArray<Element>(
    _ keyPath: ReferenceWritableKeyPath<Self, [Element]?>
  ) -> ObservedArray<Element> {
    ObservedArray(OptionalProperty(self, keyPath, empty: []))
  }
}

// MARK: Reading

extension ObservedArray: RandomAccessCollection, MutableCollection {
  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { elements.count }
  /// The number of elements.
  public var count: Int { elements.count }

  /// The element at an index. Setting it is a replacement. Stops the program if the index is out of range.
  public subscript(position: Int) -> Element {
    get {
      let elements = elements
      check(position, elements.count)
      return elements[position]
    }
    nonmutating set {
      check(position, count)
      replace(position..<position + 1, with: [newValue])
    }
  }

  /// The present elements of a range. Setting them is `replaceSubrange(_:with:)`. Stops the program if the
  /// range is out of bounds.
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> {
    get {
      let elements = elements
      check(bounds, elements.count)
      return elements[bounds]
    }
    nonmutating set { replaceSubrange(bounds, with: newValue) }
  }

  /// Returns an iterator over the present elements.
  public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

  /// Calls a body with the present elements in contiguous memory.
  public func withContiguousStorageIfAvailable<R>(
    _ body: (UnsafeBufferPointer<Element>) throws -> R
  ) rethrows -> R? {
    try elements.withContiguousStorageIfAvailable(body)
  }

  // Bounds are checked before a change is announced, and again when it is made: an observer's prior call may
  // have shortened the array.
  private func check(_ position: Int, _ count: Int) {
    if !(0..<count).contains(position) { stop("Index \(position)", count) }
  }

  private func check(_ bounds: Range<Int>, _ count: Int) {
    if bounds.lowerBound < 0 || bounds.upperBound > count { stop("The range \(bounds)", count) }
  }

  private func check(insertion indexes: RangeSet<Int>, _ count: Int) {
    if let index = indexes.firstBeyond(insertingInto: count) { stop("Index \(index)", count) }
  }

  private func match(_ elements: [Element], _ indexes: RangeSet<Int>) {
    guard elements.count != indexes.count else { return }
    KVODiagnostics.stop(
      "\(elements.count) elements were given for \(indexes.count) indexes of \(handle.owner).")
  }

  private func stop(_ what: String, _ count: Int) -> Never {
    KVODiagnostics.stop(
      "\(what) is out of bounds: \(handle.owner) has \(count) elements.")
  }
}

// MARK: Mutation

extension ObservedArray: RangeReplaceableCollection {
  /// Replaces the elements of a range. This is one replacement if the number of elements stays the same,
  /// otherwise a removal, an insertion, or both.
  /// - Complexity: that of an `Array`.
  public func replaceSubrange<C: Collection>(
    _ subrange: Range<Int>, with newElements: C
  ) where C.Element == Element {
    // Copied, since the elements may be a view of this array.
    let newElements = Array(newElements)
    check(subrange, count)
    if subrange.count == newElements.count { return replace(subrange, with: newElements) }
    remove(RangeSet(subrange))
    insert(newElements, subrange.lowerBound)
  }

  /// Replaces the elements of a range expression, such as `2...`. This is one replacement if the number of
  /// elements stays the same, otherwise a removal, an insertion, or both.
  /// - Complexity: that of an `Array`.
  public func replaceSubrange<C: Collection>(
    _ subrange: some RangeExpression<Int>, with newElements: C
  ) where C.Element == Element {
    replaceSubrange(subrange.relative(to: self), with: newElements)
  }

  /// Adds an element at the end, as one insertion.
  /// - Complexity: O(1), amortised.
  public func append(_ newElement: Element) {
    let end = count
    handle.change(.insertion, at: RangeSet(end..<end + 1)) { $0.append(newElement) }
  }

  /// Adds elements at the end, as one insertion.
  /// - Complexity: O(*n*) in the number of new elements, amortised.
  public func append<S: Sequence>(contentsOf newElements: S) where S.Element == Element {
    let newElements = Array(newElements)
    guard !newElements.isEmpty else { return }
    let end = count
    handle.change(.insertion, at: RangeSet(end..<end + newElements.count)) {
      $0.append(contentsOf: newElements)
    }
  }

  /// Inserts an element before the one at `i`, or at the end, as one insertion.
  /// - Complexity: O(*n*).
  public func insert(_ newElement: Element, at i: Int) {
    check(i..<i, count)
    handle.change(.insertion, at: RangeSet(i..<i + 1)) {
      check(i..<i, $0.count)
      $0.insert(newElement, at: i)
    }
  }

  /// Inserts elements before the one at `i`, or at the end, as one insertion.
  /// - Complexity: O(*n*).
  public func insert<C: Collection>(contentsOf newElements: C, at i: Int)
  where C.Element == Element {
    let newElements = Array(newElements)
    check(i..<i, count)
    insert(newElements, i)
  }

  /// Inserts elements at several indexes, as one insertion. Stops the program if there are more or fewer
  /// elements than indexes.
  /// - Parameters:
  ///   - newElements: the elements to insert.
  ///   - indexes: the indexes that the elements have afterwards.
  /// - Complexity: O(*n*) for each range of indexes.
  public func insert(_ newElements: [Element], at indexes: RangeSet<Int>) {
    match(newElements, indexes)
    check(insertion: indexes, count)
    guard !indexes.isEmpty else { return }
    handle.change(.insertion, at: indexes) {
      check(insertion: indexes, $0.count)
      $0.insert(newElements, at: indexes)
    }
  }

  /// Removes the element at an index and returns it.
  /// - Complexity: O(*n*).
  @discardableResult
  public func remove(at i: Int) -> Element {
    check(i, count)
    return handle.change(.removal, at: RangeSet(i..<i + 1)) {
      check(i, $0.count)
      return $0.remove(at: i)
    }
  }

  /// Removes the elements of a range, as one removal.
  /// - Complexity: O(*n*).
  public func removeSubrange(_ bounds: Range<Int>) {
    check(bounds, count)
    remove(RangeSet(bounds))
  }

  /// Removes the elements of a range expression, such as `2...`, as one removal.
  /// - Complexity: O(*n*).
  public func removeSubrange(_ bounds: some RangeExpression<Int>) {
    removeSubrange(bounds.relative(to: self))
  }

  /// Removes the elements at several indexes, as one removal.
  /// - Complexity: O(*n*).
  public func removeSubranges(_ subranges: RangeSet<Int>) {
    if let first = subranges.ranges.first, let last = subranges.ranges.last {
      check(first.lowerBound..<last.upperBound, count)
    }
    remove(subranges)
  }

  /// Removes the first element and returns it. Stops the program if there is none.
  /// - Complexity: O(*n*).
  @discardableResult
  public func removeFirst() -> Element { remove(at: 0) }

  /// Removes the first `k` elements, as one removal. Stops the program if there are fewer.
  /// - Complexity: O(*n*).
  public func removeFirst(_ k: Int) { removeSubrange(0..<k) }

  /// Removes the last element and returns it. Stops the program if there is none.
  @discardableResult
  public func removeLast() -> Element {
    let end = count
    check(Swift.max(end - 1, 0), end)
    return handle.change(.removal, at: RangeSet(end - 1..<end)) {
      check(0, $0.count)
      return $0.remove(at: $0.count - 1)
    }
  }

  /// Removes the last `k` elements, as one removal. Stops the program if there are fewer.
  /// - Complexity: O(*k*).
  public func removeLast(_ k: Int) {
    remove {
      let end = count
      check(end - k..<end, end)
      return RangeSet(end - k..<end)
    }
  }

  /// Removes the last element and returns it; nil if there is none.
  @discardableResult
  public func popLast() -> Element? {
    let end = count
    guard end > 0 else { return nil }
    return handle.change(.removal, at: RangeSet(end - 1..<end)) { elements in
      elements.isEmpty ? nil : elements.remove(at: elements.count - 1)
    }
  }

  /// Removes all elements, as one removal. Without elements it does nothing.
  /// - Complexity: O(*n*).
  public func removeAll(keepingCapacity: Bool = false) {
    let end = count
    guard end > 0 else { return }
    _ = handle.change(.removal, at: RangeSet(0..<end)) {
      let gone = $0
      $0.removeAll(keepingCapacity: keepingCapacity)
      return gone
    }
  }

  /// Removes the elements that satisfy a condition, as one removal.
  /// - Complexity: O(*n*).
  public func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
    try remove { try elements.indices(where: shouldBeRemoved) }
  }

  /// Removes the elements within a range that satisfy a condition, as one removal. Stops the program if the range is out
  /// of bounds.
  package func removeAll(in range: Range<Int>, where shouldBeRemoved: (Element) -> Bool) {
    remove { self[range].indices(where: shouldBeRemoved) }
  }

  /// Replaces the elements at several indexes, one for each index, as one replacement. Stops the program if
  /// there are more or fewer elements than indexes.
  /// - Complexity: O(*n*) in the number of indexes.
  public func replaceObjects(at indexes: RangeSet<Int>, with newElements: [Element]) {
    match(newElements, indexes)
    for range in indexes.ranges { check(range, count) }
    guard !indexes.isEmpty else { return }
    _ = handle.change(.replacement, at: indexes) { elements -> [Element] in
      for range in indexes.ranges { check(range, elements.count) }
      let gone = indexes.ranges.flatMap { elements[$0] }
      elements.replace(at: indexes, with: newElements)
      return gone
    }
  }

  /// Replaces all elements, as one change of kind setting, like an assignment to the property.
  public func setArray(_ newElements: [Element]) { handle.set(newElements) }

  /// Reserves memory for a number of elements. Notifies no observer.
  public func reserveCapacity(_ n: Int) {
    handle.prepare { $0.reserveCapacity(n) }
  }

  // The functions below expect checked arguments. They return removed elements from the access to the
  // storage, so that these are released after it: their deinit may use the property.

  private func insert(_ newElements: [Element], _ i: Int) {
    guard !newElements.isEmpty else { return }
    handle.change(.insertion, at: RangeSet(i..<i + newElements.count)) {
      check(i..<i, $0.count)
      $0.insert(contentsOf: newElements, at: i)
    }
  }

  private func remove(_ indexes: RangeSet<Int>) { remove { indexes } }

  private func remove(_ find: () throws -> RangeSet<Int>) rethrows {
    var indexes = try find()
    guard !indexes.isEmpty else { return }
    func take(_ elements: inout [Element]) -> [Element] {
      for range in indexes.ranges { check(range, elements.count) }
      let gone = indexes.ranges.flatMap { elements[$0] }
      elements.removeSubranges(indexes)
      return gone
    }
    _ = try handle.change(.removal, at: indexes, again: { indexes = try find() }, take)
  }

  private func replace(_ range: Range<Int>, with newElements: [Element]) {
    guard !range.isEmpty else { return }
    _ = handle.change(.replacement, at: RangeSet(range)) {
      check(range, $0.count)
      let gone = Array($0[range])
      $0.replaceSubrange(range, with: newElements)
      return gone
    }
  }
}

// MARK: Rearrangement

extension ObservedArray {
  /// Exchanges two elements, as one replacement of both.
  public func swapAt(_ i: Int, _ j: Int) {
    let end = count
    check(i, end)
    check(j, end)
    guard i != j else { return }
    let both = RangeSet([i..<i + 1, j..<j + 1])
    handle.change(.replacement, at: both) {
      check(i, $0.count)
      check(j, $0.count)
      $0.swapAt(i, j)
    }
  }

  /// Sorts the elements by a predicate, as one replacement of all.
  /// - Complexity: O(*n* log *n*).
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    try rearrange { try $0.sort(by: areInIncreasingOrder) }
  }

  /// Reverses the elements, as one replacement of all.
  /// - Complexity: O(*n*).
  public func reverse() { rearrange { $0.reverse() } }

  /// Shuffles the elements, as one replacement of all.
  /// - Complexity: O(*n*).
  public func shuffle() { rearrange { $0.shuffle() } }

  /// Shuffles the elements with a random number generator, as one replacement of all.
  /// - Complexity: O(*n*).
  public func shuffle(using generator: inout some RandomNumberGenerator) {
    rearrange { $0.shuffle(using: &generator) }
  }

  /// Moves the elements that satisfy a condition behind the others, as one replacement of all.
  /// - Returns: the index of the first element that satisfies the condition.
  /// - Complexity: O(*n*).
  @discardableResult
  public func partition(
    by belongsInSecondPartition: (Element) throws -> Bool
  ) rethrows -> Int {
    try rearrange { try $0.partition(by: belongsInSecondPartition) }
  }

  /// Calls a body with a copy of the elements, which replaces all elements afterwards, as one replacement.
  /// - Complexity: O(*n*).
  @discardableResult
  public func withContiguousMutableStorageIfAvailable<R>(
    _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> R
  ) rethrows -> R? {
    try rearrange { try $0.withContiguousMutableStorageIfAvailable(body) }
  }

  // Rearranges a copy, and exchanges it for the elements: the function that compares elements may use the property.
  private func rearrange<R>(_ body: (inout [Element]) throws -> R) rethrows -> R {
    var rearranged = elements
    var result = try body(&rearranged)
    guard !rearranged.isEmpty else { return result }
    let all = RangeSet(rearranged.indices)
    try handle.change(
      .replacement, at: all,
      again: {
        rearranged = elements
        result = try body(&rearranged)
      },
      { swap(&$0, &rearranged) })
    return result
  }
}

extension ObservedArray where Element: Comparable {
  /// Sorts the elements, as one replacement of all.
  /// - Complexity: O(*n* log *n*).
  public func sort() { sort(by: <) }
}

// MARK: Concatenation

// The generic operators would append to a copy of the handle, and so change the property.
extension ObservedArray {
  /// Returns a free array with the elements of both.
  /// - Complexity: O(*n*) in the elements of both.
  public static func + (lhs: Self, rhs: some Sequence<Element>) -> Self {
    Self(FreeCollection(lhs.elements + Array(rhs)))
  }

  /// Returns a free array with the elements of both.
  /// - Complexity: O(*n*) in the elements of both.
  public static func + (lhs: Self, rhs: some RangeReplaceableCollection<Element>) -> Self {
    Self(FreeCollection(lhs.elements + Array(rhs)))
  }

  /// Returns a free array with the elements of both.
  /// - Complexity: O(*n*) in the elements of both.
  public static func + (lhs: some Sequence<Element>, rhs: Self) -> Self {
    Self(FreeCollection(Array(lhs) + rhs.elements))
  }

  /// Returns a free array with the elements of both.
  /// - Complexity: O(*n*) in the elements of both.
  public static func + (lhs: Self, rhs: Self) -> Self {
    Self(FreeCollection(lhs.elements + rhs.elements))
  }
}

extension ObservedArray: CustomStringConvertible, CustomDebugStringConvertible {
  /// The elements, described like an array's.
  public var description: String { elements.description }
  /// The elements, described like an array's for debugging.
  public var debugDescription: String { elements.debugDescription }
}
