/// Edits of `NSNull`. On Apple's platforms it represents nil in changes and in values by key; here only values from
/// JSON contain it. Edit 7 of MovingOver.md.
import SwiftSource

extension SourceFile {
  /// Whether the source reads JSON or a property list, or makes an NSNull.
  var usesNull: Bool {
    tokens.indices.contains { index in
      ["JSONSerialization", "PropertyListSerialization"].contains(tokens[index].text)
        || tokens[index].text == "NSNull" && tokens[index + 1].is("(")
    }
  }
}

extension Mover {
  mutating func moveNull(_ index: Int) {
    // In a source that has been moved already, it means JSON's null.
    if file.imports.contains(where: { $0.module == "KVORuntime" }) { return }
    guard index > 1, tokens[index - 1].isWord("is") else {
      if tokens[index + 1].is("(") {
        report(index, .differs, "NSNull represents nil only in values from JSON", "write nil")
      }
      return
    }
    if tokens[index - 2].isWord("case"), let subject = subject(ofCase: index - 2),
      !mayBeNull(subject), let isOptional = isOptional(subject)
    {
      let pattern = isOptional ? ".some(Optional<Any>.none)" : "Optional<Any>.none"
      replace(index - 1..<index + 1, by: pattern)
    } else if let test = test(at: index - 1), !mayBeNull(test.subject),
      let optional = isOptional(test.subject),
      isCondition(test.whole)
        ? move(test, isOptional: optional) : moveChoice(test, isOptional: optional)
    {
      return
    } else if !isOfDictionary(index - 2), !pair(ofValueAt: index - 2).contains(where: isOfTexts) {
      report(
        index, .differs,
        project.usesNull
          ? "nil is an NSNull in JSON, and nowhere else"
          : "nil is not an NSNull here, so `is NSNull` is always false",
        project.usesNull
          ? "test for nil where it is a value by key"
          : "write `if let value = …, case Optional<Any>.none = value`")
    }
  }

  /// The value that a pattern is matched against: `value` in `switch value {` or `if case … = value {`. Nil if the
  /// pattern belongs to something else, such as a loop.
  private func subject(ofCase index: Int) -> Range<Int>? {
    if tokens[index + 3].is("=") {
      var end = index + 4
      while !tokens[end].is("{"), !tokens[end].is(","), !tokens[end].isWord("else"),
        tokens[end].kind != .endOfFile
      {
        end = file.next(after: end)
      }
      return index + 4..<end
    }
    guard
      tokens[index + 3].is(":") || tokens[index + 3].is(",") || tokens[index + 3].isWord("where"),
      index > 0, !["for", "if", "guard", "while", ","].contains(tokens[index - 1].text),
      let brace = file.enclosing[index], tokens[brace].is("{")
    else { return nil }
    let head = file.head(ofBlock: brace)
    return tokens[head].isWord("switch") ? head + 1..<brace : nil
  }

  /// `value is NSNull` or `!(value is NSNull)`.
  struct NullTest {
    /// The tokens of the value.
    var subject: Range<Int>
    /// All its tokens.
    var whole: Range<Int>
    var isNegated: Bool
  }

  private func test(at test: Int) -> NullTest? {
    var start = test
    while start > 0 {
      let before = tokens[start - 1]
      if let open = file.partner[start - 1], open < start - 1, before.is("]") {
        start = open
      } else if before.kind == .identifier || [".", "?"].contains(before.text)
        || before.text == "!" && tokens[start].text != "("
      {
        start -= 1
      } else {
        break
      }
    }
    guard start < test, start > 1 else { return nil }
    var found = NullTest(subject: start..<test, whole: start..<test + 2, isNegated: false)
    if tokens[start - 1].is("("), tokens[test + 2].is(")") {
      found.isNegated = tokens[start - 2].text == "!" && tokens[start - 1].leadingTrivia.isEmpty
      found.whole = (found.isNegated ? start - 2 : start - 1)..<test + 3
    }
    return found
  }

  /// Whether tokens are a condition of `if`, `guard` or `while`, as far as `&&` joins them to others.
  private func isCondition(_ whole: Range<Int>) -> Bool {
    var (first, last) = (whole.lowerBound - 1, whole.upperBound)
    if tokens[first].text == "&&" {
      while first > 0, !isCondition(first) {
        if let open = file.partner[first] {
          guard open < first else { return false }
          first = open
        } else if bindsLess(first) {
          return false
        }
        first -= 1
      }
    }
    guard isCondition(first) else { return false }
    while !tokens[last].is("{"), !tokens[last].is(","), !tokens[last].isWord("else") {
      guard last > whole.upperBound || tokens[last].text == "&&" else { return false }
      if bindsLess(last) || tokens[last].kind == .endOfFile { return false }
      if let close = file.partner[last] {
        guard close > last else { return false }
        last = close
      }
      last += 1
    }
    return true
  }

