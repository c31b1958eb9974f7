// The conversion table (B12): which values can be converted to which types, wherever key-value coding accepts
// a value. Whether a conversion is possible depends on the two types alone. Therefore Swift's casts are not
// used here: its cast of an `NSNumber` succeeds for 0.5 and fails for 0.1. Only for raw values and
// `Character` does it depend on the value, since these types have no value for some. Documentation/Values.md
// shows the table.

/// Converts values to types.
package enum ValueConversion {
  /// Converts a value to `T`; nil if that is not possible. Neither may be an optional.
  static func convert<T>(_ value: Any, to target: T.Type) -> T? {
    if Swift.type(of: value) == target { return value as? T }
    if Swift.type(of: value) == AnyHashable.self { return convert(base(of: value), to: target) }
    if T.self is AnyClass || ValueType.isExistential(target) { return object(value, as: target) }
    if let scalar = ScalarType(target) { return scalar.make(from: value) as? T }
    if let raw = target as? any RawRepresentable.Type { return make(raw, from: value) as? T }
    return value as? T
  }

  /// The value in an `AnyHashable`, or the value itself.
  package static func base(of value: Any) -> Any {
    Swift.type(of: value) == AnyHashable.self ? (value as? AnyHashable)?.base ?? value : value
  }

  /// Whether a type is a number, or an optional number.
  static func isNumber(_ type: Any.Type) -> Bool {
    let type = unwrapped(type)
    return type == Bool.self || type is any BinaryInteger.Type
      || type is any BinaryFloatingPoint.Type
  }

  /// Whether a value represents nil: an `NSNull`, also in an `AnyHashable`, if KVOFoundation is linked.
  package static func isNull(_ value: Any) -> Bool {
    let value = base(of: value)
    return Swift.type(of: value) is AnyClass && FoundationLink.linked?.isNull(value) == true
  }

  // Swift casts its own values to Foundation's classes, except for its newer number types.
  private static func object<T>(_ value: Any, as target: T.Type) -> T? {
    if target == Any.self || Swift.type(of: value) is AnyClass {
      if let same = value as? T { return same }
    } else {
      if let type = target as? AnyClass, !isBridged(type) { return nil }
      guard FoundationLink.linked?.canBridge(value) != false else { return nil }
      if let same = value as? T { return same }
    }
    guard T.self is AnyClass, let foundation = FoundationLink.linked else { return nil }
    return foundation.object(target, from: value) as? T
  }

  // Whether Swift may cast values that are no objects to a class: only to Foundation's.
  private static func isBridged(_ type: AnyClass) -> Bool {
    sequence(first: type, next: { _getSuperclass($0) }).contains { className(of: $0) == "NSObject" }
  }

  private static func make<R: RawRepresentable>(_ type: R.Type, from value: Any) -> Any? {
    guard !(value is any RawRepresentable) || R.RawValue.self is any RawRepresentable.Type,
      let rawValue = convert(value, to: R.RawValue.self)
    else { return nil }
    return R(rawValue: rawValue)
  }
}

extension ValueConversion {
  /// The value as operators and sorting use it. A value without an order of its own is replaced by its raw
  /// value, if that is a number or a text. Foundation's numbers are replaced by Swift's.
  package static func operand(_ value: Any) -> Any {
    let value = base(of: value)
    if !(value is any Comparable), let rawValue = rawValue(of: value) { return rawValue }
    return Swift.type(of: value) is AnyClass
      ? FoundationLink.linked?.content(value) ?? value : value
  }

  /// A value that has been read as another type: numbers are converted. Setting converts a text to a number, but reading
  /// does not.
  package static func read<T>(_ value: Any, as type: T.Type) -> T? {
    if let value = value as? T { return value }
    let isDecimal = FoundationLink.linked?.isDecimal(unwrapped(type)) == true
    return Number(value) != nil && (isNumber(type) || isDecimal) ? convert(value, to: type) : nil
  }

  /// The equal value of a simpler type, by which the core compares and hashes values of Foundation's types (B6): the number,
  /// text or date in an object, and the number nearest to a decimal one. Nil for other values.
  static func equivalent(_ value: Any) -> Any? {
    guard let foundation = FoundationLink.linked else { return nil }
    if type(of: value) is AnyClass { return foundation.content(value) }
    return foundation.isDecimal(type(of: value)) ? Number(value)?.swiftNumber : nil
  }

