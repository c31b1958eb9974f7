internal import KVORuntime

// Equality like `isEqual` on Apple's platforms, where numbers, texts and collections of all types are Foundation's
// (S4).

/// Whether a value that key-value coding returned is the expected one: both are nil, they are equal, or the expected one
/// is its raw value. Numbers are compared by value, whatever their types, and NaN equals NaN; so are they in collections.
/// An `NSNull` is nil, as it is where a value is set.
func isExpected(_ found: Any?, _ expected: Any) -> Bool {
  let found = found.flatMap(content)
  let expected = content(expected)
  guard let found, let expected else { return found == nil && expected == nil }
  return areEqual(found, expected) || areNumbersEqual(found, expected)
    || isRawValue(expected, of: found) || areTextsEqual(found, expected)
    || areCollectionsEqual(found, expected)
}

private func content(_ value: Any) -> Any? {
  flattened(value).flatMap { ValueConversion.isNull($0) ? nil : $0 }
}

private func areEqual(_ found: Any, _ expected: Any) -> Bool {
  if let found = found as? AnyHashable, let expected = expected as? AnyHashable, found == expected {
    return true
  }
  // An `NSNumber` can be cast to the number that it is equal to.
  func compare<E: Equatable>(_ found: E) -> Bool { expected as? E == found }
  return (found as? any Equatable).map { compare($0) } ?? false
}

private func areNumbersEqual(_ found: Any, _ expected: Any) -> Bool {
  guard let first = Number(found), let second = Number(expected) else { return false }
  return first == second || (first.isNaN && second.isNaN)
}

private func isRawValue(_ expected: Any, of found: Any) -> Bool {
  guard !(expected is any RawRepresentable), let rawValue = ValueConversion.rawValue(of: found)
  else { return false }
  return isExpected(rawValue, expected)
}

// Key-value coding reads and sets a character as a text.
private func areTextsEqual(_ found: Any, _ expected: Any) -> Bool {
  guard let found = found as? Character, let expected = expected as? String else { return false }
  return String(found) == expected
}

private func areCollectionsEqual(_ found: Any, _ expected: Any) -> Bool {
  if let found = anyArray(found), let expected = anyArray(expected) {
    return found.elementsEqual(expected) { isExpected($0, $1) }
  }
  if let found = anySet(found), let expected = anySet(expected) {
    return found.count == expected.count
      && found.allSatisfy { found in expected.contains { isExpected(found.base, $0.base) } }
  }
  guard let found = found as? [AnyHashable: Any], let expected = expected as? [AnyHashable: Any]
  else { return false }
  return found.count == expected.count
    && found.allSatisfy { key, value in
      expected.contains {
        isExpected(key.base, $0.key.base) && isExpected(value, $0.value)
      }
    }
}
