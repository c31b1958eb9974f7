// Programs as text, one operation per line:
//
//     set a.next b                       by the setter; `key` by its name, `store` without both
//     insert a.items 0,2 b c             `proxy insert …`, `hand insert …`, `store insert …`; remove, replace
//     union a.tags b c                   minus, intersect, assign
//     will a.items insert 0              did a.items
//     on x a.next.value old new prior    off x
//     add b to a.value new #1            remove b from a.value #1
//     clear a                            ends all registrations of a
//     renew a                            drops a's object and makes another
//     when x 2: set a.value 3            in the second call of x; `when b 1: …` of the observer b

/// Reads programs. Unreadable text is a mistake in a test, and stops it.
package struct GraphReader {
  private var callbacks: [String] = []

  package static func program(_ text: String) -> GraphProgram {
    var reader = GraphReader()
    let lines = text.split(separator: "\n").map {
      $0.split(separator: "=>", omittingEmptySubsequences: false)[0]
    }
    let operations = lines.map { reader.operation(String($0)) }
    return GraphProgram(operations, callbacks: reader.callbacks)
  }

  private mutating func operation(_ line: String) -> GraphProgram.Operation {
    var words = Words(line)
    let verb = words.next()
    switch verb {
    case "store" where words.isMutation, "proxy", "hand":
      let form = words.next()
      return mutation(form, &words, MutationRoute(rawValue: verb)!)
    case "set", "key", "store":
      let (slot, key) = words.target()
      return .set(slot, key, words.value(GraphClass.keys[key].kind), SetRoute(rawValue: verb)!)
    case "will":
      let (slot, key) = words.target()
      return .will(slot, key, words.isAtEnd ? nil : words.mutation(words.next()))
    case "did":
      let (slot, key) = words.target()
      return .did(slot, key)
    case "on":
      let callback = number(of: words.next())
      let (slot, path) = words.path()
      return .observe(slot, path, words.options(), as: callback)
    case "off": return .invalidate(number(of: words.next()))
    case _ where words.hasPreposition: return registration(verb, &words)
    case "clear": return .removeAll(words.slot())
    case "renew": return .renew(words.slot())
    case "when": return reaction(&words, line)
    default: return mutation(verb, &words, .accessor)
    }
  }

  private func mutation(
    _ form: String, _ words: inout Words, _ route: MutationRoute
  ) -> GraphProgram.Operation {
    let (slot, key) = words.target()
    return .mutate(slot, key, words.mutation(form), route)
  }

  private func registration(_ verb: String, _ words: inout Words) -> GraphProgram.Operation {
    let observer = words.slot()
    _ = words.next()
    let (slot, path) = words.path()
    let options = words.options()
    let context = words.isAtEnd ? nil : Int(words.next().dropFirst())
    return verb == "add"
      ? .add(observer, to: slot, path, options, context: context ?? 0)
      : .remove(observer, from: slot, path, context: context)
  }

  private mutating func reaction(_ words: inout Words, _ line: String) -> GraphProgram.Operation {
    let who = words.next()
    let call = Int(words.next().dropLast())!
    let rest = String(line[line.index(after: line.firstIndex(of: ":")!)...])
    let caller = Words.slot(who).map { -1 - $0 } ?? number(of: who)
    return .when(caller, call: call, operation(rest))
  }

  private mutating func number(of callback: String) -> Int {
    if let known = callbacks.firstIndex(of: callback) { return known }
    callbacks.append(callback)
    return callbacks.count - 1
  }
}

/// The words of a line, taken one by one.
private struct Words {
  private var words: ArraySlice<Substring>

  init(_ line: String) { words = line.split(separator: " ")[...] }

  var isAtEnd: Bool { words.isEmpty }
  /// `remove b from …` is about an observer, `remove a.items …` about a list.
  var hasPreposition: Bool { words.dropFirst().first.map { $0 == "from" || $0 == "to" } ?? false }

  var isMutation: Bool { Mutation.Form.allCases.contains { "\($0)" == words.first ?? "" } }

  mutating func next() -> String {
    guard let word = words.popFirst() else { preconditionFailure("the line is too short") }
    return String(word)
  }

  static func slot(_ word: String) -> Int? {
    guard let letter = word.utf8.first, word.utf8.count == 1 else { return nil }
    let slot = Int(letter) - 97
    return (0..<GraphProgram.slots).contains(slot) ? slot : nil
  }

