internal import Foundation
internal import KVORuntime

// Conversion of values to those that user defaults can store (R8): texts, numbers, dates, data, and arrays and
// dictionaries of them.

enum PropertyList {
  /// A value that can be stored, or the words for an error about the part that can't be.
  enum Form {
    case value(Any)
    case fault(String)
  }

  /// The form in which a value is stored: an enumeration or option set as its raw value, a URL as it is. Nil for nil and
  /// `NSNull`.
  static func form(_ value: Any?) -> Form? {
    guard let value = content(value) else { return nil }
    return value is URL || objectCast(value, to: NSURL.self) != nil ? .value(value) : member(value)
  }

  /// The form in which a value is stored, or the value itself if it has none.
  static func stored(_ value: Any) -> Any {
    guard case .value(let form)? = form(value) else { return value }
    return form
  }

  // Nil and `NSNull` have no form in a property list.
  private static func content(_ value: Any?) -> Any? {
    guard let value = value.flatMap(flattened).map(ValueConversion.base),
      objectCast(value, to: NSNull.self) == nil
    else { return nil }
    return ValueConversion.rawValue(of: value) ?? value
  }

  private static func member(_ value: Any) -> Form {
    if let pairs = AnyPairs(value) { return dictionary(pairs, of: value) }
    if let elements = AnyElements(value), elements.isOrdered { return array(elements, of: value) }
    if let text = text(value) { return .value(text) }
    // swift-corelibs-foundation accepts a `CGFloat`, and stops the program when it stores it.
    if type(of: value) == CGFloat.self, let real = value as? CGFloat { return .value(Double(real)) }
    // It stores a decimal number as an integer.
    if type(of: value) == Decimal.self || objectCast(value, to: NSDecimalNumber.self) != nil,
      let number = Number(value)
    {
      let integer = number.integer(Int.self)
      return .value(number == .integer(integer) ? integer : number.real(Double.self) as Any)
    }
    return isStored(value) ? .value(value) : .fault(typeName(of: value))
  }

  private static func array(_ elements: AnyElements, of value: Any) -> Form {
    var members: [Any] = []
    for (index, element) in elements.all.enumerated() {
      switch content(element).map(member) ?? .fault("nil") {
      case .value(let member): members.append(member)
      case .fault(let fault):
        return .fault("\(typeName(of: value)), whose element \(index) is \(fault)")
      }
    }
    return .value(members)
  }

  // A key whose value is nil is left out.
  private static func dictionary(_ pairs: AnyPairs, of value: Any) -> Form {
    var members: [String: Any] = [:]
    for pair in pairs.all {
      let key = ValueConversion.base(of: pair.key)
      guard let name = text(key) else {
        return .fault(
          "\(typeName(of: value)), with the key \(String(reflecting: key)) of type \(typeName(of: key))"
        )
      }
      switch content(pair.value).map(member) {
      case nil: continue
      case .value(let member)?: members[name] = member
      case .fault(let fault)?:
        return .fault("\(typeName(of: value)), whose key \(quoted(name)) is \(fault)")
      }
    }
    return .value(members)
  }

  private static func text(_ value: Any) -> String? {
    switch value {
    case let text as String: text
    case let text as Substring: String(text)
    case let character as Character: String(character)
    default: objectCast(value, to: NSString.self).map { $0 as String }
    }
  }

  private static func isStored(_ value: Any) -> Bool {
    if type(of: value) is AnyClass {
      return value is NSNumber || value is NSDate || value is NSData
    }
    return value is Data || value is Date || isNumber(value)
  }

  // The numbers of which Foundation can make objects. The type decides, not the value.
  static func isNumber(_ value: Any) -> Bool {
    let types: [Any.Type] = [
      Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self,
      UInt16.self, UInt32.self, UInt64.self, Float.self, Double.self, Decimal.self,
    ]
    return types.contains { $0 == type(of: value) }
  }
}
