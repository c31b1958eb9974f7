// Sets for which NaN equals NaN (D3, H4). A set contains a value that is NaN, or that contains NaN, at most once.
// Swift's own sets may not find it.

/// Whether a value of any type is NaN.
func isNaN(_ value: Any) -> Bool {
  guard let value = flattened((value as? AnyHashable)?.base ?? value) else { return false }
  return (value as? any FloatingPoint)?.isNaN ?? false
}

/// Whether a value is NaN, or contains NaN.
func holdsNaN<Value: Equatable>(_ value: Value) -> Bool {
  // An array that contains NaN may equal itself: Swift compares the storage first.
  let isWhole = Value.self != AnyHashable.self && !(Value.self is any DescribedValue.Type)
  return isWhole ? value != value : holdsNaN(inside: value)
}

private func holdsNaN(inside value: Any) -> Bool {
  guard let value = flattened(ValueConversion.base(of: value)) else { return false }
  if let pairs = AnyPairs(value) {
    return pairs.all.contains { holdsNaN(inside: $0.key) || holdsNaN(inside: $0.value) }
  }
  if let elements = AnyElements(value) { return elements.all.contains { holdsNaN(inside: $0) } }
  return (value as? AnyHashable).map { $0 != $0 } ?? false
}

extension Set {
  // Sets of other elements use Swift's own operations.
  private static var mayHoldNaN: Bool { ValueType.of(Element.self).mayHoldNaN }

  /// Whether the set contains a member. One that contains NaN is compared with all members.
  package func has(_ member: Element) -> Bool {
    contains(member) || (Self.mayHoldNaN && odd(member) != nil)
  }

  /// The member that is equal to a value; nil if there is none.
  package func own(_ value: Element) -> Element? {
    if let index = firstIndex(of: value) { return self[index] }
    return Self.mayHoldNaN ? odd(value) : nil
  }

  // The member that is the same as a value that contains NaN.
  private func odd(_ value: Element) -> Element? {
    holdsNaN(value) ? first { holdsNaN($0) && areEqual(value, $0) } : nil
  }

  /// Like `isSubset`, but NaN equals NaN.
  package func isWithin(_ others: Set) -> Bool {
    Self.mayHoldNaN ? allSatisfy { others.has($0) } : isSubset(of: others)
  }

  /// Like `union`, but the result contains NaN at most once.
  func adding(_ others: Set) -> Set {
    guard Self.mayHoldNaN else { return union(others) }
    return union(others.filter { !has($0) }.withOneNaN)
  }

  /// Like `formUnion`, but the result contains NaN at most once.
  mutating func add(_ others: Set) {
    if Self.mayHoldNaN { self = adding(others) } else { formUnion(others) }
  }

  /// Like `subtract`, but also removes NaN, which that never finds.
  mutating func remove(_ others: Set) {
    if Self.mayHoldNaN { self = removing(others) } else { subtract(others) }
  }

  /// Like `subtracting`, but also removes NaN, which that never finds.
  package func removing(_ others: Set) -> Set {
    Self.mayHoldNaN ? filter { !others.has($0) } : subtracting(others)
  }

  /// Like `intersection`, but also keeps NaN, which that never finds.
  package func keeping(_ others: Set) -> Set {
    Self.mayHoldNaN ? filter { others.has($0) } : intersection(others)
  }

  /// The set with at most one NaN, and one of each value that contains NaN. Swift's sets can contain several.
  var withOneNaN: Set {
    guard Self.mayHoldNaN, contains(where: { holdsNaN($0) }) else { return self }
    var result = filter { !holdsNaN($0) }
    for value in self where holdsNaN(value) && result.odd(value) == nil { result.insert(value) }
    return result
  }
}
