/// Finds a call's receiver: its type, as far as declarations of its name show that. No rule of Behaviour is kept
/// here.
import SwiftSource

/// The objects that may be the receiver of a call.
enum Receiver {
  /// Objects of classes in the sources.
  case classes([TypeDeclaration])
  /// A value of another module's type, or of a type that is not a class.
  case foreign([String])
  /// An NSObject, any object, or an object of unknown type.
  case unknown
}

/// The receivers that have been found, by source and name. A class, so that looking one up can keep it.
final class KnownReceivers {
  var receivers: [Int: [String: Receiver]] = [:]
}

/// The types with which a source declares names: variables, properties, parameters.
struct DeclaredNames {
  enum Source: Hashable {
    case type(String)
    /// The type of another name, or of its elements.
    case name(String)
  }

  private(set) var sources: [String: Set<Source>] = [:]
  /// The names of generic parameters and associated types.
  private(set) var generics: Set<String> = []
  /// The names of closure parameters without a type.
  private(set) var parameters: Set<String> = []

  init(_ file: SourceFile) {
    for index in file.tokens.indices where file.tokens[index].kind == .identifier {
      if let source = file.declaredSource(at: index) {
        sources[file.tokens[index].name, default: []].insert(source)
      }
      if file.isGenericParameter(index) { generics.insert(file.tokens[index].name) }
    }
    for index in file.tokens.indices where file.tokens[index].isWord("in") {
      var place = index - 1
      while place > 0, file.tokens[place].kind == .identifier || file.tokens[place].is(",") {
        parameters.insert(file.tokens[place].name)
        place -= 1
      }
    }
  }
}

extension SourceFile {
  fileprivate func isGenericParameter(_ index: Int) -> Bool {
    guard index > 0 else { return false }
    let (before, next) = (tokens[index - 1], tokens[index + 1])
    if before.isWord("associatedtype") { return true }
    let opens = before.text == "<" || before.is(",")
    return opens && (next.is(":") || next.is(",") || next.text.hasPrefix(">"))
      && tokens[index].name.first?.isUppercase == true
  }

  fileprivate func declaredSource(at index: Int) -> DeclaredNames.Source? {
    let next = tokens[index + 1]
    if next.is(":") { return typeName(at: index + 2).map { .type($0) } }
    guard index > 0 else { return nil }
    let before = tokens[index - 1]
    if next.isWord("in"), before.isWord("for") { return value(from: index + 2) }
    let isVariable =
      before.isWord("let") || before.isWord("var") || [".", "{", ";"].contains(before.text)
      || before.is(",") && continuesDeclaration(index - 1)
    if next.is("="), isVariable || isStatementStart(index) { return value(from: index + 2) }
    return nil
  }

  /// Whether a comma separates the variables of one declaration: `let song = Song(), album = Album()`.
  private func continuesDeclaration(_ comma: Int) -> Bool {
    var index = comma
    while index > 0 {
      index -= 1
      if tokens[index].isWord("let") || tokens[index].isWord("var") { return true }
      if let open = partner[index], open < index {
        index = open
      } else if partner[index] != nil || tokens[index].is(";") {
        return false
      }
      if isStatementStart(index) { return false }
    }
    return false
  }

  /// Generic types for whose names that of their argument is taken.
  static let wrappers: Set = ["Optional", "Array", "Set", "ContiguousArray", "Published", "Weak"]

  /// The name of a type, without optionals and collections around it: `[Song]?` gives `Song`. `[:]` is a dictionary.
  func typeName(at start: Int) -> String? {
    var index = start
    while index < tokens.count {
      let token = tokens[index]
      if token.is("@") {
        index += 2
      } else if ["any", "some", "inout", "weak", "__owned", "borrowing", "consuming", "sending"]
        .contains(token.text), tokens[index + 1].kind == .identifier
      {
        index += 1
      } else if token.is("["), let close = partner[index] {
        let isDictionary = (index + 1..<close).contains {
          tokens[$0].is(":") && enclosing[$0] == index
        }
        return isDictionary ? "[:]" : typeName(at: index + 1)
      } else if token.is("(") {
        index += 1
      } else {
        break
      }
    }
    guard index < tokens.count, tokens[index].kind == .identifier || tokens[index].is("Any"),
      tokens[index].name.first(where: { $0 != "_" })?.isUppercase == true
    else { return nil }
    if Self.wrappers.contains(tokens[index].text), tokens[index + 1].text == "<" {
      return typeName(at: index + 2)
    }
    if tokens[index].text == "Dictionary" { return "[:]" }
    let path = stride(from: index, through: endOfTypeName(at: index), by: 2).map { tokens[$0].name }
    return path.drop { path.count > 1 && TypeDeclaration.Inherited.modules.contains($0) }
      .joined(separator: ".")
  }

