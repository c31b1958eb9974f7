/// Names that are no identifiers, `` var `first name` ``: reflection and symbols have them in backticks, with
/// characters that would be taken for parts of the text around them, and with another space in place of
/// each. The key is what is between those.
enum RawIdentifier {
  private static let mark: Character = "`"
  /// What stands for a space.
  private static let space: Character = "\u{A0}"
  /// Where the characters lie that stand for those of ASCII: none is in an identifier.
  private static let masks: UInt32 = 0xF_0000

  /// A text in which names that are no identifiers are without their marks, and without a character that
  /// means something in symbols.
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

  /// A name as it was, of a masked text.
  static func unmasked(_ text: String) -> String {
    guard hasMasks(text) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      result.append(isMask(scalar) ? Unicode.Scalar(scalar.value - masks)! : scalar)
    }
    return String(result)
  }

  /// Whether a part of a masked text has a name that is no identifier.
  static func hasMasks(_ text: some StringProtocol) -> Bool {
    text.unicodeScalars.contains(where: isMask)
  }

  /// A name as symbols have it that are masked.
  static func masked(name: String) -> String {
    isIdentifier(name) ? name : name.map(masked).joined()
  }

  /// A name that reflection tells: without its marks.
  static func bare(_ name: String) -> String {
    guard name.first == mark, name.last == mark, name.count > 2 else { return name }
    return String(name.dropFirst().dropLast().map { $0 == space ? " " : $0 })
  }

  // Of ASCII; what is beyond has no meaning in symbols.
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
  /// A property's name as source text has it.
  var inSource: String { RawIdentifier.isIdentifier(self) ? self : "`\(self)`" }
}
