/// How a value becomes one of a property's type: by being it; numbers, from numbers, as
/// `NSNumber`'s accessors convert them (a fraction is cut, an integer wraps to the width, beyond 64
/// bits it saturates, NaN is 0); a type with raw values, from one of them.
enum ValueConversion {
  /// The value, which is no optional, as `T`, which is none either; nil if it can't become one.
  static func convert<T>(_ value: Any, to type: T.Type) -> T? {
    if let same = value as? T { return same }
    return (Number(value)?.converted(to: type) ?? raw(value, type)) as? T
  }

  private static func raw(_ value: Any, _ type: Any.Type) -> Any? {
    guard let type = type as? any RawRepresentable.Type else { return nil }
    return make(type, from: value)
  }

  private static func make<R: RawRepresentable>(_ type: R.Type, from value: Any) -> Any? {
    guard let rawValue = convert(value, to: R.RawValue.self) else { return nil }
    return R(rawValue: rawValue)
  }
}

extension ValueConversion {
  /// What an error says of a value that is of the type of a type's raw values, and none of them.
  static func unknownRawValue(_ value: Any?, of type: Any.Type) -> String? {
    let type = (type as? any OptionalType.Type)?.wrappedType ?? type
    guard let value = value.flatMap(flattened), let type = type as? any RawRepresentable.Type else {
      return nil
    }
    func isRaw<R: RawRepresentable>(_ type: R.Type) -> Bool {
      convert(value, to: R.RawValue.self) != nil
    }
    return isRaw(type) ? "\(String(reflecting: value)), which is none of its raw values" : nil
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
    case .real(let real): I(exactly: real.rounded(.towardZero)) ?? nearest(type, real)
    }
  }

  // Of what the type hasn't.
  private func nearest<I: BinaryInteger>(_ type: I.Type, _ real: Double) -> I {
    real < 0 || I.isSigned
      ? I(truncatingIfNeeded: Int64(saturating: real))
      : I(truncatingIfNeeded: UInt64(saturating: real))
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
