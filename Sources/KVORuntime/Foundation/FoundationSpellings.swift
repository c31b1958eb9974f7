// Names of Apple's platforms for existing functions: validation of a value that is held as an object, and
// reading from lazy proxies as from Foundation's collections.

extension KVOObject {
  /// Validates a value for a key, with the value held as an object, as on Apple's platforms. The validator
  /// may replace it.
  ///
  /// - Throws: the validator's error; then the value is unchanged.
  public func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
    var validated: Any? = value
    try validateValue(&validated, forKey: key)
    value = validated as AnyObject?
  }
}

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

  /// Returns whether the array contains an element: an equal one, or the same object if the type has no `==`.
  /// - Complexity: O(*n*), or that of a declared accessor.
  public func contains(_ element: Any) -> Bool { contents.firstIndex(of: element) != nil }

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
  /// The first index of an element; nil if there is none. An element that is not hashable is compared with
  /// all others.
  func firstIndex(of element: Any) -> Int? {
    let element = sought(element)
    if let member = flattened(element) as? AnyHashable { return index(of: member) }
    return elements(in: 0..<count).firstIndex { areEqual($0, element) }
  }

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
