/// Raw identifiers, such as `` var `first name` ``. Reflection puts them in backticks and replaces each space. The
/// key is the text between the backticks.
enum RawIdentifier {
  private static let mark: Character = "`"
  /// The character that replaces a space.
  private static let space: Character = "\u{A0}"

  /// A name from reflection, without its backticks.
  static func bare(_ name: String) -> String {
    guard name.first == mark, name.last == mark, name.count > 2 else { return name }
    return String(name.dropFirst().dropLast().map { $0 == space ? " " : $0 })
  }

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
}

extension String {
  /// The property's name as in source text, in backticks if needed.
  var inSource: String { RawIdentifier.isIdentifier(self) ? self : "`\(self)`" }
}
