/// Edits of casts to NSObject of a change's values, and of values read by key. There every such value is an object; here
/// it has its own type. "What behaves differently" of MovingOver. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Makes `change?[.oldKey] as? NSObject` a cast to `AnyHashable`, which values can be compared as. If an object is
  /// passed on to a function that uses it by key, it becomes a `KVOObject`.
  mutating func moveValue(castToRootAt index: Int) {
    guard isValue(castToRootAt: index) else { return }
    if isTaken(index) {
      needsRuntime = true
      return replace(index, by: "KVOObject")
    }
    if isPassed(index) {
      return report(
        index, .differs, "an object of a moved class, an enumeration and nil are no NSObject here",
        "pass it as Any, or as AnyHashable")
    }
    replace(index, by: "AnyHashable")
    if let name = variable(holdingCastAt: index), tokens[name + 1].is(":"),
      tokens[name + 2].text == "NSObject"
    {
      replace(name + 2, by: "AnyHashable")
    }
  }

  /// Whether a cast's result, or a variable that holds it, is in a statement with something that takes or holds an NSObject.
  private func isPassed(_ cast: Int) -> Bool {
    guard let body = function(around: cast) else { return false }
    let held = Set(body.filter { isValue(castToRootAt: $0) }.compactMap(variable(holdingCastAt:)))
      .filter { tokens[$0 - 1].kind == .keyword || tokens[$0 - 1].is(",") }.map { tokens[$0].name }
    let isLocal = variable(holdingCastAt: cast).map { held.contains(tokens[$0].name) } ?? false
    let uses = isLocal ? body.filter { held.contains(tokens[$0].name) } : [cast]
    return uses.contains { use in
      statement(around: use).contains { place in
        tokens[place].kind == .identifier && !held.contains(tokens[place].name)
          && project.objectNames.contains(tokens[place].name)
      }
        || tokens[statement(around: use).lowerBound].isWord("return")
          && returnsObject(body.lowerBound)
    }
  }

  private func returnsObject(_ brace: Int) -> Bool {
    let head = file.head(ofBlock: brace)..<brace
    guard let arrow = head.last(where: { tokens[$0].is("->") }) else { return false }
    return (arrow..<brace).contains { tokens[$0].text == "NSObject" }
  }

  /// The tokens of the statement that a token is in.
  private func statement(around index: Int) -> Range<Int> {
    var (first, last) = (index, index)
    while first > 0, !file.isStatementStart(first),
      !["{", "}", ";"].contains(tokens[first - 1].text)
    {
      first = file.partner[first - 1].map { min($0, first - 1) } ?? first - 1
    }
    while !file.endsStatement(last), !tokens[last + 1].is("{") {
      last = file.closing(of: last + 1) ?? last + 1
    }
    return first..<last + 1
  }

  /// Makes `old.isEqual(new)` a comparison by `==`, if both have been cast so; lists it otherwise.
  mutating func moveEquality(_ index: Int) {
    guard index > 1, tokens[index - 1].is("."), tokens[index + 1].is("("),
      let close = file.closing(of: index + 1)
    else { return }
    var first = index - 2
    while first > 0, ["?", "!"].contains(tokens[first].text) { first -= 1 }
    guard first > 0 else { return }
    let isCast = tokens[first].is(")") && isValue(castToRootAt: first - 1)
    guard isCast || isComparable(first) else { return }
    let isNegated = tokens[first - 1].text == "!" && tokens[first].leadingTrivia.isEmpty
    guard first == index - 2, !isCast, close == index + 3, isComparable(index + 2),
      endsOperand(close)
    else {
      return report(
        index, .refused,
        "\(tokens[first].is(")") ? "the value" : tokens[first].text) has its own type, and no isEqual",
        "compare by ==, as AnyHashable")
    }
    if isNegated { edits.append(Edit(tokens[first - 1].offset..<tokens[first].offset, "")) }
    edits.append(
      Edit(tokens[index - 1].offset..<tokens[index + 2].offset, isNegated ? " != " : " == "))
    replace(close, by: "")
  }

  /// Whether nothing follows that binds more tightly than a comparison.
  private func endsOperand(_ last: Int) -> Bool {
    let next = tokens[last + 1]
    return file.endsStatement(last) || [")", ",", "{", "]", ":", "&&", "||"].contains(next.text)
      || next.isWord("else")
  }

  /// Whether a name holds a value that this function has cast to NSObject.
  private func isComparable(_ index: Int) -> Bool {
    guard tokens[index].kind == .identifier, !tokens[index - 1].is(".") else { return false }
    let body = function(around: index) ?? 0..<tokens.count
    return (body.lowerBound..<index).contains { cast in
      guard tokens[cast].text == "NSObject", isValue(castToRootAt: cast),
        let name = variable(holdingCastAt: cast)
      else { return false }
      return tokens[name].name == tokens[index].name
    }
  }

  /// The variable whose value is nothing but a cast: `old` in `let old: NSObject? = change?[.oldKey] as? NSObject`, or in
  /// `case let old as NSObject`.
  private func variable(holdingCastAt index: Int) -> Int? {
    let next = tokens[index + 1]
    guard let word = castWord(before: index),
      file.endsStatement(index) || next.is(",") || next.is("{") || next.isWord("else")
        || next.is(":")
    else { return nil }
    if tokens[word - 1].kind == .identifier, tokens[word - 2].isWord("let") { return word - 1 }
    var place = word - 1
    while place > 0, !tokens[place].is("=") {
      if file.isStatementStart(place) || tokens[place].is(",") { return nil }
      if let open = file.partner[place], open < place { place = open }
      place -= 1
    }
    var name = place - 1
    while name > 0, ["?", "!"].contains(tokens[name].text) { name -= 1 }
    if name > 1, tokens[name - 1].is(":") { name -= 2 }
    return name > 0 && tokens[name].kind == .identifier ? name : nil
  }

  private func castWord(before index: Int) -> Int? {
    guard index > 3 else { return nil }
    if tokens[index - 1].isWord("as") || tokens[index - 1].isWord("is") { return index - 1 }
    let isConditional =
      ["?", "!"].contains(tokens[index - 1].text) && tokens[index - 2].isWord("as")
    return isConditional ? index - 2 : nil
  }

  /// Whether the token is the type in a cast to NSObject of a change's value, or of a value read by key.
  private func isValue(castToRootAt index: Int) -> Bool {
    guard tokens[index].text == "NSObject", let word = castWord(before: index) else { return false }
    var last = word - 1
    while last > 0, ["?", "!"].contains(tokens[last].text) { last -= 1 }
    if tokens[last].is("]") { return isEntry(endingAt: last) }
    if tokens[last].is(")") {
      guard let open = file.partner[last], open > 0 else { return false }
      return tokens[open - 1].text == "value" && file.isStringCall(open - 1) && throwsHere(open - 1)
    }
    return isChangedValue(last) || matchesChange(last)
      || valueCall(assignedTo: last).map(throwsHere) ?? false
  }

  /// Whether a cast's result is an argument of a function that uses it by key.
  private func isTaken(_ index: Int) -> Bool {
    guard tokens[index + 1].is(")") || tokens[index + 1].is(","), let open = file.enclosing[index],
      open > 0
    else { return false }
    return project.participants.takers.contains(tokens[open - 1].name)
  }
}
