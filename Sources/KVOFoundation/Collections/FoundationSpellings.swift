public import KVORuntime

// Reading from lazy proxies as from Foundation's collections.

extension ArrayProxy {
  /// Returns the element at an index, as `NSArray` does. Stops the program if the index is out of range.
  public func object(at index: Int) -> Any { self[index] }

  /// Returns the elements at several indexes, as `NSArray` does. Stops the program if an index is out of
  /// range.
  /// - Complexity: O(*n*) in the number of indexes.
  public func objects(at indexes: RangeSet<Int>) -> [Any] { indexes.map { self[$0] } }

  /// The first element; nil if there is none. The name is `NSArray`'s.
  public var firstObject: Any? { first }

  /// The last element; nil if there is none. The name is `NSArray`'s.
  public var lastObject: Any? { last }

  /// Returns the first index of an element; `Int.max`, which is Foundation's `NSNotFound`, if there is none.
  /// - Complexity: O(*n*), or that of a declared accessor.
  public func index(of element: Any) -> Int { contents.firstIndex(of: element) ?? notFound }

  /// Returns a new array with the elements and one more.
  /// - Complexity: O(*n*).
  public func adding(_ element: Any) -> [Any] { Array(self) + [element] }

  /// Returns a new array with the elements and more elements.
  /// - Complexity: O(*n*) in the elements of both.
  public func addingObjects(from elements: [Any]) -> [Any] { Array(self) + elements }

  /// Returns the descriptions of the elements, joined by a separator.
  /// - Complexity: O(*n*).
  public func componentsJoined(by separator: String) -> String {
    descriptions(joinedBy: separator)
  }
}

extension Sequence {
  /// The descriptions of the elements, joined by a separator; nil is described as "nil".
  func descriptions(joinedBy separator: String) -> String {
    map { element in flattened(element).map { "\($0)" } ?? "nil" }.joined(separator: separator)
  }
}

/// The interface of `NSSet`, for a read-only proxy of a set.
extension SetProxy {
  /// The members in no particular order, as in `NSSet`.
  /// - Complexity: O(*n*).
  public var allObjects: [Any] { contents.members.map(\.base) }

  /// Returns any member; nil if there is none. The name is `NSSet`'s.
  /// - Complexity: O(*n*).
  public func anyObject() -> Any? { contents.members.first?.base }

  /// Returns the member that is equal to a value; nil if there is none. The name is `NSSet`'s.
  /// - Complexity: O(*n*) if it is there.
  public func member(_ value: AnyHashable) -> Any? { contents.original(of: value) }
}

extension OrderedReading {
  /// Values to search for.
  func soughtElements(_ values: some Sequence) -> SoughtElements {
    SoughtElements(values.map { sought(($0 as? AnyHashable)?.base ?? $0) })
  }

  /// The indexes of the elements that satisfy a condition; reads all elements at once.
  func indexes(where condition: (Any) -> Bool) -> RangeSet<Int> {
    elements(in: 0..<count).indices(where: condition)
  }
}

extension MemberReading {
  /// The member that a value stands for: an equal one, or one that has it as its raw value.
  func original(of value: AnyHashable) -> Any? {
    guard contains(value) else { return nil }
    let sought = sought([value])
    return members.first { sought.has($0) }?.base
  }
}
