internal import SwiftSource

/// A `weak` or `unowned` property of a `@KVO` class (Q3), which Swift gives no wrapper: its storage stands beside it
/// under a name that key-value coding and mirrors know for this (`Field.referencePrefix`), and its accessors tell of
/// reads and changes.

enum ReferenceProperty {
  static let prefix = "_kvo_"

  private struct Property {
    let name: String
    let modifier: String
    let type: String
    let initialValue: String?

    var storage: String { prefix + LexedSource(name).tokens[0].name }
  }

  static func storage(of request: AttachedMacro) -> Expansion {
    guard let property = property(of: request) else { return Expansion() }
    let value = property.initialValue.map { " = " + $0 } ?? ""
    return Expansion(
      source:
        "private \(property.modifier) var \(quoted(property.storage)): \(property.type)\(value)")
  }

  static func accessors(of request: AttachedMacro) -> Expansion {
    guard let property = property(of: request), property.name.isKey else {
      return unreadable(request)
    }
    let storage = quoted(property.storage)
    let key = LexedSource(property.name).tokens[0].name
    return Expansion(
      source: """
        {
          @storageRestrictions(initializes: \(storage))
          init(initialValue) { \(storage) = initialValue }
          get {
            _readsKey("\(key)")
            return \(storage)
          }
          set {
            withChange(forKey: "\(key)") { \(storage) = newValue }
          }
        }
        """)
  }

  private static func property(of request: AttachedMacro) -> Property? {
    var reader = DeclarationReader(request.source)
    guard let member = reader.readMember(), case .variable(true, let bindings) = member.kind,
      bindings.count == 1, let name = bindings[0].name, bindings[0].accessors == nil,
      let type = bindings[0].type,
      let modifier = member.modifiers.first(where: { $0 == "weak" || $0.hasPrefix("unowned") })
    else { return nil }
    return Property(
      name: name.text, modifier: modifier, type: type, initialValue: bindings[0].initialValue)
  }

  private static func unreadable(_ request: AttachedMacro) -> Expansion {
    let message = """
      A weak or unowned property of a @KVO class is one variable with its type and without observers; mark it \
      @KVOIgnored, and change it inside withChange(forKey:), if it can't be.
      """
    return Expansion(diagnostics: [
      Diagnostic(severity: .error, message: message, offset: request.start)
    ])
  }

  private static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      byte >= 0x80 || byte == UInt8(ascii: "_") || (byte | 0x20) &- UInt8(ascii: "a") < 26
        || byte &- UInt8(ascii: "0") < 10
    }
    return isPlain ? name : "`\(name)`"
  }
}
