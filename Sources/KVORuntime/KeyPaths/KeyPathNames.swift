// Finds the names of the properties in a key path. A key path contains offsets and getters, no names. A name
// comes from a declaration or, for a stored property that can't be overridden, from the class's metadata.

extension KVOClass {
  /// The key of the property that a component of a key path stands for; nil if its name is unknown.
  func key(of component: KeyPathComponents.Component) -> String? {
    switch component {
    case .stored(let offset): declaredKey(atPlain: offset)?.string ?? plainField(at: offset)?.name
    case .computed(let getter): getter.flatMap(declaredKey(by:))?.string
    case .optional, .part: nil
    }
  }

  private func plainField(at offset: Int) -> Field? {
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
  /// No getter is called. The properties of classes with `@KVO`, declared ones, and plain stored ones that
  /// can't be overridden have names. For another property the program stops with a message that names the
  /// class. The instance method `key(of:)` also finds an `@Observed` property.
  ///
  /// The program also stops for a key path that is not a key: one with a subscript, with a part of a value
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
  /// class can't name it, this reads the property, to see whether it is an `@Observed` one. Stops the program
  /// with a message if the key path is not a key, or its name can't be found.
  ///
  /// May be called on any thread that may read the property.
  ///
  /// - Complexity: O(1) after the first use of the key path with the class, except for what reading takes.
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
    do throws(UnspeltKey) {
      let key = try keyPath.spelt()
      try requireVisible(key.prefix { $0 != "." }, to: Swift.type(of: keyPath).rootType)
      return cache.name(for: keyPath) { .of(key) }.string
    } catch {
      // Not cached: the type's method has the same result before and after.
      if case .unknown(let type) = error, let key = object?.storedProperty(of: keyPath)?.name.string
      {
        if let property = hiddenSpelling(of: key) { stop(keyPath, .hidden(property, name), caller) }
        guard isNoKeyPath(key) else { return key }
        stop(keyPath, .divided(type, key), caller)
      }
      stop(keyPath, error, caller)
    }
  }

  private func requireVisible(_ key: Substring, to root: Any.Type) throws(UnspeltKey) {
    guard !hidden.isEmpty, let root = root as? KVOObject.Type,
      let property = hiddenSpelling(of: self.name(String(key), seenBy: KVOClass.of(root)))
    else { return }
    throw .hidden(property, name)
  }

  private func stop(_ keyPath: AnyKeyPath, _ fault: UnspeltKey, _ caller: Caller) -> Never {
    KVODiagnostics.stop("key(of:) can't name \(keyPath.text): \(fault.reason)", for: caller)
  }

  /// The key or key path that a key path stands for, as far as the class can name it; nil otherwise.
  package func spelling(of keyPath: AnyKeyPath) -> String? {
    spelledKeys.contents[keyPath]?.string ?? (try? keyPath.spelt())
  }
}

/// Why a key path has no key.
private enum UnspeltKey: Error {
  case arguments
  case part
  case keyless(Any.Type)
  /// The type has a property whose name is unknown.
  case unknown(Any.Type)
  case divided(Any.Type, String)
  /// A class has a property of its own with the name of this one, which it does not see.
  case hidden(String, String)

  var reason: String {
    switch self {
    case .arguments: "a subscript is not a key."
    case .part: "a part of a value is not a key."
    case .hidden(let property, let hiding):
      "\(hiding) has another property of this name, which hides \(property)."
    case .keyless(let type): "a value of type \(swiftName(of: type)) has no keys."
    case .divided(let type, let name):
      """
      the name of this property of \(className(of: type)) can't be a key in a key path, which is divided at its \
      points and has operators that begin with @. Declare the property in the class's registerKeys(), under \
      another key: declareKeys { $0.stored("<key>", \\.\(name.inSource)) } if it is stored, $0.computed if it \
      is not.
      """
    case .unknown(let type):
      """
      the name of this property of \(className(of: type)) is unknown, since it is computed, @Observed or \
      @KVOIgnored, or may be overridden. Give the class @KVO, and the property no @KVOIgnored; or declare the key in \
      registerKeys(), declareKeys { $0.computed("<key>", \\.<key>) }; or ask an object by its own key(of:), if the \
      property is @Observed.
      """
    }
  }
}

extension AnyKeyPath {
  fileprivate func spelt() throws(UnspeltKey) -> String {
    guard !mayHaveArguments else { throw .arguments }
    var (keys, type) = ([String](), Swift.type(of: self).rootType)
    guard var components = KeyPathComponents(self) else { throw .unknown(type) }
    while let component = components.next() {
      switch component {
      case .optional: break
      case .stored, .computed, .part:
        guard let type = type as? KVOObject.Type else { throw .keyless(type) }
        if case .part = component { throw .part }
        let known = KVOClass.of(type)
        guard let key = known.key(of: component) else { throw .unknown(type) }
        if known.isNoKeyPath(key) { throw .divided(type, key) }
        keys.append(key)
      }
      type = components.valueType ?? type
    }
    // An identity key path (`\.self`).
    return keys.isEmpty ? "self" : keys.joined(separator: ".")
  }
}

// MARK: Text

extension AnyKeyPath {
  /// The key path as in source text: `\Person.boss?.name`. Its description has an address in place of each
  /// property that is computed or can be overridden. One that is not declared is described in words.
  package var text: String {
    var (text, rest) = ("", Substring("\(self)"))
    var names = computedNames.makeIterator()
    while let start = rest.firstIndex(ofText: Self.addressed) {
      text += rest[..<start]
      rest = rest[start...]
      let part = rest.prefixInBrackets
      rest = rest[part.endIndex...]
      let name = names.next() ?? nil
      if name == Self.subscripted, text.hasSuffix(".") { text.removeLast() }
      text += name ?? Self.property(describedAs: part.dropFirst(Self.addressed.count).dropLast())
    }
    return text + rest
  }

  /// The key path as in source text, followed by the properties that it reads if it has an unnamed property,
  /// which distinguishes it from others.
  /// - Parameter key: the key path's tracked key: "\\Person#00001(firstName, lastName)".
  func text(ofKey key: String) -> String {
    let (text, reads) = (text, key.drop { $0 != "#" }.drop { $0 != "(" })
    let isNamed = Substring(text).firstIndex(ofText: Self.unnamed) == nil
    return isNamed || reads == "()" ? text : "\(text) \(reads)"
  }

  private static let unnamed = "<a property of type "
  private static let addressed = "<computed 0x"
  private static let subscripted = "[…]"

  // Nil for each name that can't be found. Components after one with arguments can't be decoded. A key path that
  // has been used with its root class may be known as a whole.
  private var computedNames: [String?] {
    guard var components = KeyPathComponents(self) else { return [] }
    var (names, type) = ([String?](), Swift.type(of: self).rootType)
    let root = (type as? KVOObject.Type).map { KVOClass.of($0) }
    if let key = root?.keyPaths.contents[self]?.string, !key.hasPrefix("\\") {
      return [key.inSource]
    }
    while let component = components.next() {
      if case .computed = component {
        let known = (type as? KVOObject.Type).map { KVOClass.of($0) }
        names.append(known?.key(of: component)?.inSource)
      }
      type = components.valueType ?? type
    }
    // The iteration stopped at a subscript.
    return components.hasArguments ? names + [Self.subscripted] : names
  }

  // Parses text such as "000055d70b82c150 (Int)".
  private static func property(describedAs text: Substring) -> String {
    "\(unnamed)\(text.drop { $0.isHexDigit }.dropFirst(2).dropLast())>"
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
