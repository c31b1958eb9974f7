internal import CSwiftRuntime

/// A property, as the symbol of something of its own tells it: of its getter, of the getter's place in
/// the class, of the function by which a key path reads it.
struct PropertySymbol: Hashable {
  let name: String
  /// What has the property: "M.Person"; "M.Named" of what an extension gives to a protocol.
  private let owner: String
  /// Whose key path it is, if it is a key path's.
  private let root: String?
  private let isOfExtension: Bool

  /// What stands for the name of a subscript.
  static let subscriptName = "[…]"

  private static let ofKeyPath = "key path getter for "
  private static let ofGetter = ["method descriptor for ", "dispatch thunk of "]
  private static let inExtension = "(extension in "

  /// Nil for the symbol of something else.
  private init?(mangled symbol: String) {
    guard let text = SymbolTable.demangled(symbol).map({ Substring($0) }) else { return nil }
    if text.hasPrefix(Self.ofKeyPath) {
      self.init(text.dropFirst(Self.ofKeyPath.count), isOfKeyPath: true)
    } else {
      let prefix = Self.ofGetter.first { text.hasPrefix($0) } ?? ""
      self.init(text.dropFirst(prefix.count), isOfKeyPath: false)
    }
  }

  // "(extension in M):M.Person.name.getter : Swift.String", "M.Person.name : Swift.String : M.Person";
  // of a class in a function "name.getter : Swift.String in Person #1 in M.f() -> ()".
  private init?(_ text: Substring, isOfKeyPath: Bool) {
    let typeStart = text.firstRange(ofText: " : ")
    var entity = typeStart.map { text[..<$0] } ?? text
    let rest = text[entity.endIndex...].dropFirst(3)
    if !isOfKeyPath {
      guard entity.hasSuffix(Self.getter) else { return nil }
      entity = entity.dropLast(Self.getter.count)
    }
    name = RawIdentifier.unmasked(Self.lastName(in: entity))
    isOfExtension = entity.hasPrefix(Self.inExtension)
    let rootStart = isOfKeyPath ? rest.lastRange(ofText: " : ") : nil
    root = rootStart.map { Self.withoutForms(rest[$0...].dropFirst(3)) }
    if let point = entity.lastIndex(of: ".") {
      owner = Self.withoutForms(entity[..<point])
    } else {
      let local = rest.firstRange(ofText: " in ")
      owner = local.map { String(rest[$0..<(rootStart ?? rest.endIndex)].dropFirst(4)) } ?? ""
    }
  }

  private static let getter = ".getter"

  /// The name at the end of an entity's.
  static func lastName(in entity: Substring) -> String {
    if entity.firstRange(ofText: "subscript(") != nil || entity.hasSuffix(".subscript") {
      return subscriptName
    }
    return entity.split(separator: ".").last.map(String.init) ?? String(entity)
  }

  // "(extension in M):M.Box<A where A == Swift.Int>", "<A>M.Box<A>": "M.Box"
  private static func withoutForms(_ text: Substring) -> String {
    var rest = text
    if rest.hasPrefix(inExtension), let end = rest.firstRange(ofText: "):") {
      rest = rest[end...].dropFirst(2)
    }
    // In a function, whose type may have arrows.
    if rest.firstRange(ofText: " in ") != nil { return String(rest) }
    var (result, depth) = ("", 0)
    for character in rest {
      if character == "<" { depth += 1 }
      if depth == 0 { result.append(character) }
      if character == ">" { depth -= 1 }
    }
    return result
  }
}

// MARK: Looking for it

extension PropertySymbol {
  /// The name of the property that a component of a key path stands for; nil where no symbol tells it,
  /// or not clearly.
  ///
  /// A property that may be overridden is known by its getter's place in the class, another by the getter
  /// itself: so these tell the name. Where a place has no symbol of its own, as those of private properties,
  /// the getter that stands there has one. The function by which the key path reads has one only in code
  /// that is not optimised: it serves for what else the component is known by.
  ///
  /// A linker that folds equal functions (`--icf=all`) leaves several names at one address. None of these
  /// is believed then; nor one of another class, which is what would be left if a compiler did it.
  ///
  /// - Parameter type: what has the property.
  static func name(
    of identity: UnsafeRawPointer?, readBy getter: UnsafeRawPointer, in type: Any.Type
  ) -> String? {
    // By number it is known where a protocol requires it: there the owner is the protocol.
    guard let identity else { return single(at: getter, of: []) }
    let classes = superclasses(of: type)
    let owners = Set(classes.compactMap(SymbolTable.qualifiedName))
    var places = [identity]
    places += classes.compactMap {
      kvo_swift_introduced_getter(unsafeBitCast($0, to: UnsafeRawPointer.self), identity)
    }
    places.append(getter)
    return places.lazy.compactMap { single(at: $0, of: owners) }.first
  }

  private static func superclasses(of type: Any.Type) -> [AnyClass] {
    guard let type = type as? AnyClass else { return [] }
    return Array(sequence(first: type, next: { _getSuperclass($0) }))
  }

  private static func single(
    at address: UnsafeRawPointer, of owners: Set<String>
  ) -> String? {
    let symbols = SymbolTable.names(at: address).compactMap { PropertySymbol(mangled: $0) }
    let names = Set(symbols.filter { $0.belongs(to: owners) }.map(\.name))
    return names.count == 1 ? names.first : nil
  }

  // What a protocol's extension gives is the protocol's.
  private func belongs(to owners: Set<String>) -> Bool {
    owners.isEmpty || owners.contains(owner) || root.map(owners.contains) ?? isOfExtension
  }
}
