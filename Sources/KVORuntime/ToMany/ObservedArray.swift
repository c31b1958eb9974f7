internal import CKVORuntime

/// The live contents of an array property; each mutation is one fine-grained change.
///
/// ```swift
/// let token = cart.observe(\.items, options: .new) { _, change in
///   print(change.kind, change.indexes!, change.newValue!)
/// }
/// cart.mutableArray(\.items).append(apple)  // insertion at 0, [apple]
/// ```
///
/// It is a handle: copies stand for the same property, also after that was set to another array,
/// and mutate it without being variables. Mutation happens in place: an `append` copies nothing. A
/// property with a `didSet` is changed past it, unless its key is declared with `stored`, which copies. A
/// bad index stops the program, as an `Array`'s does,
/// before anything is told.
///
/// Replacing a range by as many elements is one replacement, by none a removal, of none an
/// insertion, otherwise a removal followed by an insertion. Sorting and other rearrangements are
/// one replacement of all elements. What changes nothing tells nothing.
///
/// Slices and iterators are of the elements that there are when they are made. `init()`, and what
/// makes collections out of elements, give one that stands for an array of its own. Generic code
/// that assigns to its collection, instead of mutating it, replaces the handle: so does the standard
/// library's `removeAll()` where it knows no more than a `RangeReplaceableCollection`.
public struct ObservedArray<Element> {
  private let handle: any CollectionHandle<[Element]>

  init(_ handle: any CollectionHandle<[Element]>) {
    self.handle = handle
  }

  /// An empty array of its own, which no object has.
  public init() {
    handle = FreeCollection([])
  }

  private var elements: [Element] { handle.contents }
}

extension KeyValueObserving where Self: KVOObject {
  /// The elements of an array property, to be changed one by one. A key path that names no
  /// observable key stops the program with a message.
  public func mutableArray<Element>(
    _ keyPath: ReferenceWritableKeyPath<Self, [Element]>
  ) -> ObservedArray<Element> {
    ObservedArray(WholeProperty(self, keyPath))
  }

  /// The same for a property that may be nil: then it reads as empty, and becomes an array at the
  /// first insertion.
  public func mutableArray<Element>(
    _ keyPath: ReferenceWritableKeyPath<Self, [Element]?>
  ) -> ObservedArray<Element> {
    ObservedArray(OptionalProperty(self, keyPath, empty: []))
  }
}

// MARK: Reading

extension ObservedArray: RandomAccessCollection, MutableCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { elements.count }
  public var count: Int { elements.count }

  /// An element. Setting one is a replacement.
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

  /// The elements of a range, as they are now. Setting them is `replaceSubrange(_:with:)`.
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> {
    get {
      let elements = elements
      check(bounds, elements.count)
      return elements[bounds]
    }
    nonmutating set { replaceSubrange(bounds, with: newValue) }
  }

  public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

  public func withContiguousStorageIfAvailable<R>(
    _ body: (UnsafeBufferPointer<Element>) throws -> R
  ) rethrows -> R? {
    try elements.withContiguousStorageIfAvailable(body)
  }

  // Before a change is announced, and again when it is made: an observer may have shortened the array
  // in its prior call.
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
      "Index out of range: \(what) is not in \(handle.owner), which has \(count) elements.")
  }
}

// MARK: Mutation

extension ObservedArray: RangeReplaceableCollection {
  /// Puts elements in place of a range.
  /// - Complexity: as of an `Array`.
  public func replaceSubrange<C: Collection>(
    _ subrange: Range<Int>, with newElements: C
  ) where C.Element == Element {
    // They may be a view of this array.
    let newElements = Array(newElements)
    check(subrange, count)
    if subrange.count == newElements.count { return replace(subrange, with: newElements) }
    remove(RangeSet(subrange))
    insert(newElements, subrange.lowerBound)
  }

  /// Replaces the elements of a range, as `replaceSubrange(_:with:)` of a `Range` does.
  public func replaceSubrange<C: Collection>(
    _ subrange: some RangeExpression<Int>, with newElements: C
  ) where C.Element == Element {
    replaceSubrange(subrange.relative(to: self), with: newElements)
  }

  /// Adds an element at the end.
  /// - Complexity: O(1), amortised.
  public func append(_ newElement: Element) {
    let end = count
    handle.change(.insertion, at: RangeSet(end..<end + 1)) {
      check(end..<end, $0.count)
      if $0.count == end { $0.append(newElement) } else { $0.insert(newElement, at: end) }
    }
  }

  /// Adds elements at the end: one insertion.
  public func append<S: Sequence>(contentsOf newElements: S) where S.Element == Element {
    let newElements = Array(newElements)
    insert(newElements, count)
  }

  /// Inserts an element before another, or at the end.
  public func insert(_ newElement: Element, at i: Int) {
    check(i..<i, count)
    handle.change(.insertion, at: RangeSet(i..<i + 1)) {
      check(i..<i, $0.count)
      $0.insert(newElement, at: i)
    }
  }

  /// Inserts elements: one insertion.
  public func insert<C: Collection>(contentsOf newElements: C, at i: Int)
  where C.Element == Element {
    let newElements = Array(newElements)
    check(i..<i, count)
    insert(newElements, i)
  }

  /// Inserts elements at as many indexes, which are those that they have afterwards: one insertion.
  public func insert(_ newElements: [Element], at indexes: RangeSet<Int>) {
    match(newElements, indexes)
    check(insertion: indexes, count)
    guard !indexes.isEmpty else { return }
    handle.change(.insertion, at: indexes) {
      check(insertion: indexes, $0.count)
      $0.insert(newElements, at: indexes)
    }
  }

