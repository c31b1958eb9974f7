// Finds the names of the properties in a key path. A key path contains offsets and getters, no names. A name
// comes from a declaration, from the class's metadata (for a property that can't be overridden), or from the
// program's symbol table.

extension KeyPathComponents {
  /// The key of the property that the last component stands for; nil if its owner has no keys or its name is
  /// unknown.
  /// - Parameter type: the type that has the property.
  fileprivate func key(of component: Component, in type: Any.Type) -> String? {
    guard let type = type as? KVOObject.Type else { return nil }
    let known = KVOClass.of(type)
    switch component {
    case .stored(let offset):
      return known.declaredKey(atPlain: offset)?.string ?? known.plainField(at: offset)?.name
    case .computed(let identity):
      return identity.flatMap(known.declaredKey(by:))?.string ?? name(of: component, in: type)
    case .optional, .part: return nil
    }
  }

  /// The name of the computed property that the last component stands for, from the symbol table.
  func name(of component: Component, in type: Any.Type) -> String? {
    guard case .computed(let identity) = component, let getter else { return nil }
    return PropertySymbol.name(of: identity, readBy: getter.address, in: type)
  }
}

extension KVOClass {
  fileprivate func plainField(at offset: Int) -> Field? {
    fields.first { !$0.isObserved && $0.offset == offset && $0.type.hasRoom }
  }
}

// MARK: Keys

extension KeyValueObserving where Self: KVOObject {
  /// Returns the key or key path that a Swift key path stands for: the string that `#keyPath` gives on
  /// Apple's platforms. The compiler checks the key path.
  ///
  /// ```swift
  /// try person.addObserver(self, forKeyPath: Person.key(of: \.boss?.name))  // "boss.name"
  /// ```
  ///
  /// No getter is called. Declared properties, and stored ones that can't be overridden, are always found.
  /// The names of others are read from the program's symbols, in debug and in release builds, once for each
  /// key path. Symbols are missing if the program was stripped (`strip`, `-Xlinker -s`) or its linker folds
  /// equal functions. Then the program stops with a message that names the class, unless an object has been
  /// observed by the key path. The instance method `key(of:)` can also find an `@Observed` property without
  /// symbols.
  ///
  /// The program also stops for a key path that is no key: one with a subscript, with a part of a value
  /// (`\.point.x`), or with a property of an object without keys.
  ///
  /// For a class that has subclasses write `Person.key(of:)`, or `key(of:)` inside the class, and not
  /// `Self.key(of:)`: Swift stops the program when it makes a key path of a dynamic `Self`.
  ///
  /// May be called on any thread.
  ///
  /// - Complexity: O(1) after the first use of the key path with the class.
  public static func key(
    of keyPath: PartialKeyPath<Self>, file: StaticString = #fileID, line: UInt = #line
  ) -> String {
    KVOClass.of(Self.self).key(of: keyPath, in: nil, Caller(file, line))
  }

  /// Returns the key or key path that a Swift key path stands for, as the type's `key(of:)` does. If the
  /// class can't name it, this reads the property once, to see whether it is an `@Observed` one. Stops the
  /// program with a message if the key path is no key, or its name can't be found.
  ///
  /// May be called on any thread that may read the property.
  ///
  /// - Complexity: O(1) after the first use of the key path with the class.
  public func key(
    of keyPath: PartialKeyPath<Self>, file: StaticString = #fileID, line: UInt = #line
  ) -> String {
    KVOClass.of(self).key(of: keyPath, in: self, Caller(file, line))
  }
}

extension KVOClass {
  fileprivate func key(
    of keyPath: AnyKeyPath, in object: KVOObject?, _ caller: Caller
  ) -> String {
    let cache = spelledKeys.contents
    if let known = cache[keyPath] { return known.string }
    switch spell(keyPath, in: object) {
    case .success(let key): return cache.name(for: keyPath) { .of(key) }.string
    case .failure(let fault):
      KVODiagnostics.stop("key(of:) can't name \(keyPath.text): \(fault.reason)", for: caller)
    }
  }

  /// The key or key path that a key path stands for, as far as the class can name it; nil otherwise.
  func spelling(of keyPath: AnyKeyPath) -> String? {
    spelledKeys.contents[keyPath]?.string ?? (try? spell(keyPath, in: nil).get())
  }

  private func spell(
    _ keyPath: AnyKeyPath, in object: KVOObject?
  ) -> Result<String, UnspeltKey> {
    let spelt = keyPath.spelt()
    guard case .failure(.unknown) = spelt else { return spelt }
    // A tracked key path's key is no name.
    let seen = keyPaths.contents[keyPath].flatMap(\.spelling)
    let key = seen ?? object?.storedKey(of: keyPath)?.spelling
    return key.map { .success($0) } ?? spelt
  }
}

