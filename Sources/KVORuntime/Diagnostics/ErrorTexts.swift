internal import CKVORuntime

// Sentences for errors about unexpected values. The property's type is looked up in the classes of the name
// that the error contains.

extension KeyValueError {
  /// The sentence of a `typeMismatch`.
  static func mismatch(
    _ key: String, _ className: String, _ expected: String, _ found: String
  ) -> String {
    let subject = "\(quoted(key)) of \(className)"
    if let operation = operation(key) {
      let article = KVOClass.used(named: found).isEmpty ? "a value of type" : "an object of"
      return
        "\(operation) of \(className) needs \(expected), but an element gives \(article) \(found)."
    }
    switch KVOClass.holding(key, inClassNamed: className) {
    case .elements(_, of: expected):
      return "\(subject) takes elements of type \(expected), not \(found)."
    case .elements(let kind, _) where isOfProxy(found) && kind != proxied(found):
      return
        "\(subject) is \(kind), and no \(proxied(found).name): it takes \(expected), not \(found)."
    case .noElements where isOfProxy(found):
      return "\(subject) is not a collection: it takes \(expected), not \(found)."
    case .unknown where isOfProxy(found):
      return "\(subject) holds \(expected), which is no \(proxied(found).name)."
    default: return "\(subject) takes \(expected), not \(found)."
    }
  }

  /// The sentence of a `nilValue`.
  static func noNil(_ key: String, _ className: String) -> String {
    operation(key).map { "\($0) of \(className) needs values, but an element gives nil." }
      ?? "\(quoted(key)) of \(className) can't be nil."
  }

  /// The sentence of an `invalidOperator`, with the operator that was probably meant.
  static func fault(ofOperator name: String, in keyPath: String) -> String {
    guard let text = OperatorFault.text(of: name, in: keyPath) else {
      return
        "\(quoted(name)) in the key path \(quoted(keyPath)) is not an operator that can be used there."
    }
    // The core's text lists the valid operators.
    let operators = text.split(separator: " ").filter { $0.hasPrefix("@") }
      .map { String($0.prefix { $0 == "@" || $0.isLetter }) }
    return text + (suggestion(for: name, among: Set(operators)).map { " " + $0 } ?? "")
  }

  // The operators of a key path as a subject, in the wording of the core's own sentences; nil if it has none.
  private static func operation(_ keyPath: String) -> String? {
    let names = keyPath.split(separator: ".").filter { $0.hasPrefix("@") }
    guard KeyPathCoding.isPath(keyPath), let name = names.first else { return nil }
    let phrase = names.count == 1 ? "The operator \(quoted(String(name)))" : "An operator"
    return "\(phrase) in the key path \(quoted(keyPath))"
  }

  // The mutable proxies set values of these types.
  private static func isOfProxy(_ found: String) -> Bool {
    found == swiftName(of: [Any].self) || proxied(found) == .set
  }

  private static func proxied(_ found: String) -> Holding.Kind {
    found == swiftName(of: Set<AnyHashable>.self) ? .set : .array
  }
}

/// Whether there is an operator of that name, given without its @.
func isOperator(_ name: String) -> Bool {
  [
    "count", "sum", "avg", "min", "max", "unionOfObjects", "distinctUnionOfObjects",
    "unionOfArrays",
    "distinctUnionOfArrays", "unionOfSets", "distinctUnionOfSets",
  ].contains(name)
}

/// The kind of value that a property holds, for messages.
enum Holding {
  enum Kind: CustomStringConvertible {
    case array, set

    var name: String { self == .array ? "array" : "set" }
    var description: String { self == .array ? "an array" : "a set" }
  }

  /// A collection whose element type has that name.
  case elements(Kind, of: String)
  case noElements
  /// A value of any type, or of an unknown one.
  case unknown
}

extension KVOClass {
  /// The kind of value that the first class of that name holds for a key.
  static func holding(_ key: String, inClassNamed name: String) -> Holding {
    for known in used(named: name) {
      guard let type = known.property(key)?.valueType, !type.holdsAnything else { continue }
      guard let shape = type.shape else { return .noElements }
      let kind: Holding.Kind = shape.kind == .KVO_SET ? .set : .array
      return .elements(kind, of: swiftName(of: shape.element.swiftType))
    }
    return .unknown
  }
}
