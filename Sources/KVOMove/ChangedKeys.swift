/// Finds the key that a change in `observeValue` is about, and whether a cast of its value fails. A cast from one type
/// of number to another succeeds on Apple's platforms only, where both are an NSNumber. No rule of Behaviour is kept
/// here.
import SwiftSource

extension Project {
  /// The other names of types.
  private static let synonyms = [
    "TimeInterval": "Double", "CFTimeInterval": "Double", "Float64": "Double", "Float32": "Float",
    "NSInteger": "Int", "NSUInteger": "UInt", "pid_t": "Int32",
  ]
  private static let numbers: Set = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    "Double", "Float", "CGFloat", "Bool",
  ]
  private static let structures: Set = [
    "CGRect", "CGSize", "CGPoint", "NSRect", "NSSize", "NSPoint", "NSRange",
  ]

  /// The type of a key's values, if a cast of one to another type fails here, and only here.
  func misfit(of key: String, for type: String) -> String? {
    guard let types = valueTypes[key], types.count == 1, let own = types.first else { return nil }
    return misfit(ofValueOf: own, for: type)
  }

  /// A value's type, if a cast of it to another type fails here, and only here.
  func misfit(ofValueOf own: String, for type: String) -> String? {
    let (from, to) = (Self.synonyms[own] ?? own, Self.synonyms[type] ?? type)
    let isOtherNumber = Self.numbers.contains(from) && Self.numbers.contains(to) && from != to
    let isBoxed =
      to == "NSNumber" && from == "CGFloat" || to == "NSValue" && Self.structures.contains(from)
    return isOtherNumber || isBoxed ? own : nil
  }

  /// The texts of a key's values, if they differ from those there.
  func texts(of key: String) -> (here: String, there: String)? {
    guard let types = valueTypes[key], types.count == 1, let own = types.first else { return nil }
    if enumerations[key] != nil { return ("the name of its case", "a number") }
    if own.hasPrefix("[") || own.hasPrefix("Array<") {
      return ("[1, 2]", "several lines in parentheses")
    }
    return Self.texts(ofType: own)
  }

  /// The texts of the elements of a key's values, or of these themselves, if they differ from those there.
  func elementTexts(of key: String) -> (here: String, there: String)? {
    guard let types = valueTypes[key], types.count == 1, let own = types.first else { return nil }
    if enumerations[key] != nil { return ("the name of its case", "a number") }
    return Self.texts(ofType: own.split { "[]<>".contains($0) }.last.map(String.init) ?? own)
  }

  static func texts(ofType type: String) -> (here: String, there: String)? {
    switch Self.synonyms[type] ?? type {
    case "Bool": ("true or false", "1 or 0")
    case "Double", "Float", "CGFloat": ("1.0", "1")
    default: nil
    }
  }
}

extension Mover {
  /// Lists a cast of a change's value to a type other than that of the key's property. If the conditions around it
  /// name no key, it may be a value of each key that the source observes. If they compare with something unknown, the
  /// cast may be for a key whose property has the type.
  /// - Returns: whether it was listed.
  mutating func lookAtCast(ofValueAt index: Int, to type: String) -> Bool {
    let (keys, isKnown) = keys(ofChangeAt: index)
    let misfits = keys.sorted().compactMap { key in
      project.misfit(of: key, for: type).map { (key: key, type: $0) }
    }
    guard let first = misfits.first,
      isKnown || !keys.contains(where: { project.valueTypes[$0]?.contains(type) == true })
    else { return false }
    report(
      index, .differs, "a change of \(first.key) has the \(first.type) itself, no \(type)",
      "cast it to \(first.type) first, and convert that")
    return true
  }

  /// A cast of a variable to which a change's value, or one read by key, was assigned: `if let new = change?[.newKey]`.
  mutating func lookAtCast(ofVariableAt index: Int) {
    guard index > 0, let target = castTarget(behind: index - 1) else { return }
    let type = tokens[target].text
    if isChangedValue(index - 1) || matchesChange(index - 1) {
      _ = lookAtCast(ofValueAt: index - 1, to: type)
    } else if let call = valueCall(assignedTo: index - 1), throwsHere(call) {
      if lookAtProxy(castTo: target, ofCallAt: call) { return }
      guard let (path, own) = misfit(ofValueReadAt: call, for: type) else { return }
      report(
        index - 1, .differs, "\(path) is of \(own), which is no \(type)",
        "cast it to \(own) first, and convert that")
    }
  }

