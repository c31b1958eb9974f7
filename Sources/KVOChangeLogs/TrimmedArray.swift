internal import KVORuntime

/// An array from which elements are usually removed at the front, in amortised O(1).
///
/// `Array.removeFirst` moves all other elements. Here the places of removed elements stay, empty, until they are
/// half of all.
struct TrimmedArray<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
  private var places: [Element?]
  private var empty = 0

  init(arrayLiteral elements: Element...) { places = elements }

  var startIndex: Int { 0 }
  var endIndex: Int { places.count - empty }

  subscript(index: Int) -> Element {
    get { places[empty + index]! }
    set { places[empty + index] = newValue }
  }

  mutating func append(_ element: Element) { places.append(element) }

  mutating func insert(_ element: Element, at index: Int) {
    places.insert(element, at: empty + index)
  }

  mutating func remove(at index: Int) { places.remove(at: empty + index) }

  /// Removes elements at the front, and destroys the references to them.
  mutating func removeFirst(_ count: Int) {
    for place in empty..<empty + count { places[place] = nil }
    empty += count
    guard empty * 2 >= places.count else { return }
    places.removeFirst(empty)
    empty = 0
  }
}
