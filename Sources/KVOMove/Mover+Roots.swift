/// Edits of NSObject in the types of variables that take used objects, in the aliases of such types, and in conformances.
/// "The edits", 2, of MovingOver. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Whether NSObject is an element in the type of a variable whose elements are used by key: `[(NSObject, String)]`.
  func isElementUsedByKey(_ first: Int) -> Bool {
    var place = first
    while let open = file.enclosing[place], open > 1, !tokens[open].is("{"),
      let close = file.partner[open], !tokens[close + 1].is("->")
    {
      let before = tokens[open - 1]
      if before.is(":") || before.is("="), tokens[open - 2].kind == .identifier {
        return receiverNames.contains(tokens[open - 2].name)
      }
      guard ["[", "(", "<", ",", ":"].contains(before.text) else { return false }
      place = open
    }
    return false
  }

  /// Whether NSObject is part of a type with an alias, `typealias Row = NSObject & Titled`, whose values are used by key.
  func isAliasUsedByKey(_ first: Int) -> Bool {
    var place = first - 1
    while place > 2, tokens[place].kind == .identifier || ["&", "."].contains(tokens[place].text) {
      place -= 1
    }
    guard place > 1, tokens[place].is("="), tokens[place - 2].isWord("typealias") else {
      return false
    }
    let alias = tokens[place - 1].name
    return project.files.indices.contains { file in
      project.participants.receivers[file]?.contains { name in
        project.names[file].sources[name]?.contains(.type(alias)) ?? false
      } ?? false
    }
  }

  /// Lets KVOObject conform to the protocols of `extension NSObject: Titled {}`, too, since the classes that are moved lose
  /// what they inherit. Lists an extension that has members.
  mutating func conformRoot(extendedAt index: Int) {
    guard index > 0, let type = types.first(where: { $0.isExtension && $0.keyword == index - 1 })
    else { return }
    let names = type.inherited.map(\.name)
    guard !names.isEmpty, names.allSatisfy(project.protocols.contains),
      project.isObjectUsed,
      !project.types.joined().contains(where: { other in
        other.isExtension && other.name == "KVOObject"
          && names.allSatisfy { name in other.inherited.contains { $0.name == name } }
      })
    else { return }
    guard type.close == type.open + 1 else {
      return find(
        index, .refused,
        "a KVOObject does not get the conformance of NSObject to \(names.joined(separator: ", "))",
        "extend KVOObject as well")
    }
    needsRuntime = true
    let start = file.start(ofDeclarationAt: type.keyword)
    let head = file.text(ofTokens: start..<type.keyword + 1)
    let rest = file.text(tokens[index].endOffset..<tokens[type.close].endOffset)
    insert("\(file.lineEnd)\(head) KVOObject\(rest)", after: type.close)
  }
}
