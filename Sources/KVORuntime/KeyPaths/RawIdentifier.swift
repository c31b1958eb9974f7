/// Raw identifiers, such as `` var `first name` ``. Reflection and symbols put them in backticks and replace
/// each space; other characters in them look like syntax of the text around them. The key is the text between
/// the backticks.
enum RawIdentifier {
  private static let mark: Character = "`"
  /// The character that replaces a space.
  private static let space: Character = "\u{A0}"
  /// The private-use characters that replace ASCII ones are from here on. No identifier contains them.
  private static let masks: UInt32 = 0xF_0000

  /// The text with each raw identifier masked: without backticks, and with its ASCII characters that have a
  /// meaning in symbols replaced.
  static func masked(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "`")) else { return text }
    var (result, isInside) = ("", false)
    for character in text {
      if character == mark {
        isInside.toggle()
      } else if isInside {
        result += masked(character)
      } else {
        result.append(character)
      }
    }
    return result
  }

  /// The original name, from a masked one.
  static func unmasked(_ text: String) -> String {
    guard hasMasks(text) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      result.append(isMask(scalar) ? Unicode.Scalar(scalar.value - masks)! : scalar)
    }
    return String(result)
  }

  /// Whether a part of a masked text contains a raw identifier.
  static func hasMasks(_ text: some StringProtocol) -> Bool {
    text.unicodeScalars.contains(where: isMask)
  }

  /// The name in the form that masked symbols have.
  static func masked(name: String) -> String {
    isIdentifier(name) ? name : name.map(masked).joined()
  }

  /// A name from reflection, without its backticks.
  static func bare(_ name: String) -> String {
    guard name.first == mark, name.last == mark, name.count > 2 else { return name }
    return String(name.dropFirst().dropLast().map { $0 == space ? " " : $0 })
  }

  // Only ASCII matters; other characters have no meaning in symbols.
  fileprivate static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.utf8.first, !isDigit(first) else { return false }
    return name.utf8.allSatisfy { $0 >= 128 || isOfIdentifier($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isOfIdentifier(_ byte: UInt8) -> Bool {
    let letter = byte | 32
    return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) || isDigit(byte)
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
  }

  private static func masked(_ character: Character) -> String {
    let character = character == space ? " " : character
    guard let byte = character.asciiValue, !isOfIdentifier(byte) else { return String(character) }
    return String(Unicode.Scalar(masks + UInt32(byte))!)
  }

  private static func isMask(_ scalar: Unicode.Scalar) -> Bool {
    (masks..<masks + 128).contains(scalar.value)
  }
}

extension String {
  /// The property's name as in source text, in backticks if needed.
  var inSource: String { RawIdentifier.isIdentifier(self) ? self : "`\(self)`" }
}
