internal import CKVORuntime

/// Messages about code that is valid but probably not what was meant. Each is given once, if a hook or the
/// environment asks for hints.
enum Hint {
  static var areWanted: Bool { kvo_wants_hints() }

  private static let told = Locked<Set<String>>([])

  /// - Parameter text: A sentence. It is not evaluated unless hints are wanted.
  static func tell(_ text: @autoclosure () -> String) {
    guard areWanted else { return }
    let text = text()
    if told.withLock({ $0.insert(text).inserted }) { kvo_give_hint(text) }
  }
}

extension KVOObject {
  /// Gives hints at the getter of a key that is about to be observed.
  @inline(never)
  func hintAtGetter(of key: String) {
    hintAtPlainProperty(of: key)
    hintAtOtherName(of: key)
    if let keyPath = KVOClass.of(self).trackedKeyPath(ofKey: key) {
      hintAtKeylessObject(on: keyPath)
    }
    hintAtSilence(of: key)
    hintAtOwnBracket(of: key)
  }

  // Gives a hint if the getter brackets a change of its own key. The getter is called twice, because it may
  // rightly announce a value that it creates and stores at the first call.
  private func hintAtOwnBracket(of key: String) {
    let known = KVOClass.of(self)
    let tracked = known.trackedKeyPath(ofKey: key)
    guard let keyPath = tracked ?? known.property(key)?.accessors?.path,
      (1...2).allSatisfy({ _ in
        AnnouncementRecorder.announces(key, of: self) { _ = self[keyPath: keyPath] }
      })
    else { return }
    let name = tracked?.text ?? "\"\(key)\""
    Hint.tell(
      """
      The getter of \(name) of \(className(of: type(of: self))) announces a change of that very property, by \
      willChangeValue or withChange: so its observers are told each time that it is read, and without an end if \
      they ask for its value. The bracket belongs around what changes the value, in the setter or in a method.
      """)
  }

  // Gives a hint if a declared key can be assigned to, but its getter reads nothing that would notify of the
  // change.
  func hintAtSilence(of key: String) {
    // A key with automatic notification off is announced by hand.
    guard let property = KVOClass.of(self).property(key), property.observedStorage == nil,
      !property.isManual,
      let accessors = property.accessors, accessors.isWritable, let keyPath = accessors.keyPath
    else { return }
    let key = property.name.string
    // The accessors that `@KVO` generates notify.
    guard !Field.isNamed(Field.storagePrefix + key, in: type(of: self)) else { return }
    // The setter may set a key that is declared to affect this one. A declared key is recorded as a read of
    // itself.
    guard KVOClass.of(self).declaredDependencies(key).isEmpty else { return }
    let reads = KeyPathReads(of: keyPath, in: self)
    guard reads.names.allSatisfy({ $0 == key }), !reads.announced.contains(key),
      !key.isBracketed(in: type(of: self))
    else { return }
    Hint.tell(
      """
      "\(key)" of \(className(of: type(of: self))) is observed, and its getter reads no @Observed \
      property: \(remedy(for: key)) Setting it by key tells always.
      """)
  }

  private func remedy(for key: String) -> String {
    guard Field.isStored(key, in: type(of: self)) else {
      return """
        unless its setter announces the change, set { withChange(of: \\.\(key.inSource)) { … = newValue } }, nobody is told \
        when it is assigned to.
        """
    }
    let field = KVOClass.of(self).fields.first { $0.name == key }
    return """
      unless it is assigned to in withChange(of: \\.\(key.inSource)) { … }, nobody is told.\
      \(field.map(\.takesWrapper) ?? true ? " Or mark it @Observed." : "")
      """
  }
}

// MARK: Bypassed code

/// A change of a property's storage that bypasses its setter.
enum StorageChange: String {
  case byKey = "what sets it by key"
  case byProxy = "what changes its elements by a proxy (mutableArrayValue and its like)"
  case byHandle = "what changes its elements by a handle (mutableArray and its like)"
}

extension Property {
  private struct Look: Hashable {
    let property: ObjectIdentifier
    let change: StorageChange
  }

  private static let lookedAt = Locked<Set<Look>>([])

