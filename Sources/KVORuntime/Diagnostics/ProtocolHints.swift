// Hints at key paths that name a property of a class by a protocol. Such a key path has a getter of its own, and
// nothing connects it with the class's key, so it is tracked by what it reads (E2, J2).

extension KVOObject {
  /// Gives a hint at a key path that begins with a requirement of a protocol, if the class may announce changes of the
  /// property in another way than by what its getter reads.
  func hintAtRequirement(in keyPath: AnyKeyPath) {
    let known = KVOClass.of(self)
    guard let requirement = keyPath.firstRequirement else { return }
    let keys = known.declaredKeyPaths.filter { key, path in
      Swift.type(of: path).valueType == requirement.type && requirement.name ?? key == key
        && known.announces(key)
    }.map { "\"\($0.key)\"" }
    guard !keys.isEmpty else { return }
    Hint.give(
      """
      A key path names \(keys.joined(separator: " or ")) of \(known.name) by a protocol. It is tracked by what it reads: \
      what the class declares of the key does not apply, and neither do notifications of its setter. Observe the key, \
      observe(keyPath: \(keys[0])), or use a key path of the class.
      """)
  }
}

extension KVOClass {
  /// Whether changes of a computed property may be announced by its setter, by other keys or manually.
  fileprivate func announces(_ key: String) -> Bool {
    guard let property = property(key), property.storage == nil else { return false }
    return property.isManual || property.accessors?.isWritable == true
      || !declaredDependencies(key).isEmpty
  }
}

extension AnyKeyPath {
  /// The property of a protocol with which the key path begins, and its name, if the program has symbols. The key path
  /// has the class as a type argument, although the class is not generic.
  fileprivate var firstRequirement: (name: String?, type: Any.Type)? {
    guard let root = Swift.type(of: self).rootType as? KVOObject.Type,
      !className(of: root).contains("<"), var components = KeyPathComponents(self),
      case .computed = components.next(), let functions = components.functions,
      functions.isGeneric
    else { return nil }
    let type = components.valueType ?? Swift.type(of: self).valueType
    return (AnyKeyPath.name(ofPropertyReadAt: functions.address), type)
  }

  // Takes the name, here `full`, from a symbol such as "key path getter for M.Titled.full : Swift.String : A".
  private static func name(ofPropertyReadAt getter: UnsafeRawPointer) -> String? {
    SymbolTable.names(at: getter).sorted().lazy.compactMap(SymbolTable.demangled).compactMap {
      text in
      Substring(text).firstIndex(ofText: " : ").map { end in
        String(text[..<end].split(separator: ".").last ?? "")
      }
    }.first
  }
}
