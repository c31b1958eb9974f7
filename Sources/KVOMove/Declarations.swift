/// The types of a source, with the superclasses, properties and methods that the edits need. SwiftSource's reader
/// reads them. No rule of Behaviour is kept here.
import SwiftSource

/// A token in one of the sources.
struct Place: Hashable {
  var file: Int
  var token: Int
}

/// A type or an extension of one.
struct TypeDeclaration {
  /// A superclass or protocol, without generic arguments: `Foundation.NSObject`.
  struct Inherited {
    var path: [String]
    var tokens: Range<Int>
    /// The name with the types around it, but without the name of one of Apple's modules.
    var name: String {
      Self.modules.contains(path[0]) ? path.last! : path.joined(separator: ".")
    }

    /// The modules that declare NSObject, Operation and other superclasses.
    static let modules: Set = ["Foundation", "ObjectiveC", "Swift"]
  }

  /// The place of its keyword, which is unique.
  var id: Place
  /// Its name, preceded by the names of the enclosing types, outermost first.
  var path: [String]
  /// Whether other files can't name it.
  var isPrivate: Bool
  /// The names of its attributes, without their modules.
  var attributes: Set<String>
  var isExtension: Bool
  var isClass: Bool
  var isProtocol = false
  var isEnumeration = false
  var inherited: [Inherited]
  var open: Int
  var close: Int
  var properties: [PropertyDeclaration] = []
  var methods: [MethodDeclaration] = []
  var statements: [KeyStatement] = []

  /// The properties, also those that one declaration declares together.
  var variables: [PropertyDeclaration] { properties.flatMap(\.variables) }
  var name: String { path.last! }
  var keyword: Int { id.token }
  /// The names of the enclosing types.
  var scope: [String] { path.dropLast() }

  /// Whether a property is observable on Apple's platforms or here.
  func observes(_ property: PropertyDeclaration) -> Bool {
    if property.isDynamic || property.modifiers.contains("@Observed") { return true }
    return attributes.contains("KVO") && !property.isConstant && !property.isStatic
      && !property.modifiers.contains("@KVOIgnored")
  }
}

struct PropertyDeclaration {
  var name: String
  /// The token `var` or `let`.
  var keyword: Int
  /// The first of its attributes and modifiers, or the keyword.
  var start: Int
  var modifiers: Set<String>
  var isConstant: Bool
  /// The property's binding, followed by the others of its declaration.
  var bindings: [Binding]
  /// The type as written, or as the initial value shows it.
  var type: String
  /// The types of the other bindings.
  var otherTypes: [String]
  /// Its key, if Objective-C has another name for it: `@objc(shown) var isShown`.
  var key: String?
  /// The names that its accessors have in Objective-C, if these are written: `@objc(isOn) get`.
  var accessorNames: AccessorNames?

  /// Its key, and those that its accessors' own names make.
  var allKeys: [String] {
    [key ?? name] + (accessorNames?.settableKeys ?? [])
      + (accessorNames?.getter.map { [$0] } ?? [])
  }
  /// The property, and those that its declaration also declares, each by itself.
  var variables: [PropertyDeclaration] {
    guard bindings.count > 1 else { return [self] }
    return bindings.indices.compactMap { index in
      guard let name = bindings[index].name?.name else { return nil }
      var variable = self
      variable.name = name
      variable.type = index == 0 ? type : otherTypes[index - 1]
      (variable.bindings, variable.otherTypes) = ([bindings[index]], [])
      return variable
    }
  }
  /// The brace of its accessors or observers.
  var brace: Int? { bindings[0].accessors?.open }
  /// The braces of its accessors by name.
  var accessors: [String: Int] {
    guard let accessors = bindings[0].accessors, !accessors.isBare else { return [:] }
    return Dictionary(accessors.blocks.map { ($0.name, $0.open) }) { $1 }
  }
  var isComputed: Bool { bindings[0].isComputed }
  var isDynamic: Bool { modifiers.contains("dynamic") || modifiers.contains("@NSManaged") }
  var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }
}

struct AccessorNames {
  var getter: String?
  var setter: String?

  /// The keys that the setter may be found by: `isOn` or `IsOn` for `setIsOn:`.
  var settableKeys: [String] {
    guard let setter, setter.hasPrefix("set"), setter != "set" else { return [] }
    let rest = setter.dropFirst(3)
    return [rest.prefix(1).lowercased() + rest.dropFirst(), String(rest)]
  }
}

struct MethodDeclaration {
  var name: String
  var keyword: Int
  var start: Int
  var modifiers: Set<String>
  /// The parenthesis of its parameters.
  var parameters: Int
  var brace: Int?
  /// The parts of its name in Objective-C, if that is written: `@objc(insertObject:inSongsAtIndex:)`.
  var selector: [String] = []

