/// Edits for `@KVO` besides the attribute itself: properties that the macro can't observe are marked, and
/// declarations of several variables are split. No rule of Behaviour is kept here. Documentation/Macro.md describes
/// which properties the macro observes.
import SwiftSource

extension Mover {
  /// Whether a class, or the class of an extension, is or will be marked `@KVO`.
  func usesMacro(_ type: TypeDeclaration) -> Bool {
    guard style == .macro, project.root(of: type) != .other else { return false }
    guard let declaration = project.declaration(of: type) else { return false }
    if declaration.attributes.contains("KVO") { return true }
    let isNew = !["KVOObject", "KVOOperation"].contains(project.ancestors(of: type).root)
    return declaration.properties.contains {
      $0.isDynamic || isNew && isOverrideWithObservers($0, in: type)
    }
  }

  // The macro runs the override's `willSet` and `didSet` inside the change that the superclass's property makes.
  private func isOverrideWithObservers(
    _ property: PropertyDeclaration, in type: TypeDeclaration
  ) -> Bool {
    property.modifiers.contains("override") && property.brace != nil && !property.isComputed
      && isObservable(property.name, above: type)
  }

  /// Whether a stored property can have none of the macro's attributes, `@Observed` included.
  func takesNone(_ property: PropertyDeclaration) -> Bool { obstacle(to: property) != nil }

  private func obstacle(to property: PropertyDeclaration) -> String? {
    let modifiers = property.modifiers
    if let wrapper = wrapper(of: property) { return "has \(wrapper)" }
    if modifiers.contains("lazy") { return "is lazy" }
    return modifiers.contains { $0.hasPrefix("nonisolated") } ? "is nonisolated" : nil
  }

  /// Attributes with a capital initial that are neither wrappers nor obstacles. All others are taken for wrappers or
  /// macros.
  private static let harmless: Set = [
    "@MainActor", "@IBOutlet", "@IBInspectable", "@GKInspectable", "@NSManaged", "@NSCopying",
    "@KVOIgnored", "@KVOTracked", "@Observed", "@KVOAccessed",
  ]

  private func wrapper(of property: PropertyDeclaration) -> String? {
    property.modifiers.sorted().first {
      $0.first == "@" && $0.dropFirst().first?.isUppercase == true && !Self.harmless.contains($0)
    }
  }

  /// The function that makes a body an automatic change.
  var automatic: String { "withAutomaticChange" }

  /// Marks the properties that were not observable, and those that the macro would warn about or refuse.
  mutating func leaveOut(_ type: TypeDeclaration) {
    // In a class that already has the macro, properties without a mark are observable.
    let isMarked = type.attributes.contains("KVO")
    for property in type.properties
    where !property.isStatic && !property.isConstant && !property.modifiers.contains("@KVOIgnored")
    {
      if property.isComputed {
        if !isMarked, !property.isDynamic, !property.modifiers.contains("override"),
          notifiesNoObserver(property, in: type)
        {
          ignore(property)
        }
        continue
      }
      let isObservable =
        property.isDynamic || property.modifiers.contains("@Observed")
        || property.modifiers.contains("override") && isObservable(property.name, above: type)
      guard let why = obstacle(to: property) else {
        if !isMarked, !isObservable { ignore(property) }
        continue
      }
      ignore(property)
      if property.isDynamic {
        report(
          property.keyword, .differs, "\(property.name) \(why), and is not observed",
          "change it inside withChange(forKey: \"\(property.name)\") { … }; "
            + "to observe \\.\(property.name), declare keys.stored(\"\(property.name)\", \\.\(property.name))"
        )
      }
    }
    if !isMarked { leaveOutPatterns(type) }
  }

  /// Reports an extension for which the compiler would write coding methods. In a `@KVO` class it refuses that.
  mutating func lookAtCoding(_ type: TypeDeclaration) {
    guard type.isExtension, usesMacro(type), !type.methods.contains(where: { $0.name == "encode" })
    else { return }
    for inherited in type.inherited
    where ["Codable", "Encodable", "Decodable"].contains(inherited.name) {
      report(
        inherited.tokens.lowerBound, .refused,
        "an extension can't make a @KVO class \(inherited.name) without methods of its own",
        "declare it, and CodingKeys, in \(type.name) itself")
    }
  }

