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
    contexts = Contexts(self)
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
}