  /// Whether a name is bound by a pattern, `case let count as Int`, that is matched against a change's value.
  func matchesChange(_ index: Int) -> Bool {
    guard index > 1, tokens[index - 1].isWord("let") || tokens[index - 1].isWord("var"),
      tokens[index - 2].isWord("case") || tokens[index - 2].is(","),
      let brace = file.enclosing[index], case let head = file.head(ofBlock: brace),
      tokens[head].isWord("switch")
    else { return false }
    var last = brace - 1
    while last > head, ["!", "?"].contains(tokens[last].text) { last -= 1 }
    return tokens[last].is("]") ? isEntry(endingAt: last) : isChangedValue(last)
  }

  /// The last declaration before a name, in a range, of a variable of that name with a value: `count` in `let count = 1`.
  func variable(namedAt index: Int, in body: Range<Int>) -> Int? {
    (body.lowerBound..<index).last {
      tokens[$0].name == tokens[index].name && tokens[$0 + 1].is("=") && $0 > 0
        && (tokens[$0 - 1].isWord("let") || tokens[$0 - 1].isWord("var"))
    }
  }

  /// The call `value(forKey:)` whose result was assigned to a variable: `let count = song.value(forKey: "count")`.
  func valueCall(assignedTo index: Int) -> Int? {
    guard tokens[index].kind == .identifier, index > 0, !tokens[index - 1].is(".") else {
      return nil
    }
    let body = function(around: index) ?? 0..<tokens.count
    guard
      let name = variable(namedAt: index, in: body)
    else { return nil }
    var place = name + 2
    while !file.isStatementStart(place), !tokens[place].is("{"), place < index {
      if tokens[place].text == "value", file.isStringCall(place),
        let close = file.closing(of: place + 1), file.enclosing[place] == file.enclosing[name]
      {
        let next = tokens[close + 1]
        return next.is("{") || next.is(",") || next.isWord("else") || file.endsStatement(close)
          ? place : nil
      }
      place = file.next(after: place)
    }
    return nil
  }

  private func misfit(ofValueReadAt call: Int, for type: String) -> (path: String, type: String)? {
    guard let path = keyPath(in: call + 1), let last = path.split(separator: ".").last,
      !path.contains("@sum")
    else { return nil }
    let computed = last == "@count" ? "Int" : path.contains("@avg") ? "Double" : nil
    let own =
      computed.map { project.misfit(ofValueOf: $0, for: type) }
      ?? project.misfit(of: String(last), for: type)
    return own.map { (path, $0) }
  }

  /// Lists a value of a change, or one read by key, that is printed. There it is an NSNumber or an NSArray, which has
  /// another text.
  mutating func lookAtText(_ index: Int) {
    guard let value = printedValue(at: index), let open = file.enclosing[index],
      tokens[open].is("("),
      isPrinted(open)
    else { return }
    let cast = value.isCast ? nil : collectionCast(behind: value.last)
    let next = end(ofPrinted: cast ?? value.last)
    let isCast = value.isCast || cast != nil
    guard tokens[next].is(")") || tokens[next].is(","),
      let (key, texts) = value.keys.sorted().compactMap({ key in
        (key.hasPrefix("@")
          ? Project.texts(ofType: "Double")
          : isCast ? project.elementTexts(of: key) : project.texts(of: key)).map { (key, $0) }
      }).first
    else { return }
    report(
      index, .differs,
      "\(value.what)\(key) is printed as \(texts.here) here, and as \(texts.there) there",
      "nothing, unless the text is read by a program")
  }

  /// The last token of a cast to a collection that does not name the type of its elements: `as! [Any]`.
  private func collectionCast(behind last: Int) -> Int? {
    guard let type = castTarget(behind: last) else { return nil }
    if tokens[type].text == "NSArray" { return type }
    guard tokens[type].is("["), ["Any", "AnyObject"].contains(tokens[type + 1].text),
      tokens[type + 2].is("]")
    else { return nil }
    return type + 2
  }

  /// The token behind a printed value and what is printed for nil: `change[.oldKey] ?? "none"`.
  private func end(ofPrinted last: Int) -> Int {
    var next = tokens[last + 1].text == "!" ? last + 2 : last + 1
    if tokens[next].text == "??" {
      if let close = file.closing(of: next + 1) {
        next = close + 1
      } else if tokens[next + 1].kind != .punctuation {
        next += 2
      }
    }
    return next
  }

  /// A change's value or a value read by key.
  private struct PrintedValue {
    var last: Int
    /// The keys that it may be of; `@avg` for an average, which is a Double.
    var keys: Set<String>
    var what = ""
    /// Whether a cast has made it a collection of values of any type.
    var isCast = false
  }

