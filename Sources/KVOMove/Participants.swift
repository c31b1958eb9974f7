/// Finds the classes that take part in key-value coding and observing. All other classes stay unchanged. Classes take
/// part if they
/// - have observable properties, or methods of key-value coding or observing;
/// - observe or are observed;
/// - are read and set by key;
/// - are superclasses or subclasses of such classes.
///
/// No rule of Behaviour is kept here.
import SwiftSource

struct Participants {
  /// The places of the classes' keywords.
  private(set) var classes: Set<Place> = []
  /// The classes that are read and set by key.
  private(set) var coded: Set<Place> = []
  /// The sources with calls or declarations of key-value coding and observing.
  private(set) var files: Set<Int> = []
  /// Protocols that have an extension for subclasses of NSObject in which keys are observed or used.
  private(set) var protocols: Set<String> = []
  /// All keys that the sources name.
  private(set) var keys: Set<String> = []
  /// Those of them that are observed.
  private(set) var observedKeys: Set<String> = []
  /// The names of variables on which methods are called by key, for each source: `song` in `song.setValue(1, forKey:
  /// key)`.
  private(set) var receivers: [Int: Set<String>] = [:]
  /// Functions, and types for their initialisers, with a parameter of type NSObject on which methods are called by
  /// key.
  private(set) var takers: Set<String> = []

  init() {}

  init(_ project: Project) {
    for (file, types) in project.types.enumerated() {
      for type in types where Self.declares(type, project.files[file]) {
        files.insert(file)
        guard let declaration = project.declaration(of: type) else { continue }
        classes.insert(declaration.id)
        if type.methods.contains(where: { Self.methodsOfCoding.contains($0.name) }) {
          coded.insert(declaration.id)
        }
      }
    }
    for file in project.files.indices { findCalls(in: file, project) }
    for type in project.types.joined()
    where type.isExtension && project.protocols.contains(type.name) {
      let file = project.files[type.id.file]
      let isOfRoot = file.tokens[type.keyword..<type.open].contains { $0.text == "NSObject" }
      if isOfRoot, (type.open..<type.close).contains(where: file.isKeyCall) {
        protocols.insert(type.name)
      }
    }
    for type in project.types.joined()
    where type.isExtension && type.name == "NSObject" && isKnown(type.inherited) {
      files.insert(type.id.file)
    }
    for file in project.files.indices { follow(receiversIn: file, project) }
    takers = Set(project.files.indices.flatMap { functions(in: $0, project) })
    for file in project.files.indices { findArguments(of: takers, in: file, project) }
    close(project)
    for type in project.types.joined() where type.isProtocol && type.attributes.contains("objc") {
      let isMet = project.types.joined().contains { other in
        project.declaration(of: other).map { classes.contains($0.id) } ?? false
          && other.inherited.contains { $0.name == type.name }
      }
      if isMet { files.insert(type.id.file) }
    }
    let isMoved = project.types.joined().contains { classes.contains($0.id) }
    for type in project.types.joined()
    where isMoved && type.isExtension && type.name == "NSObject"
      && type.inherited.contains(where: { project.protocols.contains($0.name) })
    {
      files.insert(type.id.file)
    }
  }

  /// Whether one of the inherited protocols is in `protocols`.
  func isKnown(_ inherited: [TypeDeclaration.Inherited]) -> Bool {
    inherited.contains { protocols.contains($0.name) }
  }

  // MARK: - Declarations

  private static let methods: Set = [
    "observeValue", "setNilValueForKey", "willChangeValue", "didChangeValue", "registerKeys",
  ]
  private static let methodsWithKeys: Set = [
    "value", "setValue", "addObserver", "removeObserver", "setValuesForKeys",
    "dictionaryWithValues",
    "mutableArrayValue", "mutableSetValue", "mutableOrderedSetValue",
  ]

  private static let methodsOfCoding: Set = [
    "value", "setValue", "setNilValueForKey", "setValuesForKeys", "dictionaryWithValues",
  ]

  /// Whether a type's attributes, supertypes or members show that it takes part.
  private static func declares(_ type: TypeDeclaration, _ file: SourceFile) -> Bool {
    let isMarked =
      type.attributes.contains("KVO") || type.inherited.contains { $0.name == "KVOObject" }
    if isMarked || type.inherited.contains(where: { $0.name == "NSKeyValueObservingCustomization" })
    {
      return true
    }
    if type.variables.contains(where: { $0.isDynamic || $0.type.contains("NSKeyValueObservation") }
    ) {
      return true
    }
    if !type.statements.isEmpty { return true }
    return type.methods.contains { method in
      if method.name.hasPrefix("keyPathsForValuesAffecting")
        || method.name.hasPrefix("automaticallyNotifiesObservers")
        || methods.contains(method.name)
      {
        return true
      }
      guard let close = file.partner[method.parameters] else { return false }
      let parameters = file.tokens[method.parameters..<close]
      if method.name.hasPrefix("validate") {
        return parameters.contains { $0.text == "AutoreleasingUnsafeMutablePointer" }
      }
      return methodsWithKeys.contains(method.name) && method.modifiers.contains("override")
    }
  }

