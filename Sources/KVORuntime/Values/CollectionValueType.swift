/// An array or a set: takes the elements of another type's that become its own, say of an array of
/// `Any`.
final class CollectionValueType<C: CollectionValue>: TypedValueType<C>, @unchecked Sendable {
  private let element = ValueType.of(C.Element.self)

  init() { super.init(shape: C.makeShape(isOptional: false)) }

  override var mayHoldNaN: Bool { element.mayHoldNaN }

  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    if super.areEqual(a, b) { return true }
    guard mayHoldNaN else { return false }
    let first = a.assumingMemoryBound(to: C.self).pointee
    let second = b.assumingMemoryBound(to: C.self).pointee
    guard C.isOrdered else { return haveSameMembers(first, second) }
    return first.count == second.count
      && zip(first, second).allSatisfy { first, second in
        withUnsafePointer(to: first) { first in
          withUnsafePointer(to: second) { element.areEqual(first, $0) }
        }
      }
  }

  private func haveSameMembers(_ first: C, _ second: C) -> Bool {
    guard let first = first as? Set<AnyHashable>, let second = second as? Set<AnyHashable> else {
      return false
    }
    return first.removing(second).isEmpty && second.removing(first).isEmpty
  }

  override func convert(_ value: Any?) -> Conversion {
    let conversion = super.convert(value)
    guard case .mismatch = conversion,
      let elements = collection(value),
      let converted = convert(elements)
    else { return conversion }
    return .value(.of(C(gathering: converted)))
  }

  // Of a proxy, what it shows now.
  private func collection(_ value: Any?) -> (any CollectionValue)? {
    guard let value = value.flatMap(flattened) else { return nil }
    return (value as? any ProxyValue)?.elements ?? value as? any CollectionValue
  }

  private func convert<Other: CollectionValue>(_ elements: Other) -> [C.Element]? {
    guard Other.isOrdered == C.isOrdered else { return nil }
    var converted: [C.Element] = []
    for value in elements {
      guard case .value(let value) = element.convert(value) else { return nil }
      converted.append(value.unbox(as: C.Element.self))
    }
    return converted
  }
}
