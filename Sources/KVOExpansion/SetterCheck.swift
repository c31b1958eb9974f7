internal import SwiftSource

/// Checks the accessors of computed properties, as far as the class alone shows their effect:
/// - A setter that changes nothing that notifies (Q5).
/// - A setter that manually notifies of a property that notifies by itself (E3).
/// - A getter that caches its value in a property that is not observed (Q6).
/// - A property that is announced manually, and read by another getter, which does not report the read (F5).
///
/// In doubt a setter counts as notifying, so there is no warning. These leave doubt: calling a method that the class
/// does not declare, a closure or a subscript; passing the object on; setting a variable that the class does not
/// declare, or an observed one that the getter may read. Setting a part of an observed variable counts as well: if it
/// is a structure, that changes the variable. The class's own methods and accessors are followed.

struct SetterCheck {
  /// The variables that are not marked as ignored, also computed ones. Most notify of their changes.
  private(set) var observed: Set<String> = []
  /// Constants and ignored variables, which don't notify.
  private(set) var silent: Set<String> = []
  /// Those of `observed` that notify only if they are announced manually: lazy ones, and those with another wrapper.
  private(set) var unobserved: Set<String> = []
  /// The properties that the macro makes observable, with the offsets of their declarations.
  private var stored: [String: Int] = [:]
  /// For each name, the computed properties whose accessors use it.
  private var users: [String: Set<String>] = [:]
  /// For each name, the computed properties whose getters read a property of the object with that name.
  private var readers: [String: Set<String>] = [:]
  /// The names of the type's own members (`static`, `class`).
  private var namesOfType: [String] = []
  /// The bodies of methods, and those of getters and setters, by the names of the methods and properties.
  private(set) var methods: [String: [Body]] = [:]
  private(set) var getters: [String: Body] = [:]
  private(set) var setters: [String: Body] = [:]
  private let tokens: [Token]
  let className: String
  /// Whether names that the class does not declare may be a superclass's properties.
  let mayInherit: Bool

  /// - Parameter tokens: those of the class.
  init(_ type: TypeDeclaration, _ tokens: [Token]) {
    self.tokens = tokens
    className = type.name.name
    mayInherit = !Superclass.isRoot(of: type)
    for member in type.members { add(member) }
  }

  private mutating func add(_ member: Member) {
    if member.isOfType {
      namesOfType += member.names
      return
    }
    if case .function(let function) = member.kind { add(function) }
    guard case .variable(let isVariable, let bindings) = member.kind else { return }
    for binding in bindings {
      guard let name = binding.name?.name else { continue }
      if !isVariable || member.has("KVOIgnored") {
        silent.insert(name)
      } else {
        observed.insert(name)
      }
      if ObservableMember.isMarked(member) { stored[name] = member.offset }
      if ObservableMember.isUnobserved(member) { unobserved.insert(name) }
      guard binding.isComputed, let accessors = binding.accessors else { continue }
      for block in accessors.blocks { add(block, of: name) }
      getters[name] = accessors.block("get", "_read", "read").map { Body(Array($0.body)) }
      setters[name] = accessors.block("set").map {
        Body(Array($0.body), [$0.parameter ?? "newValue"])
      }
    }
  }

  private mutating func add(_ function: Function) {
    guard let open = function.open, let brace = function.body else { return }
    var (depth, end) = (0, brace)
    repeat {
      if tokens[end].is("{") { depth += 1 }
      if tokens[end].is("}") { depth -= 1 }
      end += 1
    } while depth > 0 && end < tokens.count
    let parameters = (open..<brace).filter { tokens[$0 + 1].is(":") }.map { tokens[$0].name }
    methods[function.name.name, default: []].append(
      Body(Array(tokens[brace + 1..<end - 1]), parameters))
  }

  private mutating func add(_ block: Accessors.Block, of name: String) {
    for token in Array(block.body).withInterpolations.joined() where token.kind == .identifier {
      users[token.name, default: []].insert(name)
    }
    guard ["get", "_read", "read"].contains(block.name) else { return }
    for read in names(in: Array(block.body)) { readers[read, default: []].insert(name) }
  }

  /// The names with which the expressions of a body begin, also in interpolations.
  private func names(in body: [Token]) -> Set<String> {
    body.withInterpolations.reduce(into: []) { names, tokens in
      let roots = tokens.indices.filter {
        tokens[$0].kind == .identifier && tokens.isRoot($0) && !tokens.isLabel($0)
      }
      names.formUnion(roots.map { tokens[$0].name })
    }
  }

