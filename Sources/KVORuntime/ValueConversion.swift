/// An optional, whatever it wraps.
protocol OptionalValue {
  /// What is inside, nil or not an optional itself.
  var innermost: Any? { get }
  /// The value, which is no optional, as this type; nil if it can't become one.
  static func converting(_ value: Any?) -> Self?
}

extension Optional: OptionalValue {
  var innermost: Any? {
    switch self {
    case .some(let wrapped): flattened(wrapped)
    case .none: nil
    }
  }

  static func converting(_ value: Any?) -> Self? {
    guard let value else { return .some(.none) }
    return ValueConversion.convert(value, to: Wrapped.self).map { .some(.some($0)) } ?? .none
  }
}

/// The value without optionals around it.
func flattened(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalValue else { return value }
  return optional.innermost
}

/// A value as it stands in a dictionary or array of `Any`: nil is present, as an empty optional.
func present(_ value: Any?) -> Any {
  value ?? (Any?.none as Any)
}

/// How a value becomes one of a property's type: by being it; numbers, from numbers, as `NSNumber`'s
/// accessors convert them (a fraction is cut, an integer wraps to the width, beyond 64 bits it
/// saturates, NaN is 0); a type with raw values, from one of them.
enum ValueConversion {
  /// The value as `T`; nil if it can't become one.
  static func convert<T>(_ value: Any?, to type: T.Type) -> T? {
    let value = value.flatMap(flattened)
    if let optional = type as? any OptionalValue.Type {
      return convert(value, toOptional: optional, to: type)
    }
    guard let value else { return nil }
    return convert(value, toType: type) as? T
  }

  // `O` and `T` are one type. A cast would lose count of the optionals around a nil.
  private static func convert<O: OptionalValue, T>(
    _ value: Any?, toOptional type: O.Type, to same: T.Type
  ) -> T? {
    O.converting(value).map { unsafeBitCast($0, to: T.self) }
  }

  // `value` and the type are no optionals here.
  private static func convert<T>(_ value: Any, toType type: T.Type) -> Any? {
    if let same = value as? T { return same }
    if let number = Number(value) { return number.converted(to: type) ?? raw(value, type) }
    return raw(value, type)
  }

  private static func raw(_ value: Any, _ type: Any.Type) -> Any? {
    guard let type = type as? any RawRepresentable.Type else { return nil }
    return make(type, from: value)
  }

  private static func make<R: RawRepresentable>(_ type: R.Type, from value: Any) -> Any? {
    guard let rawValue = convert(value, toType: R.RawValue.self) as? R.RawValue else { return nil }
    return R(rawValue: rawValue)
  }
}

/// A number of any type, on its way to another.
private enum Number {
  case integer(any BinaryInteger)
  case real(Double)
  case truth(Bool)

  init?(_ value: Any) {
    switch value {
    case let truth as Bool: self = .truth(truth)
    case let integer as any BinaryInteger: self = .integer(integer)
    case let real as any BinaryFloatingPoint: self = .real(Double(real))
    default: return nil
    }
  }

  func converted(to type: Any.Type) -> Any? {
    switch type {
    case is Bool.Type: isNonzero
    case let type as any BinaryInteger.Type: integer(type)
    case let type as any BinaryFloatingPoint.Type: real(type)
    default: nil
    }
  }

  private var isNonzero: Bool {
    switch self {
    case .truth(let truth): truth
    case .integer(let integer): integer.isNonzero
    case .real(let real): real != 0
    }
  }

  private func integer<I: BinaryInteger>(_ type: I.Type) -> I {
    switch self {
    case .truth(let truth): truth ? 1 : 0
    case .integer(let integer): I(truncatingIfNeeded: integer)
    case .real(let real) where real.isNaN: 0
    case .real(let real) where real < 0: I(truncatingIfNeeded: Int64(saturating: real))
    case .real(let real): I(truncatingIfNeeded: UInt64(saturating: real))
    }
  }

  private func real<F: BinaryFloatingPoint>(_ type: F.Type) -> F {
    switch self {
    case .truth(let truth): truth ? 1 : 0
    case .integer(let integer): integer.asReal()
    case .real(let real): F(real)
    }
  }
}

// Through these an `any BinaryInteger` is opened.
extension BinaryInteger {
  fileprivate var isNonzero: Bool { self != 0 }
  fileprivate func asReal<F: BinaryFloatingPoint>() -> F { F(self) }
}

extension FixedWidthInteger {
  /// The whole part, as near as this type has it. Not NaN.
  fileprivate init(saturating real: Double) {
    if real >= Double(Self.max) {
      self = .max
    } else if real <= Double(Self.min) {
      self = .min
    } else {
      self = Self(real)
    }
  }
}
