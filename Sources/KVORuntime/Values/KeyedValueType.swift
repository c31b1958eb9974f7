internal import CKVORuntime

/// A dictionary whose keys are keys of key-value coding. It is a value: setting one of its keys makes a copy, which
/// takes its place (`PathSetting`).
protocol KeyedValue: DescribedValue {
  /// A copy with another value for a key, nil for none.
  /// - Returns: nil if the dictionary can't have that value.
  func setting(_ value: Any?, forKey key: String) -> Self?
  static var valueType: ValueType { get }
  func value(forKey key: String) throws -> Any?
}

extension Dictionary: KeyedValue, DescribedValue where Key == String {
  static func makeValueType() -> ValueType { KeyedValueType<Value>() }
  static var valueType: ValueType { .of(Value.self) }

  func setting(_ value: Any?, forKey key: String) -> Self? {
    var copy = self
    guard let value = value.flatMap(flattened) else {
      copy[key] = nil
      return copy
    }
    guard case .value(let converted) = ValueType.of(Value.self).convert(value) else { return nil }
    copy.updateValue(converted.unbox(as: Value.self), forKey: key)
    return copy
  }
}

private final class KeyedValueType<Value>: TypedValueType<[String: Value]>, @unchecked Sendable {
  private let valueType = ValueType.of(Value.self)

  init() { super.init(Self.ownAbilities.union(.keyed)) }

  override var mayHoldNaN: Bool { valueType.mayHoldNaN }

  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    if super.areEqual(a, b) { return true }
    guard mayHoldNaN else { return false }
    let first = a.assumingMemoryBound(to: [String: Value].self).pointee
    let second = b.assumingMemoryBound(to: [String: Value].self).pointee
    return first.count == second.count
      && first.allSatisfy { key, value in
        guard let other = second[key] else { return false }
        return withUnsafePointer(to: value) { value in
          withUnsafePointer(to: other) { valueType.areEqual(value, $0) }
        }
      }
  }

  override func value(
    forKey key: String, at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>
  ) {
    guard let found = address.assumingMemoryBound(to: [String: Value].self).pointee[key] else {
      return value.initialize(to: kvo_value())
    }
    withUnsafePointer(to: found) { valueType.read($0, into: value) }
  }
  override func values(at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    let dictionary = address.assumingMemoryBound(to: [String: Value].self).pointee
    value.initialize(to: .of(Array(dictionary.values)))
  }
}
