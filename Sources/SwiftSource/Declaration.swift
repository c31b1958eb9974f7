/// What a source declares, as far as somebody who looks at a class's properties and methods must know it. Places are
/// indexes of the tokens that were read.

/// A class, or another type, with its members.
public struct TypeDeclaration {
  /// `class`, `struct`, `enum`, `actor`, `extension`, `protocol`.
  public var keyword: String
  public var attributes: [Attribute]
  public var modifiers: [String]
  /// The name's token.
  public var name: Token
  /// What stands behind the colon.
  public var supertypes: [Supertype]
  /// Where the name with its generic parameters ends: where a superclass would be written, in bytes.
  public var endOfName: Int
  /// The places of its braces.
  public var open: Int
  public var close: Int
  public var members: [Member]

  public var inherited: [String] { supertypes.map(\.text) }
}

/// A superclass or a protocol.
public struct Supertype {
  /// As it is written.
  public var text: String
  public var place: Int
}

/// An attribute: `@objc(name:)`.
public struct Attribute {
  /// Without the at sign.
  public var name: String
  public var offset: Int

  public init(name: String, offset: Int) {
    self.name = name
    self.offset = offset
  }
}

/// What stands in a type's body, in the order in which it does.
public struct Member {
  public enum Kind {
    /// `let` or `var`.
    case variable(isVariable: Bool, bindings: [Binding])
    case function(Function)
    /// `#if …`, `#elseif …`, `#else`, `#endif`, the whole line.
    case directive(String)
    case other
  }

  public var kind: Kind
  public var attributes: [Attribute]
  /// As they are written: `private(set)`, `weak`.
  public var modifiers: [String]
  /// Where it begins, in bytes; behind the conditions that stand between its attributes.
  public var offset: Int
  /// The places of what it begins with, and of its keyword.
  public var start: Int
  public var keyword: Int

  public var isDirective: Bool { if case .directive = kind { true } else { false } }
  public var isOfType: Bool { modifiers.contains { $0 == "static" || $0 == "class" } }
}

/// One of the variables that a declaration introduces.
public struct Binding {
  /// The place of its name or pattern.
  public var place: Int
  /// Nil for a pattern of several.
  public var name: Token?
  /// The type as it is written.
  public var type: String?
  /// The expression as it is written.
  public var initialValue: String?
  /// What stands in braces behind it; nil if there are none.
  public var accessors: Accessors?

  public var isComputed: Bool { accessors.map { !$0.isOfObservers } ?? false }
}

/// The braces behind a property.
public struct Accessors {
  /// The brace's place.
  public var open: Int
  /// `get`, `set`, `willSet` … ; a getter alone, without its word, is a `get`.
  public var blocks: [Block]

  public struct Block {
    public var name: String
    /// Of a setter: what the new value is called.
    public var parameter: String?
    /// `async`, `throws`.
    public var effects: [String]
    /// What stands between its braces.
    public var body: ArraySlice<Token>

    /// The brace's place.
    public var open: Int { body.startIndex - 1 }
  }

  /// Whether there is a getter alone, without its word.
  public var isBare: Bool { blocks[0].open == open }

  public var isOfObservers: Bool {
    blocks.contains { $0.name == "willSet" || $0.name == "didSet" }
  }

  public func block(_ names: String...) -> Block? { blocks.first { names.contains($0.name) } }
}

/// A method.
public struct Function {
  public var name: Token
  public var isGeneric = false
  public var parameters: [Parameter]
  public var effects: [String]
  /// The type of what it returns as it is written; nil if it returns nothing.
  public var result: String?
  /// The places of its parenthesis and its brace.
  public var open: Int?
  public var body: Int?

  public struct Parameter {
    /// Nil for `_`.
    public var label: String?
    /// The type as it is written, with `inout`.
    public var type: String
  }

  public var isReturning: Bool { result != nil }
  public var isThrowing: Bool { effects.contains("throws") || effects.contains("rethrows") }

  /// As source text calls it: `insertObject(_:inItemsAt:)`.
  public var reference: String {
    name.text + "(" + parameters.map { ($0.label ?? "_") + ":" }.joined() + ")"
  }
}
