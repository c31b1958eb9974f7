/// All sources of one run: which classes inherit from NSObject, which names are observable, which variables are
/// contexts. A class's superclass or extension may be in another file. No rule of Behaviour is kept here.
import SwiftSource

struct Project {
  /// The root that a class of the sources gets.
  enum Root: Hashable {
    /// Its root is NSObject and becomes KVOObject, or is KVOObject already.
    case object
    /// It is an operation of Foundation's kind and becomes one that notifies.
    case operation
    /// Its superclass is unknown here, such as a view of AppKit.
    case other
  }

  let files: [SourceFile]
  private(set) var types: [[TypeDeclaration]]
  /// For each token of each source, the index of the innermost type around it.
  private let innermost: [[Int?]]
  /// Classes by path. Several classes have the same path if they are in two modules or in branches of an `#if`.
  private var classes: [[String]: [TypeDeclaration]] = [:]
  private var extensions: [Place: [TypeDeclaration]] = [:]
  /// Observable properties by class and name.
  private(set) var dynamicProperties: [Place: [String: PropertyDeclaration]] = [:]
  private(set) var contexts = Contexts()
  /// Whether a class becomes, or already is, an operation that notifies observers.
  private(set) var hasOperations = false
  /// The types of Foundation that are replaced by others, by name.
  private(set) var replacedTypes: [String: String] = [:]
  /// The classes that the edits apply to.
  private(set) var participants = Participants()
  /// Classes by name, without the enclosing types.
  private(set) var classesByName: [String: [TypeDeclaration]] = [:]
  /// For each property name visible to Objective-C, the classes that have such a property.
  private(set) var exposingClasses: [String: Set<Place>] = [:]
  /// The keys of the properties that Objective-C sees, by the property's name.
  private(set) var keys: [String: Set<String>] = [:]
  /// The enumeration types of properties that are numbers in Objective-C, by key.
  private(set) var enumerations: [String: String] = [:]
  /// The types of the properties that have a key, by key, without optionals.
  private(set) var valueTypes: [String: Set<String>] = [:]
  /// The keys of constants, by the constant's name.
  private(set) var constants: [String: String] = [:]
  /// The proxies as which collections are read that a class gives by accessors alone, by key: `ArrayProxy` for `cells`, if
  /// it has `countOfCells()` and no property of that name.
  private(set) var proxies: [String: String] = [:]
  let protocols: Set<String>
  /// The types for which aliases are written, by the alias's name; an empty text if that is no name.
  let aliases: [String: String]
  /// The names of cases, members, variables, functions and associated types.
  let declaredNames: Set<String>
  /// The names of functions, types and variables that take or hold an NSObject.
  let objectNames: Set<String>
  /// The names of functions and types that take a mutable collection of Foundation's.
  let collectionTakers: Set<String>
  /// Whether a source reads values that contain NSNull, or makes them.
  let usesNull: Bool
  /// The keys that each source spells.
  private(set) var spelledKeys: [[String]] = []
  /// The keys that each source observes.
  private(set) var observations: [Observations] = []
  /// The names, cases and parts of texts that the sources contain, each of which may be used as a key.
  private let words: Set<String>
  /// The declared names of each source.
  let names: [DeclaredNames]
  let knownReceivers = KnownReceivers()

  init(_ files: [SourceFile]) {
    self.files = files
    types = files.enumerated().map { $1.types(of: $0) }
    innermost = zip(files, types).map { file, types in
      types.indices.reduce(into: [Int?](repeating: nil, count: file.tokens.count)) { found, index in
        let first = types[index].open + 1
        for token in first..<max(first, types[index].close) { found[token] = index }
      }
    }
    names = files.map(DeclaredNames.init)
    protocols = Set(types.joined().filter(\.isProtocol).map(\.name))
    aliases = Dictionary(files.flatMap { $0.aliases() }) { $0 == $1 ? $0 : "" }
    declaredNames = Set(files.flatMap { $0.declaredNames() })
    objectNames = Set(files.flatMap { $0.names(with: ["NSObject"]) })
    collectionTakers = Set(files.flatMap { $0.names(with: Set(Mover.proxyTypes.keys)) })
    usesNull = files.contains { $0.usesNull }
    words = Set(files.flatMap { $0.spelledWords() })
    nameTypes()
    types = meetingRequirements(types)
    nameTypes()
    for type in types.joined() {
      let id = declaration(of: type)?.id ?? type.id
      for property in type.variables {
        if type.observes(property) { dynamicProperties[id, default: [:]][property.name] = property }
        let isExposed = isExposed(property, in: type)
        if isExposed {
          keys[property.name, default: []].insert(property.key ?? property.name)
          for key in property.allKeys { exposingClasses[key, default: []].insert(id) }
        }
        if isExposed || type.observes(property) {
          let bare = property.type.filter { $0 != "?" && $0 != "!" }
          valueTypes[property.key ?? property.name, default: []].insert(bare)
        }
      }
    }
    let enumerations = Set(
      types.joined().filter { $0.isEnumeration && $0.attributes.contains("objc") }.map(\.name))
    for (key, types) in valueTypes {
      let named = types.compactMap { $0.split(separator: ".").last.map(String.init) }
      self.enumerations[key] = named.filter(enumerations.contains).min()
    }
    constants = Dictionary(grouping: files.flatMap { $0.keyConstants() }, by: \.name)
      .compactMapValues { found in
        Set(found.map(\.key)).count == 1 ? found[0].key : nil
      }
    for type in types.joined() { addProxies(of: type) }
    let others = Set(
      types.joined().flatMap { type in
        type.variables.flatMap(\.allKeys)
          + type.methods.filter { isExposed($0.modifiers, in: type) }.flatMap(\.keys)
      })
    spelledKeys = files.map { file in
      file.tokens.indices.compactMap { file.key(at: $0)?.key }.filter {
        valueTypes[$0] != nil || others.contains($0)
      }
    }
    observations = files.indices.map(findObservations)
    contexts = Contexts(self)
    participants = Participants(self)
    hasOperations = types.joined().contains { $0.isClass && root(of: $0) == .operation }
    replacedTypes = findReplacedTypes()
  }

