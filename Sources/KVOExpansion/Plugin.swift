internal import SwiftSource

/// Answers the compiler's messages. Each message is a JSON object with one member, whose name is the request. The
/// compilers of Swift 6.2 and 6.3 call this protocol version 7. Its messages follow the public headers of
/// libSwiftCompilerPluginMessageHandling and recorded traffic.

package struct Plugin {
  /// The protocol version that this plugin reports to the compiler.
  static let protocolVersion = 7

  // The class that was read last, with its source. The compiler asks about its members one after another.
  private var lastParent: (source: String, read: ParentClass?)?

  package init() {}

  /// The answer to a message. Every message has exactly one.
  package mutating func answer(to message: [UInt8]) -> JSON {
    guard let json = JSON(message), case .object(let members) = json, members.count == 1,
      let (name, contents) = members.first
    else { return Self.refusal("a message that is not a JSON object of one member") }
    switch name {
    case "getCapability":
      let capability: JSON = .object([
        "protocolVersion": .number(Double(Self.protocolVersion)), "features": .array([]),
      ])
      return .object(["getCapabilityResult": .object(["capability": capability])])
    case "expandAttachedMacro":
      guard var request = AttachedMacro(contents) else {
        let version = Self.protocolVersion
        return Self.refusal("an attached macro without the fields of version \(version)")
      }
      request.parent = parent(in: contents)
      return Self.result(request.expansion, of: request.file)
    case "loadPluginLibrary":
      return .object([
        "loadPluginLibraryResult": .object(["loaded": .bool(false), "diagnostics": .array([])])
      ])
    default:
      return Self.refusal("\"\(name)\"")
    }
  }

  /// The class that contains the member in the request.
  private mutating func parent(in contents: JSON) -> ParentClass? {
    guard let source = contents["parentDeclSyntax"]?["source"]?.string else { return nil }
    if let lastParent, lastParent.source == source { return lastParent.read }
    let read = ParentClass(source)
    lastParent = (source, read)
    return read
  }

  /// An error of one sentence, which the build shows.
  private static func refusal(_ asked: String) -> JSON {
    let message = """
      The plugin of KVORuntime's macros does not understand this compiler, which asks \(asked): it speaks version \
      \(protocolVersion) of the plugins' protocol, that of Swift 6.2 and 6.3.
      """
    let diagnostic = Diagnostic(severity: .error, message: message, offset: 0)
    return result(Expansion(diagnostics: [diagnostic]), of: "")
  }

  private static func result(_ expansion: Expansion, of file: String) -> JSON {
    let diagnostics = expansion.diagnostics.map { $0.json(of: file) }
    return .object([
      "expandMacroResult": .object([
        "expandedSource": .string(expansion.source), "diagnostics": .array(diagnostics),
      ])
    ])
  }
}

/// A request to expand a macro attached to a declaration.
struct AttachedMacro {
  /// The type named in `#externalMacro`.
  var type: String
  var role: String
  var source: String
  /// The byte offset of the source in its file. The source includes the comments and empty lines before the
  /// declaration.
  var offset: Int
  /// The line on which the source begins.
  var line: Int
  var file: String
  /// The enclosing declarations, each without the text in its braces.
  var context: [String] = []
  /// The class that contains the declaration, if the macro is attached to the class.
  var parent: ParentClass?

  init?(_ json: JSON) {
    guard let type = json["macro"]?["typeName"]?.string, let role = json["macroRole"]?.string,
      let declaration = json["declSyntax"], let source = declaration["source"]?.string,
      let location = declaration["location"], let file = location["fileName"]?.string,
      let offset = location["offset"]?.int, let line = location["line"]?.int
    else { return nil }
    self.type = type
    self.role = role
    self.source = source
    self.offset = offset
    self.line = line
    self.file = file
    if case .array(let heads)? = json["lexicalContext"] {
      context = heads.compactMap { $0["source"]?.string }
    }
  }

  /// The byte offset of the declaration itself in the file.
  var start: Int { offset + LexedSource(source).tokens[0].offset }

  var expansion: Expansion {
    switch (type, role) {
    case ("KVOMacro", "memberAttribute"): ObservableMember.attribute(of: self)
    case ("KVOMacro", "member"): DeclaredKeys.members(of: self)
    case ("AccessedMacro", "accessor"): AccessedProperty.accessors(of: self)
    case ("AccessedMacro", "peer"): AccessedProperty.peers(of: self)
    default: Expansion()  // KVOIgnored and KVOTracked only inform the class's macro
    }
  }
}