  /// The last token of a type's name with the names of the types around it.
  func endOfTypeName(at start: Int) -> Int {
    var last = start
    while tokens[last + 1].is("."), tokens[last + 2].kind == .identifier,
      tokens[last + 2].name.first?.isUppercase == true
    {
      last += 2
    }
    return last
  }

  /// The type or name that determines the type of an expression.
  private func value(from start: Int) -> DeclaredNames.Source? {
    var (index, last) = (start, nil as DeclaredNames.Source?)
    while index < tokens.count, index == start || !isStatementStart(index) {
      let token = tokens[index]
      if token.isWord("as") {
        let type = ["?", "!"].contains(tokens[index + 1].text) ? index + 2 : index + 1
        return typeName(at: type).map { .type($0) }
      }
      if token.is(",") || token.is("}") || token.is(";") || token.isWord("else") || token.is(")") {
        break
      }
      if token.is("{"), index > start { break }
      if token.kind == .identifier {
        let isPart = index > start && tokens[index - 1].is(".")
        if token.name.first?.isUppercase == true, !isPart {
          last = typeName(at: index).map { .type($0) }
          index = endOfTypeName(at: index)
        } else if case .type = last, isPart, Self.instances.contains(token.text) {
          // an object of that same type
        } else {
          last = .name(token.name)
        }
      } else if token.is("[") || token.is("("), let close = partner[index] {
        if token.is("["), index == start { last = typeName(at: start).map { .type($0) } }
        index = close
      } else if token.kind == .number || token.kind == .string {
        return nil
      }
      index += 1
    }
    return last
  }

  /// Static properties whose value is an object of their own type.
  static let instances: Set = [
    "shared", "standard", "main", "current", "default", "instance", "sharedInstance", "init",
    "defaultCenter",
  ]
}

extension Project {
  /// Collections of Foundation that have keys there; Swift's own have them here.
  static let collections: Set = ["NSArray", "NSSet"]
  /// The types of Swift to which Foundation's collections are cast for a call by key.
  static let ownCollections = [
    "NSArray": "[Any]", "NSMutableArray": "[Any]", "NSSet": "Set<AnyHashable>",
    "NSMutableSet": "Set<AnyHashable>",
  ]
  /// Types without keys, whose arrays and sets have keys here.
  static let values: Set = ["Int", "Double", "Float", "String", "Date", "Bool"]

  /// The receiver of the method whose name is at a token.
  func receiver(ofCallAt index: Int, in file: Int) -> Receiver {
    let source = files[file]
    let tokens = source.tokens
    guard index > 1, tokens[index - 1].is(".") else {
      return index > 0 && tokens[index - 1].is(".") ? .unknown : own(at: index, in: file)
    }
    var last = index - 2
    while ["?", "!"].contains(tokens[last].text), last > 0 { last -= 1 }
    return receiver(ending: last, in: file)
  }

  /// The receiver whose expression ends with the token at `last`.
  func receiver(ending last: Int, in file: Int) -> Receiver {
    let (source, index) = (files[file], last)
    let tokens = source.tokens
    let token = tokens[last]
    if token.isWord("self") || token.isWord("super") { return own(at: index, in: file) }
    if token.is(")"), let open = source.partner[last] {
      let cast = (open + 1..<last).first {
        tokens[$0].isWord("as") && source.enclosing[$0] == open
      }
      if let cast {
        let type = ["?", "!"].contains(tokens[cast + 1].text) ? cast + 2 : cast + 1
        if Self.collections.contains(tokens[type].text), type + 1 == last { return .unknown }
        return receiver(ofType: source.typeName(at: type), in: file)
      }
      guard open > 0, tokens[open - 1].name.first?.isUppercase == true,
        tokens[open - 1].kind == .identifier
      else { return .unknown }
      return receiver(ofType: tokens[open - 1].name, in: file)
    }
    if token.is("]"), let open = source.partner[last], open > 0 {
      return receiver(named: tokens[open - 1].name, at: index, in: file)
    }
    guard token.kind == .identifier else { return .unknown }
    if token.name.first?.isUppercase == true { return receiver(ofType: token.name, in: file) }
    if last > 1, tokens[last - 1].is("."), tokens[last - 2].name.first?.isUppercase == true,
      SourceFile.instances.contains(token.text)
    {
      return receiver(ofType: tokens[last - 2].name, in: file)
    }
    return receiver(named: token.name, at: index, in: file)
  }

