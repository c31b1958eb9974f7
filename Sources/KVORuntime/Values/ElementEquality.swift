internal import CKVORuntime

// Equality of elements of any type, like `isEqual(_:)` on Apple's platforms: `==` if they have it, otherwise
// identity.

/// Whether two elements are equal, or both nil. NaN equals NaN, also inside of them.
package func areEqual(_ a: Any, _ b: Any) -> Bool {
  guard let first = flattened(a), let second = flattened(b) else {
    return flattened(a) == nil && flattened(b) == nil
  }
  return areEqualWhole(first, second) || areEqualInside(first, second)
}

/// Whether two values of one type are equal as observers compare them (D3): NaN equals NaN, also inside of them.
package func areEqual<Value: Equatable>(values first: Value, _ second: Value) -> Bool {
  if first == second { return true }
  return withUnsafePointer(to: first) { first in
    withUnsafePointer(to: second) { ValueType.of(Value.self).areEqual(first, $0) }
  }
}

/// Whether two elements are equal by `==`, identical, or both NaN.
func areEqualWhole(_ first: Any, _ second: Any) -> Bool {
  if let first = first as? AnyHashable, let second = second as? AnyHashable {
    let (first, second) = (first.inSwiftForm, second.inSwiftForm)
    return first == second || (isNaN(first) && isNaN(second))
  }
  if let first = first as? any Equatable { return first.equals(second) }
  return areIdentical(first, second)
}

/// Whether two values whose types may differ are equal: `[1] as [Int]` equals `[1] as [Any]`, which has no `==`.
func areEqualInEitherDirection(_ first: Any, _ second: Any) -> Bool {
  areEqualWhole(first, second) || areEqualWhole(second, first)
}

/// Whether two values of one type are equal by that type's own comparison, which goes into collections that contain NaN
/// or `Any`. What is nested too deeply is not.
func areEqualInside(_ first: Any, _ second: Any) -> Bool {
  let (first, second) = (ValueConversion.base(of: first), ValueConversion.base(of: second))
  func compare<Content>(_ first: Content) -> Bool {
    let isWithinLimit = kvo_nesting_enter()
    defer { kvo_nesting_leave(isWithinLimit) }
    guard isWithinLimit, type(of: second) == Content.self, let second = second as? Content else {
      return false
    }
    return withUnsafePointer(to: first) { first in
      withUnsafePointer(to: second) { ValueType.of(Content.self).areEqual(first, $0) }
    }
  }
  return _openExistential(first, do: compare)
}

/// Whether two elements are the same object.
package func areIdentical(_ a: Any, _ b: Any) -> Bool {
  guard let first = flattened(a), let second = flattened(b), type(of: first) is AnyClass,
    type(of: second) is AnyClass
  else { return false }
  return first as AnyObject === second as AnyObject
}

extension AnyHashable {
  /// Replaces a number, text or date of Foundation's by Swift's. On Linux the two may be equal in one
  /// direction only, and have different hash values.
  var inSwiftForm: AnyHashable {
    guard type(of: base) is AnyClass, let foundation = FoundationLink.linked else { return self }
    return foundation.content(base).flatMap { $0 as? AnyHashable } ?? self
  }
}

extension Set<AnyHashable> {
  /// The set with Foundation's numbers, texts and dates replaced by Swift's.
  var inSwiftForm: Self {
    guard FoundationLink.linked != nil, contains(where: { type(of: $0.base) is AnyClass }) else {
      return self
    }
    return Set(lazy.map(\.inSwiftForm))
  }
}

extension Equatable {
  fileprivate func equals(_ other: Any) -> Bool { self == other as? Self }
}

/// Elements to search for. Testing a hashable element is O(1); others are compared one by one.
package struct SoughtElements {
  private var hashable: Set<AnyHashable> = []
  private var others: [Any] = []
  private let form: (AnyHashable) -> AnyHashable

  /// - Parameter form: gives equal members equal values.
  package init(
    _ elements: some Sequence<Any>, by form: @escaping (AnyHashable) -> AnyHashable = \.inSwiftForm
  ) {
    self.form = form
    for element in elements {
      if let member = flattened(element) as? AnyHashable {
        hashable.insert(form(member))
      } else {
        others.append(element)
      }
    }
  }

  package func contains(_ element: Any) -> Bool {
    if let member = flattened(element) as? AnyHashable { return hashable.has(form(member)) }
    return others.contains { areEqual($0, element) }
  }
}

/// The result of a search without success, as in Foundation: its `NSNotFound`.
package let notFound = Int.max
