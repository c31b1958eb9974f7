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
  private var extensions: [Place: [TypeDeclaration]] = [:]
  /// Observable properties by class and name.
  private(set) var dynamicProperties: [Place: [String: PropertyDeclaration]] = [:]
  private(set) var contexts = Contexts()
  /// Whether a class becomes an operation that observers can be notified of, or is one.
  private(set) var hasOperations = false
  /// Those that the edits concern.
  private(set) var participants = Participants()
  /// By their names alone.
  private(set) var classesByName: [String: [TypeDeclaration]] = [:]
  /// The classes that have a property of a name that Objective-C can see.
  private(set) var exposingClasses: [String: Set<Place>] = [:]
  /// The keys of properties that Objective-C has another name for.
  private(set) var keys: [String: String] = [:]
  /// The types of observable properties that are a number in Objective-C, by key.
  private(set) var enumerations: [String: String] = [:]
  let protocols: Set<String>
  let aliases: Set<String>
  /// By source.
  let names: [DeclaredNames]

  init(_ files: [SourceFile]) {
    self.files = files
    types = files.enumerated().map { $1.types(of: $0) }
    names = files.map(DeclaredNames.init)
    protocols = Set(types.joined().filter(\.isProtocol).map(\.name))
    aliases = Set(
      files.flatMap { file in
        file.tokens.indices.filter { file.isDeclaration($0, of: ["typealias"]) }
          .map { file.tokens[$0 + 1].name }
      })
    for type in types.joined() where type.isClass {
      classes[type.path, default: []].append(type)
      classesByName[type.name, default: []].append(type)
    }
    for type in types.joined() {
      let id = declaration(of: type)?.id ?? type.id
      if type.isExtension { extensions[id, default: []].append(type) }
      for property in type.properties {
        if type.observes(property) { dynamicProperties[id, default: [:]][property.name] = property }
        if let key = property.key { keys[property.name] = key }
        if isExposed(property, in: type) { exposingClasses[property.name, default: []].insert(id) }
      }
    }
    let enumerations = Set(
      types.joined().filter { $0.isEnumeration && $0.attributes.contains("objc") }.map(\.name))
    for (name, property) in dynamicProperties.values.joined() {
      let type = property.type.filter { $0 != "?" && $0 != "!" }.split(separator: ".").last.map(
        String.init)
      if let type, enumerations.contains(type) { self.enumerations[property.key ?? name] = type }
    }
    contexts = Contexts(self)
    participants = Participants(self)
    hasOperations = types.joined().contains { $0.isClass && root(of: $0) == .operation }
  }

  /// Whether Objective-C can see a property, so that it has a key.
  func isExposed(_ property: PropertyDeclaration, in type: TypeDeclaration) -> Bool {
    if property.modifiers.contains("@nonobjc") { return false }
    if property.modifiers.contains("@objc") || property.modifiers.contains("dynamic") {
      return true
    }
    if property.modifiers.contains("private") || property.modifiers.contains("fileprivate") {
      return false
    }
    return type.attributes.contains("objcMembers")
      || (declaration(of: type).map { $0.attributes.contains("objcMembers") } ?? false)
  }

  func hasType(named name: String) -> Bool { types.joined().contains { $0.name == name } }

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
    if name.count > 1, TypeDeclaration.Inherited.modules.contains(name[0]) { return [] }
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

  /// Whether a type says that it is isolated to the main actor, or a class above it does.
  func isOnMainActor(_ type: TypeDeclaration) -> Bool {
    let own = declaration(of: type).map { [$0] } ?? []
    return ([type] + own + ancestors(of: type).classes).contains {
      $0.attributes.contains("MainActor")
    }
  }

  /// Whether a class could become another one.
  func hasKnownRoot(_ type: TypeDeclaration) -> Bool {
    ["NSObject", "Operation", "KVOObject", "KVOOperation"].contains(ancestors(of: type).root)
  }

  /// The root that a class gets; a class that takes part in nothing keeps its own.
  func root(of type: TypeDeclaration) -> Root {
    let root = ancestors(of: type).root
    if root == "KVOObject" { return .object }
    if root == "KVOOperation" || root == "KVOBlockOperation" { return .operation }
    guard let declaration = declaration(of: type), participants.classes.contains(declaration.id)
    else { return .other }
    if root == "NSObject" { return .object }
    // One in a source that uses the runtime already is what its author wants.
    let isMoved = files[declaration.id.file].imports.contains { $0.module == "KVORuntime" }
    return root == "Operation" && !isMoved ? .operation : .other
  }
}
