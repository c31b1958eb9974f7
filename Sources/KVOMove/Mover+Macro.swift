/// What `@KVO` needs beside the class's head: properties that it can't observe are marked, and those of one declaration
/// are declared each by itself. No rule of Behaviour is kept here; what the macro takes is said in Documentation/Macro.md.
import SwiftSource

extension Mover {
  /// Whether a class, or the class of an extension, is marked `@KVO`.
  func usesMacro(_ type: TypeDeclaration) -> Bool {
    guard style == .macro, project.root(of: type.name) != .other else { return false }
    return project.declaration(of: type.name)?.properties.contains(where: \.isDynamic) ?? false
  }

  /// Whether a stored property takes neither `@Observed` nor another of the macro's attributes.
  func takesNone(_ property: PropertyDeclaration) -> Bool {
    let isReference = property.modifiers.contains { $0 == "weak" || $0.hasPrefix("unowned") }
    return property.modifiers.contains { $0 == "lazy" || $0.hasPrefix("nonisolated") }
      || wrapper(of: property) != nil || isReference && property.brace != nil
  }

  /// Attributes whose names begin with a capital letter are wrappers or macros, but for these.
  private static let harmless: Set = [
    "@MainActor", "@IBOutlet", "@IBInspectable", "@GKInspectable", "@NSManaged", "@NSCopying",
    "@KVOIgnored", "@KVOTracked", "@Observed", "@KVOReference",
  ]

  private func wrapper(of property: PropertyDeclaration) -> String? {
    property.modifiers.sorted().first {
      $0.first == "@" && $0.dropFirst().first?.isUppercase == true && !Self.harmless.contains($0)
    }
  }

  /// Marks what the macro would warn of, or refuse.
  mutating func leaveOut(_ type: TypeDeclaration) {
    for property in type.properties
    where !property.isStatic && !property.isConstant && !property.modifiers.contains("@KVOIgnored")
    {
      if property.isComputed {
        if !property.isDynamic, setsConstant(property, in: type) { ignore(property) }
        continue
      }
      guard takesNone(property) else { continue }
      ignore(property)
      if property.isDynamic {
        let why =
          wrapper(of: property).map { "has \($0)" }
          ?? "is lazy, nonisolated, or a reference with observers"
        find(
          property.keyword, "\(property.name) \(why), and is not observed",
          "change it inside withChange(forKey: \"\(property.name)\") { … }")
      }
    }
    leaveOutPatterns(type)
  }

  /// Whether a setter sets part of what a constant leads to, and nothing that is observable: it told nobody there either.
  private func setsConstant(_ property: PropertyDeclaration, in type: TypeDeclaration) -> Bool {
    guard let brace = property.accessors["set"], let end = file.partner[brace] else { return false }
    let names = Set(tokens[brace + 1..<end].map(\.text))
    let constants = type.properties.filter { $0.isConstant && !$0.isStatic }.map(\.name)
    return !names.isDisjoint(with: constants) && names.isDisjoint(with: observableNames(in: type))
  }

  /// `var (width, height) = size`.
  private mutating func leaveOutPatterns(_ type: TypeDeclaration) {
    for index in type.open + 1..<type.close
    where file.enclosing[index] == type.open && tokens[index].isWord("var")
      && tokens[index + 1].is("(")
    {
      let (start, modifiers) = file.modifiers(before: index)
      if modifiers.isDisjoint(with: ["static", "class", "@KVOIgnored"]) {
        insert("@KVOIgnored ", before: start)
      }
    }
  }

  private mutating func ignore(_ property: PropertyDeclaration) {
    insert("@KVOIgnored ", before: property.start)
  }

  // MARK: - Several variables in one declaration

  /// Declares each of the variables of one declaration by itself: `var width = 0, height = 0`.
  mutating func split(_ property: PropertyDeclaration, in type: TypeDeclaration) {
    guard !property.isConstant, !property.isStatic, property.brace == nil,
      usesMacro(type) || property.isDynamic
    else { return }
    let commas = commas(after: property.keyword)
    guard !commas.isEmpty,
      commas.allSatisfy({ tokens[$0 + 1].leadingTrivia.allSatisfy(\.isWhitespace) })
    else { return }
    let words = style == .wrapper && property.isDynamic ? ["@Observed"] : []
    let prefix = (words + keptModifiers(of: property) + ["var "]).joined(separator: " ")
    let names = [property.keyword + 1] + commas.map { $0 + 1 }
    for (index, comma) in commas.enumerated() {
      // One without type and value has the type of the next one with a type.
      if names[index] + 1 == comma,
        let typed = names[index...].first(where: { tokens[$0 + 1].is(":") })
      {
        insert(": " + file.text(ofTokens: file.typeTokens(after: typed + 1)), after: comma - 1)
      }
      let separator = file.lineEnd + file.indentation(of: property.start)
      edits.append(Edit(tokens[comma].offset..<tokens[comma + 1].offset, separator + prefix))
    }
  }

  private func commas(after keyword: Int) -> [Int] {
    var (commas, index, angles) = ([Int](), keyword + 1, 0)
    while index < tokens.count, tokens[index].kind != .endOfFile {
      let token = tokens[index]
      if token.is("}") || token.is(";") || file.isStatementStart(index) { break }
      if token.kind == .operator, token.text != "->" {
        angles += token.text.count { $0 == "<" } - token.text.count { $0 == ">" }
      }
      if token.is(","), angles == 0 {
        guard tokens[index + 1].kind == .identifier else { return [] }
        commas.append(index)
      }
      index = (file.partner[index].map { $0 > index ? $0 : index } ?? index) + 1
    }
    return commas
  }

  /// The attributes and modifiers that stay.
  private func keptModifiers(of property: PropertyDeclaration) -> [String] {
    var (words, index) = ([String](), property.start)
    while index < property.keyword {
      let isAttribute = tokens[index].is("@")
      var end = isAttribute ? index + 2 : index + 1
      if tokens[end].is("("), let close = file.partner[end] { end = close + 1 }
      let name = tokens[isAttribute ? index + 1 : index].text
      if !["objc", "nonobjc", "dynamic"].contains(name) {
        words.append(file.text(ofTokens: index..<end))
      }
      index = end
    }
    return words
  }
}
