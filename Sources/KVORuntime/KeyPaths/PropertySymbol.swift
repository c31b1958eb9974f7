internal import CSwiftRuntime

/// A property as described by a symbol: of its getter, of the getter's entry in the class, or of the function
/// by which a key path reads it.
struct PropertySymbol: Hashable {
  let name: String
  /// The type that has the property: "M.Person"; "M.Named" for a protocol whose extension has it.
  private let owner: String
  /// The root type of the key path, if the symbol is of a key path's function.
  private let root: String?
  private let isOfExtension: Bool

  /// Used in place of a name for a subscript.
  static let subscriptName = "[…]"

  private static let ofKeyPath = "key path getter for "
  private static let ofGetter = ["method descriptor for ", "dispatch thunk of "]
  private static let inExtension = "(extension in "

  /// Nil if the symbol is not of a property.
  private init?(mangled symbol: String) {
    guard let text = SymbolTable.demangled(symbol).map({ Substring($0) }) else { return nil }
    if text.hasPrefix(Self.ofKeyPath) {
      self.init(text.dropFirst(Self.ofKeyPath.count), isOfKeyPath: true)
    } else {
      let prefix = Self.ofGetter.first { text.hasPrefix($0) } ?? ""
      self.init(text.dropFirst(prefix.count), isOfKeyPath: false)
    }
  }

  // Parses "(extension in M):M.Person.name.getter : Swift.String" or "M.Person.name : Swift.String :
  // M.Person"; for a class in a function, "name.getter : Swift.String in Person #1 in M.f() -> ()".
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

  /// The last component of a qualified name.
  static func lastName(in entity: Substring) -> String {
    if entity.firstRange(ofText: "subscript(") != nil || entity.hasSuffix(".subscript") {
      return subscriptName
    }
    return entity.split(separator: ".").last.map(String.init) ?? String(entity)
  }

  // Turns "(extension in M):M.Box<A where A == Swift.Int>" and "<A>M.Box<A>" into "M.Box".
  private static func withoutForms(_ text: Substring) -> String {
    var rest = text
    if rest.hasPrefix(inExtension), let end = rest.firstRange(ofText: "):") {
      rest = rest[end...].dropFirst(2)
    }
    // A type in a function: the function's type may contain arrows.
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

// MARK: Lookup

extension PropertySymbol {
  /// The name of the property that a component of a key path stands for; nil if no symbol names it, or the
  /// symbols disagree.
  ///
  /// A property that may be overridden is identified by its getter's entry in the class, another one by the
  /// getter itself, and these have symbols. An entry may have no symbol of its own, as with private
  /// properties; then the symbol of the getter in that entry is used. The function by which the key path
  /// reads has a symbol only in unoptimised code; it is used for components that are identified in another
  /// way.
  ///
  /// A linker that folds equal functions (`--icf=all`) leaves several names at one address. Then none of them
  /// is used. Nor is a single name used that belongs to another class, as a compiler that merged functions
  /// could leave it.
  ///
  /// - Parameter type: the type that has the property.
  static func name(
    of identity: UnsafeRawPointer?, readBy getter: UnsafeRawPointer, in type: Any.Type
  ) -> String? {
    // A component without an identity is a protocol's requirement, whose owner is the protocol.
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

  // A property from a protocol extension has the protocol as its owner.
  private func belongs(to owners: Set<String>) -> Bool {
    owners.isEmpty || owners.contains(owner) || root.map(owners.contains) ?? isOfExtension
  }
}
