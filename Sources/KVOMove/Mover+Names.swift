/// The edits of names: attributes of Objective-C, index sets, sums. "The edits", 3, 6 and 7, of MovingOver.
import SwiftSource

extension Mover {
  /// What asks for the runtime of Objective-C is left out, wherever it stands.
  mutating func moveAttributes() {
    for index in tokens.indices {
      if tokens[index].is("@"), ["objc", "objcMembers", "nonobjc"].contains(tokens[index + 1].text)
      {
        guard isInMoved(index) else { continue }
        let hasName = tokens[index + 2].is("(") && tokens[index + 2].leadingTrivia.isEmpty
        remove(index..<(hasName ? file.partner[index + 2]! + 1 : index + 2))
      } else if tokens[index].isWord("dynamic"), isInMoved(index), isModifier(index) {
        remove(index..<index + 1)
      }
    }
  }

  /// `dynamic` is a name, too. One that ends a line stands behind something of its statement: `let old = dynamic`.
  private func isModifier(_ index: Int) -> Bool {
    guard DeclarationReader(tokens, at: index).isModifier(at: index) else { return false }
    return !tokens[index + 1].isFirstOnLine || beginsStatement(file.start(ofDeclarationAt: index))
  }

  private func beginsStatement(_ index: Int) -> Bool {
    guard index > 0 else { return true }
    let before = tokens[index - 1]
    return file.isStatementStart(index) || before.is("{") || before.is("}") || before.is(";")
  }

  /// Whether the class around a token, or behind it, is moved. Protocols and enumerations have nothing to lose.
  private func isInMoved(_ index: Int) -> Bool {
    let around = types.last { $0.open < index && index < $0.close }
    if let around {
      return !around.isClass && !around.isExtension || project.root(of: around) != .other
    }
    guard let next = types.first(where: { $0.keyword > index }) else { return true }
    return !next.isClass && !next.isExtension || project.root(of: next) != .other
  }

  mutating func moveNames() {
    for index in tokens.indices where !file.isImported(index) {
      switch tokens[index].text {
      case "IndexSet" where tokens[index].kind == .identifier && !isCast(to: index):
        needsFoundation = true
      case "NSNull": moveNull(index)
      case "NSObject" where tokens[index].kind == .identifier: moveRoot(index)
      case "indexes" where isOfChange(index): moveIndexes(index)
      case "as": moveCast(index)
      case "setValuesForKeys" where tokens[index + 1].is("("):
        needsFoundation = usesJSON || needsFoundation
      case "dictionaryWithValues": moveDictionary(index)
      case "publisher"
      where tokens[index + 1].is("(") && tokens[index + 2].text == "for"
        && tokens[index + 4].is("\\"):
        find(
          index, "publisher(for:) is there with OpenCombine only",
          "see Documentation/Foundation.md, or observe(\\.key) { … }")
      default: break
      }
    }
  }

  /// The root's name, but for that of an object that is a mere token, and of a class's head, which has been seen to.
  private mutating func moveRoot(_ index: Int) {
    guard !tokens[index + 1].is("("),
      !types.contains(where: { $0.isClass && $0.inherited.first?.tokens.last == index })
    else { return }
    let isQualified = index > 1 && tokens[index - 1].is(".")
    guard !isQualified || TypeDeclaration.Inherited.modules.contains(tokens[index - 2].text) else {
      return
    }
    needsRuntime = true
    replace(isQualified ? index - 2..<index + 1 : index..<index + 1, by: "KVOObject")
  }

  /// What is returned as `[String: Any]` says that the values may be nil.
  private mutating func moveDictionary(_ index: Int) {
    guard tokens[index + 1].is("("), let end = file.partner[index + 1],
      let brace = file.enclosing[index], brace > 5, tokens[end + 1].is("}"),
      file.partner[end + 1] == brace,
      ["[", "String", ":", "Any", "]"] == tokens[brace - 5..<brace].map(\.text),
      tokens[brace - 6].is("->") || tokens[brace - 6].is(":")
    else { return }
    insert(" as [String: Any]", after: end)
  }

  /// A cast to Foundation's set is for a human, who may do without it.
  private func isCast(to index: Int) -> Bool {
    index > 1 && (tokens[index - 1].isWord("as") || tokens[index - 2].isWord("as"))
  }

  private func isOfChange(_ index: Int) -> Bool {
    guard index > 1, tokens[index - 1].is(".") else { return false }
    return tokens[index - 2].text == "change" || tokens[index - 2].text == "$1"
  }

  private mutating func moveIndexes(_ index: Int) {
    guard tokens.contains(where: { $0.text == "IndexSet" }) else { return }
    needsFoundation = true
    replace(index, by: "indexSet")
  }

  // MARK: - Casts of what is read by key

  private mutating func moveCast(_ index: Int) {
    guard index > 1, tokens[index - 1].is(")"), let open = file.partner[index - 1], open > 0 else {
      return
    }
    let isRead = tokens[open - 1].text == "value" && tokens[open + 1].text.hasPrefix("forKey")
    let type =
      tokens[index + 1].text == "!" || tokens[index + 1].text == "?" ? index + 2 : index + 1
    guard isRead else { return }
    let path = keyPath(in: open)
    let last = path?.split(separator: ".").last.map(String.init)
    let isInteger = last.map { isIntegerProperty($0) } ?? false
    switch tokens[type].text {
    case "Double", "Float", "CGFloat":
      if isInteger || last == "@count" {
        find(type, "\(path!) is an integer, which is no \(tokens[type].text)", "Double(… as! Int)")
      } else if path?.contains("@sum") == true, tokens[index + 1].text == "!", isLast(type) {
        // The sum of nothing is an Int.
        replace(index + 1..<type + 1, by: "? \(tokens[type].text) ?? 0")
      }
    case "Int" where path?.contains("@avg") == true:
      find(type, "an average is a Double", "Int(… as! Double)")
    default: break
    }
  }

  private func isLast(_ index: Int) -> Bool {
    let next = tokens[index + 1]
    return file.isStatementStart(index + 1) || next.is(")") || next.is(",") || next.is("}")
      || next.is(";")
      || next.kind == .endOfFile
  }

  private func keyPath(in open: Int) -> String? {
    guard tokens[open + 3].kind == .string else { return nil }
    return tokens[open + 3].text.split(separator: "\"").first.map(String.init)
  }

  private func isIntegerProperty(_ name: String) -> Bool {
    project.dynamicProperties.values.contains { $0[name]?.type == "Int" }
  }
}
