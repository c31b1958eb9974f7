/// Edits of what a class overrides of NSObject's identity: `isEqual`, `hash`, `description`. No rule of Behaviour is kept
/// here.
import SwiftSource

extension Mover {
  /// Edits `isEqual`, `hash` and `description`.
  mutating func moveIdentity(_ type: TypeDeclaration) {
    for method in type.methods
    where method.name == "isEqual" && method.modifiers.contains("override") {
      let parameters = method.parameters + 1..<file.partner[method.parameters]!
      guard let any = parameters.first(where: { tokens[$0].text == "Any" }) else { continue }
      replace(any..<parameters.upperBound, by: "KVOObject")
    }
    for method in type.methods
    where method.modifiers.contains("override") && Self.methodsOfRoot.contains(method.name) {
      let above = project.ancestors(of: type).classes
      guard !above.contains(where: { $0.methods.contains { $0.name == method.name } }) else {
        continue
      }
      report(
        method.keyword, .refused, "a KVOObject has no \(method.name) to be overridden",
        "declare it without override, or delete it")
    }
    for property in type.properties where property.modifiers.contains("override") {
      if property.name == "hash" { moveHash(property) }
      if Self.descriptions.contains(property.name) {
        moveDescription(property, in: type)
      }
    }
  }

  /// Methods of NSObject that are no identity's, and that subclasses override.
  private static let methodsOfRoot: Set = [
    "copy", "mutableCopy", "responds", "isKind", "isMember", "conforms", "perform",
    "forwardingTarget", "doesNotRecognizeSelector", "awakeFromNib", "awakeAfter",
    "replacementObject",
  ]

  private mutating func moveHash(_ property: PropertyDeclaration) {
    guard let brace = property.brace, let end = file.partner[brace], brace + 1 < end else { return }
    let isReturned = tokens[brace + 1].isWord("return")
    let first = isReturned ? brace + 2 : brace + 1
    if property.accessors.isEmpty, moveHasher(property, brace + 1..<end) { return }
    guard property.accessors.isEmpty, file.isOneStatement(first..<end),
      !tokens[first..<end].contains(where: { $0.isWord("super") })
    else {
      report(
        property.keyword, .refused, "hash is a function here",
        "override func hash(into hasher: inout Hasher)"
      )
      return
    }
    replace(property.keyword..<brace, by: "func hash(into hasher: inout Hasher)")
    if isReturned { remove(brace + 1..<first) }
    insert("hasher.combine(", before: first)
    insert(")", after: end - 1)
  }

  /// Makes a moved object's `hash` its `hashValue`: `hash == other.hash`.
  mutating func moveHash(readAt index: Int) {
    let isKey = file.enclosing[index].map { tokens[$0].is("[") } ?? false
    guard index > 1, !tokens[index + 1].is("("), isKey || !tokens[index + 1].is(":") else { return }
    if tokens[index - 1].is("."), tokens[index - 2].is("\\") || tokens[index - 2].isWord("super") {
      return report(index, .refused, "a KVOObject has no hash to be read", "hashValue")
    }
    let body = function(around: index) ?? 0..<0
    let isVariable = (file.head(ofBlock: body.lowerBound)..<max(body.upperBound, index + 1))
      .contains {
        tokens[$0].text == "hash" && $0 != index && $0 > 0
          && (tokens[$0 + 1].is(":")
            || ["let", "var", "func", "case", "for"].contains(tokens[$0 - 1].text))
      }
    guard tokens[index - 1].is(".") || !isVariable,
      case .classes(let found) = project.receiver(ofCallAt: index, in: self.index),
      !found.isEmpty, found.allSatisfy({ project.root(of: $0) == .object })
    else { return }
    replace(index, by: "hashValue")
  }

  /// `var hasher = Hasher()`, statements, `return hasher.finalize()`: the hasher is the parameter here.
  private mutating func moveHasher(_ property: PropertyDeclaration, _ body: Range<Int>) -> Bool {
    let first = body.lowerBound
    let last = body.upperBound - 6
    guard body.count > 12, tokens[first].isWord("var"), tokens[first + 2].is("="),
      tokens[first + 3].text == "Hasher", tokens[first + 4].is("("), tokens[first + 5].is(")"),
      tokens[last].isWord("return"), tokens[last + 1].name == tokens[first + 1].name,
      tokens[last + 3].text == "finalize", !tokens[first + 6].is(";"),
      !(first..<last).contains(where: { tokens[$0].isWord("return") || tokens[$0].isWord("super") })
    else { return false }
    let name = tokens[first + 1].name
    replace(property.keyword..<first - 1, by: "func hash(into \(name): inout Hasher)")
    remove(first..<first + 6)
    replaceWithSpace(last..<body.upperBound, by: "")
    return true
  }

  private mutating func moveDescription(_ property: PropertyDeclaration, in type: TypeDeclaration) {
    let above = project.ancestors(of: type).classes
    if above.contains(where: { $0.properties.contains { $0.name == property.name } }) { return }
    for index in property.start..<property.keyword where tokens[index].isWord("override") {
      remove(index..<index + 1)
    }
    let name =
      property.name == "description" ? "CustomStringConvertible" : "CustomDebugStringConvertible"
    if !type.inherited.contains(where: { $0.name == name }) {
      insert((type.inherited.isEmpty ? ": " : ", ") + name, after: endOfHead(type))
    }
  }

  static let descriptions: Set = ["description", "debugDescription"]
}
