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
    switch Self.synonyms[own] ?? own {
    case "Bool": return ("true or false", "1 or 0")
    case "Double", "Float", "CGFloat": return ("1.0", "1")
    case let type where type.hasPrefix("[") || type.hasPrefix("Array<"):
      return ("[1, 2]", "several lines in parentheses")
    default: return nil
    }
  }
}

extension Mover {
  /// Lists a cast of a change's value to a type other than that of the key's property. If the conditions around it
  /// name no key, it may be a value of each key that the source observes, but for one whose property has the type.
  /// - Returns: whether it was listed.
  mutating func lookAtCast(ofValueAt index: Int, to type: String) -> Bool {
    let (keys, isCompared) = keys(ofChangeAt: index)
    let misfits = keys.sorted().compactMap { key in
      project.misfit(of: key, for: type).map { (key: key, type: $0) }
    }
    guard let first = misfits.first,
      isCompared || !keys.contains(where: { project.valueTypes[$0]?.contains(type) == true })
    else { return false }
    find(
      index, .differs, "a change of \(first.key) has the \(first.type) itself, no \(type)",
      "cast it to \(first.type) first, and convert that")
    return true
  }

  /// A cast of a variable to which a change's value was assigned: `if let new = change?[.newKey]`.
  mutating func lookAtCast(ofVariableAt index: Int) {
    guard index > 0, isChangedValue(index - 1), let type = castType(behind: index - 1) else {
      return
    }
    _ = lookAtCast(ofValueAt: index - 1, to: type)
  }

  /// Lists a value of a change, or one read by key, that is printed. There it is an NSNumber or an NSArray, which has
  /// another text.
  mutating func lookAtText(_ index: Int) {
    guard let (last, keys, what) = printedValue(at: index) else { return }
    let next = tokens[last + 1].text == "!" ? last + 2 : last + 1
    guard let open = file.enclosing[index], tokens[open].is("("), isPrinted(open),
      tokens[next].is(")") || tokens[next].is(","),
      let (key, texts) = keys.sorted().compactMap({ key in
        project.texts(of: key).map { (key, $0) }
      }).first
    else { return }
    find(
      index, .differs,
      "\(what)\(key) is printed as \(texts.here) here, and as \(texts.there) there",
      "nothing, unless the text is read by a program")
  }

  /// The last token of a change's value or of a value read by key, and the keys that it may be of.
  private func printedValue(at index: Int) -> (last: Int, keys: Set<String>, what: String)? {
    if isChangedValue(index) || tokens[index].is("]") && isEntry(endingAt: index) {
      return (index, keys(ofChangeAt: index).keys, "a change of ")
    }
    guard tokens[index].text == "value", file.isStringCall(index),
      let close = file.partner[index + 1],
      !tokens[index..<close].contains(where: { $0.text.contains("@") }),
      let key = file.keys(ofCallAt: index).keys.last
    else { return nil }
    return (close, [key], "")
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
  private func isChangedValue(_ index: Int) -> Bool {
    guard tokens[index].kind == .identifier, index > 0, !tokens[index - 1].is("."),
      let body = function(around: index)
    else { return false }
    return (body.lowerBound..<index).contains { place in
      guard tokens[place].name == tokens[index].name, tokens[place + 1].is("=") else {
        return false
      }
      let value = place + 2..<min(place + 9, index)
      guard let close = value.first(where: { tokens[$0].is("]") }) else { return false }
      return isEntry(endingAt: close) && !tokens[close + 1].isWord("as")
    }
  }

  /// `change?[.newKey]` or `change![NSKeyValueChangeKey.oldKey]`.
  private func isEntry(endingAt close: Int) -> Bool {
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

  /// The key that the conditions around a place compare `keyPath` with; otherwise all keys that the source observes.
  private func keys(ofChangeAt index: Int) -> (keys: Set<String>, isCompared: Bool) {
    var (place, block) = (index, file.enclosing[index])
    while let open = block {
      if let key = comparedKey(before: place, in: open) { return ([key], true) }
      if case .function = file.blocks[open] { break }
      (place, block) = (open, file.enclosing[open])
    }
    let calls = tokens.indices.filter { tokens[$0].text == "addObserver" && file.isStringCall($0) }
    return (Set(calls.compactMap { file.keys(ofCallAt: $0).keys.last }), false)
  }

  /// The key that was compared last before a place. Conditions of blocks that have ended don't count, except those of
  /// `guard`.
  private func comparedKey(before place: Int, in open: Int) -> String? {
    var index = place - 1
    while index > open {
      if tokens[index].is("}"), let brace = file.partner[index] {
        let head = file.head(ofBlock: brace)
        index = tokens[head].isWord("guard") ? brace - 1 : min(head, brace) - 1
        continue
      }
      if let key = comparedKey(at: index) { return key }
      index -= 1
    }
    return nil
  }

  private func comparedKey(at index: Int) -> String? {
    var (last, name) = (index, nil as String?)
    if tokens[index].kind == .string, tokens[index].interpolations.isEmpty {
      name = String(tokens[index].text.filter { $0 != "\"" }.split(separator: ".").last ?? "")
    } else if tokens[index].is("#keyPath"), let close = file.partner[index + 1] {
      last = close
      name = tokens[index..<close].last { $0.kind == .identifier }?.name
    }
    guard let name, index > 0, project.valueTypes[name] != nil else { return nil }
    let (before, after) = (tokens[index - 1], tokens[last + 1])
    let isCompared = before.is("==") || after.is("==") || before.isWord("case") || after.is(":")
    return isCompared ? name : nil
  }
}
