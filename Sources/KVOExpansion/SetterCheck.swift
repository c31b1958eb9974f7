internal import SwiftSource

/// Whether a computed property's setter changes nothing that could tell of it (Q5), or tells by hand of what tells by itself
/// (E3), as far as the class alone shows that. In doubt it tells, and once: a method of the class is called, a variable is set that the class does not declare, or one that is
/// observed is set, or part of it, which is a change of it where it is a structure.

struct SetterCheck {
  /// What tells of its changes, and constants, which have none.
  private var observed: Set<String> = []
  private var silent: Set<String> = []
  /// Those that the macro makes observable.
  private var stored: Set<String> = []

  init(_ type: TypeDeclaration) {
    for member in type.members {
      guard case .variable(let isVariable, let bindings) = member.kind, !member.isOfType else {
        continue
      }
      let isSilent = !isVariable || member.has("KVOIgnored")
      let names = bindings.compactMap { $0.name?.name }
      if isSilent { silent.formUnion(names) } else { observed.formUnion(names) }
      if ObservableMember.isMarked(member) { stored.formUnion(names) }
    }
  }

  /// The stored property that a setter assigns to and its getter reads, and which so tells of a change that the setter
  /// tells of by hand as well. A part of it that is set, or a method that is called, may be an object's, which tells nobody.
  func toldBeside(_ accessors: Accessors, of key: String) -> String? {
    guard let setter = accessors.block("set"), let getter = accessors.block("get", "_read", "read"),
      tellsByHand(setter, of: key)
    else { return nil }
    let (set, read) = (Array(setter.body), Array(getter.body))
    return set.indices.first { index in
      stored.contains(set[index].name) && isRoot(index, in: set) && isAssigned(index, in: set)
        && read.indices.contains { read[$0].name == set[index].name && isRoot($0, in: read) }
    }.map { set[$0].name }
  }

  private func isAssigned(_ index: Int, in body: [Token]) -> Bool {
    if index > 0 {
      let before = body[index - 1]
      if before.isWord("let") || before.isWord("var") { return false }
      if before.is("&") { return body[index].leadingTrivia.isEmpty }
    }
    return index + 1 < body.count && isAssignment(body[index + 1])
  }

  private func tellsByHand(_ setter: Accessors.Block, of key: String) -> Bool {
    let body = Array(setter.body)
    return body.indices.contains { index in
      guard ["withChange", "willChangeValue", "willChange"].contains(body[index].name) else {
        return false
      }
      let arguments = body[index...].dropFirst(2).prefix { !$0.is(")") }
      return body.indices.contains(index + 1) && body[index + 1].is("(")
        && arguments.contains { $0.text == "\"\(key)\"" || $0.name == key }
    }
  }

  private static let telling: Set<String> = [
    "withChange", "willChangeValue", "didChangeValue", "willChange", "didChange", "setValue",
    "mutableArray", "mutableSet", "mutableArrayValue", "mutableSetValue", "mutableOrderedSetValue",
    "setValuesForKeys", "coalescingNotifications",
  ]

  func tellsNobody(_ setter: Accessors.Block) -> Bool {
    let body = Array(setter.body)
    var setsSilent = false
    for (index, token) in body.enumerated() {
      guard token.kind == .identifier || token.isWord("super") else { continue }
      if Self.telling.contains(token.name) || token.isWord("super") { return false }
      guard isRoot(index, in: body), !isLabel(index, in: body) else { continue }
      if observed.contains(token.name) {
        if mayChange(index, in: body) { return false }
        continue
      }
      if silent.contains(token.name) {
        if isSet(index, in: body) { setsSilent = true }
      } else if index + 1 < body.count, body[index + 1].is("(") {
        return false  // a method, or a function
      } else if isSet(index, in: body) {
        return false  // what a superclass or an extension has
      }
    }
    return setsSilent
  }

  /// `model` of `model.index` and of `self.model.index`.
  private func isRoot(_ index: Int, in body: [Token]) -> Bool {
    guard index > 0, body[index - 1].is(".") else { return true }
    return index > 1 && body[index - 2].isWord("self")
      && !(index > 2 && body[index - 3].is("."))
  }

  private func isLabel(_ index: Int, in body: [Token]) -> Bool {
    index + 1 < body.count && body[index + 1].is(":")
      && index > 0 && (body[index - 1].is("(") || body[index - 1].is(","))
  }

  /// Whether it is set, or part of it, or a method of it is called that may change it.
  private func mayChange(_ index: Int, in body: [Token]) -> Bool {
    if index > 0, body[index - 1].is("&") { return true }
    guard index + 1 < body.count else { return false }
    return body[index + 1].is(".") || body[index + 1].is("[") || isSet(index, in: body)
  }

  /// Whether an assignment follows it and its members.
  private func isSet(_ index: Int, in body: [Token]) -> Bool {
    var next = index + 1
    while next < body.count {
      let token = body[next]
      if token.is("."), next + 1 < body.count {
        next += 2
      } else if token.kind == .operator, token.text == "?" || token.text == "!" {
        next += 1
      } else if token.is("[") {
        var depth = 0
        repeat {
          if body[next].is("[") { depth += 1 }
          if body[next].is("]") { depth -= 1 }
          next += 1
        } while depth > 0 && next < body.count
      } else {
        break
      }
    }
    return next < body.count && isAssignment(body[next])
  }

  private func isAssignment(_ token: Token) -> Bool {
    token.kind == .operator && token.text.hasSuffix("=")
      && !["==", "!=", "<=", ">=", "===", "!==", "~="].contains(token.text)
  }
}