  // MARK: - Calls

  private mutating func findCalls(in file: Int, _ project: Project) {
    let source = project.files[file]
    for index in source.tokens.indices {
      let token = source.tokens[index]
      if token.text.hasPrefix("NSKeyValue") || Self.words.contains(token.text) {
        files.insert(file)
      }
      if token.is("#keyPath") { addClasses(ofKeyPathAt: index, in: file, project) }
      if token.text == "NSSortDescriptor", source.tokens[index + 2].text == "key" {
        addClasses(ofKeysAt: index, in: file, project)
      }
      guard source.isKeyCall(index) else { continue }
      let receiver = project.receiver(ofCallAt: index, in: file)
      if case .foreign(let types) = receiver, source.isStringCall(index) {
        // Foundation's UserDefaults lack these methods.
        if types == ["UserDefaults"] { files.insert(file) }
        continue
      }
      files.insert(file)
      var named: Set<String> = []
      if source.isStringCall(index) {
        named.formUnion(project.keys(ofStringCallAt: index, in: file))
      } else if !source.isAnnouncement(index) {
        named.formUnion(source.keys(ofCallAt: index).keys)
      }
      keys.formUnion(named)
      if source.isObservation(index) || token.text == "addObserver" {
        observedKeys.formUnion(named)
      }
      if let name = source.receiverName(ofCallAt: index) {
        receivers[file, default: []].insert(name)
      }
      if ["addObserver", "removeObserver"].contains(token.text), source.isStringCall(index) {
        addObserver(passedTo: index, in: file, project)
      }
      if case .classes(let found) = receiver {
        classes.formUnion(found.map(\.id))
        if source.isStringCall(index) { coded.formUnion(found.map(\.id)) }
      }
      // The class that observes, or that notifies of its own changes.
      if let around = project.type(around: index, in: file),
        let declaration = project.declaration(of: around), source.isObservation(index)
      {
        classes.insert(declaration.id)
      }
      if case .foreign = receiver { continue }
      addClasses(ofKeysAt: index, in: file, project)
    }
  }

  /// Adds the class of the first argument, or its name: `addObserver(observer, forKeyPath: key, …)`.
  private mutating func addObserver(passedTo call: Int, in file: Int, _ project: Project) {
    let source = project.files[file]
    guard
      let comma = (call..<source.tokens.count).first(where: {
        source.tokens[$0].is(",") && source.enclosing[$0] == call + 1
      })
    else { return }
    if source.tokens[comma - 1].kind == .identifier {
      receivers[file, default: []].insert(source.tokens[comma - 1].name)
    }
    if case .classes(let found) = project.receiver(ending: comma - 1, in: file) {
      classes.formUnion(found.map(\.id))
    }
  }

  /// Words that occur only in code for key-value coding and observing.
  private static let words: Set = [
    "#keyPath", "kindKey", "indexesKey", "withKeyPath", "observationInfo", "KVOContext",
  ]

  private mutating func addClasses(ofKeyPathAt index: Int, in file: Int, _ project: Project) {
    guard let close = project.files[file].closing(of: index + 1) else { return }
    for token in project.files[file].tokens[index..<close] where token.kind == .identifier {
      classes.formUnion((project.classesByName[token.name] ?? []).map(\.id))
    }
  }

  /// Adds the classes whose properties a call can reach.
  private mutating func addClasses(ofKeysAt index: Int, in file: Int, _ project: Project) {
    let (keys, types) = project.files[file].keys(ofCallAt: index)
    var found = Set(types.flatMap { project.classesByName[$0] ?? [] }.map(\.id))
    let receiver = project.receiver(ofCallAt: index, in: file)
    // If the receiver is known, the first key belongs to it.
    var rest = keys[...]
    if case .classes = receiver { rest = rest.dropFirst() }
    if !types.isEmpty { rest = keys.dropFirst() }
    for key in rest { found.formUnion(project.exposingClasses[key] ?? []) }
    classes.formUnion(found)
    if project.files[file].isStringCall(index) { coded.formUnion(found) }
  }

  // MARK: - Objects passed on

  /// Adds the names whose values are assigned to names that are called by key, and those of collections and variables that
  /// such objects are put into: their types change together.
  private mutating func follow(receiversIn file: Int, _ project: Project) {
    guard var found = receivers[file] else { return }
    while true {
      let more =
        found.flatMap { name in
          (project.names[file].sources[name] ?? []).compactMap { source in
            if case .name(let other) = source { return other }
            return nil as String?
          }
        } + containers(of: found, in: file, project)
      if found.isSuperset(of: more) { break }
      found.formUnion(more)
    }
    receivers[file] = found
  }

