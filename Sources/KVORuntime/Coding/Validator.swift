internal import CKVORuntime

/// The declared validator of a key, without its types. It is called only if validation is asked for, by the
/// last object on the path, and may replace the value (B10).
class Validator {
  /// Leaves the value unchanged if it throws.
  func validate(_ value: inout Any?, of object: KVOObject, _ key: String) throws {}
}

/// A validator with the object and value types of a declaration.
final class TypedValidator<Root: KVOObject, Value>: Validator {
  private let validate: (Root, inout Value?) throws -> Void

  init(_ validate: @escaping (Root, inout Value?) throws -> Void) { self.validate = validate }

  override func validate(_ value: inout Any?, of object: KVOObject, _ key: String) throws {
    var proposed = try convert(value, to: Value?.self, of: object, key)
    // Safe, because a declaration reaches only objects of the declaring class and its subclasses.
    try validate(unsafeDowncast(object, to: Root.self), &proposed)
    value = proposed.flatMap { flattened($0) }
  }
}

/// A validator that is not called for nil, unless that is a value of its type.
final class ValueValidator<Root: KVOObject, Value>: Validator {
  private let validate: (Root, inout Value) throws -> Void

  init(_ validate: @escaping (Root, inout Value) throws -> Void) { self.validate = validate }

  override func validate(_ value: inout Any?, of object: KVOObject, _ key: String) throws {
    var proposed = try convert(value, to: Value.self, of: object, key)
    // Safe, because a declaration reaches only objects of the declaring class and its subclasses.
    try validate(unsafeDowncast(object, to: Root.self), &proposed)
    value = flattened(proposed)
  }
}

private func convert<Value>(
  _ value: Any?, to type: Value.Type, of object: KVOObject, _ key: String
) throws -> Value {
  let className = className(of: Swift.type(of: object))
  switch ValueType.of(type).convert(value) {
  case .value(let converted): return converted.unbox(as: type)
  case .unexpectedNil: throw KeyValueError.nilValue(key: key, className: className)
  case .mismatch:
    throw KeyValueError.typeMismatch(
      key: key, className: className, expected: swiftName(of: unwrapped(type)),
      found: ValueType.of(type).found(value))
  }
}

extension KeyPathCoding {
  static func validate(_ value: inout Any?, _ keyPath: String, of object: KVOObject) throws {
    let (target, key) = try lastKey(of: keyPath, from: object)
    if let target = objectCast(target, to: KVOObject.self) {
      try target.validateValue(&value, forKey: key)
    } else if let target = objectCast(target, to: ForeignObject.self) {
      try target.validate(&value, forKey: key)
    }
  }
}

extension ForeignObject {
  fileprivate func validate(_ value: inout Any?, forKey key: String) throws {
    let proposed = value
    // C's validators work on C's values.
    var made =
      proposed.flatMap(flattened).flatMap { ForeignValue.make(from: $0) } ?? CoreValue.of(proposed)
    defer { kvo_value_destroy(&made) }
    try key.withKey(className) { text in
      try ThrownError.passing(key, of: className) { kvo_validate_value(header, text, &made, $0) }
    }
    value = ValueType.any(of: &made)
  }
}

extension KVOObject {
  /// Validates a value for a key, with the value held as an object, as on Apple's platforms. The validator
  /// may replace it.
  ///
  /// - Throws: the validator's error; then the value is unchanged.
  public func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
    var validated: Any? = value
    try validateValue(&validated, forKey: key)
    value = validated as AnyObject?
  }
}