  private func printedValue(at index: Int) -> PrintedValue? {
    if isChangedValue(index) || tokens[index].is("]") && isEntry(endingAt: index) {
      return PrintedValue(last: index, keys: keys(ofChangeAt: index).keys, what: "a change of ")
    }
    if let (last, isCast) = printedVariable(at: index) {
      if tokens[last].is("]") {
        let keys = keys(ofChangeAt: last).keys
        return PrintedValue(last: index, keys: keys, what: "a change of ", isCast: isCast)
      }
      guard let call = file.partner[last], let read = readValue(at: call - 1) else { return nil }
      return PrintedValue(last: index, keys: read.keys, isCast: isCast)
    }
    return readValue(at: index)
  }

  private func readValue(at index: Int) -> PrintedValue? {
    guard tokens[index].text == "value", file.isStringCall(index),
      let close = file.closing(of: index + 1)
    else { return nil }
    if tokens[index..<close].contains(where: { $0.text.contains("@avg.") }) {
      return PrintedValue(last: close, keys: ["@avg"])
    }
    guard let key = file.keys(ofCallAt: index).keys.last, isOfProperty(tokens[index..<close])
    else { return nil }
    return PrintedValue(last: close, keys: [key])
  }

  /// The last token of the value that was assigned to a variable: `list` in `let list = change![.newKey] as! [Any]`, and
  /// `count` in `let count = song.value(forKey: "count")`.
  private func printedVariable(at index: Int) -> (last: Int, isCast: Bool)? {
    guard tokens[index].kind == .identifier, index > 0, !tokens[index - 1].is("."),
      let body = function(around: index),
      let name = variable(namedAt: index, in: body)
    else { return nil }
    var last = name + 2
    while last < index {
      if let close = file.partner[last], close > last { last = close }
      if tokens[last].is("]"), isEntry(endingAt: last) { break }
      if tokens[last].is(")"), let open = file.partner[last], tokens[open - 1].text == "value",
        file.isStringCall(open - 1)
      {
        break
      }
      if endsValue(last) { return nil }
      last += 1
    }
    guard last < index else { return nil }
    if let cast = collectionCast(behind: last) { return endsValue(cast) ? (last, true) : nil }
    let end = tokens[last + 1].text == "!" ? last + 1 : last
    return tokens[last].is(")") && endsValue(end) ? (last, false) : nil
  }

  /// Whether a value read by key has the type of the last property: without an operator, or as a sum or an extreme.
  private func isOfProperty(_ call: ArraySlice<Token>) -> Bool {
    call.allSatisfy { token in
      !token.text.contains("@")
        || ["@sum.", "@max.", "@min."].contains(where: token.text.contains)
    }
  }

  /// Whether a parenthesis is that of an interpolation, or of the arguments of `print`.
  private func isPrinted(_ open: Int) -> Bool {
    var before = open - 1
    while before > 0, tokens[before].is(")"), let other = file.partner[before] {
      before = other - 1
    }
    return before >= 0
      && (tokens[before].kind == .string || ["print", "NSLog"].contains(tokens[before].text))
  }

  /// Whether a name is a variable of the function that has been assigned a change's value.
  func isChangedValue(_ index: Int) -> Bool {
    guard tokens[index].kind == .identifier, index > 0, !tokens[index - 1].is("."),
      let body = function(around: index)
    else { return false }
    return (body.lowerBound..<index).contains { place in
      guard tokens[place].name == tokens[index].name else { return false }
      // Its type, Any?, may be written.
      let isTyped = tokens[place + 1].is(":") && tokens[place + 2].isWord("Any")
      let equals = isTyped ? (tokens[place + 3].text == "?" ? place + 4 : place + 3) : place + 1
      guard tokens[equals].is("=") else { return false }
      if equals + 1 < index, tokens[equals + 1].kind == .identifier, endsValue(equals + 1) {
        return isChangedValue(equals + 1)
      }
      let value = equals + 1..<max(min(equals + 8, index), equals + 1)
      guard let close = value.first(where: { tokens[$0].is("]") }) else { return false }
      return isEntry(endingAt: close) && !tokens[close + 1].isWord("as")
    }
  }

  /// Whether a value in a condition or an assignment ends with a token.
  private func endsValue(_ last: Int) -> Bool {
    let next = tokens[last + 1]
    return file.endsStatement(last) || next.is(",") || next.is("{") || next.isWord("else")
  }

