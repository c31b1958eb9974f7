/// Edits of names: attributes of Objective-C, index sets, sums. Edits 3, 6 and 7 of MovingOver.md.
import SwiftSource

extension Mover {
  /// Removes attributes and modifiers that need the Objective-C runtime.
  mutating func moveAttributes() {
    for index in tokens.indices {
      if tokens[index].is("@"), ["objc", "objcMembers", "nonobjc"].contains(tokens[index + 1].text)
      {
        guard isInMoved(index) || isInPlainClass(index) else {
          count(index, as: "@objc attribute")
          continue
        }
        let hasName = tokens[index + 2].is("(") && tokens[index + 2].leadingTrivia.isEmpty
        remove(index..<(hasName ? file.partner[index + 2]! + 1 : index + 2))
      } else if tokens[index].isWord("dynamic"), isInMoved(index), isModifier(index) {
        remove(index..<index + 1)
      }
    }
  }

  /// Whether this `dynamic` is a modifier. It may also be a name, as in `let old = dynamic`. At the end of a line it is
  /// a modifier only if it begins its statement.
  private func isModifier(_ index: Int) -> Bool {
    guard DeclarationReader(tokens, at: index).isModifier(at: index) else { return false }
    return !tokens[index + 1].isFirstOnLine || beginsStatement(file.start(ofDeclarationAt: index))
  }

  private func beginsStatement(_ index: Int) -> Bool {
    guard index > 0 else { return true }
    let before = tokens[index - 1]
    return file.isStatementStart(index) || before.is("{") || before.is("}") || before.is(";")
  }

  /// Whether the token's declaration belongs to a moved class, or is one. Protocols and enumerations are included:
  /// the attribute has no effect on them here.
  private func isInMoved(_ index: Int) -> Bool {
    guard let type = type(ofDeclarationAt: index) else { return true }
    return !type.isClass && !type.isExtension || project.root(of: type) != .other
  }

  /// The type that an attribute or modifier belongs to, or that its member belongs to.
  private func type(ofDeclarationAt index: Int) -> TypeDeclaration? {
    var (low, high) = (types.startIndex, types.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if types[middle].keyword > index { high = middle } else { low = middle + 1 }
    }
    let isNext = low < types.count && file.start(ofDeclarationAt: types[low].keyword) <= index
    return isNext ? types[low] : type(around: index)
  }

  /// Whether the attribute belongs to a class that is not moved and has no observable property: it stays an NSObject,
  /// or has no superclass. Only the attribute keeps such a class from compiling.
  private func isInPlainClass(_ index: Int) -> Bool {
    guard let type = type(ofDeclarationAt: index), let declaration = project.declaration(of: type)
    else { return false }
    let root = project.ancestors(of: declaration).root
    return (root == nil || root == "NSObject") && !type.properties.contains(where: \.isDynamic)
      && !declaration.properties.contains(where: \.isDynamic)
  }

  mutating func moveNames() {
    for index in tokens.indices where !file.isImported(index) {
      switch tokens[index].text {
      case "IndexSet" where tokens[index].kind == .identifier && !isCast(to: index):
        needsFoundation = true
      case "NSNull": moveNull(index)
      case "NSObject" where tokens[index].kind == .identifier: moveRoot(index)
      case "isEqual": moveEquality(index)
      case "AnyObject": lookAtMember(ofAnyObjectAt: index)
      case "validateValue": moveValidation(index)
      case "indexes" where isOfChange(index): moveIndexes(index)
      case "as":
        moveCast(index)
        lookAtCast(ofVariableAt: index)
        lookAtCollection(castAt: index)
        lookAtEntry(castAt: index)
      case "valuesAt" where tokens[index + 1].is(":"):
        needsFoundation = usesFoundation || needsFoundation
      case "hash": moveHash(readAt: index)
      case "setValuesForKeys" where tokens[index + 1].is("("):
        // The values may be from JSON that another source has read.
        needsFoundation = usesFoundation || needsFoundation
      case "setValue" where file.isStringCall(index) && !pair(ofValueAt: index + 2).isEmpty:
        needsFoundation = usesFoundation || needsFoundation
      case "dictionaryWithValues": moveDictionary(index)
      case "publisher"
      where tokens[index + 1].is("(") && tokens[index + 2].text == "for"
        && tokens[index + 4].is("\\"):
        report(
          index, .refused, "publisher(for:) is there with OpenCombine only",
          "see Documentation/Foundation.md, or observe(\\.key) { … }")
      default: break
      }
    }
  }

