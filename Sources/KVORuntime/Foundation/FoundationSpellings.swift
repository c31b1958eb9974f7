// What code from Apple's platforms calls otherwise: validation of what is held as an object, and what
// lazy proxies are asked, under the names of Foundation's collections.

extension KVOObject {
  /// As `validateValue(_:forKey:)` of an `Any?`, for a value that is held as an object, as it must be
  /// on Apple's platforms.
  ///
  /// - Throws: what the validator does; the value is as it was then.
  public func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
    var validated: Any? = value
    try validateValue(&validated, forKey: key)
    value = validated as AnyObject?
  }
}

extension ArrayProxy {
  /// The element at an index, as `NSArray` spells it.
  public func object(at index: Int) -> Any { self[index] }

  /// The elements at some indexes, as `NSArray` spells it. An index beyond the count stops the program.
  /// - Complexity: O(*n*) in the number of indexes.
  public func objects(at indexes: RangeSet<Int>) -> [Any] { indexes.map { self[$0] } }

  /// The first element, as `NSArray` spells it.
  public var firstObject: Any? { first }

  /// The last element, as `NSArray` spells it.
  public var lastObject: Any? { last }

  /// Whether an element is there: one that is equal, or the same object where there is no `==`.
  /// - Complexity: O(*n*), or what a declared accessor for it takes.
  public func contains(_ element: Any) -> Bool { contents.firstIndex(of: element) != nil }

  /// Where an element is first; `Int.max`, which is Foundation's `NSNotFound`, if it is not there.
  /// - Complexity: as `contains(_:)`.
  public func index(of element: Any) -> Int { contents.firstIndex(of: element) ?? notFound }

  /// An array of its own with an element more.
  /// - Complexity: O(*n*).
  public func adding(_ element: Any) -> [Any] { Array(self) + [element] }

  /// An array of its own with more elements.
  /// - Complexity: O(*n*) in the elements of both.
  public func addingObjects(from elements: [Any]) -> [Any] { Array(self) + elements }

  /// What the elements are described as, with a separator between them.
  /// - Complexity: O(*n*).
  public func componentsJoined(by separator: String) -> String {
    descriptions(joinedBy: separator)
  }
}

extension Sequence {
  /// What the elements are described as, nil as "nil", with a separator between them.
  func descriptions(joinedBy separator: String) -> String {
    map { element in flattened(element).map { "\($0)" } ?? "nil" }.joined(separator: separator)
  }
}

extension SetProxy {
  /// The members in no particular order, as `NSSet` spells it.
  /// - Complexity: O(*n*).
  public var allObjects: [Any] { contents.members.map(\.base) }

  /// Some member, nil if there is none, as `NSSet` spells it.
  /// - Complexity: O(*n*).
  public func anyObject() -> Any? { contents.members.first?.base }

  /// The member that is equal to a value, nil if there is none, as `NSSet` spells it.
  /// - Complexity: O(*n*) if it is there.
  public func member(_ value: AnyHashable) -> Any? { contents.original(of: value) }
}

extension OrderedReading {
  /// Where an element is first; nil if it is not there. What is not hashable is looked for by going
  /// through all.
  func firstIndex(of element: Any) -> Int? {
    if let member = flattened(element) as? AnyHashable { return index(of: member) }
    return elements(in: 0..<count).firstIndex { areEqual($0, element) }
  }

  /// The indexes of the elements of which a condition is true, by one reading of all.
  func indexes(where condition: (Any) -> Bool) -> RangeSet<Int> {
    elements(in: 0..<count).indices(where: condition)
  }
}

extension MemberReading {
  /// The member that counts as a value: it is equal, or has it for its raw value.
  func original(of value: AnyHashable) -> Any? {
    guard contains(value) else { return nil }
    return members.first {
      $0 == value || ($0.base as? any RawRepresentable)?.rawValue as? AnyHashable == value
    }?.base
  }
}
