/// The part of JSON that compiler and plugin exchange. It does without Foundation, which would otherwise be loaded in
/// every build of a program that uses the macro.

package enum JSON: Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var int: Int? {
    guard case .number(let number) = self else { return nil }
    return Int(exactly: number)
  }
}

// MARK: - Reading

extension JSON {
  /// Nil if the bytes are not JSON.
  init?(_ bytes: [UInt8]) {
    var parser = Parser(bytes: bytes)
    guard let value = parser.value(depth: 0) else { return nil }
    parser.skipSpace()
    guard parser.isAtEnd else { return nil }
    self = value
  }

  private struct Parser {
    let bytes: [UInt8]
    var position = 0
    /// No message of the compiler nests deeper.
    static let mostDepth = 512

    var isAtEnd: Bool { position == bytes.count }
    private var byte: UInt8 { isAtEnd ? 0 : bytes[position] }

    mutating func skipSpace() {
      while [UInt8(ascii: " "), 9, 10, 13].contains(byte) { position += 1 }
    }

    private mutating func skip(_ text: StaticString) -> Bool {
      let end = position + text.utf8CodeUnitCount
      guard end <= bytes.count else { return false }
      for index in position..<end where bytes[index] != text.utf8Start[index - position] {
        return false
      }
      position = end
      return true
    }

    mutating func value(depth: Int) -> JSON? {
      guard depth < Self.mostDepth else { return nil }
      skipSpace()
      switch byte {
      case UInt8(ascii: "{"): return object(depth: depth)
      case UInt8(ascii: "["): return array(depth: depth)
      case UInt8(ascii: "\""): return text().map(JSON.string)
      case UInt8(ascii: "t"): return skip("true") ? .bool(true) : nil
      case UInt8(ascii: "f"): return skip("false") ? .bool(false) : nil
      case UInt8(ascii: "n"): return skip("null") ? .null : nil
      default: return number()
      }
    }

    private mutating func number() -> JSON? {
      let start = position
      while "+-.eE0123456789".utf8.contains(byte) { position += 1 }
      return Double(String(decoding: bytes[start..<position], as: UTF8.self)).map(JSON.number)
    }

    private mutating func array(depth: Int) -> JSON? {
      position += 1
      var elements: [JSON] = []
      skipSpace()
      if skip("]") { return .array([]) }
      while let element = value(depth: depth + 1) {
        elements.append(element)
        skipSpace()
        if skip("]") { return .array(elements) }
        guard skip(",") else { return nil }
      }
      return nil
    }

    private mutating func object(depth: Int) -> JSON? {
      position += 1
      var members: [String: JSON] = [:]
      skipSpace()
      if skip("}") { return .object([:]) }
      while true {
        skipSpace()
        guard byte == UInt8(ascii: "\""), let name = text() else { return nil }
        skipSpace()
        guard skip(":"), let member = value(depth: depth + 1) else { return nil }
        members[name] = member
        skipSpace()
        if skip("}") { return .object(members) }
        guard skip(",") else { return nil }
      }
    }

    private mutating func text() -> String? {
      position += 1
      var text: [UInt8] = []
      while !isAtEnd {
        let next = byte
        position += 1
        if next == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
        guard next == UInt8(ascii: "\\") else {
          text.append(next)
          continue
        }
        guard let scalar = escaped() else { return nil }
        text += Array(String(scalar).utf8)
      }
      return nil
    }

    private mutating func escaped() -> Unicode.Scalar? {
      let kind = byte
      position += 1
      switch kind {
      case UInt8(ascii: "n"): return "\n"
      case UInt8(ascii: "t"): return "\t"
      case UInt8(ascii: "r"): return "\r"
      case UInt8(ascii: "b"): return "\u{8}"
      case UInt8(ascii: "f"): return "\u{C}"
      case UInt8(ascii: "u"): return unicode()
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
      default: return nil
      }
    }

    private mutating func unicode() -> Unicode.Scalar? {
      guard let first = unit() else { return nil }
      guard first >= 0xD800, first < 0xDC00 else { return Unicode.Scalar(first) }
      guard skip("\\u"), let second = unit(), second >= 0xDC00, second < 0xE000 else { return nil }
      return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func unit() -> UInt32? {
      guard position + 4 <= bytes.count else { return nil }
      let digits = String(decoding: bytes[position..<position + 4], as: UTF8.self)
      position += 4
      return UInt32(digits, radix: 16)
    }
  }
}

// MARK: - Writing

extension JSON {
  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let value): Int(exactly: value).map(String.init) ?? String(value)
    case .string(let value): Self.quoted(value)
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }
        .map { Self.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ value: String) -> String {
    var text = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\u{0}"..<" ":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