  /// Replaces the root's name where a value of this type observes, is observed, or is accessed by key.
  private mutating func moveRoot(_ index: Int) {
    guard takesPart(index) else {
      conformRoot(extendedAt: index)
      return moveValue(castToRootAt: index)
    }
    guard
      !types.contains(where: { $0.isClass && $0.inherited.first?.tokens.last == index })
    else { return }
    let isQualified = index > 1 && tokens[index - 1].is(".")
    guard !isQualified || TypeDeclaration.Inherited.modules.contains(tokens[index - 2].text) else {
      return
    }
    needsRuntime = true
    if tokens[isQualified ? index - 3 : index - 1].isWord("extension") {
      lookAtUses(ofExtensionAt: isQualified ? index - 3 : index - 1)
    }
    lookAtArguments(takenAt: index)
    // KVOFoundation conforms KVOObject to it.
    if tokens[..<index].suffix(6).contains(where: { $0.text == "NSObjectProtocol" }) {
      needsFoundation = true
    }
    replace(isQualified ? index - 2..<index + 1 : index..<index + 1, by: "KVOObject")
  }

  private func takesPart(_ index: Int) -> Bool {
    guard !tokens[index + 1].is("("), index > 0 else { return false }
    let first = tokens[index - 1].is(".") ? index - 2 : index
    guard first > 0 else { return false }
    let before = tokens[first - 1]
    if before.isWord("extension") { return becomesRoot(extensionAt: first - 1) }
    if before.isWord("as")
      || ["?", "!"].contains(before.text) && first > 1 && tokens[first - 2].isWord("as")
    {
      return isCastForCall(index)
    }
    if isElementUsedByKey(first) || isAliasUsedByKey(first) { return true }
    // The type of a parameter or a variable, or a generic argument.
    var place = first
    while place > 0, !tokens[place - 1].is(":"), !tokens[place - 1].is("->"),
      !tokens[place - 1].is("==")
    {
      place -= 1
      guard
        ["[", "(", "<", "?", "!", "Optional", "Array", "Set", "weak", "any"].contains(
          tokens[place].text) || isComposed(place),
        place > 0
      else { return false }
    }
    guard place > 1 else { return false }
    if tokens[place - 1].is("->") {
      let name = (0..<place).last { tokens[$0].isWord("func") }.map { tokens[$0 + 1].name }
      return name.map(receiverNames.contains) ?? false
    }
    let name = tokens[place - 2].name
    if place > 2, tokens[place - 3].isWord("associatedtype") {
      return tokens.indices.contains {
        tokens[$0].text == "NSObject" && $0 > index && tokens[$0 - 2].name == name
          && isConstraint($0 - 2) && isConstraintOfObserved($0)
      }
    }
    if isConstraint(place - 2) { return isConstraintOfObserved(index) }
    return receiverNames.contains(name)
  }

  /// Whether an extension of NSObject becomes one of KVOObject.
  func becomesRoot(extensionAt keyword: Int) -> Bool {
    guard let type = types.first(where: { $0.keyword == keyword }) else { return false }
    return hasKeyCall(inBlockBehind: keyword + 1) || project.participants.isKnown(type.inherited)
      || serves(type)
  }

  /// Whether another extension of NSObject, which becomes one of KVOObject, uses a member of this one.
  private func serves(_ type: TypeDeclaration) -> Bool {
    let names = Set(type.methods.map(\.name) + type.properties.map(\.name))
    return types.contains { other in
      other.isExtension && other.name == "NSObject" && other.keyword != type.keyword
        && hasKeyCall(inBlockBehind: other.keyword + 1)
        && (other.open..<other.close).contains {
          tokens[$0].kind == .identifier && names.contains(tokens[$0].name) && isRoot($0)
        }
    }
  }

  /// Whether the token is in a composition of types before the root's name: `Titled &`.
  private func isComposed(_ index: Int) -> Bool {
    tokens[index].text == "&" || tokens[index].kind == .identifier && tokens[index + 1].text == "&"
  }

  /// Whether the name is a constraint that a type's parameter, or the type itself, inherits from the root.
  private func isConstraint(_ name: Int) -> Bool {
    guard name > 0 else { return false }
    let before = tokens[name - 1]
    if before.text == "<" || before.isWord("where") || tokens[name].text == "Self" { return true }
    guard before.is(",") else { return false }
    return project.names[index].generics.contains(tokens[name].name)
  }

