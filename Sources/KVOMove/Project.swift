/// All sources of one run: which classes come from NSObject, which names are observable, which variables are
/// contexts. A class's superclass or extension may stand in another file. No rule of Behaviour is kept here.
import SwiftSource

struct Project {
  /// What a class of the sources becomes.
  enum Root: Hashable {
    /// Its root is NSObject, and is to be KVOObject; or is KVOObject already.
    case object
    /// It is an operation of Foundation that notifies.
    case operation
    /// What it inherits from is unknown here, as a view of AppKit.
    case other
  }

  let files: [SourceFile]
  let types: [[TypeDeclaration]]
  /// By their paths; several have the same where they are in two modules, or in branches of an `#if`.
  private var classes: [[String]: [TypeDeclaration]] = [:]
  private var extensions: [TypeDeclaration.ID: [TypeDeclaration]] = [:]
  /// Observable properties by class and name.
  private(set) var dynamicProperties: [TypeDeclaration.ID: [String: PropertyDeclaration]] = [:]
  /// The names of variables whose address is a context, and that nothing else uses.
  private(set) var contexts: Set<String> = []

  init(_ files: [SourceFile]) {
    self.files = files
    types = files.enumerated().map { $1.types(of: $0) }
    for type in types.joined() where type.isClass { classes[type.path, default: []].append(type) }
    for type in types.joined() {
      let id = declaration(of: type)?.id ?? type.id
      if type.isExtension { extensions[id, default: []].append(type) }
      for property in type.properties where type.observes(property) {
        dynamicProperties[id, default: [:]][property.name] = property
      }
    }
    contexts = findContexts()
  }

  // MARK: - Classes

  /// A class itself; that of an extension.
  func declaration(of type: TypeDeclaration) -> TypeDeclaration? {
    if type.isClass { return type }
    return type.isExtension ? alike(classes(type.path, in: type.scope, of: type.id.file)) : nil
  }

  func extensions(of type: TypeDeclaration) -> [TypeDeclaration] { extensions[type.id] ?? [] }

  /// The classes that a type as it is written in a class's body can mean.
  func classes(named type: String, in around: TypeDeclaration) -> [TypeDeclaration] {
    classes(type.split(separator: ".").map(String.init), in: around.path, of: around.id.file)
  }

  /// As the compiler looks for a name: from where it is written outwards, in its own file first.
  private func classes(_ name: [String], in scope: [String], of file: Int) -> [TypeDeclaration] {
    for count in (0...scope.count).reversed() {
      let all = classes[scope.prefix(count) + name] ?? []
      let here = all.filter { $0.id.file == file }
      let found = here.isEmpty ? all.filter { !$0.isPrivate } : here
      if !found.isEmpty { return found }
    }
    // The first name may be a module's.
    return name.count > 1 ? classes(Array(name.dropFirst()), in: [], of: file) : []
  }

  /// One of the classes, if all inherit from the same.
  private func alike(_ classes: [TypeDeclaration]) -> TypeDeclaration? {
    Set(classes.map { $0.inherited.first?.path ?? [] }).count == 1 ? classes[0] : nil
  }

  /// The classes that a superclass's name can mean, or that of an extension, if they differ.
  func several(above type: TypeDeclaration) -> [TypeDeclaration] {
    guard let name = type.isExtension ? type.path : type.inherited.first?.path else { return [] }
    let found = classes(name, in: type.scope, of: type.id.file)
    return alike(found) == nil ? found : []
  }

  /// The classes above one, nearest first, as far as they are in the sources, and what the last inherits from.
  func ancestors(of type: TypeDeclaration) -> (classes: [TypeDeclaration], root: String?) {
    var (found, next) = ([TypeDeclaration](), declaration(of: type))
    while let type = next, found.count < 100 {
      found.append(type)
      next = type.inherited.first.flatMap {
        alike(classes($0.path, in: type.scope, of: type.id.file))
      }
    }
    return (Array(found.dropFirst()), found.last?.inherited.first?.name)
  }

  func root(of type: TypeDeclaration) -> Root {
    switch ancestors(of: type).root {
    case "NSObject", "KVOObject": .object
    case "KVOOperation", "KVOBlockOperation": .operation
    case "Operation": notifies(type) ? .operation : .other
    default: .other
    }
  }

  /// Whether an operation says anything of its keys, or one above it does.
  private func notifies(_ type: TypeDeclaration) -> Bool {
    guard let own = declaration(of: type) else { return false }
    let all = ([own] + ancestors(of: own).classes).flatMap { [$0] + extensions(of: $0) }
    return all.contains { type in
      type.properties.contains(where: \.isDynamic)
        || (type.open..<type.close).contains { index in
          let text = files[type.id.file].tokens[index].text
          return ["willChangeValue", "withChange"].contains(text)
            || text.hasPrefix("keyPathsForValuesAffecting")
        }
    }
  }

  // MARK: - Contexts

  private func findContexts() -> Set<String> {
    var (used, declared, spoilt) = (Set<String>(), Set<String>(), Set<String>())
    for file in files {
      for index in file.tokens.indices where file.tokens[index].is("&") {
        guard let name = file.contextName(afterAmpersand: index) else { continue }
        if file.isContextUse(ofAmpersand: index) {
          used.insert(name)
        } else if file.tokens[index].leadingTrivia.isEmpty || file.isArgument(index) {
          spoilt.insert(name)
        }
      }
      for index in file.tokens.indices where file.contextVariable(at: index) != nil {
        declared.insert(file.tokens[index + 1].name)
      }
    }
    return used.intersection(declared).subtracting(spoilt)
  }
}

extension SourceFile {
  /// The variable whose address is taken: the last name of `&Self.context`.
  func contextName(afterAmpersand index: Int) -> String? {
    var last = index + 1
    guard last < tokens.count else { return nil }
    if tokens[last].text == "type", tokens[last + 1].is("("), let end = partner[last + 1] {
      last = end
    }
    while last + 2 < tokens.count, tokens[last + 1].is("."), tokens[last + 2].kind == .identifier {
      last += 2
    }
    return tokens[last].kind == .identifier ? tokens[last].name : nil
  }

  /// After `context:`, or compared.
  func isContextUse(ofAmpersand index: Int) -> Bool {
    guard index > 1 else { return false }
    let before = tokens[index - 1]
    return before.is(":") && tokens[index - 2].text == "context" || before.is("==")
      || before.is("!=")
  }

  func isArgument(_ index: Int) -> Bool {
    index > 0
      && (tokens[index - 1].is("(") || tokens[index - 1].is(",") || tokens[index - 1].is(":"))
  }

  /// A variable that holds nothing but a number that nobody needs: its value's tokens, with the type's.
  func contextVariable(at keyword: Int) -> Range<Int>? {
    guard isDeclaration(keyword, of: ["var"]), keyword + 3 < tokens.count,
      tokens[keyword + 1].kind == .identifier
    else { return nil }
    var index = keyword + 2
    if tokens[index].is(":"), tokens[index + 1].kind == .identifier { index += 2 }
    guard tokens[index].is("="), tokens[index + 1].text == "0" else { return nil }
    return keyword + 2..<index + 2
  }
}
