/// A function's name as a programmer knows it, derived from its symbol: "closure #1 in Panel.watch(_:)".
struct FunctionName {
  let text: String
  /// Whether the function belongs to this library's source. Inlinable functions are compiled into other
  /// modules as well.
  let isLibrarys: Bool
  /// Whether it is a thunk, which the compiler puts between a function and callers that pass arguments in
  /// another form.
  let isThunk: Bool

  /// Nil if the symbol is not that of a Swift function.
  init?(symbol: String) {
    guard let demangled = SymbolTable.demangled(symbol) else { return nil }
    self.init(demangled: demangled)
  }

  /// - Parameter demangled: "closure #1 (M.Account, M.Change) -> () in M.Panel.watch(M.Account) -> ()".
  init?(demangled: String) {
    let text = Substring(demangled)
    isThunk = text.firstIndex(ofText: "reabstraction thunk helper") != nil
    let scopes = text.afterPrefixes.split(between: " in ").map { Scope($0) }
    guard isThunk || scopes.allSatisfy({ $0.isFunction }), let first = scopes.first else {
      return nil
    }
    isLibrarys = scopes.last?.isLibrarys == true
    // A method that is passed as a function of its object is a closure in a closure.
    let implicit = scopes.prefix { $0.isImplicit }
    let kind = implicit.isEmpty ? first.name : "a method"
    let rest = scopes.dropFirst(max(implicit.count, 1))
    let object = (implicit.last ?? first).curriedObject
    self.text = ([kind + (object.map { " of \($0)" } ?? "")] + rest.map(\.name))
      .joined(separator: " in ")
  }
}

/// A function, or a declaration that contains it.
private struct Scope {
  private let all: Substring

  init(_ all: Substring) { self.all = all }

  var isImplicit: Bool { all.hasPrefix("implicit closure #") }
  private var isClosure: Bool { isImplicit || all.hasPrefix("closure #") }

  /// False for symbols of something that belongs to a type: "type metadata accessor for M.Panel".
  var isFunction: Bool { isClosure || all.head(before: "(").firstIndex(ofText: " for ") == nil }

  var isLibrarys: Bool {
    let entity = all.hasPrefix("static ") ? all.dropFirst(7) : all
    return entity.hasPrefix("KVORuntime.") || entity.hasPrefix("(extension in KVORuntime):")
  }

  /// The name without types: "closure #1", "Panel.watch(on:)", "Panel.text.didset".
  var name: String {
    if isClosure {
      return all.split(separator: " ").prefix(isImplicit ? 3 : 2).joined(separator: " ")
    }
    let keyword = all.hasPrefix("static ") ? "static " : ""
    var entity = all.dropFirst(keyword.count)
    if entity.hasPrefix("(extension in "), let end = entity.firstIndex(ofText: "):") {
      entity = entity[end...].dropFirst(2)
    }
    entity = entity.head(before: " : ")
    let path = entity.withoutGenericArguments.head(before: "(")
    let parameters = entity.withoutGenericArguments[path.endIndex...]
    let names = path.split(separator: ".")
    let short = names.count > 1 ? names.dropFirst().joined(separator: ".") : String(path)
    return keyword + short + parameters.labels
  }

  /// The object's class, for a closure that returns an object's closure: "(M.Panel) -> (M.Change) -> ()".
  var curriedObject: String? {
    guard isClosure, let opening = all.firstIndex(of: "(") else { return nil }
    let signature = all[opening...]
    let parts = signature.split(between: " -> ")
    guard parts.count > 2, let type = parts.first, type.hasSuffix(")") else { return nil }
    return type.dropFirst().dropLast().split(separator: ".").last.map(String.init)
  }
}

extension Substring {
  /// The text without the prefixes that say how a function was compiled.
  fileprivate var afterPrefixes: Substring {
    var text = head(before: " with unmangled suffix ")
    if let end = text.lastIndex(ofText: "> of ") { text = text[end...].dropFirst(5) }
    for prefix in ["merged ", "partial apply forwarder for ", "@objc "] where text.hasPrefix(prefix)
    {
      text = text.dropFirst(prefix.count)
    }
    return text
  }

  fileprivate func head(before text: String) -> Substring {
    firstIndex(ofText: text).map { self[..<$0] } ?? self
  }

  /// The parts between separators that are outside of brackets.
  fileprivate func split(between separator: String) -> [Substring] {
    var (parts, start, depth) = ([Substring](), startIndex, 0)
    var (place, before): (Index, Character) = (startIndex, " ")
    while place < endIndex {
      if depth == 0, self[place...].hasPrefix(separator) {
        parts.append(self[start..<place])
        place = index(place, offsetBy: separator.count)
        (start, before) = (place, " ")
        continue
      }
      if "([<".contains(self[place]) { depth += 1 }
      if ")]".contains(self[place]) || self[place] == ">" && before != "-" { depth -= 1 }
      before = self[place]
      place = index(after: place)
    }
    return parts + [self[start...]]
  }

  /// The end of the bracket that the text begins with.
  private var closingBracket: Index? {
    var depth = 0
    for place in indices {
      if self[place] == "(" { depth += 1 }
      if self[place] == ")" { depth -= 1 }
      if depth == 0 { return place }
    }
    return nil
  }

  fileprivate var withoutGenericArguments: Substring {
    var (result, depth, before): (String, Int, Character) = ("", 0, " ")
    for character in self {
      let isClosing = character == ">" && before != "-"
      if character == "<" { depth += 1 }
      if depth == 0 { result.append(character) }
      if isClosing { depth -= 1 }
      before = character
    }
    return result[...]
  }

  /// The labels of parameters: "(on:_:)" for "(on: M.Account, Swift.Int) -> ()".
  fileprivate var labels: String {
    guard hasPrefix("("), let end = closingBracket else { return "" }
    let parameters = self[index(after: startIndex)..<end]
    guard !parameters.isEmpty else { return "()" }
    let labels = parameters.split(between: ", ").map { parameter in
      parameter.split(between: ": ").count > 1 ? parameter.head(before: ":") + ":" : "_:"
    }
    return "(" + labels.joined() + ")"
  }
}
