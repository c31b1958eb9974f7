// What the properties are called that key paths name. A key path knows places and getters; a property's
// name is in what was declared, in the class's metadata if nothing can override the property, and in
// the program's table of symbols.

extension KeyPathComponents {
  /// The key of the property that the component just met stands for; nil if it is none of an object with
  /// keys, or nothing tells its name.
  /// - Parameter type: whose property it is.
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

  /// The name of the computed property that the component just met stands for, as symbols tell it.
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
  /// The key, or the key path, that a key path of Swift's stands for: the string that `#keyPath` gives on
  /// Apple's platforms, and that the compiler has checked.
  ///
  /// ```swift
  /// try person.addObserver(self, forKeyPath: Person.key(of: \.boss?.name))  // "boss.name"
  /// ```
  ///
  /// Nothing is called. Declared properties are known, and stored ones that nothing can override. The
  /// names of others the program's symbols tell, in debug and in release builds, which are read once for each key
  /// path. Where these don't tell, the program stops with a message that names the class: if it has been
  /// stripped (`strip`, `-Xlinker -s`), or its linker folds equal functions, unless an object has been
  /// observed by the key path, or is asked itself. What is no key does the same: a subscript, a
  /// part of a value (`\.point.x`), a property of an object without keys. Any thread.
  ///
  /// Of a class that has subclasses write `Person.key(of:)`, or `key(of:)` inside it, and not `Self.key(of:)`:
  /// Swift stops the program where it makes a key path of a dynamic `Self`.
  ///
  /// - Complexity: O(1) after the first use of the key path with the class.
  public static func key(of keyPath: PartialKeyPath<Self>) -> String {
    KVOClass.of(Self.self).key(of: keyPath, in: nil)
  }

  /// The key, or the key path, that a key path of Swift's stands for, as the class tells it. Where the
  /// class can't, the property is read once, so that an `@Observed` one is known by that.
  ///
  /// - Complexity: O(1) after the first use of the key path with the class.
  public func key(of keyPath: PartialKeyPath<Self>) -> String {
    KVOClass.of(self).key(of: keyPath, in: self)
  }
}

extension KVOClass {
  fileprivate func key(of keyPath: AnyKeyPath, in object: KVOObject?) -> String {
    let cache = spelledKeys.contents
    if let known = cache[keyPath] { return known.string }
    switch spell(keyPath, in: object) {
    case .success(let key): return cache.name(for: keyPath) { .of(key) }.string
    case .failure(let fault):
      KVODiagnostics.stop("key(of:) can't name \(keyPath.text): \(fault.reason)")
    }
  }

  /// What the class tells of a key path's key, or key path; nil where nothing does.
  func spelling(of keyPath: AnyKeyPath) -> String? {
    spelledKeys.contents[keyPath]?.string ?? (try? spell(keyPath, in: nil).get())
  }

  private func spell(
    _ keyPath: AnyKeyPath, in object: KVOObject?
  ) -> Result<String, UnspeltKey> {
    let spelt = keyPath.spelt()
    guard case .failure(.unknown) = spelt else { return spelt }
    // Of a key path that is tracked the key is no name.
    let seen = keyPaths.contents[keyPath].flatMap(\.spelling)
    let key = seen ?? object?.storedKey(of: keyPath)?.spelling
    return key.map { .success($0) } ?? spelt
  }
}

extension KeyName {
  /// Nil for a key that is no name.
  fileprivate var spelling: String? { string.hasPrefix("\\") ? nil : string }
}

/// Why a key path has no key.
private enum UnspeltKey: Error {
  case arguments
  case part
  case keyless(Any.Type)
  /// A property of that type's.
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
    // The object itself has this key.
    return .success(keys.isEmpty ? "self" : keys.joined(separator: "."))
  }
}

// MARK: Text

extension AnyKeyPath {
  /// The key path as source text has it: `\Person.boss?.name`. Its description has an address in
  /// place of each property that is computed or may be overridden; what nothing tells the name of
  /// is described in words.
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

  // Nil for each that nothing tells the name of. Components that follow arguments are not known.
  private var computedNames: [String?] {
    guard var components = KeyPathComponents(self) else { return [] }
    var (names, type) = ([String?](), Swift.type(of: self).rootType)
    while let component = components.next() {
      if case .computed = component { names.append(components.name(of: component, in: type)) }
      type = components.valueType ?? type
    }
    // What stops here is a subscript.
    return components.hasArguments ? names + [PropertySymbol.subscriptName] : names
  }

  // "000055d70b82c150 (Int)"
  private static func property(describedAs text: Substring) -> String {
    let digits = text.prefix { $0.isHexDigit }
    let getter = UInt(digits, radix: 16).flatMap(UnsafeRawPointer.init(bitPattern:))
    let name = getter.flatMap { PropertySymbol.name(of: nil, readBy: $0, in: Any.self) }
    return name.map(spelled)
      ?? "<a property of type \(text.dropFirst(digits.count + 2).dropLast())>"
  }
}

extension Substring {
  /// As far as the bracket that closes the first.
  fileprivate var prefixInBrackets: Substring {
    var (depth, last) = (0, Character(" "))
    for index in indices {
      let character = self[index]
      if character == "<" { depth += 1 }
      // Not that of an arrow.
      if character == ">" && last != "-" { depth -= 1 }
      if depth == 0 { return self[...index] }
      last = character
    }
    return self
  }
}
