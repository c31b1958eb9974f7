/// Edits of NSObject in the types of variables that take used objects, in the aliases of such types, and in conformances.
/// Edit 2 of MovingOver.md. No rule of Behaviour is kept here.
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
      return report(
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

  /// Lists an extension of NSObject that becomes one of KVOObject, and has a member that the sources use of another object.
  mutating func lookAtUses(ofExtensionAt keyword: Int) {
    guard let type = types.first(where: { $0.keyword == keyword }) else { return }
    let names = Set(type.methods.map(\.name) + type.properties.map(\.name))
    for (number, source) in project.files.enumerated() {
      for use in source.tokens.indices.dropFirst()
      where names.contains(source.tokens[use].name) && source.tokens[use - 1].is(".") {
        guard case .foreign(let types) = project.receiver(ofCallAt: use, in: number),
          let other = types.first(where: {
            project.replacedTypes[$0] == nil && !Project.values.contains($0)
          }),
          !project.declaredElsewhere(source.tokens[use].name, than: type)
        else { continue }
        return report(
          keyword, .refused, "a \(other) has no \(source.tokens[use].name) any more",
          "extend NSObject as well by what it needs")
      }
    }
  }

  /// Lists a function's parameter that becomes a KVOObject, if a call passes an object of Foundation's.
  mutating func lookAtArguments(takenAt index: Int) {
    guard let brace = brace(behind: index), case .function = file.blocks[brace],
      let name = function(constrainedAt: index), name != "init",
      let open = (file.head(ofBlock: brace)..<brace).first(where: { tokens[$0].is("(") }),
      let close = file.partner[open]
    else { return }
    let generic = index < open ? tokens[index - 2].name : "NSObject"
    let parameter = (open..<close).first { tokens[$0].name == generic && tokens[$0 - 1].is(":") }
    let commas = (open..<(parameter ?? open)).count {
      tokens[$0].is(",") && file.enclosing[$0] == open
    }
    for (number, source) in project.files.enumerated() {
      for call in source.tokens.indices.dropFirst()
      where source.tokens[call].name == name && !source.tokens[call - 1].isWord("func") {
        guard let end = source.closing(of: call + 1) else { continue }
        let ends = (call + 2..<end + 1).filter {
          $0 == end || source.tokens[$0].is(",") && source.enclosing[$0] == call + 1
        }
        guard ends.count > commas, ends[commas] > call + 2,
          case .foreign(let types) = project.receiver(ending: ends[commas] - 1, in: number),
          let other = types.first(where: { project.replacedTypes[$0] == nil })
        else { continue }
        return report(
          index, .refused, "\(name) takes a KVOObject, and a call passes a \(other)",
          "a second function for other objects")
      }
    }
  }
}