  /// Removes an element and returns it.
  @discardableResult
  public func remove(at i: Int) -> Element {
    check(i, count)
    return handle.change(.removal, at: RangeSet(i..<i + 1)) {
      check(i, $0.count)
      return $0.remove(at: i)
    }
  }

  /// Removes the elements of a range: one removal.
  public func removeSubrange(_ bounds: Range<Int>) {
    check(bounds, count)
    remove(RangeSet(bounds))
  }

  /// Removes the elements of a range: one removal.
  public func removeSubrange(_ bounds: some RangeExpression<Int>) {
    removeSubrange(bounds.relative(to: self))
  }

  /// Removes the elements at some indexes: one removal.
  public func removeSubranges(_ subranges: RangeSet<Int>) {
    if let first = subranges.ranges.first, let last = subranges.ranges.last {
      check(first.lowerBound..<last.upperBound, count)
    }
    remove(subranges)
  }

  @discardableResult
  public func removeFirst() -> Element { remove(at: 0) }

  public func removeFirst(_ k: Int) { removeSubrange(0..<k) }

  /// Removes the last element: one removal. Without one the program stops.
  @discardableResult
  public func removeLast() -> Element { remove(at: Swift.max(count - 1, 0)) }

  /// Removes the last elements: one removal.
  public func removeLast(_ k: Int) {
    let end = count
    removeSubrange(end - k..<end)
  }

  /// Removes the last element, if there is one: one removal.
  @discardableResult
  public func popLast() -> Element? { isEmpty ? nil : removeLast() }

  /// Removes all elements: one removal.
  public func removeAll(keepingCapacity: Bool = false) {
    let end = count
    guard end > 0 else { return }
    _ = handle.change(.removal, at: RangeSet(0..<end)) {
      let gone = $0
      $0.removeAll(keepingCapacity: keepingCapacity)
      return gone
    }
  }

  /// Removes those elements of which a condition is true: one removal.
  public func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
    remove(try elements.indices(where: shouldBeRemoved))
  }

  /// Puts elements in the places of as many others: one replacement.
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

  /// Puts other elements in place of all: one setting, as assigning to the property is.
  public func setArray(_ newElements: [Element]) { handle.set(newElements) }

  public func reserveCapacity(_ n: Int) {
    handle.prepare { $0.reserveCapacity(n) }
  }

  // What is there and what comes is known to be right. What goes ends after the access to the storage:
  // its deinit may use the property.

  private func insert(_ newElements: [Element], _ i: Int) {
    guard !newElements.isEmpty else { return }
    handle.change(.insertion, at: RangeSet(i..<i + newElements.count)) {
      check(i..<i, $0.count)
      $0.insert(contentsOf: newElements, at: i)
    }
  }

  private func remove(_ indexes: RangeSet<Int>) {
    guard !indexes.isEmpty else { return }
    _ = handle.change(.removal, at: indexes) { elements -> [Element] in
      for range in indexes.ranges { check(range, elements.count) }
      let gone = indexes.ranges.flatMap { elements[$0] }
      elements.removeSubranges(indexes)
      return gone
    }
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
  /// Exchanges two elements: one replacement of both.
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

  /// Sorts the elements: one replacement of all.
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    try rearrange { try $0.sort(by: areInIncreasingOrder) }
  }

  /// Reverses the elements: one replacement of all.
  public func reverse() { rearrange { $0.reverse() } }

  /// Shuffles the elements: one replacement of all.
  public func shuffle() { rearrange { $0.shuffle() } }

  /// Shuffles the elements by a generator: one replacement of all.
  public func shuffle(using generator: inout some RandomNumberGenerator) {
    rearrange { $0.shuffle(using: &generator) }
  }

  /// Moves the elements of which a condition is true behind the others: one replacement of all.
  @discardableResult
  public func partition(
    by belongsInSecondPartition: (Element) throws -> Bool
  ) rethrows -> Int {
    try rearrange { try $0.partition(by: belongsInSecondPartition) }
  }

  /// Hands generic algorithms a copy, which takes the place of all elements afterwards.
  @discardableResult
  public func withContiguousMutableStorageIfAvailable<R>(
    _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> R
  ) rethrows -> R? {
    try rearrange { try $0.withContiguousMutableStorageIfAvailable(body) }
  }

  // In a copy: what compares the elements may use the property.
  private func rearrange<R>(_ body: (inout [Element]) throws -> R) rethrows -> R {
    var rearranged = elements
    let result = try body(&rearranged)
    replace(0..<rearranged.count, with: rearranged)
    return result
  }
}

extension ObservedArray where Element: Comparable {
  /// Sorts the elements: one replacement of all.
  public func sort() { sort(by: <) }
}

// MARK: Making others

// The operators that every collection has would append to a copy, which is a handle of the same
// property.
extension ObservedArray {
  /// An array of its own with the elements of both.
  public static func + (lhs: Self, rhs: some Sequence<Element>) -> Self {
    Self(FreeCollection(lhs.elements + Array(rhs)))
  }

  /// An array of its own with the elements of both.
  public static func + (lhs: Self, rhs: some RangeReplaceableCollection<Element>) -> Self {
    Self(FreeCollection(lhs.elements + Array(rhs)))
  }

  /// An array of its own with the elements of both.
  public static func + (lhs: some Sequence<Element>, rhs: Self) -> Self {
    Self(FreeCollection(Array(lhs) + rhs.elements))
  }

  /// An array of its own with the elements of both.
  public static func + (lhs: Self, rhs: Self) -> Self {
    Self(FreeCollection(lhs.elements + rhs.elements))
  }
}

extension ObservedArray: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { elements.description }
  public var debugDescription: String { elements.debugDescription }
}