  /// Makes the tables of classes and extensions.
  private mutating func nameTypes() {
    (classes, classesByName, extensions) = ([:], [:], [:])
    for type in types.joined() where type.isClass {
      classes[type.path, default: []].append(type)
      classesByName[type.name, default: []].append(type)
    }
    for type in types.joined() where type.isExtension {
      extensions[declaration(of: type)?.id ?? type.id, default: []].append(type)
    }
  }

  private mutating func addProxies(of type: TypeDeclaration) {
    let names = type.methods.filter { isExposed($0.modifiers, in: type) }
      .map { $0.selector.first ?? $0.name }
    for name in names where name.hasPrefix("countOf") && name != "countOf" {
      let capital = name.dropFirst("countOf".count)
      let key = capital.prefix(1).lowercased() + capital.dropFirst()
      let isStored = exposingClasses[key]?.contains(declaration(of: type)?.id ?? type.id) ?? false
      guard !isStored else { continue }
      let isUnordered = names.contains {
        $0 == "memberOf" + capital || $0 == "enumeratorOf" + capital
      }
      proxies[key] = isUnordered ? "SetProxy" : "ArrayProxy"
    }
  }

  /// Whether a text of the sources, or a case of an enumeration, may be a key.
  func spells(_ key: String) -> Bool { words.contains(key) }

  /// Whether Objective-C can see a property, so that the property has a key.
  func isExposed(_ property: PropertyDeclaration, in type: TypeDeclaration) -> Bool {
    isExposed(property.modifiers, in: type)
  }

  /// Whether Objective-C can see a member with these modifiers.
  func isExposed(_ modifiers: Set<String>, in type: TypeDeclaration) -> Bool {
    if modifiers.contains("@nonobjc") { return false }
    if !modifiers.isDisjoint(with: Self.exposing) { return true }
    if type.isExtension && type.attributes.contains("objc") { return true }
    if modifiers.contains("private") || modifiers.contains("fileprivate") { return false }
    let own = declaration(of: type).map { [$0] } ?? []
    return ([type] + own + ancestors(of: type).classes).contains {
      $0.attributes.contains("objcMembers")
    }
  }

  /// Modifiers and attributes that let Objective-C see a member.
  private static let exposing: Set = [
    "@objc", "dynamic", "@IBOutlet", "@IBInspectable", "@GKInspectable", "@NSManaged", "@IBAction",
    "@IBSegueAction",
  ]

  /// Whether a protocol inherits from `NSObjectProtocol`, as far as its declaration or its name shows that. Foundation's
  /// delegate protocols do.
  func isObjectProtocol(_ name: String, beneath: Set<String> = []) -> Bool {
    if protocols.contains(name), !beneath.contains(name) {
      return types.joined().contains { type in
        type.isProtocol && type.name == name
          && type.inherited.contains { isObjectProtocol($0.name, beneath: beneath.union([name])) }
      }
    }
    let isOther = ["NSObject", "NSKeyValueObservingCustomization"].contains(name)
    return (name.hasSuffix("Delegate") || name.hasPrefix("NS") && !isOther)
      && classesByName[name] == nil
  }

  /// Whether a class becomes, or already is, a `KVOObject`.
  var isObjectUsed: Bool { types.joined().contains { $0.isClass && root(of: $0) == .object } }

  /// Whether another type has a member of a name, too.
  func declaredElsewhere(_ name: String, than type: TypeDeclaration) -> Bool {
    types.joined().contains { other in
      other.id != type.id
        && (other.methods.contains { $0.name == name }
          || other.properties.contains { $0.name == name })
    }
  }

  /// The innermost type whose braces are around a token.
  func type(around index: Int, in file: Int) -> TypeDeclaration? {
    innermost[file][index].map { types[file][$0] }
  }

