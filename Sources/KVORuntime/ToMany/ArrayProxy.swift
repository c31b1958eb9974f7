/// A lazy, live, read-only array: the result of `value(forKey:)` for an ordered key that is declared by
/// accessors alone.
///
/// Reading calls the accessors: `count` each time, an element when it is asked for. `first` and `last` count
/// once and ask for at most one element. Iterating counts once, and reads several elements at once if the
/// class has an accessor for that. The proxy retains the object. Use it only on threads that may use the
/// object.
public final class ArrayProxy: RandomAccessCollection {
  package let contents: any OrderedReading

  init(_ contents: any OrderedReading) {
    self.contents = contents
  }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of elements, from the count accessor.
  public var endIndex: Int { contents.count }
  /// The number of elements, from the count accessor.
  public var count: Int { contents.count }

  /// The first element; nil if there is none. Calls the count accessor once, and asks for one element.
  public var first: Any? { contents.count > 0 ? contents.element(at: 0) : nil }

  /// The last element; nil if there is none. Calls the count accessor once, and asks for one element.
  public var last: Any? {
    let count = contents.count
    return count > 0 ? contents.element(at: count - 1) : nil
  }

  /// Returns the element at an index; a nil element is `Optional<Any>.none`. Stops the program if the index
  /// is out of range.
  public subscript(position: Int) -> Any { contents.checkedElement(at: position) }

  /// Returns an iterator over the elements. It counts them now, once.
  public func makeIterator() -> ProxyIterator { ProxyIterator(contents) }

  /// Returns whether the array contains an element: an equal one, or the same object if the type has no `==`.
  /// - Complexity: O(*n*), or that of a declared accessor.
  public func contains(_ element: Any) -> Bool { contents.firstIndex(of: element) != nil }
}

/// An iterator over the elements of a proxy. It reads several elements at once if the class has an accessor
/// for that.
public struct ProxyIterator: IteratorProtocol {
  private let contents: any OrderedReading
  private let count: Int
  private var place = 0
  /// Elements that were read ahead. The first is the one at `place`.
  private var block: ArraySlice<Any> = []

  init(_ contents: any OrderedReading) {
    self.contents = contents.snapshot
    count = self.contents.count
  }

  /// Returns the next element, or nil at the end. A nil element is `Optional<Any>.none`.
  public mutating func next() -> Any? {
    guard place < count else { return nil }
    if block.isEmpty {
      let size = Swift.min(contents.blockSize, count - place)
      block = contents.elements(in: place..<place + size)[...]
    }
    place += 1
    return block.popFirst()
  }
}

extension OrderedReading {
  func checkedElement(at index: Int) -> Any {
    let count = count
    guard (0..<count).contains(index) else {
      KVODiagnostics.stop("Index \(index) is out of bounds: the proxy has \(count) elements.")
    }
    return element(at: index)
  }
}

/// A lazy, live, read-only set: the result of `value(forKey:)` for an unordered key that is declared by
/// accessors alone. Every read calls the accessors. The proxy retains the object.
public final class SetProxy: Sequence {
  package let contents: any MemberReading

  init(_ contents: any MemberReading) {
    self.contents = contents
  }

  /// Returns an iterator over the current members.
  public func makeIterator() -> Set<AnyHashable>.Iterator { contents.members.makeIterator() }

  /// The number of members, from the count accessor.
  public var count: Int { contents.count }

  /// Returns whether the set contains a member. Asks the class for that member only.
  public func contains(_ member: AnyHashable) -> Bool { contents.contains(member) }
}

extension ArrayProxy: CustomStringConvertible {
  /// The elements, described like an array's.
  public var description: String { "\(Array(self))" }
}

extension SetProxy: CustomStringConvertible {
  /// The members, described like a set's.
  public var description: String { "\(contents.members)" }
}