  /// `change?[.newKey]` or `change![NSKeyValueChangeKey.oldKey]`.
  func isEntry(endingAt close: Int) -> Bool {
    guard close > 2, ["newKey", "oldKey"].contains(tokens[close - 1].text) else { return false }
    return tokens[close - 2].is(".")
  }

  func function(around index: Int) -> Range<Int>? {
    var block = file.enclosing[index]
    while let open = block {
      if case .function = file.blocks[open] { return open..<file.partner[open]! }
      block = file.enclosing[open]
    }
    return nil
  }

  /// The keys that the conditions around a place compare `keyPath`, or the context, with; otherwise all keys that the
  /// source observes. They are not known if the function compares `keyPath` with something else.
  func keys(ofChangeAt index: Int) -> (keys: Set<String>, isKnown: Bool) {
    var (place, block) = (index, file.enclosing[index])
    while let open = block {
      if let keys = comparedKeys(before: place, in: open) { return (keys, true) }
      if case .function = file.blocks[open] { break }
      (place, block) = (open, file.enclosing[open])
    }
    return (project.observations[self.index].all, !comparesKey(before: index))
  }

  /// The keys that were compared last before a place. Conditions of blocks that have ended don't count, except those of
  /// `guard`.
  private func comparedKeys(before place: Int, in open: Int) -> Set<String>? {
    var index = place - 1
    while index > open {
      if tokens[index].is("}"), let brace = file.partner[index] {
        let head = file.head(ofBlock: brace)
        if let keys = keys(thatReturnIn: head..<index, brace) { return keys }
        index = tokens[head].isWord("guard") ? brace - 1 : min(head, brace) - 1
        continue
      }
      if let key = comparedKey(at: index) { return [key] }
      if let keys = keys(ofContextAt: index) { return keys }
      index -= 1
    }
    return nil
  }

  /// The keys for which a function goes on behind `if context != &context { …; return }`.
  private func keys(thatReturnIn block: Range<Int>, _ brace: Int) -> Set<String>? {
    guard tokens[block.lowerBound].isWord("if"), !tokens[block.upperBound + 1].isWord("else"),
      block.contains(where: { tokens[$0].isWord("return") && file.enclosing[$0] == brace })
    else { return nil }
    return (block.lowerBound..<brace).lazy.compactMap { index in
      comparedKey(at: index, by: "!=").map { [$0] } ?? keys(ofContextAt: index, by: "!=")
    }.first
  }

  private func comparedKey(at index: Int, by comparison: String = "==") -> String? {
    var (first, last, key) = (index, index, nil as String?)
    if let written = file.key(at: index) {
      (key, last) = written
    } else if tokens[index].kind == .identifier {
      while first > 1, tokens[first - 1].is(".") { first -= 2 }
      key = project.constants[tokens[index].name]
    }
    guard let key, first > 0, project.valueTypes[key] != nil else { return nil }
    return isCompared(first, last, by: comparison) ? key : nil
  }

  /// The keys that are observed with a context, where the context is compared.
  private func keys(ofContextAt index: Int, by comparison: String = "==") -> Set<String>? {
    guard project.contexts.uses.contains(place(index)) || tokens[index].kind == .identifier,
      project.contexts.names.contains(tokens[index].name)
    else { return nil }
    var first = index
    while first > 1, tokens[first - 1].is(".") { first -= 2 }
    if first > 0, tokens[first - 1].is("&") { first -= 1 }
    guard first > 0, isCompared(first, index, by: comparison) else { return nil }
    return project.observations[self.index].byContext[tokens[index].name]
  }

  private func isCompared(_ first: Int, _ last: Int, by comparison: String) -> Bool {
    let (before, after) = (tokens[first - 1], tokens[last + 1])
    if before.is(comparison) || after.is(comparison) { return true }
    let endsCase = after.is(":") && file.enclosing[first].map { tokens[$0].is("{") } == true
    return comparison == "==" && (before.isWord("case") || endsCase)
  }

  /// Whether the function compares its key path before a place.
  private func comparesKey(before index: Int) -> Bool {
    guard let body = function(around: index),
      let label = (file.head(ofBlock: body.lowerBound)..<body.lowerBound).first(where: {
        tokens[$0].text == "forKeyPath"
      })
    else { return true }
    let name = tokens[label + 1].is(":") ? "forKeyPath" : tokens[label + 1].name
    return (body.lowerBound..<index).contains {
      tokens[$0].name == name && tokens[$0].kind == .identifier
        && (tokens[$0 - 1].isWord("switch") || tokens[$0 - 1].is("==") || tokens[$0 + 1].is("==")
          || tokens[$0 - 1].is("="))
    }
  }
}