  /// Whether a key's observers may get manual notifications only, since the class declares what affects the key, or turns
  /// automatic notification off for keys other than this one.
  func mayNotifyOnlyManually(_ key: String) -> Bool {
    declaresWhatAffects(key)
      || namesOfType.contains {
        $0.hasPrefix("automaticallyNotifiesObservers")
          && $0 != "automaticallyNotifiesObserversOf" + key.capitalizedFirst
      }
  }

  private func declaresWhatAffects(_ key: String) -> Bool {
    namesOfType.contains {
      $0 == "registerKeys" || $0 == "keyPathsForValuesAffectingValue"
        || $0 == "keyPathsForValuesAffecting" + key.capitalizedFirst
    }
  }

  /// The offset at which to mark a variable, so that only the setter of `key` notifies of its changes. Nil if another
  /// computed property uses the variable: its observers would no longer be notified.
  func place(of variable: String, markedFor key: String) -> Int? {
    users[variable]?.subtracting([key]).isEmpty == false ? nil : stored[variable]
  }

  /// A stored property that a key's setter assigns to, besides announcing the key manually, and its getter reads: so the
  /// change is notified twice. Assigning to a part of it, or calling its methods, does not count: it may be an object,
  /// and then the property does not change.
  func notifiedBeside(_ accessors: Accessors, of key: String) -> String? {
    guard let setter = accessors.block("set"), let getter = accessors.block("get", "_read", "read"),
      announces(Array(setter.body), key, by: Self.manual)
    else { return nil }
    let (set, read) = (Array(setter.body), names(in: Array(getter.body)))
    return set.indices.first { index in
      stored[set[index].name] != nil && set.isRoot(index) && set.isSetAsAWhole(index)
        && read.contains(set[index].name)
    }.map { set[$0].name }
  }

  /// Why other getters that read a key do not find out what it depends on.
  enum Unawareness {
    /// Its changes are announced manually, and the getter reads nothing observed.
    case manual
    /// Its getter returns a cached value, from this variable.
    case cached(String)
    /// Its dependencies are declared, and its getter reads only unobserved properties.
    case declared
  }

  /// The computed properties, other than the key's own, whose getters read a key without noticing that. Nil if there is
  /// none, or if the key's getter reports the read.
  func unawareReaders(
    of key: String, _ getter: Accessors.Block, isDeclared: Bool
  ) -> (readers: [String], why: Unawareness)? {
    guard let readers = readers[key]?.subtracting([key]), !readers.isEmpty else { return nil }
    let read = names(in: Array(getter.body))
    guard !read.contains("access") else { return nil }
    if let cache = cachedValue(in: getter, of: key)?.cache {
      return (readers.sorted(), .cached(cache))
    }
    let unreported = read.subtracting(["self"])
    if isDeclared, !unreported.isEmpty, unreported.isSubset(of: silent.union(unobserved)),
      !leads(from: unreported, in: Array(getter.body))
    {
      return (readers.sorted(), .declared)
    }
    guard read.isDisjoint(with: observed),
      announces(tokens, key, by: ["withAutomaticChange"] + Self.manual)
    else { return nil }
    return (readers.sorted(), .manual)
  }

  /// Whether a member of one of the properties is used, which may be an observed object's.
  private func leads(from properties: Set<String>, in body: [Token]) -> Bool {
    body.indices.contains { index in
      guard properties.contains(body[index].name) else { return false }
      let next = body[(index + 1)...].first { !$0.is("?") && !$0.is("!") }
      return next?.is(".") == true
    }
  }

  /// Calls that announce a manual change.
  private static let manual = ["withChange", "willChangeValue", "willChange"]

  private func announces(_ body: [Token], _ key: String, by calls: [String]) -> Bool {
    body.indices.contains { index in
      guard calls.contains(body[index].name),
        body.isRoot(index), index + 1 < body.count, body[index + 1].is("(")
      else { return false }
      let arguments = Array(body[(index + 2)...].prefix { !$0.is(")") })
      return arguments.contains { $0.text == "\"\(key)\"" }
        || arguments.firstIndex { $0.is("\\") }.map { names(key, at: $0, in: arguments) } ?? false
    }
  }

  /// Whether a key path names just this property: `\.x` and `\Person.x` name `x`; `\.x.y` does not.
  private func names(_ key: String, at backslash: Int, in arguments: [Token]) -> Bool {
    var path = arguments[(backslash + 1)...].prefix { !$0.is(",") }
    while let first = path.first, !first.is(".") { path = path.dropFirst() }
    while path.count > 2, path.dropFirst().first?.name.first?.isUppercase == true {
      path = path.dropFirst(2)  // a type in a type
    }
    return path.count == 2 && path.last?.name == key
  }

  // MARK: - Silent setters

