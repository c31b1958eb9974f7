internal import SwiftSource

/// A property of a `@KVO` class that can't take the wrapper: a weak or unowned one (Q3), or one with `willSet` or
/// `didSet` (Q6), which would run after the wrapper has notified.
///
/// Its accessors notify of reads and changes. Its storage is a property beside it, whose name key-value coding and
/// mirrors recognise (`Field.storagePrefix`). The storage has the `willSet` and `didSet`, so they run inside the
/// change. A property that overrides its superclass's has no storage: its `willSet` and `didSet` become methods.
struct AccessedProperty {
  static let prefix = "_kvo_"

  private let request: AttachedMacro
  private let member: Member
  private let binding: Binding
  private let name: Token

  /// Nil if the declaration is not a single variable.
  private init?(_ request: AttachedMacro) {
    var reader = DeclarationReader(request.source)
    guard let member = reader.readMember(), case .variable(true, let bindings) = member.kind,
      bindings.count == 1, let name = bindings[0].name, !bindings[0].isComputed,
      !member.isReference && !member.isOverride || bindings[0].type != nil
    else { return nil }
    (self.request, self.member, binding, self.name) = (request, member, bindings[0], name)
  }

  private var storage: String {
    isStored ? Self.observed(name) : Self.storage(of: name)
  }

  static func storage(of name: Token) -> String { (prefix + name.name).inSource }

  /// The name of the storage that is an `Observed`.
  static func observed(_ name: Token) -> String { ("_" + name.name).inSource }

  /// The name under which the macro's accessors store a property; nil if there are none.
  static func storage(of member: Member) -> String? {
    guard case .variable(_, let bindings) = member.kind, let name = bindings.first?.name,
      !member.isOverride
    else { return nil }
    switch ObservableMember.form(of: member) {
    case .accessed: return storage(of: name)
    case .observed: return name.name.isKey ? observed(name) : nil
    case .known, .none: return nil
    }
  }

  private var isStored: Bool { ObservableMember.isPlain(member) }

  // MARK: Beside the property

  static func peers(of request: AttachedMacro) -> Expansion {
    guard let property = AccessedProperty(request) else { return Expansion() }
    let source =
      property.member.isOverride
      ? property.methods
      : property.isStored ? property.observedDeclaration : property.storageDeclaration
    return Expansion(source: source)
  }

  private var actor: String { member.actor.map { "@\($0) " } ?? "" }

  private var storageDeclaration: String {
    let reference = member.modifiers.first { $0 == "weak" || $0.hasPrefix("unowned") }
    let type = binding.type.map { ": " + $0 } ?? ""
    let value = binding.initialValue.map { " = " + $0 } ?? ""
    let words = reference.map { $0 + " " } ?? ""
    return "\(actor)private \(words)var \(storage)\(type)\(value)\(observers)"
  }

  private var observedDeclaration: String {
    var type = binding.type ?? ""
    let isOptional = type.isOptional
    if isOptional { type = type.dropLast() + "?" }
    let initial = binding.initialValue.map(Self.argument) ?? (isOptional ? "nil" : nil)
    let declared = type.isEmpty ? "" : ": KVORuntime.Observed<\(type)>"
    let value = initial.map { " = KVORuntime.Observed(wrappedValue: \($0))" } ?? ""
    return "\(actor)private final var \(storage)\(declared)\(value)"
  }

  // An `if`, `switch` or `do` expression can be returned, but not passed as an argument: a closure returns it.
  private static func argument(_ value: String) -> String {
    let isStatement = ["if", "switch", "do"].contains { LexedSource(value).tokens[0].isWord($0) }
    return isStatement ? "{ \(value) }()" : value
  }

  private var observers: String {
    guard let blocks = binding.accessors?.blocks else { return "" }
    let texts = blocks.map { block in
      let parameter = block.parameter.map { "(\($0))" } ?? ""
      return "  \(block.name)\(parameter) {\n\(text(of: block))\n  }\n"
    }
    return " {\n\(texts.joined())}"
  }

  private var methods: String {
    (binding.accessors?.blocks ?? []).map { block in
      let parameter =
        block.name == "didSet" && !readsOldValue
        ? "" : "_ \(parameter(of: block)): \(binding.type ?? "")"
      return """
        \(actor)private func \(method(block.name))(\(parameter)) {
        \(text(of: block))
        }

        """
    }.joined()
  }

  // Swift reads the old value only for a `didSet` that uses it.
  private var readsOldValue: Bool {
    guard let block = binding.accessors?.block("didSet") else { return false }
    return block.parameter != nil || block.body.contains { $0.mentions("oldValue") }
  }

  private func parameter(of block: Accessors.Block) -> String {
    block.parameter ?? (block.name == "didSet" ? "oldValue" : "newValue")
  }

  private func method(_ observer: String) -> String {
    "\(Self.prefix)\(observer)_\(name.name)".inSource
  }

  // MARK: Accessors

  static func accessors(of request: AttachedMacro) -> Expansion {
    guard let property = AccessedProperty(request), property.name.name.isKey else {
      return unreadable(request)
    }
    let isOverride = property.member.isOverride
    return Expansion(
      source: isOverride
        ? property.overridingAccessors
        : property.isStored ? property.storedAccessors : property.ownAccessors,
      diagnostics: property.localTypes)
  }