  /// Whether the function or type with this constraint uses its objects by key. That also holds for a function that
  /// exchanges objects with such a function: one of the two calls the other.
  private func isConstraintOfObserved(_ index: Int) -> Bool {
    var (next, seen) = ([index], Set<Int>())
    let all = tokens.indices.dropFirst(3).filter {
      tokens[$0].text == "NSObject" && tokens[$0 - 1].is(":") && isConstraint($0 - 2)
    }
    while let index = next.popLast() {
      if hasKeyCall(inBlockBehind: index) { return true }
      guard seen.insert(index).inserted, let name = function(constrainedAt: index) else { continue }
      next += all.filter { other in
        guard let otherName = function(constrainedAt: other) else { return false }
        return passes(tokens[index - 2].name, to: otherName, inBlockBehind: index)
          || passes(tokens[other - 2].name, to: name, inBlockBehind: other)
      }
    }
    return false
  }

  /// The name of the function whose generic parameter is constrained at a token; `init` for an initialiser.
  func function(constrainedAt index: Int) -> String? {
    let word = (0..<index).last {
      tokens[$0].isWord("func") || file.isKeyword($0, among: ["init"])
    }
    return word.map { tokens[$0].isWord("func") ? tokens[$0 + 1].name : "init" }
  }

  /// Whether a block calls a function with an object of a generic type as an argument.
  private func passes(_ generic: String, to name: String, inBlockBehind index: Int) -> Bool {
    guard let open = brace(behind: index), let end = file.partner[open] else { return false }
    let type = type(around: index)?.name
    return (open..<end).contains { call in
      guard tokens[call].name == name || name == "init" && tokens[call].name == type,
        let close = file.closing(of: call + 1)
      else { return false }
      return (call + 2..<close).contains { argument in
        (tokens[argument + 1].is(",") || argument + 1 == close)
          && file.enclosing[argument] == call + 1
          && (tokens[argument].isWord("self")
            || project.names[self.index].sources[tokens[argument].name]?.contains(.type(generic))
              == true)
      }
    }
  }

  func brace(behind index: Int) -> Int? {
    var open = index
    while open < tokens.count, !tokens[open].is("{") {
      if tokens[open].is(";") || tokens[open].is("}") { return nil }
      open = file.next(after: open)
    }
    return open < tokens.count ? open : nil
  }

  private func hasKeyCall(inBlockBehind index: Int) -> Bool {
    guard let open = brace(behind: index), let end = file.partner[open] else { return false }
    return (open..<end).contains { file.isKeyCall($0) || passesItself($0) }
      || tokens[open..<end].contains {
        $0.isWord("dynamic") || $0.text.hasPrefix("NSKeyValueObserv")
      }
  }

  /// Whether a call passes `self` to a function that uses it by key.
  private func passesItself(_ index: Int) -> Bool {
    guard project.participants.takers.contains(tokens[index].name), tokens[index + 1].is("("),
      let close = file.closing(of: index + 1)
    else { return false }
    return (index + 2..<close).contains {
      tokens[$0].isWord("self") && (tokens[$0 + 1].is(",") || $0 + 1 == close)
    }
  }

  /// A cast for a call by key, such as `(object as? NSObject)?.value(forKey: key)`, or one whose result is named and
  /// then used so.
  private func isCastForCall(_ index: Int) -> Bool {
    var next = index + 1
    while tokens[next].is(")") || ["?", "!"].contains(tokens[next].text) { next += 1 }
    if tokens[next].is("."), file.isKeyCall(next + 1) { return true }
    if isObservedObject(index) { return true }
    var place = index
    while place > 0, !file.isStatementStart(place), !tokens[place].is("=") { place -= 1 }
    guard place > 0, tokens[place].is("=") else { return false }
    return receiverNames.contains(tokens[place - 1].name)
  }

  /// `object as? NSObject` in `observeValue`, where the object is an observed one.
  private func isObservedObject(_ index: Int) -> Bool {
    let word = tokens[index - 1].isWord("as") ? index - 1 : index - 2
    return word > 0
      && types.flatMap(\.methods).contains { method in
        guard method.name == "observeValue", let brace = method.brace,
          let end = file.partner[brace],
          brace < index, index < end,
          let label = (method.parameters..<brace).first(where: { tokens[$0].text == "of" })
        else { return false }
        return tokens[word - 1].name == tokens[label + 1].name
      }
  }

  /// The names on which the source calls methods by key, and the names whose values are assigned to them.
  var receiverNames: Set<String> { project.participants.receivers[index] ?? [] }

