internal import CKVORuntime

// Copies of values that others may change in place, for later comparison (D3).

/// A copy of a value of any type, if it can be changed in place or contains such an object; nil for any other value.
/// Values that are nested too deeply are not copied.
func detached(_ value: Any) -> Any? {
  func copy<Content>(_ content: Content.Type) -> Any? {
    let isWithinLimit = kvo_nesting_enter()
    defer { kvo_nesting_leave(isWithinLimit) }
    let type = ValueType.of(content)
    guard isWithinLimit, type.abilities.contains(.mutable), var copy = value as? Content else {
      return nil
    }
    return withUnsafeMutablePointer(to: &copy) { type.detach(at: $0) } ? copy : nil
  }
  return _openExistential(type(of: value) as Any.Type, do: copy)
}

extension ValueType {
  /// The elements of a collection, which have this type, with copies of those that can be changed in place; nil if none
  /// can.
  func copies<Elements: Collection>(of elements: Elements) -> [Elements.Element]? {
    guard abilities.contains(.mutable) else { return nil }
    var copies: [Elements.Element]?
    for (index, element) in elements.enumerated() {
      var copy = element
      guard withUnsafeMutablePointer(to: &copy, { detach(at: $0) }) else { continue }
      if copies == nil { copies = Array(elements) }
      copies?[index] = copy
    }
    return copies
  }
}