  /// Whether a setter announces nothing and sets nothing observable that the getter reads, so that the macro would warn
  /// about it.
  private func notifiesNoObserver(_ property: PropertyDeclaration, in type: TypeDeclaration) -> Bool
  {
    guard let brace = property.accessors["set"], let end = file.partner[brace] else { return false }
    return !(brace..<end).contains { announces($0, property.name) }
      && Set(observableNames(readBy: property, in: type))
        .isDisjoint(with: members(reachedFrom: brace, in: type))
  }

  /// Whether a name does not belong to another object: it begins an expression or follows `self.`.
  func isRoot(_ index: Int) -> Bool {
    !tokens[index - 1].is(".") || tokens[index - 2].isWord("self")
  }

  func isAssigned(_ index: Int) -> Bool {
    if tokens[index - 1].is("&") { return tokens[index].leadingTrivia.isEmpty }
    let (before, next) = (tokens[index - 1], tokens[index + 1])
    return next.kind == .operator && next.text.hasSuffix("=")
      && !["==", "!=", "<=", ">=", "===", "!=="].contains(next.text)
      && !before.isWord("let") && !before.isWord("var")
  }

  /// Whether `willChangeValue(forKey: "size")` begins at this token, in any spelling of the key.
  func announcesByHand(_ index: Int, of key: String) -> Bool {
    announces(index, key, by: ["willChangeValue", "withChange"])
  }

  /// Whether a call that announces a change of the key begins at this token.
  func announces(
    _ index: Int, _ key: String,
    by calls: Set<String> = ["willChangeValue", "withChange", "withAutomaticChange"]
  ) -> Bool {
    guard calls.contains(tokens[index].text), isRoot(index), tokens[index + 1].is("("),
      let end = file.closing(of: index + 1)
    else { return false }
    return tokens[index + 2..<end].contains { $0.text == "\"\(key)\"" || $0.name == key }
  }

  /// Marks declarations with a tuple pattern: `var (width, height) = size`.
  private mutating func leaveOutPatterns(_ type: TypeDeclaration) {
    for index in type.open + 1..<type.close
    where file.enclosing[index] == type.open && tokens[index].isWord("var")
      && tokens[index + 1].is("(")
    {
      let start = file.start(ofDeclarationAt: index)
      if !tokens[start..<index].contains(where: {
        ["static", "class", "KVOIgnored"].contains($0.text)
      }) {
        insert("@KVOIgnored ", before: start)
      }
    }
  }

  private mutating func ignore(_ property: PropertyDeclaration) {
    insert("@KVOIgnored ", before: property.start)
  }

  // MARK: - Several variables in one declaration

  /// Splits a declaration of several variables, such as `var width = 0, height = 0`.
  mutating func split(_ property: PropertyDeclaration, in type: TypeDeclaration) {
    let bindings = property.bindings
    guard bindings.count > 1, !property.isConstant, !property.isStatic,
      usesMacro(type) || property.isDynamic
    else { return }
    guard bindings.allSatisfy({ $0.name != nil }) else {
      report(
        property.keyword, .refused,
        "\(property.name) is declared with a pattern of several variables",
        "declare each by itself")
      return
    }
    let isIgnored = usesMacro(type) && !property.isDynamic && !type.attributes.contains("KVO")
    let words = isIgnored ? ["@KVOIgnored"] : style == .wrapper ? ["@Observed"] : []
    let prefix = (words + keptModifiers(of: property) + ["var "]).joined(separator: " ")
    for (index, next) in bindings.indices.dropFirst().map({ ($0 - 1, bindings[$0].place) }) {
      let comma = next - 1
      // A variable without type and value has the type of the next variable that has one.
      if bindings[index].place + 1 == comma,
        let type = bindings[index...].lazy.compactMap(\.type).first
      {
        insert(": " + type, after: comma - 1)
      }
      replace(comma, by: "")
      replaceSpace(before: next, by: file.lineEnd + file.indentation(of: property.start) + prefix)
    }
  }

  /// The attributes and modifiers to keep.
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
