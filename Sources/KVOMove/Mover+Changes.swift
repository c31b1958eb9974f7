/// Edits and findings about changes: kinds that are numbers there, and index sets. Edits 6 and 7 of
/// MovingOver.md, which also describes them in "What behaves differently". No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Handles a member that belongs to a change; false if the name is none of a change's.
  mutating func lookAtChange(_ index: Int) -> Bool {
    switch tokens[index].text {
    case "kindKey": if !moveKind(index), !moveNumber(ofKindAt: index) { lookAtKind(index) }
    case "indexesKey": lookAtIndexes(index)
    case "newKey", "oldKey": lookAtCast(ofChangeAt: index)
    default: return false
    }
    return true
  }

  /// Edits `NSKeyValueChange(rawValue: change![.kindKey] as! UInt)!`, also with an `NSNumber` in between: here the
  /// change already holds the kind itself.
  private mutating func moveKind(_ key: Int) -> Bool {
    guard let bracket = file.enclosing[key], tokens[key + 1].is("]"), tokens[key + 2].isWord("as"),
      tokens[key + 3].text == "!", let inner = file.enclosing[bracket]
    else { return false }
    let isInner = inner > 0 && tokens[inner - 1].is(":")
    guard let call = isInner ? file.enclosing[inner] : inner, call > 0,
      tokens[call - 1].text == "NSKeyValueChange", tokens[call + 1].text == "rawValue",
      let close = file.partner[call]
    else { return false }
    let last = isInner ? close - 4 : close - 1
    let isNumber = isInner && tokens[key + 4].text == "NSNumber"
    guard last == key + 4, isNumber || !isInner && ["UInt", "Int"].contains(tokens[last].text)
    else {
      return false
    }
    let isForced = tokens[close + 1].text == "!" && tokens[close + 1].leadingTrivia.isEmpty
    let first = isInner ? inner + 1 : call + 3
    edits.append(Edit(tokens[call - 1].offset..<tokens[first].offset, "("))
    replace(
      key + 3..<(isForced ? close + 2 : close + 1),
      by: (isForced ? "!" : "?") + " NSKeyValueChange)")
    needsRuntime = true
    return true
  }

  /// Edits other casts of the kind to a number, such as `change?[.kindKey] as? UInt`: the kind's raw value is that number.
  private mutating func moveNumber(ofKindAt key: Int) -> Bool {
    guard tokens[key + 1].is("]"), tokens[key + 2].isWord("as"), isChangeKey(key),
      ["?", "!"].contains(tokens[key + 3].text), tokens[key + 5].text != "?",
      let start = start(ofEntryAt: key)
    else { return false }
    let type = tokens[key + 4].text
    let isForced = tokens[key + 3].text == "!"
    let number = type == "NSNumber" ? "NSNumber(value: " : "Int("
    switch type {
    case "UInt":
      insert("(", before: start)
      replace(key + 4, by: isForced ? "NSKeyValueChange).rawValue" : "NSKeyValueChange)?.rawValue")
    case "Int", "NSNumber":
      insert(isForced ? number + "(" : "(", before: start)
      replace(
        key + 4,
        by: isForced
          ? "NSKeyValueChange).rawValue)" : "NSKeyValueChange).map({ \(number)$0.rawValue) })")
    default: return false
    }
    needsRuntime = true
    return true
  }

  /// The first token of `change?[.newKey]`; nil if the change is more than a name.
  private func start(ofEntryAt key: Int) -> Int? {
    guard let open = file.enclosing[key] else { return nil }
    var start = open - 1
    while start > 0, ["?", "!"].contains(tokens[start].text) { start -= 1 }
    return tokens[start].kind == .identifier && !tokens[start - 1].is(".") ? start : nil
  }

  private mutating func lookAtKind(_ index: Int) {
    let line = index..<min(index + 8, tokens.count)
    guard
      !line.contains(where: { tokens[$0].text == "NSKeyValueChange" && !tokens[$0 + 1].is("(") })
    else { return }
    report(
      index, .differs, "the kind is an NSKeyValueChange, not a number",
      "change[.kindKey] as? NSKeyValueChange")
  }

  /// A cast of the indexes to Foundation's set compiles, but always fails. An edit reads that set instead.
  private mutating func lookAtIndexes(_ index: Int) {
    if let open = file.enclosing[index], tokens[index + 1].is("]"), tokens[index + 2].isWord("as"),
      ["?", "!"].contains(tokens[index + 3].text), tokens[index + 4].text == "IndexSet"
    {
      needsFoundation = true
      let force = tokens[index + 3].text == "!" ? "!" : ""
      return replaceWithSpace(open..<index + 5, by: ".indexSet" + force)
    }
    let line = index..<min(index + 8, tokens.count)
    guard line.contains(where: { ["IndexSet", "NSIndexSet"].contains(tokens[$0].text) }) else {
      return
    }
    report(
      index, .differs, "the indexes are a RangeSet<Int>, no IndexSet",
      "change?.indexSet, with KVOFoundation, or change?[.indexesKey] as? RangeSet<Int>")
  }

  private static let numbers: Set = ["Int", "UInt", "NSNumber", "Int32", "Int64", "NSInteger"]

  /// A value that is read from a change and cast to a type other than the property's.
  private mutating func lookAtCast(ofChangeAt index: Int) {
    guard tokens[index + 1].is("]"), let type = castType(behind: index + 1) else { return }
    if moveEnumeration(inChangeAt: index, type) || lookAtCast(ofValueAt: index, to: type) { return }
    lookAtEnumeration(inChangeAt: index, type)
  }

  /// Edits `change?[.newKey] as? NSNumber`, where the compared key's property is an enumeration of integers: the change
  /// has the enumeration, whose raw value is the number.
  private mutating func moveEnumeration(inChangeAt index: Int, _ type: String) -> Bool {
    guard ["NSNumber", "Int"].contains(type), let start = start(ofEntryAt: index),
      tokens[index + 2].isWord("as"), ["?", "!"].contains(tokens[index + 3].text),
      let enumeration = comparedEnumeration(at: index)
    else { return false }
    let isForced = tokens[index + 3].is("!") || tokens[index + 3].text == "!"
    switch (type, isForced) {
    case ("Int", _):
      insert("(", before: start)
      replace(index + 4, by: enumeration + (isForced ? ").rawValue" : ")?.rawValue"))
    case (_, true):
      insert("NSNumber(value: (", before: start)
      replace(index + 4, by: enumeration + ").rawValue)")
    case (_, false):
      insert("(", before: start)
      replace(index + 4, by: enumeration + ").map({ NSNumber(value: $0.rawValue) })")
    }
    return true
  }

  /// The name of the enumeration that the compared key has, if its raw values are of type `Int`.
  private func comparedEnumeration(at index: Int) -> String? {
    let (keys, isKnown) = keys(ofChangeAt: index)
    guard isKnown, keys.count == 1, let name = project.enumerations[keys.first!] else { return nil }
    let found = project.types.joined().filter { $0.isEnumeration && $0.name == name }
    guard found.count == 1, let type = found.first, type.inherited.first?.name == "Int",
      !type.isPrivate || type.id.file == self.index,
      type.path.allSatisfy({ !$0.contains(":") })
    else { return nil }
    return type.path.joined(separator: ".")
  }

  /// A number that is read from a change, for a property whose type is an enumeration.
  private mutating func lookAtEnumeration(inChangeAt index: Int, _ type: String) {
    guard Self.numbers.contains(type) else { return }
    let (keys, isKnown) = keys(ofChangeAt: index)
    let named = project.enumerations.filter { key, _ in
      guard !isKnown || keys.contains(key) else { return false }
      return tokens.contains { $0.name == key || $0.kind == .string && $0.text.contains(key) }
    }
    guard let (key, enumeration) = named.min(by: { $0.key < $1.key }) else { return }
    report(
      index, .differs, "a change of \(key) has the \(enumeration) itself, no \(type)",
      "(change?[.\(tokens[index].text)] as? \(enumeration))?.rawValue")
  }

  /// Lists `(new as AnyObject).intValue` of a change's value, or of one read by key: there every object has the members of
  /// all others.
  mutating func lookAtMember(ofAnyObjectAt index: Int) {
    guard index > 3, tokens[index - 1].isWord("as"), tokens[index + 1].is(")") else { return }
    var (last, next) = (index - 2, index + 2)
    while last > 0, ["?", "!"].contains(tokens[last].text) { last -= 1 }
    while ["?", "!"].contains(tokens[next].text) { next += 1 }
    guard tokens[next].is("."), tokens[next + 1].kind == .identifier, !file.isKeyCall(next + 1),
      isChangedValue(last) || tokens[last].is("]") && isEntry(endingAt: last)
        || (valueCall(endingAt: last) ?? valueCall(assignedTo: last)).map(throwsHere) ?? false
    else { return }
    let number = comparedEnumeration(at: last).map { "(… as? \($0))?.rawValue" }
    report(
      index, .refused, "an AnyObject has no \(tokens[next + 1].text) here",
      number ?? "cast the value to the type that the property has")
  }

  private func valueCall(endingAt last: Int) -> Int? {
    guard tokens[last].is(")"), let open = file.partner[last], open > 0,
      tokens[open - 1].text == "value", file.isStringCall(open - 1)
    else { return nil }
    return open - 1
  }

  /// The type in a cast such as `] as? Int` or `) as! NSNumber`.
  func castType(behind close: Int) -> String? { castTarget(behind: close).map { tokens[$0].text } }

  /// The first token of that type.
  func castTarget(behind close: Int) -> Int? {
    var index = close + 1
    while ["?", "!"].contains(tokens[index].text) || tokens[index].is(")") { index += 1 }
    guard tokens[index].isWord("as") else { return nil }
    return ["?", "!"].contains(tokens[index + 1].text) ? index + 2 : index + 1
  }

  /// The value of a key whose property is an enumeration, read as a number.
  mutating func lookAtEnumeration(ofCallAt index: Int) {
    guard tokens[index].text == "value", file.isStringCall(index),
      let close = file.closing(of: index + 1),
      let type = castType(behind: close), Self.numbers.contains(type),
      let key = file.keys(ofCallAt: index).keys.last, let enumeration = project.enumerations[key]
    else { return }
    report(
      index, .differs, "\(key) is a \(enumeration), no \(type)", "(… as? \(enumeration))?.rawValue")
  }
}