extension KeyName {
  /// The key as a string; nil for a tracked key, which has no name.
  fileprivate var spelling: String? { string.hasPrefix("\\") ? nil : string }
}

/// Why a key path has no key.
private enum UnspeltKey: Error {
  case arguments
  case part
  case keyless(Any.Type)
  /// The type has a property whose name is unknown.
  case unknown(Any.Type)
  case divided(Any.Type, String)

  var reason: String {
    switch self {
    case .arguments: "a subscript is no key."
    case .part: "a part of a value is no key."
    case .keyless(let type): "a value of type \(swiftName(of: type)) has no keys."
    case .divided(let type, let name):
      """
      the name of this property of \(className(of: type)) is no key of a key path, which is divided at its \
      points and has operators that begin with @. Declare the property in the class's registerKeys(), under \
      another key: declareKeys { $0.stored("<key>", \\.\(name.inSource)) } if it is stored, $0.computed if it \
      is not.
      """
    case .unknown(let type):
      """
      nothing tells the name of this property of \(className(of: type)). Of one that is computed or may be \
      overridden only the program's symbols tell: the program has been stripped of them, or its linker has \
      made one function of equal ones. Declare the property in the class's registerKeys(), \
      declareKeys { $0.computed("<key>", \\.<key>) }; or ask an object by its own key(of:), if the property is \
      @Observed; or write the key as a string.
      """
    }
  }
}

extension AnyKeyPath {
  fileprivate func spelt() -> Result<String, UnspeltKey> {
    guard !mayHaveArguments else { return .failure(.arguments) }
    var (keys, type) = ([String](), Swift.type(of: self).rootType)
    guard var components = KeyPathComponents(self) else { return .failure(.unknown(type)) }
    while let component = components.next() {
      if component != .optional {
        guard let type = type as? KVOObject.Type else { return .failure(.keyless(type)) }
        guard component != .part else { return .failure(.part) }
        guard let key = components.key(of: component, in: type) else {
          return .failure(.unknown(type))
        }
        guard key != PropertySymbol.subscriptName else { return .failure(.arguments) }
        if KVOClass.of(type).isNoKeyPath(key) { return .failure(.divided(type, key)) }
        keys.append(key)
      }
      type = components.valueType ?? type
    }
    // An identity key path (`\.self`).
    return .success(keys.isEmpty ? "self" : keys.joined(separator: "."))
  }
}

// MARK: Text

extension AnyKeyPath {
  /// The key path as in source text: `\Person.boss?.name`. Its description has an address in place of each
  /// property that is computed or can be overridden. If the name of one can't be found, it is described in
  /// words.
  var text: String {
    var (text, rest) = ("", Substring("\(self)"))
    var names = computedNames.makeIterator()
    while let start = rest.firstRange(ofText: Self.addressed) {
      text += rest[..<start]
      rest = rest[start...]
      let part = rest.prefixInBrackets
      rest = rest[part.endIndex...]
      let name = names.next() ?? nil
      if name == PropertySymbol.subscriptName, text.hasSuffix(".") { text.removeLast() }
      text +=
        name.map(Self.spelled)
        ?? Self.property(describedAs: part.dropFirst(Self.addressed.count).dropLast())
    }
    return text + rest
  }

  private static let addressed = "<computed 0x"

  private static func spelled(_ name: String) -> String {
    name == PropertySymbol.subscriptName ? name : name.inSource
  }

  // Nil for each name that can't be found. Components after one with arguments can't be decoded.
  private var computedNames: [String?] {
    guard var components = KeyPathComponents(self) else { return [] }
    var (names, type) = ([String?](), Swift.type(of: self).rootType)
    while let component = components.next() {
      if case .computed = component { names.append(components.name(of: component, in: type)) }
      type = components.valueType ?? type
    }
    // The iteration stopped at a subscript.
    return components.hasArguments ? names + [PropertySymbol.subscriptName] : names
  }

  // Parses text such as "000055d70b82c150 (Int)".
  private static func property(describedAs text: Substring) -> String {
    let digits = text.prefix { $0.isHexDigit }
    let getter = UInt(digits, radix: 16).flatMap(UnsafeRawPointer.init(bitPattern:))
    let name = getter.flatMap { PropertySymbol.name(of: nil, readBy: $0, in: Any.self) }
    return name.map(spelled)
      ?? "<a property of type \(text.dropFirst(digits.count + 2).dropLast())>"
  }
}

extension Substring {
  /// The prefix up to the bracket that closes the first one.
  fileprivate var prefixInBrackets: Substring {
    var (depth, last) = (0, Character(" "))
    for index in indices {
      let character = self[index]
      if character == "<" { depth += 1 }
      // The bracket of "->" closes nothing.
      if character == ">" && last != "-" { depth -= 1 }
      if depth == 0 { return self[...index] }
      last = character
    }
    return self
  }
}
