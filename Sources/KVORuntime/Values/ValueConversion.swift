// The conversion table (B12): which value becomes one of which type, wherever key-value coding takes one. A value is
// converted or rejected for the types alone, never because of what it happens to be: Swift's own casts of an `NSNumber`
// succeed for 0.5 and fail for 0.1, so none decides here. Only types that not every value names (raw values, a
// `Character`) reject some of a type that they take. Documentation/Values.md shows the table.

/// Converts values to types.
package enum ValueConversion {
  /// The value, which is no optional, as `T`, which is none either; nil if it can't become one.
  static func convert<T>(_ value: Any, to target: T.Type) -> T? {
    if Swift.type(of: value) == target { return value as? T }
    let value = base(of: value)
    if T.self is AnyClass || ValueType.isExistential(target) { return object(value, as: target) }
    if let scalar = ScalarType(target) { return scalar.make(from: value) as? T }
    if let raw = target as? any RawRepresentable.Type { return make(raw, from: value) as? T }
    return value as? T
  }

  /// A member of a set of anything is what is in it.
  static func base(of value: Any) -> Any {
    Swift.type(of: value) == AnyHashable.self ? (value as? AnyHashable)?.base ?? value : value
  }

  /// Whether a type is a number, or an optional one.
  static func isNumber(_ type: Any.Type) -> Bool {
    let type = (type as? any OptionalType.Type)?.wrappedType ?? type
    return type == Bool.self || type is any BinaryInteger.Type
      || type is any BinaryFloatingPoint.Type
  }

  /// Whether a value stands for nil: an `NSNull`, where KVOFoundation is linked.
  static func isNull(_ value: Any) -> Bool {
    Swift.type(of: value) is AnyClass && FoundationLink.linked?.isNull(value) == true
  }

  // Swift casts its own values to Foundation's classes, but for the numbers of later types.
  private static func object<T>(_ value: Any, as target: T.Type) -> T? {
    if let same = value as? T { return same }
    guard T.self is AnyClass, let foundation = FoundationLink.linked else { return nil }
    return foundation.object(target, from: value) as? T
  }

  private static func make<R: RawRepresentable>(_ type: R.Type, from value: Any) -> Any? {
    guard !(value is any RawRepresentable) || R.RawValue.self is any RawRepresentable.Type,
      let rawValue = convert(value, to: R.RawValue.self)
    else { return nil }
    return R(rawValue: rawValue)
  }
}

extension ValueConversion {
  /// A value as operators and sorting take it: a raw value that is a number or a text for what has one and no order of
  /// its own, Swift's number for Foundation's; else the value.
  package static func operand(_ value: Any) -> Any {
    let value = base(of: value)
    if !(value is any Comparable), let rawValue = rawValue(of: value) { return rawValue }
    return Swift.type(of: value) is AnyClass
      ? FoundationLink.linked?.content(value) ?? value : value
  }

  /// The raw value of an enumeration or an option set, if that is a number or a text; nil for others.
  package static func rawValue(of value: Any) -> Any? {
    guard let value = value as? any RawRepresentable else { return nil }
    let rawValue = value.rawValue as Any
    return rawValue is any BinaryInteger || rawValue is any BinaryFloatingPoint
      || rawValue is String
      ? rawValue : nil
  }

  /// Whether values of a type have such a raw value.
  static func hasRawValue(_ type: Any.Type) -> Bool {
    func test<R: RawRepresentable>(_ type: R.Type) -> Bool {
      let raw: Any.Type = R.RawValue.self
      return raw is any BinaryInteger.Type || raw is any BinaryFloatingPoint.Type
        || raw == String.self
    }
    return (type as? any RawRepresentable.Type).map { test($0) } ?? false
  }
}

/// A number or a text, which other numbers and texts become.
private enum ScalarType {
  case truth
  case integer(any BinaryInteger.Type)
  case real(any BinaryFloatingPoint.Type)
  case string, substring, character
  /// A `Decimal`, which KVOFoundation makes.
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
    // A raw value that is a text is no number.
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

  // Foundation's strings are cast to Swift's, whatever they have.
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
  /// The words of an error about a value whose type the target takes, but which stands for none of the target's values. Nil for
  /// other values.
  static func unnamed(_ value: Any, in target: Any.Type) -> String? {
    if target is Character.Type, let text = convert(value, to: String.self) {
      return "\(String(reflecting: text)), which is no single character"
    }
    func isRaw<R: RawRepresentable>(_ type: R.Type) -> Bool {
      !(value is any RawRepresentable) && convert(value, to: R.RawValue.self) != nil
    }
    guard let type = target as? any RawRepresentable.Type, isRaw(type) else { return nil }
    return "\(String(reflecting: value)), which is none of its raw values"
  }
}
