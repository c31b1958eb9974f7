internal import CKVORuntime

// Setters that store other elements than they are passed, as one that sorts or clamps does (D5). A handle or proxy that
// changes elements by the property's setter compares what it passed with what is stored. If they differ, the change is
// not that of the elements it has announced, so observers are notified of a setting.

extension ToManyKey {
  /// Makes the open change of elements, if there is one, a setting.
  /// - Parameters:
  ///   - old: the collection before the change, which is destroyed; nil if it is not known.
  ///   - isFirst: whether the caller has opened the change, and read the collection before that.
  func changeIsSetting(old: kvo_value?, isFirst: Bool) {
    makeSetting(object, name, old: old, isFirst: isFirst)
  }
}

/// Makes the change of a key's elements that the thread has open, if there is one, a setting.
/// - Parameters:
///   - old: the collection before the change, which is destroyed; nil if it is not known.
///   - isFirst: whether the caller has opened the change, and read the collection before that.
func makeSetting(_ object: KVOObject, _ name: KeyName, old: kvo_value?, isFirst: Bool) {
  guard var old else {
    return kvo_stored_property_change_is_setting(object.header, name.interned, nil, isFirst)
  }
  kvo_stored_property_change_is_setting(object.header, name.interned, &old, isFirst)
  kvo_value_destroy(&old)
}

/// Whether a property of an array type, optional or not, has the elements that its setter was passed. Other values are
/// not compared. Elements that can't be compared are taken for equal.
/// - Complexity: O(1) if the setter has stored the array itself, else O(*n*).
func hasElements<Stored>(_ stored: Stored, passed: Stored) -> Bool {
  if haveSameBytes(stored, passed) { return true }
  guard let stored = stored as? any ComparableElements else { return true }
  return stored.hasElements(of: passed)
}

// An array consists of a reference to its storage.
private func haveSameBytes<Value>(_ a: Value, _ b: Value) -> Bool {
  withUnsafeBytes(of: a) { a in withUnsafeBytes(of: b) { a.elementsEqual($0) } }
}

private protocol ComparableElements {
  func hasElements(of other: Any) -> Bool
}

extension Array: ComparableElements {
  fileprivate func hasElements(of other: Any) -> Bool {
    guard let other = flattened(other) as? Self, other.count == count else { return false }
    return zip(self, other).allSatisfy { areEqual($0, $1) || !isComparable($0) }
  }
}

extension Optional: ComparableElements where Wrapped: ComparableElements {
  fileprivate func hasElements(of other: Any) -> Bool {
    guard let self else { return flattened(other) == nil }
    return self.hasElements(of: other)
  }
}

private func isComparable(_ element: Any) -> Bool {
  guard let element = flattened(element) else { return true }
  return element is any Equatable || type(of: element) is AnyClass
}
