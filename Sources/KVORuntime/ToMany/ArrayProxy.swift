/// What `value(forKey:)` gives for an ordered key that is declared by accessors alone: lazy, live,
/// read-only.
///
/// Every read calls the accessors: `count` each time, an element when it is asked for. `first` and
/// `last` count once and ask for one element at most; going through all of them counts once, and
/// asks for several at once where the class has an accessor for that. The object is kept alive.
public final class ArrayProxy: RandomAccessCollection {
  let contents: any OrderedReading

  init(_ contents: any OrderedReading) {
    self.contents = contents
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { contents.count }
  public var count: Int { contents.count }

  /// The first element; nil if there is none. Counts once, and asks for one element.
  public var first: Any? { contents.count > 0 ? contents.element(at: 0) : nil }

  /// The last element; nil if there is none. Counts once, and asks for one element.
  public var last: Any? {
    let count = contents.count
    return count > 0 ? contents.element(at: count - 1) : nil
  }

  /// An element, nil as `Optional<Any>.none`. An index beyond the count stops the program.
  public subscript(position: Int) -> Any { contents.checkedElement(at: position) }

  public func makeIterator() -> ProxyIterator { ProxyIterator(contents) }
}

/// Goes through the elements of a proxy.
public struct ProxyIterator: IteratorProtocol {
  private let contents: any OrderedReading
  private let count: Int
  private var place = 0
  /// Elements that were read together, of which the one at `place` is the first still to come.
  private var block: ArraySlice<Any> = []

  init(_ contents: any OrderedReading) {
    self.contents = contents.snapshot
    count = self.contents.count
  }

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
      KVODiagnostics.stop("Index out of range: \(index) of a proxy with \(count) elements.")
    }
    return element(at: index)
  }
}

/// What `value(forKey:)` gives for an unordered key that is declared by accessors alone: lazy, live,
/// read-only. Every read calls the accessors. The object is kept alive.
public final class SetProxy: Sequence {
  let contents: any MemberReading

  init(_ contents: any MemberReading) {
    self.contents = contents
  }

  /// Iterates over the members that there are now.
  public func makeIterator() -> Set<AnyHashable>.Iterator { contents.members.makeIterator() }

  /// How many members there are.
  public var count: Int { contents.count }

  /// Whether the collection has a member; the class is asked for that one alone.
  public func contains(_ member: AnyHashable) -> Bool { contents.contains(member) }
}

extension ArrayProxy: CustomStringConvertible {
  public var description: String { "\(Array(self))" }
}

extension SetProxy: CustomStringConvertible {
  public var description: String { "\(contents.members)" }
}
