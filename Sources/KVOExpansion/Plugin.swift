internal import SwiftSource

/// Answers the compiler's messages. Each is JSON: an object with one member, whose name says what is asked. The compiler
/// of Swift 6.2 and 6.3 calls this protocol version 7; what it sends is told by libSwiftCompilerPluginMessageHandling's
/// public headers and was seen on the line.

package struct Plugin {
  /// What the compiler is told that this plugin speaks.
  static let protocolVersion = 7

  // The class that was read last, and its source. The compiler asks about its members one after another.
  private var lastParent: (source: String, read: ParentClass?)?

  package init() {}

  /// The answer to a message. There is one to each.
  package mutating func answer(to message: [UInt8]) -> JSON {
    guard let json = JSON(message), case .object(let members) = json, members.count == 1,
      let (name, contents) = members.first
    else { return Self.refusal("a message that is no JSON object of one member") }
    switch name {
    case "getCapability":
      let capability: JSON = .object([
        "protocolVersion": .number(Double(Self.protocolVersion)), "features": .array([]),
      ])
      return .object(["getCapabilityResult": .object(["capability": capability])])
    case "expandAttachedMacro":
      guard var request = AttachedMacro(contents) else {
        let version = Self.protocolVersion
        return Self.refusal("an attached macro without what version \(version) tells of it")
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

  /// The class whose member is asked about.
  private mutating func parent(in contents: JSON) -> ParentClass? {
    guard let source = contents["parentDeclSyntax"]?["source"]?.string else { return nil }
    if let lastParent, lastParent.source == source { return lastParent.read }
    let read = ParentClass(source)
    lastParent = (source, read)
    return read
  }

  /// One sentence that the build shows.
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

/// What the compiler asks of a macro that is attached to a declaration.
struct AttachedMacro {
  /// The type that `#externalMacro` names.
  var type: String
  var role: String
  var source: String
  /// Where the source begins in its file, in bytes, with the comments and empty lines before the declaration.
  var offset: Int
  /// The line on which it begins.
  var line: Int
  var file: String
  /// What the declaration stands in, each without what is in its braces.
  var context: [String] = []
  /// The class whose member the declaration is, if the macro is the class's.
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

  /// Where the declaration itself begins in the file.
  var start: Int { offset + LexedSource(source).tokens[0].offset }

  var expansion: Expansion {
    switch (type, role) {
    case ("KVOMacro", "memberAttribute"): ObservableMember.attribute(of: self)
    case ("KVOMacro", "member"): DeclaredKeys.members(of: self)
    case ("AccessedMacro", "accessor"): AccessedProperty.accessors(of: self)
    case ("AccessedMacro", "peer"): AccessedProperty.peers(of: self)
    default: Expansion()  // KVOIgnored and KVOTracked say something to the class's macro alone
    }
  }
}