  /// Calls that announce changes of the keys that they are passed.
  private static let announcing: Set = [
    "withChange", "withAutomaticChange", "willChangeValue", "didChangeValue", "willChange",
    "didChange",
  ]
  /// Calls that notify of the keys that they are passed, or may.
  private static let notifying: Set = [
    "setValue", "mutableArray", "mutableSet", "mutableArrayValue", "mutableSetValue",
    "mutableOrderedSetValue", "setValuesForKeys", "coalescingNotifications",
  ]

  /// Whether a property's setter sets something, but nothing that its getter reads, and does not announce the property.
  func notifiesNoObserver(whenSetting key: String) -> Bool {
    guard let setter = setters[key] else { return false }
    let read = declaresWhatAffects(key) ? nil : getters[key].flatMap(membersRead)
    var (next, followed, sets) = ([setter], Set([key]), false)
    while let body = next.popLast() {
      for index in body.tokens.indices {
        next += body.tokens[index].interpolations.map { Body($0, body.locals(at: index)) }
        switch effect(of: index, in: body, on: key, read) {
        case .none: continue
        case .notifies: return false
        case .sets: sets = true
        case .calls(let bodies):
          if followed.insert(body.tokens[index].name).inserted { next += bodies }
          sets = sets || body.tokens.isSet(index)
        }
      }
    }
    return sets
  }

  private enum Effect {
    case none
    /// It notifies the property's observers, or may.
    case notifies
    /// It sets a variable that the getter does not read, or that notifies no observer.
    case sets
    /// It runs other bodies of the type.
    case calls([Body])
  }

  private func effect(
    of index: Int, in body: Body, on key: String, _ read: Set<String>?
  ) -> Effect {
    let (tokens, token) = (body.tokens, body.tokens[index])
    if token.isWord("super") || tokens.isHandedOn(index) { return .notifies }
    guard token.kind == .identifier, tokens.isRoot(index), !tokens.isLabel(index),
      !body.isLocal(index)
    else { return .none }
    if Self.announcing.contains(token.name), index + 1 < tokens.count, tokens[index + 1].is("(") {
      return announcesAnother(index, than: key, in: tokens, read) ? .none : .notifies
    }
    if Self.notifying.contains(token.name) { return .notifies }
    if tokens.isCalled(index) { return methods[token.name].map { .calls($0) } ?? .notifies }
    if observed.contains(token.name) {
      guard tokens.mayChange(index) else { return .none }
      guard let read, !read.contains(token.name) else { return .notifies }
      if let setter = setters[token.name] { return .calls([setter]) }
      return tokens.isSet(index) ? .sets : .none
    }
    guard tokens.isSet(index) else { return .none }
    // A variable that the class does not declare belongs to a superclass or an extension.
    return silent.contains(token.name) || token.isTypeName ? .sets : .notifies
  }

  /// Whether the call at an index announces only a key that is not the property's, and that its getter does not read.
  private func announcesAnother(
    _ index: Int, than key: String, in body: [Token], _ read: Set<String>?
  ) -> Bool {
    let arguments = body[(index + 2)...].prefix { !$0.is(")") }
    let names = arguments.map {
      $0.kind == .string ? String($0.text.dropFirst().dropLast()) : $0.name
    }
    // Otherwise the key is a variable's value.
    let isLiteral = arguments.contains {
      $0.kind == .string && $0.interpolations.isEmpty || $0.is("\\")
    }
    guard isLiteral, let read else { return false }
    return !names.contains(key) && read.isDisjoint(with: names)
  }

  /// The members that a getter reads, also by the type's own methods and getters. Nil if it may read others.
  private func membersRead(by getter: Body) -> Set<String>? {
    var (names, next) = (Set<String>(), [getter])
    while let body = next.popLast() {
      for index in body.tokens.indices {
        let token = body.tokens[index]
        next += token.interpolations.map { Body($0, body.locals(at: index)) }
        if token.isWord("super") || body.tokens.isHandedOn(index) { return nil }
        guard token.kind == .identifier, body.tokens.isRoot(index),
          !body.tokens.isLabel(index), !body.isLocal(index)
        else { continue }
        let isCall = body.tokens.isCalled(index)
        if isCall, methods[token.name] == nil, !token.isTypeName { return nil }
        guard names.insert(token.name).inserted else { continue }
        next += (methods[token.name] ?? []) + [getters[token.name]].compactMap { $0 }
      }
    }
    return names
  }
}

extension Member {
  fileprivate var names: [String] {
    switch kind {
    case .function(let function): [function.name.name]
    case .variable(_, let bindings): bindings.compactMap { $0.name?.name }
    case .directive, .other: []
    }
  }
}
