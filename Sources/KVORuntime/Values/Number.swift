// Number conversion (B12), as in `NSNumber`'s accessors. Fractions are truncated, and integers wrap to the
// target's width. Values beyond 64 bits saturate, and NaN becomes 0.

/// A number of any type.
package enum Number {
  case truth(Bool)
  case integer(any BinaryInteger)
  case real(any BinaryFloatingPoint)
  /// A decimal number as text, with a point and without an exponent; or "NaN".
  case decimal(String)

  // Bool is tested by its exact type: an `NSNumber` of 0 or 1 can be cast to it as well.
  package init?(_ value: Any) {
    if type(of: value) == Bool.self, let truth = value as? Bool {
      self = .truth(truth)
    } else if let integer = value as? any BinaryInteger {
      self = .integer(integer)
    } else if let real = value as? any BinaryFloatingPoint {
      self = .real(real)
    } else if let number = FoundationLink.linked?.number(value) {
      self = number
    } else {
      return nil
    }
  }

  /// The number as one of the standard library's types.
  var swiftNumber: Any {
    switch self {
    case .truth(let truth): truth
    case .integer(let integer): integer
    case .real(let real): real
    case .decimal(let text):
      if let integer = Int(text) {
        integer
      } else if let large = UInt(text) {
        large
      } else {
        real(Double.self)
      }
    }
  }

  /// Whether both have exactly the same value: 2^53 + 1 equals no `Double`. A decimal number with a fraction, or beyond
  /// the integers, equals the `Double` nearest to it.
  package static func == (a: Number, b: Number) -> Bool { a.order(b) == 0 }

  /// Negative, 0 or positive if this number is less than, equal to or greater than the other one; nil if one of them is
  /// NaN.
  package func order(_ other: Number) -> Int? {
    if case .integer(let a) = self, case .integer(let b) = other { return a.order(b) }
    if case .decimal(let a) = self, case .decimal(let b) = other {
      return isNaN || other.isNaN ? nil : DecimalText(a).order(DecimalText(b))
    }
    return switch (exactInteger, other.exactInteger) {
    case (let a?, let b?): a < b ? -1 : a == b ? 0 : 1
    case (let a?, nil): other.order(ofInteger: a).map { -$0 }
    case (nil, let b?): order(ofInteger: b)
    case (nil, nil): Self.order(comparableReal, other.comparableReal)
    }
  }

  private var comparableReal: LargestReal {
    if case .decimal = self { LargestReal(real(Double.self)) } else { real(LargestReal.self) }
  }

  /// The number, if it is an integer that `Int128` has.
  private var exactInteger: Int128? {
    switch self {
    case .truth(let truth): truth ? 1 : 0
    case .integer(let integer): Int128(exactly: integer)
    case .real(let real): Int128(exactly: real)
    case .decimal(let text): Int128(text)
    }
  }

  // The order of this number, which is no such integer, and one. The integer below this number tells, if there is one.
  private func order(ofInteger integer: Int128) -> Int? {
    guard let floor else { return Self.order(comparableReal, LargestReal(integer)) }
    return floor < integer ? -1 : 1
  }

  private var floor: Int128? {
    guard case .decimal(let text) = self else {
      return Int128(exactly: real(LargestReal.self).rounded(.down))
    }
    return Int128(text.prefix { $0 != "." }).map { text.hasPrefix("-") ? $0 - 1 : $0 }
  }

  private static func order(_ a: LargestReal, _ b: LargestReal) -> Int? {
    a.isNaN || b.isNaN ? nil : a < b ? -1 : a == b ? 0 : 1
  }

  package var isNaN: Bool { real(Double.self).isNaN }

  var isNonzero: Bool {
    switch self {
    case .truth(let truth): truth
    case .integer(let integer): integer.isNonzero
    case .real(let real): real.isNonzero
    case .decimal(let text): text != "0" && text != "-0"
    }
  }

  package func integer<I: BinaryInteger>(_ type: I.Type) -> I {
    switch self {
    case .truth(let truth): truth ? 1 : 0
    case .integer(let integer): I(truncatingIfNeeded: integer)
    case .real(let real): real.asInteger()
    case .decimal(let text): LeadingNumber(text).wrapped(type)
    }
  }

  package func real<F: BinaryFloatingPoint>(_ type: F.Type) -> F {
    switch self {
    case .truth(let truth): truth ? 1 : 0
    case .integer(let integer): integer.asReal()
    case .real(let real): real.asReal()
    case .decimal(let text): F(decimal: text) ?? .nan
    }
  }
}

/// A decimal number as a text of digits and a point, without an exponent.
private struct DecimalText {
  private let isNegative: Bool
  private let integer: [UInt8]
  private let fraction: [UInt8]

  init(_ text: String) {
    isNegative = text.hasPrefix("-")
    let parts = text.utf8.drop { $0 == UInt8(ascii: "-") }
      .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    integer = Array(parts[0].drop { $0 == UInt8(ascii: "0") })
    var digits = parts.count > 1 ? Array(parts[1]) : []
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    fraction = digits
  }

  private var isZero: Bool { integer.isEmpty && fraction.isEmpty }

  func order(_ other: Self) -> Int {
    if isZero, other.isZero { return 0 }
    if isNegative != other.isNegative { return isNegative ? -1 : 1 }
    let order = orderOfMagnitude(other)
    return isNegative ? -order : order
  }

  private func orderOfMagnitude(_ other: Self) -> Int {
    if integer.count != other.integer.count { return integer.count < other.integer.count ? -1 : 1 }
    let (digits, others) = (integer + fraction, other.integer + other.fraction)
    return digits == others ? 0 : digits.lexicographicallyPrecedes(others) ? -1 : 1
  }
}