  /// Calls the variant whose dictionary has NSNull for nil, as on Apple's platforms.
  private mutating func moveDictionary(_ index: Int) {
    guard file.isStringCall(index), throwsHere(index),
      !file.imports.contains(where: { $0.module == "KVORuntime" })
    else { return }
    needsFoundation = true
    replace(index, by: "dictionaryWithFoundationValues")
  }

  /// A cast to Foundation's set is left to the author, who may not need it.
  private func isCast(to index: Int) -> Bool {
    index > 1 && (tokens[index - 1].isWord("as") || tokens[index - 2].isWord("as"))
  }

  private func isOfChange(_ index: Int) -> Bool {
    guard index > 1, tokens[index - 1].is(".") else { return false }
    let name = tokens[index - 2].name
    return name == "change" || name == "$1" || isHandlersChange(name, at: index)
  }

  /// Whether a name is the second parameter of an observer's handler, `observe(\.songs) { album, c in … }`.
  private func isHandlersChange(_ name: String, at index: Int) -> Bool {
    var block = file.enclosing[index]
    while let open = block {
      let isTrailing = open > 0 && tokens[open - 1].is(")")
      if tokens[open].is("{"), isTrailing, let call = file.partner[open - 1], call > 0,
        file.isObservation(call - 1), let end = file.partner[open],
        let word = (open..<end).first(where: { tokens[$0].isWord("in") }),
        tokens[word - 1].name == name, tokens[word - 2].is(",")
      {
        return true
      }
      block = file.enclosing[open]
    }
    return false
  }

  private mutating func moveIndexes(_ index: Int) {
    // A source that uses the runtime already may mean the indexes of its own.
    let isNew = !file.imports.contains { $0.module == "KVORuntime" }
    guard tokens.contains(where: { $0.text == "IndexSet" }) || isNew && usesFoundation else {
      return
    }
    (needsRuntime, needsFoundation) = (true, true)
    replace(index, by: "indexSet")
  }

  // MARK: - Casts of values read by key

  private mutating func moveCast(_ index: Int) {
    guard index > 1, tokens[index - 1].is(")"), let open = file.partner[index - 1], open > 0 else {
      return
    }
    let isRead = tokens[open - 1].text == "value" && tokens[open + 1].text.hasPrefix("forKey")
    let type =
      tokens[index + 1].text == "!" || tokens[index + 1].text == "?" ? index + 2 : index + 1
    guard isRead else { return }
    if lookAtProxy(castTo: type, ofCallAt: open - 1) { return }
    let path = keyPath(in: open)
    let last = path?.split(separator: ".").last.map(String.init)
    let isInteger = last.map { isIntegerProperty($0) } ?? false
    if path?.contains("@avg.") == true {
      guard let own = project.misfit(ofValueOf: "Double", for: tokens[type].text) else { return }
      return report(
        type, .differs, "an average is a \(own)", "\(tokens[type].text)(… as! \(own))")
    }
    switch tokens[type].text {
    case "Double", "Float", "CGFloat":
      if isInteger || last == "@count" {
        report(
          type, .differs, "\(path!) is an integer, which is not a \(tokens[type].text)",
          "Double(… as! Int)")
      } else if path?.contains("@sum") == true {
        // The sum of no elements is an Int.
        guard tokens[index + 1].text == "!", isLast(type) else { return }
        replace(index + 1..<type + 1, by: "? \(tokens[type].text) ?? 0")
      } else {
        lookAtCast(ofCallAt: open - 1, to: type)
      }
    default: lookAtCast(ofCallAt: open - 1, to: type)
    }
  }

  /// A cast of a key's value to another type of number.
  private mutating func lookAtCast(ofCallAt call: Int, to type: Int) {
    guard throwsHere(call), let key = file.keys(ofCallAt: call).keys.last,
      let own = project.misfit(of: key, for: tokens[type].text)
    else { return }
    report(
      type, .differs, "\(key) is of \(own), which is no \(tokens[type].text)",
      "cast it to \(own) first, and convert that")
  }

  private func isLast(_ index: Int) -> Bool {
    let next = tokens[index + 1]
    return file.isStatementStart(index + 1) || next.is(")") || next.is(",") || next.is("}")
      || next.is(";")
      || next.kind == .endOfFile
  }

  func keyPath(in open: Int) -> String? {
    guard tokens[open + 3].kind == .string else { return nil }
    return tokens[open + 3].text.split(separator: "\"").first.map(String.init)
  }

  private func isIntegerProperty(_ name: String) -> Bool {
    project.dynamicProperties.values.contains { $0[name]?.type == "Int" }
  }
}
