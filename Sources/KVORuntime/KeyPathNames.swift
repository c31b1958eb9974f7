// What the properties are called that key paths name. A key path knows places and getters; a property's
// name is in what was declared, in the class's metadata if nothing can override the property, and in
// the program's table of symbols.

extension KeyPathComponents.Component {
  /// The key of the property; nil if it is none of an object with keys, or nothing tells its name.
  /// - Parameter type: whose property it is.
  fileprivate func key(_ getter: KeyPathGetter?, of type: Any.Type) -> String? {
    guard let type = type as? KVOObject.Type else { return nil }
    let known = KVOClass.of(type)
    switch self {
    case .stored(let offset):
      return known.declaredKey(atPlain: offset)?.string ?? known.plainField(at: offset)?.name
    case .computed(let identity):
      return identity.flatMap(known.declaredKey(by:))?.string
        ?? getter.flatMap { SymbolTable.property(readBy: $0.address) }
    case .optional, .part: return nil
    }
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
  /// names of others the program's symbols tell, which are read once for each key path: where they have been stripped
  /// (`strip`, `-Xlinker -s`), the program stops with a message that says so, unless an object has been
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

  private func spell(
    _ keyPath: AnyKeyPath, in object: KVOObject?
  ) -> Result<String, UnspeltKey> {
    let spelt = keyPath.spelt()
    guard case .failure(.unknown) = spelt else { return spelt }
    // Of a key path that is tracked the key is no name.
    if let seen = keyPaths.contents[keyPath], !seen.string.hasPrefix("\\") {
      return .success(seen.string)
    }
    return object?.storedKey(of: keyPath).map { .success($0.string) } ?? spelt
  }
}

/// Why a key path has no key.
private enum UnspeltKey: Error {
  case arguments
  case part
  case keyless(Any.Type)
  case unknown

  var reason: String {
    switch self {
    case .arguments: "a subscript is no key."
    case .part: "a part of a value is no key."
    case .keyless(let type): "a value of type \(className(of: type)) has no keys."
    case .unknown:
      """
      nothing tells the name of a property that is computed or may be overridden where the program has \
      been stripped of its symbols. Ask an object by its own key(of:), if the property is @Observed; \
      declare its key in registerKeys(); or write the key as a string.
      """
    }
  }
}

extension AnyKeyPath {
  fileprivate func spelt() -> Result<String, UnspeltKey> {
    guard !mayHaveArguments else { return .failure(.arguments) }
    guard var components = KeyPathComponents(self) else { return .failure(.unknown) }
    var (keys, type) = ([String](), Swift.type(of: self).rootType)
    while let component = components.next() {
      if component != .optional {
        guard type is KVOObject.Type else { return .failure(.keyless(type)) }
        guard component != .part else { return .failure(.part) }
        guard let key = component.key(components.getter, of: type), key != SymbolTable.subscriptName
        else { return .failure(.unknown) }
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
    while let start = rest.firstRange(ofText: Self.addressed) {
      text += rest[..<start]
      rest = rest[start...]
      let part = rest.prefixInBrackets
      rest = rest[part.endIndex...]
      let name = Self.property(describedAs: part.dropFirst(Self.addressed.count).dropLast())
      if name == SymbolTable.subscriptName, text.hasSuffix(".") { text.removeLast() }
      text += name
    }
    return text + rest
  }

  private static let addressed = "<computed 0x"

  // "000055d70b82c150 (Int)"
  private static func property(describedAs text: Substring) -> String {
    let digits = text.prefix { $0.isHexDigit }
    let name = UInt(digits, radix: 16).flatMap(UnsafeRawPointer.init(bitPattern:))
      .flatMap(SymbolTable.property(readBy:))
    return name ?? "<a property of type \(text.dropFirst(digits.count + 2).dropLast())>"
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
