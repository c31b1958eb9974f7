/// An array or a set: takes the elements of another type's that become its own, say of an array of
/// `Any`.
final class CollectionValueType<C: CollectionValue>: TypedValueType<C>, @unchecked Sendable {
  private let element = ValueType.of(C.Element.self)

  init() { super.init(shape: C.makeShape(isOptional: false)) }

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
