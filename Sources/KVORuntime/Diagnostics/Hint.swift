internal import CKVORuntime

/// Messages about code that is valid but probably not what was meant. Each is given once, if a hook or the
/// environment asks for hints.
enum Hint {
  static var areWanted: Bool { kvo_wants_hints() }

  private static let given = LockedValue<Set<String>>([])

  /// - Parameter text: A sentence. It is not evaluated unless hints are wanted.
  static func give(_ text: @autoclosure () -> String) {
    guard areWanted else { return }
    let text = text()
    if given.withLock({ $0.insert(text).inserted }) { kvo_give_hint(text) }
  }
}

extension KVOObject {
  /// Gives hints at the getter of a key that is about to be observed.
  @inline(never)
  func hintAtGetter(of key: String) {
    hintAtPlainProperty(of: key)
    for path in KVOClass.of(self).keyPathsAffecting(key, of: self, forHint: true).sorted()
    where KeyPathCoding.isPath(path) {
      hintAtPlainProperty(of: path, affecting: key)
      KVOClass.of(self).hintAtKeylessLink(of: path, affecting: key)
    }
    hintAtKeptValue(of: key)
    hintAtOtherName(of: key)
    if let keyPath = KVOClass.of(self).trackedKeyPath(ofKey: key) {
      hintAtKeylessObject(on: keyPath)
    }
    hintAtSilence(of: key)
    hintAtOwnBracket(of: key)
  }

  // Gives a hint if the getter has read something observable, but reads nothing any more. A tracked key shows that its
  // getter has. A declared key's getter is called twice, and first of all here.
  private func hintAtKeptValue(of key: String) {
    let known = KVOClass.of(self)
    let tracked = known.trackedKeyPath(ofKey: key)
    guard let keyPath = tracked ?? known.property(key)?.keyPathOfTracked,
      known.keyPathsAffecting(key, of: self, forHint: true).isEmpty,
      tracked != nil || readsOthers(keyPath, than: key), !readsOthers(keyPath, than: key)
    else { return }
    Hint.give(
      """
      \(known.subject(ofKey: key)) is observed, and its getter has kept its value: it reads no @Observed property any \
      more, so its observers get manual notifications only. Declare what the value is made from: declareKeys { \
      $0.computed(…, affectedBy: […]) }.
      """)
  }

  private func readsOthers(_ keyPath: AnyKeyPath, than key: String) -> Bool {
    let reads = KeyPathReadRecorder(of: keyPath, in: self)
    return reads.isObservable && (reads.reportsOwnRead || !reads.names.allSatisfy { $0 == key })
  }

  // Gives a hint if the getter brackets a change of its own key. The getter is called twice, because it may
  // rightly announce a value that it creates and stores at the first call.
  private func hintAtOwnBracket(of key: String) {
    let known = KVOClass.of(self)
    let tracked = known.trackedKeyPath(ofKey: key)
    let accessors = known.property(key)?.accessors
    guard accessors?.isStored != true, let keyPath = tracked ?? accessors?.path,
      (1...2).allSatisfy({ _ in
        ManualChangeRecorder.announces(key, of: self) {
          if ForcedLinks(keyPath)?.isBroken(in: self) == nil { _ = self[keyPath: keyPath] }
        }
      })
    else { return }
    let name = tracked?.text(ofKey: key) ?? "\"\(key)\""
    Hint.give(
      """
      The getter of \(name) of \(className(of: type(of: self))) announces a change of that very property, by \
      willChangeValue or withChange: so its observers are notified each time that it is read, and endlessly if \
      they ask for its value. The bracket belongs around what changes the value, in the setter or in a method.
      """)
  }

  // Gives a hint if a declared key can be assigned to, but its getter reads nothing that would notify of the
  // change.
  func hintAtSilence(of key: String) {
    // A key with automatic notification off is announced manually.
    guard let property = KVOClass.of(self).property(key), property.observedStorage == nil,
      !property.isManual,
      let accessors = property.accessors, accessors.isWritable, let keyPath = accessors.keyPath
    else { return }
    let key = property.name.string
    // The macro has checked the accessors that it generates.
    guard !KVOClass.of(self).isGenerated(key) else { return }
    // The setter may set a key that is declared, or answered, to affect this one. A declared key is recorded as a
    // read of itself.
    guard KVOClass.of(self).keyPathsAffecting(key, of: self, forHint: true).isEmpty else { return }
    let reads = KeyPathReadRecorder(of: keyPath, in: self)
    guard reads.names.allSatisfy({ $0 == key }), !reads.announced.contains(key),
      !reads.reportsOwnRead
    else { return }
    Hint.give(
      """
      "\(key)" of \(className(of: type(of: self))) is observed, and its getter reads no @Observed \
      property: \(remedy(for: key)) Setting it by key notifies.
      """)
  }

  private func remedy(for key: String) -> String {
    guard Field.isStored(key, in: type(of: self)) else {
      return """
        unless its setter announces the change, set { withAutomaticChange(of: \\.\(key.inSource)) { … = newValue } }, no \
        observer is notified when it is assigned to. (If it does, say so by access(keyPath: \\.\(key.inSource)) in its \
        getter.)
        """
    }
    let field = KVOClass.of(self).fields.first { $0.name == key }
    return """
      unless it is assigned to in withChange(of: \\.\(key.inSource)) { … }, no observer is notified.\
      \(field.map(\.takesWrapper) ?? true ? " Or mark it @Observed." : "")
      """
  }
}

extension KVOClass {
  /// Whether the macro has declared a key of the class or of a superclass.
  fileprivate func isGenerated(_ key: String) -> Bool {
    KVOClass.lock.withLock {
      let declarers = declarers(of: key)
      return declarers.contains { $0.preparation.generated.accessors[declarers.key] != nil }
    }
  }
}

extension Property {
  /// Gives a hint if a change bypasses an override of the property because the key is not declared. The
  /// override is known once a key path has revealed it.
  /// - Parameter change: "what sets it by key"
  @inline(never)
  func hintAtOverride(passedBy change: String, of object: KVOObject) {
    guard override != nil, let storage else { return }
    Hint.give(
      """
      \(className(of: Swift.type(of: object))) overrides "\(storage.key)", and \(change) passes by the override, since the \
      key is not declared in registerKeys(): \
      declareKeys { $0.stored("\(name.string)", \\.\(storage.key.inSource)) }.
      """)
  }
}
