/// The declarations of a source, with the parts that matter to a reader of a class's properties and methods. A
/// "place" is an index into the tokens that were read.

/// A class or another type, with its members.
public struct TypeDeclaration {
  /// `class`, `struct`, `enum`, `actor`, `extension`, `protocol`.
  public var keyword: String
  public var attributes: [Attribute]
  public var modifiers: [String]
  /// The name's token.
  public var name: Token
  /// The types after the colon.
  public var supertypes: [Supertype]
  /// The end of the name with its generic parameters, in bytes: a superclass would be inserted here.
  public var endOfName: Int
  /// The places of the opening and the closing brace.
  public var open: Int
  public var close: Int
  public var members: [Member]

  public var inherited: [String] { supertypes.map(\.text) }
}

/// A superclass or a protocol.
public struct Supertype {
  /// The source text of the type.
  public var text: String
  public var place: Int
}

/// An attribute: `@objc(name:)`.
public struct Attribute {
  /// The name without the at sign.
  public var name: String
  public var offset: Int
  /// The tokens between the parentheses.
  public var arguments: [Token]

  public init(name: String, offset: Int, arguments: [Token] = []) {
    self.name = name
    self.offset = offset
    self.arguments = arguments
  }
}

/// A member of a type's body. Members are in source order.
public struct Member {
  public enum Kind {
    /// A `let` or `var` declaration.
    case variable(isVariable: Bool, bindings: [Binding])
    case function(Function)
    /// The whole line of `#if …`, `#elseif …`, `#else` or `#endif`.
    case directive(String)
    case other
  }

  public var kind: Kind
  public var attributes: [Attribute]
  /// The modifiers as written: `private(set)`, `weak`.
  public var modifiers: [String]
  /// The byte offset at which the member begins, after any conditions between its attributes.
  public var offset: Int
  /// The places of the member's first token and of its keyword.
  public var start: Int
  public var keyword: Int

  public var isDirective: Bool { if case .directive = kind { true } else { false } }
  public var isOfType: Bool { modifiers.contains { $0 == "static" || $0 == "class" } }
}

/// One of the variables that a declaration introduces.
public struct Binding {
  /// The place of its name or pattern.
  public var place: Int
  /// Nil for a tuple pattern.
  public var name: Token?
  /// The source text of the type.
  public var type: String?
  /// The source text of the expression.
  public var initialValue: String?
  /// The braces after the variable; nil if there are none.
  public var accessors: Accessors?

  public var isComputed: Bool { accessors.map { !$0.isOfObservers } ?? false }
}

/// The braces after a property.
public struct Accessors {
  /// The place of the opening brace.
  public var open: Int
  /// The blocks `get`, `set`, `willSet` and so on. A getter without the word `get` is one, too.
  public var blocks: [Block]

  public struct Block {
    public var name: String
    /// A setter's name for the new value.
    public var parameter: String?
    /// `async`, `throws`.
    public var effects: [String]
    /// The tokens between the block's braces.
    public var body: ArraySlice<Token>

    /// The place of the block's opening brace.
    public var open: Int { body.startIndex - 1 }
  }

  /// Whether the braces are a getter without the word `get`.
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
  /// The source text of the result type; nil if the function returns nothing.
  public var result: String?
  /// The places of the opening parenthesis and the opening brace.
  public var open: Int?
  public var body: Int?

  public struct Parameter {
    /// Nil for `_`.
    public var label: String?
    /// The source text of the type, with `inout`.
    public var type: String
  }

  public var isReturning: Bool { result != nil }
  public var isThrowing: Bool { effects.contains("throws") || effects.contains("rethrows") }

  /// The method's full name, as source code refers to it: `insertObject(_:inItemsAt:)`.
  public var reference: String {
    name.text + "(" + parameters.map { ($0.label ?? "_") + ":" }.joined() + ")"
  }
}
