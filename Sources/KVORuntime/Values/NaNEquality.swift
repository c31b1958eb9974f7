// NaN equals NaN where changes are compared (D3, H4): a property that is NaN before and after has not changed, and a set has it
// once. Swift's own comparisons and sets have it otherwise.

/// Whether a value of any type is NaN.
func isNaN(_ value: Any) -> Bool {
  guard let value = flattened((value as? AnyHashable)?.base ?? value) else { return false }
  return (value as? any FloatingPoint)?.isNaN ?? false
}

extension Set {
  // Other sets are left to Swift's own operations.
  private static var mayHoldNaN: Bool {
    Element.self == AnyHashable.self || ValueType.of(Element.self).mayHoldNaN
  }

  /// Whether the member is there; NaN is, if any NaN is.
  func has(_ member: Element) -> Bool {
    contains(member) || (Self.mayHoldNaN && isNaN(member) && contains { isNaN($0) })
  }

  /// As `union`, but with one NaN.
  func adding(_ others: Set) -> Set {
    guard Self.mayHoldNaN else { return union(others) }
    return union(others.filter { !has($0) }.withOneNaN)
  }

  /// As `formUnion`, but with one NaN.
  mutating func add(_ others: Set) {
    if Self.mayHoldNaN { self = adding(others) } else { formUnion(others) }
  }

  /// As `subtract`, which takes no NaN away.
  mutating func remove(_ others: Set) {
    if Self.mayHoldNaN { self = removing(others) } else { subtract(others) }
  }

  /// As `subtracting`, which takes no NaN away.
  func removing(_ others: Set) -> Set {
    Self.mayHoldNaN ? filter { !others.has($0) } : subtracting(others)
  }

  /// As `intersection`, which keeps no NaN.
  func keeping(_ others: Set) -> Set {
    Self.mayHoldNaN ? filter { others.has($0) } : intersection(others)
  }

  /// The set with one of the NaNs that Swift takes for different.
  var withOneNaN: Set {
    guard Self.mayHoldNaN, let first = firstIndex(where: { isNaN($0) }) else { return self }
    var result = filter { !isNaN($0) }
    result.insert(self[first])
    return result
  }
}
