/// Reads declarations of variables: names, types, initial values and accessors.

extension DeclarationReader {
  mutating func readBindings(until end: Int) -> [Binding] {
    var bindings: [Binding] = []
    repeat {
      if !bindings.isEmpty { index += 1 }
      bindings.append(readBinding(until: end))
    } while index < end && self[index].is(",")
    return bindings
  }

  private mutating func readBinding(until end: Int) -> Binding {
    var binding = Binding(place: index)
    if self[index].is("(") {
      index = min(endOfGroup(from: index), end)
    } else {
      binding.name = self[index]
      index += 1
    }
    if index < end, self[index].is(":") {
      index += 1
      binding.type = readType(until: end)
    }
    if index < end, self[index].is("=") {
      index += 1
      binding.initialValue = readExpression(until: end)
    }
    if index < end, self[index].is("{") {
      let close = min(endOfGroup(from: index), end)
      binding.accessors = readAccessors(behind: index, until: max(close - 1, index + 1))
      index = close
    }
    return binding
  }

  mutating func readType(until end: Int) -> String {
    let start = index
    var angles = 0
    while index < end {
      let token = self[index]
      if index > start, beginsMember() { break }
      if token.is("{") || token.is(";") || token.is("=") || token.is("where") { break }
      if token.is(","), angles == 0 { break }
      angles += token.angles
      index = min(isOpening(token) ? endOfGroup(from: index) : index + 1, end)
    }
    return text(start..<index)
  }

  // A brace begins a closure, which is part of the expression, unless it holds `willSet` or `didSet`.
  mutating func readExpression(until end: Int) -> String {
    let start = index
    while index < end {
      if index > start, beginsMember() { break }
      let token = self[index]
      if token.is(",") || token.is(";") { break }
      if token.is("{"), index > start, holdsObservers(at: index) { break }
      if token.leadingTrivia.isEmpty, let close = endOfGenericArguments(from: index) {
        index = close
        continue
      }
      index = min(isOpening(token) ? endOfGroup(from: index) : index + 1, end)
    }
    return text(start..<index)
  }

  private func holdsObservers(at brace: Int) -> Bool {
    var reader = self
    reader.index = brace + 1
    while reader[reader.index].is("@") { _ = reader.readAttribute() }
    let word = reader[reader.index]
    guard word.isWord("willSet") || word.isWord("didSet") else { return false }
    let next = reader[reader.index + 1]
    return next.is("{") || next.is("(")
  }

  private static let accessorNames: Set<String> = [
    "get", "set", "willSet", "didSet", "_read", "_modify", "read", "modify", "init",
    "unsafeAddress", "unsafeMutableAddress",
  ]

  private func readAccessors(behind open: Int, until end: Int) -> Accessors {
    let range = (open + 1..<end).clamped(to: tokens.indices)
    var reader = self
    reader.index = range.lowerBound
    var blocks: [Accessors.Block] = []
    while reader.index < range.upperBound {
      guard let block = reader.readAccessor(until: range.upperBound) else {
        blocks = []
        break
      }
      blocks.append(block)
    }
    if blocks.isEmpty {
      blocks = [.init(name: "get", parameter: nil, effects: [], body: tokens[range])]
    }
    return Accessors(open: open, blocks: blocks)
  }

  private mutating func readAccessor(until end: Int) -> Accessors.Block? {
    while index < end {
      if self[index].is("@") {
        _ = readAttribute()
      } else if self[index].isWord("mutating") || self[index].isWord("nonmutating")
        || self[index].isWord("nonisolated")
      {
        index += 1
      } else {
        break
      }
    }
    guard index < end, Self.accessorNames.contains(self[index].text) else { return nil }
    var block = Accessors.Block(
      name: self[index].text, parameter: nil, effects: [], body: [])
    index += 1
    if index < end, self[index].is("(") {
      block.parameter = self[index + 1].name
      index = min(endOfGroup(from: index), end)
    }
    while index < end, self[index].isWord("async") || self[index].isWord("throws") {
      block.effects.append(self[index].text)
      index += 1
      if index < end, self[index].is("(") { index = min(endOfGroup(from: index), end) }
    }
    guard index < end, self[index].is("{") else { return nil }
    let close = min(endOfGroup(from: index), end)
    block.body = tokens[((index + 1)..<max(close - 1, index + 1)).clamped(to: tokens.indices)]
    index = close
    return block
  }
}