  private var storedAccessors: String {
    let property = "\"\(name.name)\", \\.\(name.text)"
    let object = "KVORuntime.KVOObject"
    let place = "\(object)._Place(&\(storage))"
    return """
      {
        @storageRestrictions(initializes: \(storage))
        init(initialValue) { \(storage) = KVORuntime.Observed(wrappedValue: initialValue) }
        get {
          \(object)._reads(self, \(property)) { \(place) }
          return \(storage)._value
        }
        set {
          \(object)._sets(self, \(property), newValue) { $0(\(place)) }
        }
        _modify {
          let change = \(object)._willModify(self, \(property)) { \(object)._Address(&\(storage)) }
          defer { \(object)._didModify(change, "\(name.name)") }
          yield &\(storage)._value
        }
      }
      """
  }

  // If no `didSet` reads the old value, the compiler modifies the storage in place.
  private var ownAccessors: String {
    let property = "\"\(name.name)\", \\.\(name.text)"
    let (object, end) = ("KVORuntime.KVOObject", "_endChange(self, change, \(property))")
    let modify = """

        _modify {
          let change = \(object)._beginChangeInPlace(self, \(property))
          defer { \(object).\(end) }
          yield &\(storage)
        }
      """
    return """
      {
        @storageRestrictions(initializes: \(storage))
        init(initialValue) { \(storage) = initialValue }
        get {
          \(object)._readsKey(self, \(property))
          return \(storage)
        }
        set {
          let change = \(object)._beginChange(self, \(property))
          \(storage) = newValue
          \(object).\(end)
        }\(member.isReference ? "" : modify)
      }
      """
  }

  // The superclass's property opens a change as well, and that change joins this one.
  private var overridingAccessors: String {
    let blocks = binding.accessors?.blocks ?? []
    let names = "\"\(name.name)\", \\.\(name.text)"
    let property = "super.\(name.text)"
    let willSet = blocks.contains { $0.name == "willSet" }
    let didSet = blocks.contains { $0.name == "didSet" }
    let lines = [
      "let change = KVORuntime.KVOObject._beginOverride(self, \(names))",
      readsOldValue ? "let oldValue = \(property)" : nil,
      willSet ? "\(method("willSet"))(newValue)" : nil,
      "\(property) = newValue",
      didSet ? "\(method("didSet"))(\(readsOldValue ? "oldValue" : ""))" : nil,
      "KVORuntime.KVOObject._endChange(self, change, \(names))",
    ]
    return """
      {
        get { \(property) }
        set {
          \(lines.compactMap { $0 }.joined(separator: "\n    "))
        }
      }
      """
  }

  private static func unreadable(_ request: AttachedMacro) -> Expansion {
    let message = """
      A weak or unowned property of a @KVO class is one variable with its type; mark it @KVOIgnored, and change it \
      inside withChange(forKey:), if it can't be.
      """
    return Expansion(diagnostics: [
      Diagnostic(severity: .error, message: message, offset: request.start)
    ])
  }

  // The compiler emits no type that is declared in code from a macro, and the program does not link.
  private var localTypes: [Diagnostic] {
    (binding.accessors?.blocks ?? []).compactMap { block in
      guard let type = Self.localType(in: Array(block.body)) else { return nil }
      let message = """
        @KVO: a type can't be declared in the \(block.name) of "\(name.name)"; declare it in the class, or in a method \
        that the \(block.name) calls.
        """
      return Diagnostic(severity: .error, message: message, offset: request.offset + type.offset)
    }
  }

  private static func localType(in tokens: [Token]) -> Token? {
    for (index, token) in tokens.enumerated() {
      let type = token.interpolations.lazy.compactMap(localType(in:)).first
      if let type { return type }
      guard index == 0 || !tokens[index - 1].is("."), index + 1 < tokens.count,
        tokens[index + 1].kind == .identifier
      else { continue }
      let isActor = token.isWord("actor") && !tokens[index + 1].isFirstOnLine
      if isActor || ["struct", "class", "enum"].contains(where: token.is) { return token }
    }
    return nil
  }

  // MARK: Bodies

  // An observer's body with a source location, for messages and debuggers. A `willSet` or `didSet` that names its own
  // property accesses the stored value, without calling the observers again. The body becomes that of the storage's
  // observer, so it names the storage instead. In an override the name stays: its observers become methods.
  private func text(of block: Accessors.Block) -> String {
    guard let first = block.body.first else { return "" }
    let direct =
      member.isOverride
      ? []
      : DirectAccesses.tokens(named: name.name, in: block.body, parameter: parameter(of: block))
        .map(\.offset)
    let text = block.body.map { $0.source { direct.contains($0.offset) ? storage : nil } }.joined()
    // The trivia before the first token may contain lines.
    let lines = first.leadingTrivia.utf8.count { $0 == UInt8(ascii: "\n") }
    return """
      #sourceLocation(file: \(JSON.string(request.file).text), line: \(request.line + first.line - 1 - lines))
      \(text)
      #sourceLocation()
      """
  }
}

extension Token {
  /// Whether the token is this name, or a string that interpolates it.
  fileprivate func mentions(_ name: String) -> Bool {
    kind == .identifier && self.name == name
      || interpolations.joined().contains { $0.mentions(name) }
  }

  /// The token's source with its trivia, with some names replaced, also in interpolations.
  fileprivate func source(replacing replacement: (Token) -> String?) -> String {
    guard !interpolations.isEmpty else { return leadingTrivia + (replacement(self) ?? text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    for token in interpolations.joined() where token.kind != .endOfFile {
      let start = rest.startIndex + (token.triviaOffset - (endOffset - rest.count))
      bytes += rest[..<start]
      bytes += Array(token.source(replacing: replacement).utf8)
      rest = rest[(start + token.endOffset - token.triviaOffset)...]
    }
    return leadingTrivia + String(decoding: bytes + rest, as: UTF8.self)
  }
}

extension String {
  /// Whether this type is written as an optional.
  var isOptional: Bool { (hasSuffix("?") || hasSuffix("!")) && !isFunctionType }
}