  /// The receiver `self`.
  private func own(at index: Int, in file: Int) -> Receiver {
    guard let type = type(around: index, in: file) else {
      return .unknown
    }
    if type.name == "NSObject" || type.isProtocol { return .unknown }
    guard let declaration = declaration(of: type) else {
      return type.isExtension ? receiver(ofType: type.name, in: file) : .foreign([type.name])
    }
    return .classes([declaration])
  }

  private func receiver(named name: String, at index: Int, in file: Int) -> Receiver {
    let known = knownReceivers.receivers[file]?[name] ?? receiver(named: name, in: file)
    knownReceivers.receivers[file, default: [:]][name] = known
    if case .unknown = known, isInherited(name, at: index, in: file),
      types(named: name, in: files.indices).isEmpty
    {
      return .foreign([])
    }
    return known
  }

  private func receiver(named name: String, in file: Int) -> Receiver {
    let found = types(named: name, in: [file])
    return receiver(
      ofTypes: found.isEmpty ? types(named: name, in: files.indices) : found, in: file)
  }

  /// Whether a name can only be a property of another module's class: `layer` in a view.
  private func isInherited(_ name: String, at index: Int, in file: Int) -> Bool {
    guard names[file].sources[name] == nil, !names[file].parameters.contains(name),
      let type = type(around: index, in: file)
    else { return false }
    return declaration(of: type).map { !$0.inherited.isEmpty && !hasKnownRoot($0) }
      ?? type.isExtension
  }

  private func types(named name: String, in files: some Sequence<Int>) -> Set<String> {
    var (known, next, found) = (Set([name]), [name], Set<String>())
    let files = Array(files)
    while let name = next.popLast(), known.count < 8 {
      for source in files.flatMap({ names[$0].sources[name] ?? [] }) {
        switch source {
        case .type(let type): found.insert(type)
        case .name(let other): if known.insert(other).inserted { next.append(other) }
        }
      }
    }
    return found
  }

  private func receiver(ofTypes types: Set<String>, in file: Int) -> Receiver {
    var (classes, isUnknown, foreign) = ([TypeDeclaration](), types.isEmpty, Set<String>())
    for type in types {
      switch receiver(ofType: type, in: file) {
      case .classes(let found): classes += found
      case .unknown: isUnknown = true
      case .foreign(let found): foreign.formUnion(found)
      }
    }
    return !classes.isEmpty ? .classes(classes) : isUnknown ? .unknown : .foreign(foreign.sorted())
  }

  func receiver(ofType type: String?, in file: Int) -> Receiver {
    guard let type else { return .unknown }
    let open: Set = ["NSObject", "Any", "AnyObject", "NSObjectProtocol", "KVOObject", "Self"]
    let name = type.split(separator: ".").last.map(String.init) ?? type
    if Self.ownCollections[name] != nil || open.contains(name)
      || names[file].generics.contains(name) && Mover.typesThatNotify[name] == nil
    {
      return .unknown
    }
    let found = classesByName[name] ?? []
    if !found.isEmpty { return .classes(found) }
    guard protocols.contains(name) else {
      guard let other = aliases[name] else { return .foreign([name]) }
      let isResolved =
        !other.isEmpty && aliases[other.split(separator: ".").last.map(String.init)!] == nil
      return isResolved ? receiver(ofType: other, in: file) : .unknown
    }
    let conforming = types.joined().filter { $0.inherited.contains { $0.name == name } }
    let classes = conforming.compactMap(declaration(of:))
    return classes.isEmpty ? .unknown : .classes(classes)
  }
}
