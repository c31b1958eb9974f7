internal import CKVORuntime

/// A dictionary whose keys may be keys of key-value coding. It is a value: setting one of its keys makes a
/// copy, which replaces it (`PathSetting`).
protocol KeyedValue {
  /// Whether its keys are strings, or can be.
  static var hasKeys: Bool { get }
  /// The value for a key, with optionals unwrapped.
  func member(forKey key: String) -> Any?
  /// Returns a copy with another value for a key; nil removes the key.
  /// - Returns: nil if the dictionary can't contain that value.
  func setting(_ value: Any?, forKey key: String) -> Any?
  var memberType: Any.Type { get }
}

extension KeyedValue {
  static var hasKeys: Bool { true }
}

/// A dictionary, with keys and values of any type.
protocol MappedValue {
  var pairs: [(key: Any, value: Any)] { get }
}

extension Dictionary: MappedValue {
  var pairs: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
}

extension Dictionary: KeyedValue, DescribedValue {
  static func makeValueType() -> ValueType { DictionaryValueType<Key, Value>() }
  var memberType: Any.Type { Value.self }
  static var hasKeys: Bool { Key.self == String.self || Key.self == AnyHashable.self }

  /// Converts a string to the dictionary's key type; nil if that is not possible.
  private static func key(_ text: String) -> Key? {
    if let key = text as? Key { return key }
    return Key.self == AnyHashable.self ? AnyHashable(text) as? Key : nil
  }

  /// The key for a string. On Linux an `NSString` in an `AnyHashable` is not found by an equal string, so it is
  /// searched for if no other key is found.
  private func key(_ text: String) -> Key? {
    guard let key = Self.key(text) else { return nil }
    guard Key.self == AnyHashable.self, FoundationLink.linked != nil, index(forKey: key) == nil
    else { return key }
    return keys.first { AnyHashable($0).inSwiftForm == AnyHashable(text) } ?? key
  }

  /// The value for a key that contains NaN.
  func value(forOdd key: Key) -> Value? {
    holdsNaN(key) ? first { holdsNaN($0.key) && areEqual(key, $0.key) }?.value : nil
  }

  /// The value for a string, as the dictionary stores it.
  func own(_ text: String) -> Value? { key(text).flatMap { self[$0] } }

  func member(forKey key: String) -> Any? { own(key).flatMap { flattened($0) } }

  func setting(_ value: Any?, forKey text: String) -> Any? {
    guard let key = key(text) else { return nil }
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

/// A dictionary. Converts another dictionary if all of its keys and values can be converted (B12).
private final class DictionaryValueType<Key: Hashable, Value>: TypedValueType<[Key: Value]>,
  @unchecked Sendable
{
  private let keyType = ValueType.of(Key.self)
  private let valueType = ValueType.of(Value.self)

  init() {
    let mutable = valueType.abilities.intersection(.mutable)
    let keyed: Abilities = [Key: Value].hasKeys ? [.keyed, .mapped] : .mapped
    super.init(Self.ownAbilities.union(keyed).union(mutable))
  }

  override func detach(at address: UnsafeMutableRawPointer) -> Bool {
    let stored = address.assumingMemoryBound(to: [Key: Value].self)
    guard let copies = valueType.copies(of: stored.pointee.values) else { return false }
    // Keys that can be changed in place may have become equal.
    stored.pointee = Dictionary(zip(stored.pointee.keys, copies)) { first, _ in first }
    return true
  }

  override func convert(_ value: Any?) -> Conversion {
    if let value, type(of: value) == [Key: Value].self, let same = value as? [Key: Value] {
      return .value(.of(same))
    }
    guard let value = value.flatMap(flattened) else { return .unexpectedNil }
    if let pairs = AnyPairs(value) { return convert(pairs).map { .value(.of($0)) } ?? .mismatch }
    return ValueConversion.isNull(value) ? .unexpectedNil : .mismatch
  }

  // If two keys become equal, it is a mismatch: which value remained would be random.
  private func convert(_ pairs: AnyPairs) -> [Key: Value]? {
    var converted: [Key: Value] = [:]
    converted.reserveCapacity(pairs.all.count)
    for pair in pairs.all {
      guard case .value(let key) = keyType.convert(pair.key),
        case .value(let value) = valueType.convert(pair.value),
        converted.updateValue(
          value.unbox(as: Value.self), forKey: key.unbox(as: Key.self)) == nil
      else { return nil }
    }
    return converted
  }

  override func found(_ value: Any?) -> String {
    guard let value = value.flatMap(flattened), let pairs = AnyPairs(value) else {
      return super.found(value)
    }
    var keys: [Key: String] = [:]
    for pair in pairs.all.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      let key = String(reflecting: ValueConversion.base(of: pair.key))
      guard case .value(let converted) = keyType.convert(pair.key) else {
        return "\(typeName(of: value)), with the key \(key) of type \(typeName(of: pair.key))"
      }
      if let other = keys.updateValue(key, forKey: converted.unbox(as: Key.self)) {
        return "\(typeName(of: value)), whose keys \(other) and \(key) become one key"
      }
      if case .value = valueType.convert(pair.value) {
      } else {
        return "\(typeName(of: value)), whose key \(key) is \(valueType.found(pair.value))"
      }
    }
    return super.found(value)
  }

  override var mayHoldNaN: Bool { keyType.mayHoldNaN || valueType.mayHoldNaN }

  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    if super.areEqual(a, b) { return true }
    guard mayHoldNaN || !isEquatable else { return false }
    let first = a.assumingMemoryBound(to: [Key: Value].self).pointee
    let second = b.assumingMemoryBound(to: [Key: Value].self).pointee
    return first.count == second.count
      && first.allSatisfy { key, value in
        guard let other = second[key] ?? second.value(forOdd: key) else { return false }
        return withUnsafePointer(to: value) { value in
          withUnsafePointer(to: other) { valueType.areEqual(value, $0) }
        }
      }
  }

  override func value(
    forKey key: String, at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>
  ) {
    guard let found = address.assumingMemoryBound(to: [Key: Value].self).pointee.own(key) else {
      return value.initialize(to: kvo_value())
    }
    withUnsafePointer(to: found) { valueType.read($0, into: value) }
  }
  override func values(at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    let dictionary = address.assumingMemoryBound(to: [Key: Value].self).pointee
    value.initialize(to: .of(Array(dictionary.values)))
  }
}

/// The keys and values of a dictionary: the standard library's or Foundation's.
package struct AnyPairs {
  package let all: [(key: Any, value: Any)]

  /// Nil if the value is not a dictionary.
  package init?(_ value: Any) {
    let value = ValueConversion.base(of: value)
    if let mapped = value as? any MappedValue {
      all = mapped.pairs
    } else if Swift.type(of: value) is AnyClass, let pairs = FoundationLink.linked?.pairs(of: value)
    {
      all = pairs
    } else {
      return nil
    }
  }
}