  mutating func slot() -> Int {
    let word = next()
    guard let slot = Self.slot(word) else { preconditionFailure("no slot: \(word)") }
    return slot
  }

  mutating func target() -> (Int, GraphClass.Key) {
    let (slot, path) = path()
    guard case .key(let key) = path.components[0], path.count == 1 else {
      preconditionFailure("no key: \(path.text)")
    }
    return (slot, key)
  }

  mutating func path() -> (Int, GraphPath) {
    let word = next()
    guard let slot = Self.slot(String(word.prefix(1))), word.dropFirst().first == "." else {
      preconditionFailure("no path: \(word)")
    }
    return (slot, GraphPath(String(word.dropFirst(2))))
  }

  mutating func value(_ kind: GraphClass.Kind) -> GraphValue {
    if words.first == "nil" {
      _ = next()
      return .nil
    }
    switch kind {
    case .number: return .number(Double(next())!)
    case .link: return .object(slot())
    case .list: return .list(slots())
    case .set: return .set(of: slots())
    }
  }

  private mutating func slots() -> [Int] {
    var slots: [Int] = []
    while !isAtEnd { slots.append(slot()) }
    return slots
  }

  mutating func mutation(_ word: String) -> Mutation {
    guard let form = Mutation.Form.allCases.first(where: { "\($0)" == word }) else {
      preconditionFailure("no operation: \(word)")
    }
    let indexes = form.isOfSet ? [] : next().split(separator: ",").map { Int($0)! }
    return Mutation(form, indexes: indexes, objects: slots())
  }

  mutating func options() -> GraphOptions {
    var options: GraphOptions = []
    while let word = words.first, let option = GraphOptions.words.first(where: { $0.0 == word }) {
      options.insert(option.1)
      _ = next()
    }
    return options
  }
}

// MARK: Writing

extension GraphProgram {
  package var lines: [String] { operations.map(line) }

  private func line(_ operation: Operation) -> String {
    switch operation {
    case .set(let slot, let key, let value, let route):
      "\(route) \(target(slot, key)) \(text(value))".replacing("setter", with: "set")
    case .mutate(let slot, let key, let mutation, let route):
      (route == .accessor ? "" : "\(route) ") + "\(mutation.form) \(target(slot, key))"
        + operands(mutation)
    case .will(let slot, let key, let mutation):
      "will \(target(slot, key))" + (mutation.map { " \($0.form)" + operands($0) } ?? "")
    case .did(let slot, let key): "did \(target(slot, key))"
    case .observe(let slot, let path, let options, let callback):
      "on \(callbacks[callback]) \(letter(slot)).\(path.text)\(text(options))"
    case .invalidate(let callback): "off \(callbacks[callback])"
    case .add(let observer, let slot, let path, let options, let context):
      "add \(letter(observer)) to \(letter(slot)).\(path.text)\(text(options))"
        + (context == 0 ? "" : " #\(context)")
    case .remove(let observer, let slot, let path, let context):
      "remove \(letter(observer)) from \(letter(slot)).\(path.text)"
        + (context.map { " #\($0)" } ?? "")
    case .removeAll(let slot): "clear \(letter(slot))"
    case .renew(let slot): "renew \(letter(slot))"
    case .when(let caller, let call, let operation):
      "when \(caller < 0 ? letter(-1 - caller) : callbacks[caller]) \(call): \(line(operation))"
    }
  }

  private func letter(_ slot: Int) -> String { String(UnicodeScalar(UInt8(97 + slot))) }

  private func target(_ slot: Int, _ key: GraphClass.Key) -> String {
    "\(letter(slot)).\(GraphClass.names[key])"
  }

  private func operands(_ mutation: Mutation) -> String {
    let indexes = mutation.indexes.map(String.init).joined(separator: ",")
    return ([indexes] + mutation.objects.map(letter)).filter { !$0.isEmpty }.map { " \($0)" }
      .joined()
  }

  private func text(_ value: GraphValue) -> String {
    switch value {
    case .nil: "nil"
    case .number(let number): "\(Int(number))"
    default: value.objects.map(letter).joined(separator: " ")
    }
  }

  private func text(_ options: GraphOptions) -> String {
    GraphOptions.words.filter { options.contains($0.1) }.map { " \($0.0)" }.joined()
  }
}
