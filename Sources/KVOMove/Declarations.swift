/// The types of a source with what the edits need of them: superclasses, properties, methods. SwiftSource's reader
/// reads them. No rule of Behaviour is kept here.
import SwiftSource

/// A type or an extension of one.
struct TypeDeclaration {
  var name: String
  var keyword: Int
  /// Their names, without those of modules.
  var attributes: Set<String>
  var isExtension: Bool
  var isClass: Bool
  /// The first token of each that it inherits from, by the last component's name.
  var inherited: [(name: String, at: Int)]
  var open: Int
  var close: Int
  var properties: [PropertyDeclaration] = []
  var methods: [MethodDeclaration] = []

  /// Whether a property is observable, here or there.
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
  /// It, and the others of its declaration.
  var bindings: [Binding]
  /// As far as it is written, or its value tells it.
  var type: String

  /// The brace of its accessors or observers.
  var brace: Int? { bindings[0].accessors?.open }
  /// The braces of its accessors by their names.
  var accessors: [String: Int] {
    guard let accessors = bindings[0].accessors, !accessors.isBare else { return [:] }
    return Dictionary(accessors.blocks.map { ($0.name, $0.open) }) { $1 }
  }
  var isComputed: Bool { bindings[0].isComputed }
  var isDynamic: Bool { modifiers.contains("dynamic") || modifiers.contains("@NSManaged") }
  var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }
}

struct MethodDeclaration {
  var name: String
  var keyword: Int
  var start: Int
  var modifiers: Set<String>
  /// The parenthesis of its parameters.
  var parameters: Int
  var brace: Int?
}

extension SourceFile {
  /// All types, an outer one before those in it.
  func types() -> [TypeDeclaration] {
    tokens.indices.filter { beginsType($0) }.compactMap { keyword in
      var reader = DeclarationReader(tokens, at: keyword)
      return reader.readType().map { type($0, at: keyword) }
    }
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

  private func type(_ read: SwiftSource.TypeDeclaration, at keyword: Int) -> TypeDeclaration {
    var type = TypeDeclaration(
      name: read.name.name, keyword: keyword, attributes: attributes(before: keyword),
      isExtension: read.keyword == "extension", isClass: read.keyword == "class",
      inherited: read.supertypes.map { (lastName(from: $0.place), $0.place) },
      open: read.open, close: read.close)
    for member in read.members {
      let modifiers = Set(member.modifiers + member.attributes.map { "@" + $0.name })
      switch member.kind {
      case .variable(let isVariable, let bindings):
        guard let name = bindings[0].name else { continue }
        type.properties.append(
          PropertyDeclaration(
            name: name.name, keyword: member.keyword, start: member.start, modifiers: modifiers,
            isConstant: !isVariable, bindings: bindings, type: self.type(of: bindings[0])))
      case .function(let function):
        guard let parameters = function.open else { continue }
        type.methods.append(
          MethodDeclaration(
            name: function.name.name, keyword: member.keyword, start: member.start,
            modifiers: modifiers, parameters: parameters, brace: function.body))
      case .directive, .other: continue
      }
    }
    return type
  }

  private func attributes(before keyword: Int) -> Set<String> {
    let prefix = start(ofDeclarationAt: keyword)..<keyword
    return Set(prefix.filter { tokens[$0].is("@") }.map { lastName(from: $0 + 1) })
  }

  private func lastName(from start: Int) -> String {
    var index = start
    while tokens[index + 1].is(".") { index += 2 }
    return tokens[index].name
  }

  private func type(of binding: Binding) -> String {
    if let type = binding.type { return type }
    guard binding.initialValue != nil else { return "" }
    let (value, next) = (tokens[binding.place + 2], tokens[binding.place + 3])
    if value.kind == .number { return value.text.contains(".") ? "Double" : "Int" }
    return value.name.first?.isUppercase == true && next.is("(") ? value.name : ""
  }
}
