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

  subscript(index: Int) -> Element { places[empty + index]! }

  mutating func append(_ element: Element) { places.append(element) }

  mutating func insert(_ element: Element, at index: Int) {
    places.insert(element, at: empty + index)
  }

  mutating func remove(at index: Int) { places.remove(at: empty + index) }

  /// Moves the first element out: its place keeps no reference.
  @discardableResult
  mutating func removeFirst() -> Element {
    let element = places[empty].take()!
    empty += 1
    if empty * 2 >= places.count {
      places.removeFirst(empty)
      empty = 0
    }
    return element
  }
}