  /// Whether a token binds less tightly than `&&`, or ends the condition.
  private func bindsLess(_ index: Int) -> Bool {
    let token = tokens[index]
    return ["||", "=", ":", ";"].contains(token.text)
      || token.text == "?" && !token.leadingTrivia.isEmpty
  }

  /// Makes a condition a pattern; false if none says the same. A pattern can't be joined by `&&`, so a comma replaces that.
  private mutating func move(_ test: NullTest, isOptional: Bool) -> Bool {
    if isOptional && test.isNegated { return false }
    let pattern = isOptional ? ".some(Optional<Any>.none)" : "Optional<Any>.none"
    let (first, last) = (test.subject.lowerBound, test.subject.upperBound)
    if first > test.whole.lowerBound { remove(test.whole.lowerBound..<first) }
    insert("case \(test.isNegated ? "Optional<Any>.some" : pattern) = ", before: first)
    replaceWithSpace(last..<test.whole.upperBound, by: "")
    for place in [test.whole.lowerBound - 1, test.whole.upperBound]
    where tokens[place].text == "&&" && separated.insert(place).inserted {
      replaceWithSpace(place..<place + 1, by: ",")
    }
    return true
  }

  /// Whether a value may be an NSNull of another origin than a change, also one that another source has read.
  private func mayBeNull(_ value: Range<Int>) -> Bool {
    !isOfChange(value) && (project.usesNull || isOfOtherOrigin(value))
  }

  /// The tokens of the dictionary over which a loop goes whose second name is at a token: `for (key, value) in json`.
  func pair(ofValueAt index: Int) -> Range<Int> {
    guard tokens[index].kind == .identifier, !tokens[index - 1].is(".") else { return 0..<0 }
    var block = file.enclosing[index]
    while let brace = block {
      let head = file.head(ofBlock: brace)
      if tokens[head].isWord("for"), tokens[head + 1].is("("),
        let close = file.partner[head + 1], tokens[close - 1].name == tokens[index].name,
        tokens[close - 2].is(","), tokens[close + 1].isWord("in")
      {
        return close + 2..<brace
      }
      block = file.enclosing[brace]
    }
    return 0..<0
  }

  /// Whether a value may be from JSON, where NSNull is what it is there: `row["name"]`, or the parameter of a setter for
  /// all keys.
  private func isOfOtherOrigin(_ value: Range<Int>) -> Bool {
    guard let last = value.last else { return false }
    if tokens[last].is("]"), let open = file.partner[last] {
      return isOfRow(open)
    }
    guard value.count == 1 else { return false }
    let (name, body) = (tokens[last].name, function(around: last) ?? 0..<tokens.count)
    guard let bound = variable(namedAt: last, in: body) else {
      let head = file.head(ofBlock: body.lowerBound)..<body.lowerBound
      return head.contains {
        tokens[$0].name == "setValue" && $0 > 0 && tokens[$0 - 1].isWord("func")
      }
        && head.contains { tokens[$0].name == name && tokens[$0 + 1].is(":") }
    }
    let end = (bound + 2..<last).first {
      tokens[$0].is(",") && file.enclosing[$0] == file.enclosing[bound] || tokens[$0].is("{")
        || tokens[$0].isWord("else") || file.endsStatement($0)
    }
    return (bound + 2..<(end ?? last) + 1).contains { tokens[$0].is("[") && isOfRow($0) }
  }

  /// Whether a bracket encloses the key of a dictionary that is no change: a string, or of a variable whose keys are strings.
  private func isOfRow(_ open: Int) -> Bool {
    guard open > 0, tokens[open + 1].kind != .punctuation else { return false }
    if tokens[open + 1].kind == .string { return true }
    let base = ["?", "!"].contains(tokens[open - 1].text) ? open - 2 : open - 1
    guard base >= 0, tokens[base].kind == .identifier else { return false }
    return textDictionaries.contains(tokens[base].name)
  }

  /// Whether a token shows that a dictionary's keys are texts: a variable that holds one, or the type in a cast.
  private func isOfTexts(_ index: Int) -> Bool {
    file.beginsTextDictionary(index)
      || textDictionaries.contains(tokens[index].name) && isRoot(index)
  }