  /// The keys whose getter it is by its name, `isLeaf` and `leaf` for `isLeaf()`, if it has no parameters.
  var keys: [String] {
    let name = selector.first ?? name
    let rest = ["is", "get"].lazy.filter(name.hasPrefix).map { name.dropFirst($0.count) }.first
    guard let rest, rest.first?.isUppercase == true else { return [name] }
    return [name, rest.prefix(1).lowercased() + rest.dropFirst()]
  }
}

/// A method without parameters, or a property, of the type itself that says something about the key in its name.
struct KeyStatement {
  /// How the names of such members begin: `keyPathsForValuesAffectingTitle`.
  static let affecting = "keyPathsForValuesAffecting"
  static let automatic = "automaticallyNotifiesObserversOf"

  /// Its name in Objective-C, which finds it by that.
  var name: String
  var prefix: String { name.hasPrefix(Self.affecting) ? Self.affecting : Self.automatic }
  /// Whether its name in Swift is another one.
  var isRenamed: Bool
  var modifiers: Set<String>
  /// The expression for its value: `self.keyPathsForValuesAffectingTitle()`.
  var value: String
  /// The first token of its type, if that is written.
  var type: Int?
  /// The braces of its body, or its initial value from the equals sign on.
  var body: Range<Int>
}

extension SourceFile {
  /// All types, outer ones before nested ones.
  /// - Parameter file: the index of this source in the project.
  func types(of file: Int) -> [TypeDeclaration] {
    var (types, paths) = ([TypeDeclaration](), [Int: [String]]())
    for keyword in tokens.indices where beginsType(keyword) {
      var reader = DeclarationReader(tokens, at: keyword)
      guard let read = reader.readType() else { continue }
      let id = Place(file: file, token: keyword)
      let type = type(read, id, in: scope(around: keyword, paths))
      types.append(type)
      paths[type.open] = type.path
    }
    return types
  }

  /// The names of the types around a token. Any other block, such as a function's, gets a name that is unique to it.
  private func scope(around index: Int, _ paths: [Int: [String]]) -> [String] {
    guard let outer = enclosing[index] else { return [] }
    if let path = paths[outer] { return path }
    let names = scope(around: outer, paths)
    return tokens[outer].is("{") ? names + ["\(path):\(outer)"] : names
  }

  /// Where a declaration begins: its first attribute or modifier, or the keyword.
  func start(ofDeclarationAt keyword: Int) -> Int {
    let reader = DeclarationReader(tokens, at: keyword)
    var start = keyword
    while start > 0 {
      var index = start - 1
      if tokens[index].is(")"), let open = partner[index], open > 0 { index = open - 1 }
      while index > 1, tokens[index - 1].is(".") { index -= 2 }
      if index > 0, tokens[index - 1].is("@") {
        start = index - 1
      } else if reader.isModifier(at: index) {
        start = index
      } else {
        break
      }
    }
    return start
  }

  private func type(
    _ read: SwiftSource.TypeDeclaration, _ id: Place, in scope: [String]
  ) -> TypeDeclaration {
    let prefix = start(ofDeclarationAt: id.token)..<id.token
    var type = TypeDeclaration(
      id: id, path: scope + names(path(from: id.token + 1)),
      isPrivate: prefix.contains {
        tokens[$0].isWord("private") || tokens[$0].isWord("fileprivate")
      },
      attributes: attributes(in: prefix), isExtension: read.keyword == "extension",
      isClass: read.keyword == "class", isProtocol: read.keyword == "protocol",
      isEnumeration: read.keyword == "enum",
      inherited: read.supertypes.map {
        let path = path(from: $0.place)
        return .init(path: names(path), tokens: path)
      },
      open: read.open, close: read.close)
    for member in read.members {
      let modifiers = Set(member.modifiers + member.attributes.map { "@" + $0.name })
      switch member.kind {
      case .variable(let isVariable, let bindings):
        guard let name = bindings[0].name else { continue }
        let key = objectiveCName(in: member.start..<member.keyword).first
        if member.isOfType {
          type.statements += bindings.compactMap { statement($0, modifiers, key) }
        }
        let types = bindings.indices.map { self.type(of: bindings[$0...]) }
        type.properties.append(
          PropertyDeclaration(
            name: name.name, keyword: member.keyword, start: member.start, modifiers: modifiers,
            isConstant: !isVariable, bindings: bindings, type: types[0],
            otherTypes: Array(types.dropFirst()), key: key,
            accessorNames: accessorNames(of: bindings[0])))
      case .function(let function):
        guard let parameters = function.open else { continue }
        let selector = objectiveCName(in: member.start..<member.keyword)
        if member.isOfType,
          let statement = statement(function, parameters, modifiers, selector.first)
        {
          type.statements.append(statement)
        }
        type.methods.append(
          MethodDeclaration(
            name: function.name.name, keyword: member.keyword, start: member.start,
            modifiers: modifiers, parameters: parameters, brace: function.body,
            selector: selector))
      case .directive, .other: continue
      }
    }
    return type
  }

