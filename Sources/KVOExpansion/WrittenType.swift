internal import SwiftSource

/// A type as a source writes it. Only names from Swift's standard library identify a type: any other name may be a
/// type alias.

struct WrittenType: Hashable {
  /// The type without `Swift.`, without parentheses around all of it, and without white space, except between words.
  let text: String

  init(_ source: String) {
    let conventions = ["borrowing", "consuming", "sending", "__owned", "__shared"]
    var words = LexedSource(source).tokens.map(\.text)[...]
    while let first = words.first, conventions.contains(first) { words.removeFirst() }
    var text = ""
    while let word = words.popFirst() {
      if word == "Swift", words.first == "." {
        words.removeFirst()
      } else {
        text += text.endsInWord && word.beginsWithWord ? " " + word : word
      }
    }
    self.text =
      Self.inside("(", ")", of: text).flatMap { $0.isEmpty ? nil : WrittenType($0).text } ?? text
  }

  // MARK: - Parts

  /// `Song` of `[Song]` and `Array<Song>`, but not of `[Int: Song]`.
  var elementOfArray: WrittenType? {
    inside("[", "]") ?? inside("Array<", ">") ?? inside("ContiguousArray<", ">")
  }
  var elementOfSet: WrittenType? { inside("Set<", ">") }
  var wrapped: WrittenType? {
    text.hasSuffix("?") || text.hasSuffix("!")
      ? WrittenType(String(text.dropLast())) : inside("Optional<", ">")
  }
  private var bound: WrittenType? { inside("RangeSet<", ">") }

  private static let parts = [\Self.elementOfArray, \.elementOfSet, \.wrapped, \.bound]

  private func inside(_ open: String, _ close: Character) -> WrittenType? {
    Self.inside(open, close, of: text).map { WrittenType($0) }
  }

  /// The text between an opening bracket at the beginning and its closing bracket at the end, if it is a single type.
  private static func inside(_ open: String, _ close: Character, of text: String) -> String? {
    guard text.hasPrefix(open), text.last == close else { return nil }
    let inner = String(text.dropFirst(open.count).dropLast())
    var depth = 0
    for character in inner.replacing("->", with: "") {
      if "<([".contains(character) { depth += 1 }
      if ">)]".contains(character) { depth -= 1 }
      if depth < 0 || depth == 0 && ":,".contains(character) { return nil }
    }
    return inner
  }

  // MARK: - Comparing

  private static let names: Set<String> = [
    "Any", "AnyObject", "Array", "Bool", "Character", "ClosedRange", "ContiguousArray",
    "Dictionary", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "Never",
    "Optional", "Range", "RangeSet", "Set", "String", "Substring", "UInt", "UInt8", "UInt16",
    "UInt32", "UInt64", "UInt128", "Void",
  ]

  var isKnown: Bool {
    guard let last = text.last, text.beginsWithWord else { return true }  // in brackets
    return "?!".contains(last) || text.contains("->") || text.hasPrefix("any ")
      || Self.names.contains(String(text.prefix { $0 != "<" }))
  }

  /// Whether it is the type of values of any type, or of any that conforms to a protocol.
  var isExistential: Bool {
    ["Any", "AnyObject"].contains(text) || text.hasPrefix("any ") || isComposed
      || wrapped?.isExistential == true
  }

  /// Whether it is composed of protocols: `Any & Sendable`.
  private var isComposed: Bool {
    let names = text.split(separator: "&", omittingEmptySubsequences: false)
    return names.count > 1 && names.allSatisfy { $0.allSatisfy { $0.isPartOfWord || $0 == "." } }
  }

  /// Whether it may be that type: true unless this type is known and differs.
  func mayBe(_ type: WrittenType) -> Bool {
    if self == type || !isKnown { return true }
    return parts(with: type).contains { own, other in own.mayBe(other) }
  }

  /// Whether a parameter of this type accepts values of the other: the types have the same name, or neither name
  /// is known, so that this one may be a superclass or protocol of the other.
  func mayTake(_ value: WrittenType) -> Bool {
    if self == value || !isKnown && !value.isKnown { return true }
    if isExistential || text == "AnyHashable" { return true }
    return wrapped?.mayTake(value) == true
      || parts(with: value).contains { own, other in own.mayTake(other) }
  }

  /// The parts of both types, if they are composed in the same way.
  private func parts(with other: WrittenType) -> [(WrittenType, WrittenType)] {
    Self.parts.compactMap { part in
      guard let own = self[keyPath: part], let its = other[keyPath: part] else { return nil }
      return (own, its)
    }
  }
}

extension String {
  fileprivate var beginsWithWord: Bool { first?.isPartOfWord == true }
  fileprivate var endsInWord: Bool { last?.isPartOfWord == true }
}

extension Character {
  fileprivate var isPartOfWord: Bool { isLetter || isNumber || self == "_" || self == "`" }
}
