// An `@Observed` property is encoded as its plain value, so that the compiler can synthesise `Codable` for a
// subclass of `KVOObject` as it does with plain properties:
//
// ```
// final class Account: KVOObject, Codable {
//   @Observed var owner = ""
//   @Observed var note: String?
// }
// ```
//
// Decoding creates the object, so it notifies no observers.

extension Observed: Encodable where Value: Encodable {
  /// Encodes the property's value in a single-value container, without the wrapper.
  ///
  /// - Throws: The error of encoding the value.
  @inlinable
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(_value)
  }
}

extension Observed: Decodable where Value: Decodable {
  /// Creates a property from the value in a single-value container, without the wrapper. No observer is
  /// notified.
  ///
  /// - Throws: The error of decoding the value.
  @inlinable
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
  }
}

// The code that the compiler synthesises for a property wrapper writes nil as a value, and requires the key when it
// decodes. For a wrapper around an optional it prefers these overloads, which omit nil and allow the key to be missing.

/// Encoding of optional `@Observed` properties.
extension KeyedEncodingContainer {
  /// Encodes an optional `@Observed` property if it is not nil.
  ///
  /// - Throws: The error of encoding the value.
  @inlinable
  public mutating func encode<T: Encodable>(_ value: Observed<T?>, forKey key: Key) throws {
    try encodeIfPresent(value._value, forKey: key)
  }
}

/// Decoding of optional `@Observed` properties.
extension KeyedDecodingContainer {
  /// Decodes an optional `@Observed` property, which is nil if the key is missing.
  ///
  /// - Throws: The error of decoding the value.
  @inlinable
  public func decode<T: Decodable>(
    _ type: Observed<T?>.Type, forKey key: Key
  ) throws -> Observed<T?> {
    Observed(wrappedValue: try decodeIfPresent(T.self, forKey: key))
  }
}

// The macro `@KVO` generates calls of these in a class that has `CodingKeys` of its own and a property that takes no
// wrapper, such as a weak one (Q7). The overloads for optionals are preferred for optional properties. Those of
// `_decode` differ in their result only, so the other one has to be disfavoured.

extension KeyedEncodingContainer {
  /// Encodes a property of a `@KVO` class. The macro generates the calls.
  ///
  /// - Throws: The error of encoding the value.
  @inlinable
  public mutating func _encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try encode(value, forKey: key)
  }

  /// Encodes an optional property of a `@KVO` class if it is not nil. The macro generates the calls.
  ///
  /// - Throws: The error of encoding the value.
  @inlinable
  public mutating func _encode<T: Encodable>(_ value: T?, forKey key: Key) throws {
    try encodeIfPresent(value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a property of a `@KVO` class. The macro generates the calls.
  ///
  /// - Throws: The error of decoding the value, also if the key is missing.
  @inlinable @_disfavoredOverload
  public func _decode<T: Decodable>(forKey key: Key) throws -> T {
    try decode(T.self, forKey: key)
  }

  /// Decodes an optional property of a `@KVO` class, which is nil if the key is missing. The macro generates
  /// the calls.
  ///
  /// - Throws: The error of decoding the value.
  @inlinable
  public func _decode<T: Decodable>(forKey key: Key) throws -> T? {
    try decodeIfPresent(T.self, forKey: key)
  }
}