  /// The raw value of an enumeration or option set if it is a number or a text, and then as a `String`; otherwise nil.
  package static func rawValue(of value: Any) -> Any? {
    guard let value = value as? any RawRepresentable else { return nil }
    let rawValue = value.rawValue as Any
    switch rawValue {
    case is any BinaryInteger, is any BinaryFloatingPoint, is String: return rawValue
    case let text as Substring: return String(text)
    case let character as Character: return String(character)
    default: return nil
    }
  }

  /// Whether values of a type have such a raw value.
  static func hasRawValue(_ type: Any.Type) -> Bool {
    func test<R: RawRepresentable>(_ type: R.Type) -> Bool {
      let raw: Any.Type = R.RawValue.self
      return raw is any BinaryInteger.Type || raw is any BinaryFloatingPoint.Type
        || raw == String.self || raw == Substring.self || raw == Character.self
    }
    return (type as? any RawRepresentable.Type).map { test($0) } ?? false
  }
}

/// A number or text type, to which other numbers and texts are converted.
private enum ScalarType {
  case truth
  case integer(any BinaryInteger.Type)
  case real(any BinaryFloatingPoint.Type)
  case string, substring, character
  /// A `Decimal`, made by KVOFoundation.
  case decimal(any FoundationValues.Type, Any.Type)

  init?(_ type: Any.Type) {
    switch type {
    case is Bool.Type: self = .truth
    case let type as any BinaryInteger.Type: self = .integer(type)
    case let type as any BinaryFloatingPoint.Type: self = .real(type)
    case is String.Type: self = .string
    case is Substring.Type: self = .substring
    case is Character.Type: self = .character
    default:
      guard let foundation = FoundationLink.linked, foundation.isDecimal(type) else { return nil }
      self = .decimal(foundation, type)
    }
  }

  func make(from value: Any) -> Any? {
    if let number = Number(value) { return make(from: number) }
    if let text = text(value) { return make(from: text) }
    guard let rawValue = ValueConversion.rawValue(of: value) else { return nil }
    if let number = Number(rawValue) { return make(from: number) }
    // A raw value that is a text is not converted to a number.
    return isText ? text(rawValue).flatMap { make(from: $0) } : nil
  }

  private var isText: Bool {
    switch self {
    case .string, .substring, .character: true
    default: false
    }
  }

  private func make(from number: Number) -> Any? {
    switch self {
    case .truth: number.isNonzero
    case .integer(let type): number.integer(type)
    case .real(let type): number.real(type)
    case .decimal(let foundation, _): foundation.decimal(number)
    case .string, .substring, .character: nil
    }
  }

  private func make(from text: String) -> Any? {
    switch self {
    case .truth: LeadingNumber(text).truth
    case .integer(let type): LeadingNumber(text).integer(type)
    case .real(let type): LeadingNumber(text).real(type)
    case .decimal(let foundation, _): foundation.decimal(leading: LeadingNumber(text).text)
    case .string: text
    case .substring: Substring(text)
    case .character: text.count == 1 ? text.first : nil
    }
  }

  // Swift casts Foundation's strings to its own, whatever they contain.
  private func text(_ value: Any) -> String? {
    switch value {
    case let text as String: text
    case let text as Substring: String(text)
    case let character as Character: String(character)
    default: nil
    }
  }
}

extension ValueConversion {
  /// The words for an error about a value of an acceptable type for which the target type has no value. Nil
  /// for other values.
  static func unnamed(_ value: Any, in target: Any.Type) -> String? {
    if target is Character.Type, let text = convert(value, to: String.self) {
      return "\(String(reflecting: text)), which is not a single character"
    }
    func isRaw<R: RawRepresentable>(_ type: R.Type) -> Bool {
      !(value is any RawRepresentable) && convert(value, to: R.RawValue.self) != nil
    }
    guard let type = target as? any RawRepresentable.Type, isRaw(type) else { return nil }
    return "\(String(reflecting: value)), which is none of its raw values"
  }
}
