// Comparisons for which NaN equals NaN (D3, H4). A property that is NaN before and after a change has not
// changed, and a set contains NaN at most once. Swift's own comparisons and sets behave differently.

/// Whether a value of any type is NaN.
func isNaN(_ value: Any) -> Bool {
  guard let value = flattened((value as? AnyHashable)?.base ?? value) else { return false }
  return (value as? any FloatingPoint)?.isNaN ?? false
}

extension Set {
  // Sets of other elements use Swift's own operations.
  private static var mayHoldNaN: Bool { ValueType.of(Element.self).mayHoldNaN }

  /// Whether the set contains a member. It contains NaN if any member is NaN.
  func has(_ member: Element) -> Bool {
    contains(member) || (Self.mayHoldNaN && isNaN(member) && contains { isNaN($0) })
  }

  /// The member that is equal to a value; nil if there is none.
  func own(_ value: Element) -> Element? {
    if let index = firstIndex(of: value) { return self[index] }
    return Self.mayHoldNaN && isNaN(value) ? first { isNaN($0) } : nil
  }

  /// Like `isSubset`, but NaN equals NaN.
  func isWithin(_ others: Set) -> Bool {
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
  func removing(_ others: Set) -> Set {
    Self.mayHoldNaN ? filter { !others.has($0) } : subtracting(others)
  }

  /// Like `intersection`, but also keeps NaN, which that never finds.
  func keeping(_ others: Set) -> Set {
    Self.mayHoldNaN ? filter { others.has($0) } : intersection(others)
  }

  /// The set with at most one NaN. Swift's sets can contain several.
  var withOneNaN: Set {
    guard Self.mayHoldNaN, let first = firstIndex(where: { isNaN($0) }) else { return self }
    var result = filter { !isNaN($0) }
    result.insert(self[first])
    return result
  }
}