  /// The names of variables into which objects of the type NSObject are put that are called by key.
  private func containers(of names: Set<String>, in file: Int, _ project: Project) -> Set<String> {
    let (source, declared) = (project.files[file], project.names[file].sources)
    let objects = names.filter { declared[$0]?.contains(.type("NSObject")) ?? false }
    guard !objects.isEmpty else { return [] }
    let assigned = declared.filter { name, sources in
      sources.contains(.type("NSObject")) && objects.contains { sources.contains(.name($0)) }
    }
    let filled = source.tokens.indices.compactMap { source.container(filledAt: $0, with: objects) }
    return Set(assigned.keys).union(filled)
  }

  private func functions(in file: Int, _ project: Project) -> Set<String> {
    guard let receivers = receivers[file] else { return [] }
    let source = project.files[file]
    let found = source.tokens.indices.compactMap { index -> String? in
      let token = source.tokens[index]
      let isFunction = index > 0 && source.tokens[index - 1].isWord("func")
      guard isFunction || source.isKeyword(index, among: ["init"]),
        let open = (index + 1..<source.tokens.count).first(where: { source.tokens[$0].is("(") }),
        let close = source.partner[open],
        (open..<close).contains(where: {
          source.tokens[$0].text == "NSObject" && source.tokens[$0 - 1].is(":")
            && receivers.contains(source.tokens[$0 - 2].name)
        })
      else { return nil }
      if isFunction { return token.name }
      return project.type(around: index, in: file)?.name
    }
    return Set(found)
  }

  /// Adds the classes of the arguments of such a function, and the classes that have the keys passed to it.
  private mutating func findArguments(of functions: Set<String>, in file: Int, _ project: Project) {
    let source = project.files[file]
    for index in source.tokens.indices
    where functions.contains(source.tokens[index].name) && source.tokens[index + 1].is("(") {
      guard index == 0 || !source.tokens[index - 1].isWord("func"),
        let close = source.closing(of: index + 1)
      else { continue }
      files.insert(file)
      for argument in index + 2..<close
      where source.tokens[argument + 1].is(",") || argument + 1 == close {
        guard case .classes(let found) = project.receiver(ending: argument, in: file) else {
          continue
        }
        classes.formUnion(found.map(\.id))
        coded.formUnion(found.map(\.id))
      }
      let exposing = source.keys(ofCallAt: index).keys.flatMap { project.exposingClasses[$0] ?? [] }
      classes.formUnion(exposing)
      coded.formUnion(exposing)
    }
  }

  // MARK: - Inheritance

  private mutating func close(_ project: Project) {
    let all = project.types.joined().filter(\.isClass)
    // An operation that notifies no observer can't be a dependency of one that does.
    let operations = all.filter { project.ancestors(of: $0).root == "Operation" }
    if operations.contains(where: { classes.contains($0.id) }) {
      classes.formUnion(operations.map(\.id))
    }
    for type in all where classes.contains(type.id) {
      let above = project.ancestors(of: type).classes.map(\.id)
      classes.formUnion(above)
      if coded.contains(type.id) { coded.formUnion(above) }
    }
    for type in all {
      let above = project.ancestors(of: type).classes.map(\.id)
      if !classes.isDisjoint(with: above) { classes.insert(type.id) }
      if !coded.isDisjoint(with: above) { coded.insert(type.id) }
    }
  }
}

extension SourceFile {
  /// The collection to which a call or an assignment adds one of the objects: `entries` in `entries.append((object, key))` or
  /// `entries[key] = object`.
  fileprivate func container(filledAt index: Int, with objects: Set<String>) -> String? {
    func isObject(_ place: Int) -> Bool {
      objects.contains(tokens[place].name)
        && ["(", "[", ",", ":", "="].contains(tokens[place - 1].text)
        && !tokens[place + 1].is(".") && !tokens[place + 1].is(":")
    }
    guard index > 2, let close = partner[index], close > index else { return nil }
    if tokens[index].is("("), ["append", "insert", "updateValue"].contains(tokens[index - 1].text),
      tokens[index - 2].is(".")
    {
      return (index..<close).contains(where: isObject) ? tokens[index - 3].name : nil
    }
    guard tokens[index].is("["), tokens[index - 1].kind == .identifier, tokens[close + 1].is("=")
    else { return nil }
    var end = close + 2
    while end < tokens.count - 1, !isStatementStart(end), !tokens[end].is("}") { end += 1 }
    return (index..<end).contains(where: isObject) ? tokens[index - 1].name : nil
  }

  /// The name before the dot: of a variable, or of a function that returns the object.
  func receiverName(ofCallAt index: Int) -> String? {
    guard index > 1, tokens[index - 1].is(".") else { return nil }
    var last = index - 2
    while ["?", "!"].contains(tokens[last].text), last > 0 { last -= 1 }
    while tokens[last].is(")") || tokens[last].is("]"), let open = partner[last], open > 0 {
      let isCast = (open + 1..<last).contains { tokens[$0].isWord("as") }
      if isCast { return nil }
      last = open - 1
    }
    return tokens[last].kind == .identifier ? tokens[last].name : nil
  }
}