  func hasType(named name: String) -> Bool { types.joined().contains { $0.name == name } }

  // MARK: - Classes

  /// The class that a type declares or extends.
  func declaration(of type: TypeDeclaration) -> TypeDeclaration? {
    if type.isClass { return type }
    return type.isExtension ? alike(classesOrAliased(type.path, of: type)) : nil
  }

  func extensions(of type: TypeDeclaration) -> [TypeDeclaration] { extensions[type.id] ?? [] }

  /// The classes that a type name may refer to in a class's body.
  func classes(named type: String, in around: TypeDeclaration) -> [TypeDeclaration] {
    classes(type.split(separator: ".").map(String.init), in: around.path, of: around.id.file)
  }

  /// Looks a name up as the compiler does: from its scope outwards, in its own file first.
  private func classes(_ name: [String], in scope: [String], of file: Int) -> [TypeDeclaration] {
    if name.count > 1, TypeDeclaration.Inherited.modules.contains(name[0]) { return [] }
    for count in (0...scope.count).reversed() {
      let all = classes[scope.prefix(count) + name] ?? []
      let here = all.filter { $0.id.file == file }
      let found = here.isEmpty ? all.filter { !$0.isPrivate } : here
      if !found.isEmpty { return found }
    }
    // The first name may be that of a module.
    return name.count > 1 ? classes(Array(name.dropFirst()), in: [], of: file) : []
  }

  /// One of the classes, if all inherit from the same class.
  private func alike(_ classes: [TypeDeclaration]) -> TypeDeclaration? {
    Set(classes.map { $0.inherited.first?.path ?? [] }).count == 1 ? classes[0] : nil
  }

  /// The classes that the name of a superclass, or of an extended class, may refer to, if they inherit differently.
  func several(above type: TypeDeclaration) -> [TypeDeclaration] {
    guard let name = type.isExtension ? type.path : type.inherited.first?.path else { return [] }
    let found = classesOrAliased(name, of: type)
    return alike(found) == nil ? found : []
  }

  /// The superclasses of a class that are in the sources, nearest first, and the name of the last one's superclass.
  func ancestors(of type: TypeDeclaration) -> (classes: [TypeDeclaration], root: String?) {
    var (found, next) = ([TypeDeclaration](), declaration(of: type))
    while let type = next, found.count < 100 {
      found.append(type)
      next = type.inherited.first.flatMap { alike(classesOrAliased($0.path, of: type)) }
    }
    return (Array(found.dropFirst()), found.last.flatMap(superclassName))
  }

  /// The name of a class's superclass; for an alias of a root, the root's.
  func superclassName(of type: TypeDeclaration) -> String? {
    guard let superclass = type.inherited.first else { return nil }
    let name = superclass.name
    // An alias of that name may be nested in another type.
    let isClass = !classes(superclass.path, in: type.scope, of: type.id.file).isEmpty
    let other = isClass ? "" : aliases[name] ?? ""
    return ["NSObject", "Operation"].contains(other) ? other : name
  }

  /// The classes that the name of a superclass, or of an extended class, or an alias of it, may refer to.
  private func classesOrAliased(
    _ path: [String], of type: TypeDeclaration
  ) -> [TypeDeclaration] {
    var path = path
    for _ in 0..<8 {
      let found = classes(path, in: type.scope, of: type.id.file)
      guard found.isEmpty, let other = aliases[path.last!], !other.isEmpty else { return found }
      path = other.split(separator: ".").map(String.init)
    }
    return []
  }

  /// Whether a type, or one of its superclasses, is marked as isolated to the main actor.
  func isOnMainActor(_ type: TypeDeclaration) -> Bool {
    let own = declaration(of: type).map { [$0] } ?? []
    return ([type] + own + ancestors(of: type).classes).contains {
      $0.attributes.contains("MainActor")
    }
  }

  /// Whether a class inherits from a root that the edits know.
  func hasKnownRoot(_ type: TypeDeclaration) -> Bool {
    ["NSObject", "Operation", "KVOObject", "KVOOperation"].contains(ancestors(of: type).root)
  }

  /// The root that a class gets. A class that does not take part keeps its own.
  func root(of type: TypeDeclaration) -> Root {
    let root = ancestors(of: type).root
    if root == "KVOObject" { return .object }
    if root == "KVOOperation" || root == "KVOBlockOperation" { return .operation }
    let declaration = declaration(of: type)
    if declaration == nil, type.isExtension, replacedTypes[type.name] != nil { return .object }
    guard let declaration, participants.classes.contains(declaration.id) else { return .other }
    if root == "NSObject" { return .object }
    // In a source that already uses the runtime, the author chose Foundation's `Operation` on purpose.
    let isMoved = files[declaration.id.file].imports.contains { $0.module == "KVORuntime" }
    return root == "Operation" && !isMoved ? .operation : .other
  }
}
