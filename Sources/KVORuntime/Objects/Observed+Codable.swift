// An `@Observed` property is coded as its value, so that a subclass of `KVOObject` gets the `Codable`
// that the compiler writes, as it does with plain properties:
//
//     final class Account: KVOObject, Codable {
//       @Observed var owner = ""
//       @Observed var note: String?
//     }
//
// Decoding makes the object, so it tells nobody.

extension Observed: Encodable where Value: Encodable {
  @inlinable
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension Observed: Decodable where Value: Decodable {
  @inlinable
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
  }
}

// What the compiler writes for a property wrapper codes it as a value that must be there. These are
// preferred for those around an optional.

extension KeyedEncodingContainer {
  /// Encodes an optional `@Observed` property, unless it is nil.
  @inlinable
  public mutating func encode<T: Encodable>(_ value: Observed<T?>, forKey key: Key) throws {
    try encodeIfPresent(value.value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// Decodes an optional `@Observed` property: nil if it is not there.
  @inlinable
  public func decode<T: Decodable>(
    _ type: Observed<T?>.Type, forKey key: Key
  ) throws -> Observed<T?> {
    Observed(wrappedValue: try decodeIfPresent(T.self, forKey: key))
  }
}

// What the macro `@KVO` writes for a class whose own `CodingKeys` name properties that take no wrapper (Q7). Those for
// optionals are preferred where the property is one.

extension KeyedEncodingContainer {
  /// Encodes a property.
  @inlinable
  public mutating func _encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try encode(value, forKey: key)
  }

  /// Encodes an optional property, unless it is nil.
  @inlinable
  public mutating func _encode<T: Encodable>(_ value: T?, forKey key: Key) throws {
    try encodeIfPresent(value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a property.
  @inlinable @_disfavoredOverload
  public func _decode<T: Decodable>(forKey key: Key) throws -> T {
    try decode(T.self, forKey: key)
  }

  /// Decodes an optional property: nil if it is not there.
  @inlinable
  public func _decode<T: Decodable>(forKey key: Key) throws -> T? {
    try decodeIfPresent(T.self, forKey: key)
  }
}