  /// Gives a hint if a change bypasses code of the property because the key is not declared. An override is
  /// known once a key path has revealed it. Other code is found in the program's symbols, if there are any;
  /// they are searched once for each key of a class.
  @inline(never)
  func hintAtCodePassedBy(_ change: StorageChange, of object: KVOObject) {
    let look = Look(property: ObjectIdentifier(self), change: change)
    guard let storage, Self.lookedAt.withLock({ $0.insert(look).inserted }) else { return }
    let type = Swift.type(of: object)
    let property = storage.isObserved ? storage.key : storage.name
    if property != name.string, name.string.isComputed(in: type) {
      return hintAtComputed(change, before: property, of: type)
    }
    guard let code = override == nil ? storage.code(of: property, in: type) : .override else {
      return
    }
    Hint.tell(
      """
      \(className(of: type)) \(code.phrase(property)), and \(change.rawValue) passes by \(code.rawValue), \
      since the key is not declared in registerKeys(): \
      declareKeys { $0.stored("\(name.string)", \\.\(property.inSource)) }.
      """)
  }

  // An undeclared key is looked up among stored properties, also with a _ before its name.
  private func hintAtComputed(
    _ change: StorageChange, before property: String, of type: KVOObject.Type
  ) {
    let key = name.string
    Hint.tell(
      """
      \(className(of: type)) has a computed property "\(key)" with a setter, and \(change.rawValue) passes by \
      that, since the key is not declared in registerKeys(), and is found to be the stored property "\(property)": \
      declareKeys { $0.computed("\(key)", \\.\(key.inSource)) }.
      """)
  }
}

/// Code of a class that runs when a property is set.
private enum SettingCode: String {
  case observer = "that"
  case override = "the override"

  func phrase(_ property: String) -> String {
    switch self {
    case .observer: "has a didSet or willSet of \"\(property)\""
    case .override: "overrides \"\(property)\""
    }
  }
}

extension Field {
  /// The code for setting the property, in the class itself or in a class between it and the one that stores
  /// the property.
  fileprivate func code(of property: String, in type: KVOObject.Type) -> SettingCode? {
    let classes = sequence(first: type as AnyClass, next: { _getSuperclass($0) })
      .compactMap { $0 as? KVOObject.Type }
    for known in classes where known != KVOObject.self {
      let members = SymbolTable.members(of: known)
      let storesIt = Field.declared(by: known).contains { $0.offset == offset && $0.name == name }
      if !storesIt, members.contains(where: { $0.isAccessor("setter", of: property) }) {
        return .override
      }
      guard storesIt else { continue }
      let observes = members.contains {
        $0.isAccessor("didset", of: property) || $0.isAccessor("willset", of: property)
      }
      return observes ? .observer : nil
    }
    return nil
  }
}

extension String {
  /// Whether the class or a superclass has a property of that name with a setter, according to symbols.
  fileprivate func isComputed(in type: KVOObject.Type) -> Bool {
    sequence(first: type as AnyClass, next: { _getSuperclass($0) })
      .compactMap { $0 as? KVOObject.Type }
      .contains { known in
        known != KVOObject.self
          && SymbolTable.members(of: known).contains { $0.isAccessor("setter", of: self) }
      }
  }
}

extension String {
  /// Whether a setter has a closure without parameters, as that of a bracket is: "closure #1 () -> () in M.Account.balance.setter",
  /// as far as symbols tell.
  fileprivate func isBracketed(in type: KVOObject.Type) -> Bool {
    let setter = ".\(RawIdentifier.masked(name: self)).setter : "
    return sequence(first: type as AnyClass, next: { _getSuperclass($0) })
      .compactMap { $0 as? KVOObject.Type }
      .contains { known in
        known != KVOObject.self
          && SymbolTable.members(of: known).contains {
            $0.hasPrefix("closure #") && $0.drop { $0 != "(" }.hasPrefix("() ")
              && $0.firstRange(ofText: setter) != nil
          }
      }
  }
}

extension Substring {
  // "M.Person.name.didset : Swift.String"
  fileprivate func isAccessor(_ kind: String, of property: String) -> Bool {
    guard let colon = firstRange(ofText: " : ") else { return false }
    let entity = self[..<colon]
    return entity.hasSuffix(".\(RawIdentifier.masked(name: property)).\(kind)")
      && !entity.contains(" ")
  }
}