  /// Whether a condition of an `if`, `guard` or `while` begins after a token.
  private func isCondition(_ index: Int) -> Bool {
    var index = index
    if ["if", "guard", "while"].contains(tokens[index].text) { return true }
    guard tokens[index].is(",") else { return false }
    while index >= 0, !tokens[index].is("{"), !tokens[index].is("}"), !tokens[index].is(";") {
      if ["if", "guard", "while"].contains(tokens[index].text) { return true }
      if let open = file.partner[index] {
        guard open < index else { return false }
        index = open
      }
      index -= 1
    }
    return false
  }

  /// Whether a token is the name of a change's entry, of which the sources declare none.
  func isChangeKey(_ index: Int) -> Bool {
    ["newKey", "oldKey", "kindKey", "indexesKey", "notificationIsPriorKey"]
      .contains(tokens[index].text)
      && !project.declaredNames.contains(tokens[index].text)
  }

  /// Whether a value is optional, as far as the source shows that. A change's entry for a key is optional, and nil is
  /// inside it.
  private func isOptional(_ value: Range<Int>, before limit: Int? = nil) -> Bool? {
    guard let last = value.last else { return nil }
    if tokens[last].is("!") { return false }
    if tokens[last].is("]"), let open = file.partner[last], open > 0 {
      let isKey = tokens[open + 1].is(".") && isChangeKey(open + 2)
      return isKey || tokens[open - 1].is("?") ? true : nil
    }
    guard value.count == 1 else { return nil }
    return isOptional(tokens[last].name, before: min(last, limit ?? last))
  }

  /// Whether a variable is optional, by its declaration in the blocks around a place, innermost first.
  private func isOptional(_ name: String, before place: Int) -> Bool? {
    var (index, block) = (place - 1, file.enclosing[place])
    while index >= 0 {
      if let open = file.partner[index], open < index {
        index = open - 1
        continue
      }
      if index == block {
        // The head of the block: a function's parameters, or the variables that an `if let` binds.
        let first = file.head(ofBlock: index)
        for place in first..<index where tokens[place].name == name {
          if let known = declared(at: place, in: first..<index) { return known.isOptional }
        }
        let isFunction = tokens[first..<index].contains { $0.isWord("func") || $0.isWord("init") }
        if isFunction { return nil }
        block = file.enclosing[index]
        index = first - 1
        continue
      }
      if tokens[index].name == name, let known = declared(at: index, in: 0..<place) {
        return known.isOptional
      }
      index -= 1
    }
    return nil
  }

  /// Whether the name is declared here, and if so, whether as an optional. That is unknown for a loop's variable and
  /// a closure's parameter.
  private func declared(at index: Int, in range: Range<Int>) -> (isOptional: Bool?, Void)? {
    let next = tokens[index + 1]
    if next.is(":"), tokens[index + 2].isWord("Any") {
      return (tokens[index + 3].is("?"), ())
    }
    guard index > range.lowerBound else { return next.isWord("in") ? (nil, ()) : nil }
    if next.isWord("in") || tokens[index - 1].isWord("for") || tokens[index - 1].isWord("case") {
      return (nil, ())
    }
    guard tokens[index - 1].isWord("let") || tokens[index - 1].isWord("var") else { return nil }
    if isBound(index - 1) { return (false, ()) }
    guard next.is("=") else { return (nil, ()) }
    return (isOptional(statement(from: index + 2), before: index - 1), ())
  }

  /// Whether `if let` or a similar statement unwraps it.
  private func isBound(_ keyword: Int) -> Bool {
    keyword > 0 && ["if", "guard", "while", ","].contains(tokens[keyword - 1].text)
  }

  private func statement(from start: Int) -> Range<Int> {
    var end = start
    while !file.isStatementStart(end) || end == start, !tokens[end].is(";"), !tokens[end].is("}"),
      tokens[end].kind != .endOfFile
    {
      end = file.next(after: end)
    }
    return start..<end
  }

  /// Whether a value is from `dictionaryWithValues`, which the edits make return NSNull: `values["name"]!`.
  func isOfDictionary(_ last: Int) -> Bool {
    guard last > 0, case let close = tokens[last].text == "!" ? last - 1 : last,
      tokens[close].is("]"), let open = file.partner[close], open > 0,
      tokens[open - 1].kind == .identifier
    else { return false }
    let name = tokens[open - 1].text
    return tokens.indices.contains { index in
      tokens[index].text == name && tokens[index + 1].is("=")
        && (index + 2..<min(index + 8, tokens.count)).contains {
          tokens[$0].text == "dictionaryWithValues"
        }
    }
  }
}