  private func statement(
    _ function: Function, _ parameters: Int, _ modifiers: Set<String>, _ objectiveC: String?
  ) -> KeyStatement? {
    let name = function.name.name
    guard isOfKey(objectiveC ?? name), tokens[parameters + 1].is(")"), let brace = function.body,
      let end = partner[brace]
    else { return nil }
    let isTyped = tokens[parameters + 2].is("->")
    return KeyStatement(
      name: objectiveC ?? name, isRenamed: objectiveC.map { $0 != name } ?? false,
      modifiers: modifiers, value: "self.\(name)()",
      type: isTyped ? parameters + 3 : nil, body: brace..<end + 1)
  }

  private func statement(
    _ binding: Binding, _ modifiers: Set<String>, _ objectiveC: String?
  ) -> KeyStatement? {
    guard let name = binding.name?.name, isOfKey(objectiveC ?? name) else { return nil }
    let type = binding.type == nil ? nil : binding.place + 2
    var start = binding.place + 1
    while !tokens[start].is("="), !tokens[start].is("{") {
      if endsStatement(start) { return nil }
      start = (closing(of: start) ?? start) + 1
    }
    var end = start
    while !endsStatement(end), end == start || !tokens[end].is(",") {
      end = closing(of: end) ?? end + 1
    }
    return KeyStatement(
      name: objectiveC ?? name, isRenamed: objectiveC.map { $0 != name } ?? false,
      modifiers: modifiers, value: "self.\(name)", type: type, body: start..<end + 1)
  }

  private func isOfKey(_ name: String) -> Bool {
    name.hasPrefix(KeyStatement.affecting) || name.hasPrefix(KeyStatement.automatic)
  }

  private func objectiveCName(in prefix: Range<Int>) -> [String] {
    for index in prefix where tokens[index].is("@") && tokens[index + 1].text == "objc" {
      guard tokens[index + 2].is("("), let close = closing(of: index + 2) else { continue }
      return tokens[index + 3..<close].filter { $0.kind != .punctuation }.map(\.name)
    }
    return []
  }

  /// The names that are written before a variable's accessors, also in a protocol.
  private func accessorNames(of binding: Binding) -> AccessorNames? {
    var (names, written) = (AccessorNames(), nil as String?)
    guard let open = binding.accessors?.open, let close = partner[open] else { return nil }
    for index in open + 1..<close where enclosing[index] == open {
      if tokens[index].is("@"), let name = objectiveCName(in: index..<index + 1).first {
        written = name
      } else if tokens[index].isWord("get") {
        (names.getter, written) = (written, nil)
      } else if tokens[index].isWord("set") {
        (names.setter, written) = (written, nil)
      }
    }
    return names.getter == nil && names.setter == nil ? nil : names
  }

  private func attributes(in prefix: Range<Int>) -> Set<String> {
    Set(prefix.filter { tokens[$0].is("@") }.map { names(path(from: $0 + 1)).last! })
  }

  /// The tokens of a qualified name: `Menu.Item`.
  private func path(from start: Int) -> Range<Int> {
    var last = start
    while tokens[last + 1].is("."), tokens[last + 2].kind == .identifier { last += 2 }
    return start..<last + 1
  }

  private func names(_ path: Range<Int>) -> [String] {
    stride(from: path.lowerBound, to: path.upperBound, by: 2).map { tokens[$0].name }
  }

  /// The type of the first binding; without type and value it has the next one's that has a type.
  private func type(of bindings: ArraySlice<Binding>) -> String {
    let binding = bindings.first!
    if let type = binding.type { return type }
    guard binding.initialValue != nil else {
      return bindings.lazy.compactMap(\.type).first ?? ""
    }
    let isNegative = tokens[binding.place + 2].text == "-"
    let place = binding.place + (isNegative ? 3 : 2)
    let (value, next) = (tokens[place], tokens[place + 1])
    if value.isWord("true") || value.isWord("false") { return "Bool" }
    if value.kind == .number { return value.text.contains(".") ? "Double" : "Int" }
    return value.name.first?.isUppercase == true && (next.is("(") || next.is(".")) ? value.name : ""
  }
}