#if arch(x86_64)
  private typealias LargestReal = Float80
#else
  private typealias LargestReal = Double
#endif

// Helpers that are called on an opened `any BinaryInteger`.
extension BinaryInteger {
  fileprivate func order(_ other: some BinaryInteger) -> Int {
    self < other ? -1 : self == other ? 0 : 1
  }
  fileprivate var isNonzero: Bool { self != 0 }
  fileprivate func asReal<F: BinaryFloatingPoint>() -> F { F(self) }
}

extension BinaryFloatingPoint {
  /// The number nearest to a decimal text. It is rounded once, unless the type reads no texts.
  fileprivate init?(decimal text: String) {
    if let type = Self.self as? any LosslessStringConvertible.Type {
      guard let number = type.init(text) as? Self else { return nil }
      self = number
    } else {
      guard let number = Double(text) else { return nil }
      self.init(number)
    }
  }

  fileprivate var isNonzero: Bool { self != 0 }
  fileprivate func asReal<F: BinaryFloatingPoint>() -> F { F(self) }

  fileprivate func asInteger<I: BinaryInteger>() -> I {
    isNaN ? 0 : I(exactly: rounded(.towardZero)) ?? nearest()
  }

  // The nearest value, if the type can't represent this one.
  private func nearest<I: BinaryInteger>() -> I {
    self < 0 || I.isSigned
      ? I(truncatingIfNeeded: Int64(saturating: self))
      : I(truncatingIfNeeded: UInt64(saturating: self))
  }
}

extension FixedWidthInteger {
  /// The integral part, or the nearest value that the type has. `real` must not be NaN.
  fileprivate init(saturating real: some BinaryFloatingPoint) {
    self = Self(exactly: real.rounded(.towardZero)) ?? (real < 0 ? .min : .max)
  }
}

/// The number at the beginning of a text, as `NSString`'s accessors read it: after white space, and up to the
/// first other character. 0 if there is none. Integers saturate at the limits of their type.
struct LeadingNumber {
  /// The text of the number: sign, digits, fraction and exponent. Empty if there is none.
  let text: Substring
  private let digits: Substring.UTF8View
  private let isNegative: Bool
  /// The text without leading white space.
  private let word: Substring.UTF8View

  init(_ text: String) {
    word = text.utf8.drop { $0 == 32 || (9...13).contains($0) }
    isNegative = word.first == UInt8(ascii: "-")
    let isSigned = isNegative || word.first == UInt8(ascii: "+")
    let rest = word.dropFirst(isSigned ? 1 : 0)
    digits = Self.digits(rest)
    var end = digits.endIndex
    let fraction = Self.fraction(rest[end...])
    if !digits.isEmpty || fraction.count > 1 { end = fraction.endIndex }
    if end > rest.startIndex { end = Self.exponent(rest[end...]) }
    self.text = end > rest.startIndex ? Substring(word[..<end]) : ""
  }

  /// True if the text begins with Y, T, or a number other than 0.
  var truth: Bool {
    let sign = word.first == UInt8(ascii: "-") || word.first == UInt8(ascii: "+") ? 1 : 0
    let first = word.dropFirst(sign).first { $0 != UInt8(ascii: "0") }
    return first.map { "YyTt123456789".utf8.contains($0) } ?? false
  }

  func real<F: BinaryFloatingPoint>(_ type: F.Type) -> F { F(decimal: String(text)) ?? 0 }

  func integer<I: BinaryInteger>(_ type: I.Type) -> I {
    func open<Fixed: FixedWidthInteger>(_ type: Fixed.Type) -> Any { saturated(type) }
    guard let fixed = type as? any FixedWidthInteger.Type else { return wrapped(type) }
    return open(fixed) as? I ?? 0
  }

  /// The integer, if the type has it; otherwise one that saturates at 64 bits and then wraps, as numbers do.
  func wrapped<I: BinaryInteger>(_ type: I.Type) -> I {
    let exact =
      isNegative ? I(exactly: saturated(Int128.self)) : I(exactly: saturated(UInt128.self))
    if let exact { return exact }
    return !isNegative && !I.isSigned
      ? I(truncatingIfNeeded: saturated(UInt64.self)) : I(truncatingIfNeeded: saturated(Int64.self))
  }

  private func saturated<I: FixedWidthInteger>(_ type: I.Type) -> I {
    var value: I = 0
    for digit in digits {
      let scaled = value.multipliedReportingOverflow(by: 10)
      let digit = I(digit - UInt8(ascii: "0"))
      let next =
        isNegative
        ? scaled.partialValue.subtractingReportingOverflow(digit)
        : scaled.partialValue.addingReportingOverflow(digit)
      if scaled.overflow || next.overflow { return isNegative ? .min : .max }
      value = next.partialValue
    }
    return value
  }

  private static func digits(_ text: Substring.UTF8View) -> Substring.UTF8View {
    text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func fraction(_ text: Substring.UTF8View) -> Substring.UTF8View {
    guard text.first == UInt8(ascii: ".") else { return text[..<text.startIndex] }
    return text[..<digits(text.dropFirst()).endIndex]
  }

  // The end of the exponent; the start of `text` if there is none.
  private static func exponent(_ text: Substring.UTF8View) -> Substring.Index {
    guard text.first == UInt8(ascii: "e") || text.first == UInt8(ascii: "E") else {
      return text.startIndex
    }
    var rest = text.dropFirst()
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") {
      rest = rest.dropFirst()
    }
    let found = digits(rest)
    return found.isEmpty ? text.startIndex : found.endIndex
  }
}
