internal import CKVORuntime

/// Maps key paths to keys.
///
/// A key path that names neither an `@Observed` property nor a declared key, but reads such properties (of
/// any object), becomes a tracked key of its own. Examples are computed properties, paths over several
/// objects, and parts of a value.
extension KVOObject {
  /// Returns the key that a key path names; stops the program, naming the property, if the key path can't be
  /// observed. The caller must keep the result for as long as it uses the key or its name. Evaluates the key
  /// path on its first use with the class.
  /// - Complexity: O(1) after the first use.
  func observedKey(of keyPath: AnyKeyPath, _ caller: Caller? = nil) -> ObservedKey {
    guard let key = knownKey(of: keyPath) else {
      KVODiagnostics.stop(notObservable(keyPath, KVOClass.of(self)), for: caller)
    }
    return key
  }

  /// Returns the name of the key of an `@Observed` property, as its wrapper names it: that key path has no arguments,
  /// so it keeps its key.
  func keyName(of property: AnyKeyPath) -> KeyName { observedKey(of: property).name }

  /// Returns the key that a key path names, as `observedKey(of:)` does; nil if the key path can't be observed.
  package func knownKey(of keyPath: AnyKeyPath) -> ObservedKey? {
    let known = KVOClass.of(self)
    let cache = known.keyPaths.contents
    if let name = cache[keyPath] { return ObservedKey(name: name) }
    if keyPath.mayHaveArguments { return leasedKey(of: keyPath, known) }
    return resolve(keyPath, in: known, cache).map { ObservedKey(name: $0) }
  }

  // Not cached: the cache would keep the arguments alive.
  private func leasedKey(of keyPath: AnyKeyPath, _ known: KVOClass) -> ObservedKey? {
    if let property = declared(keyPath, in: known) {
      return property.suits(keyPath) ? ObservedKey(name: property.name) : nil
    }
    let lease = known.lease(to: keyPath) {
      let reads = KeyPathReadRecorder(of: keyPath, in: self)
      return reads.isObservable ? reads : nil
    }
    if lease != nil, Hint.areWanted { hintAtRequirement(in: keyPath) }
    return lease.map { ObservedKey(name: $0.name, lease: $0) }
  }

  private func resolve(
    _ keyPath: AnyKeyPath, in known: KVOClass, _ cache: KeyPathCache.Contents
  ) -> KeyName? {
    if let property = declared(keyPath, in: known) {
      return property.suits(keyPath) ? cache.name(for: keyPath) { property.name } : nil
    }
    guard keyPath.plainProperty(in: known) == nil else { return nil }
    let reads = KeyPathReadRecorder(of: keyPath, in: self)
    if let property = findStored(keyPath, reads, in: known) {
      guard property.suits(keyPath) else { return nil }
      return cache.name(for: keyPath) { known.observedName(of: property) }
    }
    guard reads.isObservable else { return nil }
    if Hint.areWanted { hintAtRequirement(in: keyPath) }
    return cache.name(for: keyPath) { known.track(keyPath, reads) }
  }

  /// The `@Observed` property that a key path names, found by evaluating the key path; nil for any other key path.
  func storedProperty(of keyPath: AnyKeyPath) -> Property? {
    findStored(keyPath, KeyPathReadRecorder(of: keyPath, in: self), in: KVOClass.of(self))
  }

  private func declared(_ keyPath: AnyKeyPath, in known: KVOClass) -> Property? {
    let declaration = known.declaredKeyPaths.first { declared in
      keyPath.isSameInObject(as: declared.keyPath) && known.isKey(declared.key)
    }
    return declaration.flatMap { known.property($0.key) }.map { observable($0, in: known) }
  }

  // Also notes the accessor of the property, and its override, with the class.
  private func findStored(
    _ keyPath: AnyKeyPath, _ reads: KeyPathReadRecorder, in known: KVOClass
  ) -> Property? {
    guard let read = reads.named else { return nil }
    let offset = read.storageOffset + ObjectHeader.offset
    guard
      let field = known.fields.first(where: {
        // A property of size 0 has the same offset as the next one.
        $0.isObserved && $0.offset == offset
          && $0.type.swiftType == Swift.type(of: keyPath).valueType
      }),
      case let name = known.name(of: field), let property = known.property(name),
      property.storage?.offset == offset
    else { return nil }
    known.learn(read.accessor, of: name)
    guard read.isOverridden, property.accessors == nil else { return property }
    return known.learn(override: .keyPath(keyPath), of: name) ?? property
  }
}

extension KVOClass {
  // Whether a key path with which a key was declared stands for that key. If the key is spelled as a key path, only that of
  // a computed property does: a stored property has a key of its own, which an assignment changes.
  fileprivate func isKey(_ declared: String) -> Bool {
    !KeyPathCoding.isPath(declared) || property(declared)?.accessors?.isComputed == true
  }
}

extension Property {
  // A subclass may have declared the key anew, with another type.
  fileprivate func suits(_ keyPath: AnyKeyPath) -> Bool {
    observedType.swiftType == Swift.type(of: keyPath).valueType
  }
}

/// The key that a key path names. Its name may only be used while the key is kept: another key path may get a leased
/// one afterwards.
package struct ObservedKey {
  package let name: KeyName
  /// Keeps the key assigned to a key path with arguments; nil for others.
  var lease: SubscriptKeyLease?

  /// Whether the key is leased, and this is its only use: so it has no observers.
  mutating func isOnlyUse() -> Bool { isKnownUniquelyReferenced(&lease) }
}

// MARK: Classifying a key path

/// Finds out what a key path of an object names, by evaluating it once.
final class KeyPathReadRecorder: ReadRecorder {
  private let header: UnsafeMutableRawPointer
  private let keyPath: AnyKeyPath
  /// The property that the key path names directly: read by no other getter than the key path's own.
  private(set) var named: StoredRead?
  /// The names of the first properties that were read, at most `mostNames`.
  private(set) var names: [String] = []
  /// The key path of the first property that was read, if that is a property of the object itself.
  private(set) var first: AnyKeyPath?
  private var reported: [RecordedRead] = []
  // Whether the walk ended at a plain property that has no key.
  private var endsAtKeyless = false
  // Whether a link that the key path forces is nil.
  private var isBroken = false
  /// Whether the key path goes through a plain property that is not declared.
  private(set) var hasPlainLink = false

  /// The recorded read of a stored property.
  struct StoredRead {
    /// The storage's offset from the object's header.
    let storageOffset: Int
    /// Whether the object's class overrides the property, so that its getter may return something else than
    /// the stored value.
    let isOverridden: Bool
    /// The property's key path in the class that declares it.
    let accessor: AnyKeyPath
  }

  /// Keys of the object that getters have reported as read: changes of them are announced manually.
  private(set) var announced: Set<String> = []
  /// Whether the getter has reported a read of its own property, whose changes are announced manually then.
  private(set) var reportsOwnRead = false
  private var isWalking = false

  private static let mostNames = 4

  /// Evaluates the key path once.
  init(of keyPath: AnyKeyPath, in object: KVOObject) {
    header = headerAddress(of: object)
    self.keyPath = keyPath
    super.init()
    record {
      if let forced = ForcedLinks(keyPath) {
        isBroken = forced.isBroken(in: object)
      } else {
        _ = object[keyPath: keyPath]
      }
      resolveReads()
      guard KeyPathWalk.isNeeded(for: keyPath) else { return }
      isWalking = true
      let walk = KeyPathWalk(keyRead: reported.key) { _, key in
        self.hasPlainLink = true
        self.endsAtKeyless = key == nil
      }
      walk.go(along: keyPath, from: object)
    }
  }

  override func note(
    _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
    at address: UnsafeMutableRawPointer
  ) {
    let object = KVOObject.at(header.assumingMemoryBound(to: kvo_object.self))
    let isOwn = header == self.header
    let isNamed = isOwn && keyPath.isSame(as: accessor())
    if isOwn, names.isEmpty { first = accessor() }
    // A property that the key path names directly is found by its offset.
    let offset = address - header
    let key = isNamed ? object.storedKey(at: offset) : object.storedKey(at: offset, accessor)
    if let key {
      if names.count < Self.mostNames { names.append(key.string) }
      reported.append(RecordedRead(header, accessor().firstGetter, key))
    }
    guard isNamed else { return }
    named = StoredRead(
      storageOffset: offset,
      isOverridden: accessor().isOverridden(in: type(of: object)), accessor: accessor())
  }

  override func note(_ object: UnsafeMutablePointer<kvo_object>, key: UnsafePointer<CChar>) {
    let name = KeyName.of(interned: key).string
    if names.count < Self.mostNames { names.append(name) }
    if !isWalking, UnsafeMutableRawPointer(object) == header { announced.insert(name) }
  }

  /// The kind of the key path's tracked key.
  var kind: Accessors.Tracked { isPath ? .path : hasLink ? .linked : .computed }

  // Whether the key path begins with a stored property of the object, or stands for one.
  private var isPath: Bool {
    keyPath.goesThroughPlainProperty || hasPlainLink || isRequirement
      || first.map { keyPath.isLonger(thanItsFirst: $0) } ?? false
  }

  // Whether the key path goes on from its first property.
  private var hasLink: Bool {
    guard var components = KeyPathComponents(keyPath), components.next() != nil else {
      return false
    }
    return !components.isAtEnd
  }

  /// The recorder with which this thread is evaluating that key path of that object to classify it.
  static func classifier(of keyPath: AnyKeyPath, of object: KVOObject) -> KeyPathReadRecorder? {
    guard let current = current as? KeyPathReadRecorder,
      current.header == headerAddress(of: object), current.keyPath == keyPath
    else { return nil }
    return current
  }

  /// Called when the getter reports a read of its own property.
  func noteOwnRead() { reportsOwnRead = true }

  // A key path that is made through a protocol identifies the requirement by an index, which does not show
  // the property that implements it. If exactly one property was read, and it has that type, assume that one.
  private var isRequirement: Bool {
    guard keyPath.isByNumber, names.count == 1, let first else { return false }
    return Swift.type(of: first).valueType == Swift.type(of: keyPath).valueType
  }

  /// Whether the key path reads anything that can be observed. If it stopped at a nil link, another object
  /// there may have something to read; not if it ended at a link without a key.
  var isObservable: Bool {
    !names.isEmpty || reportsOwnRead
      || !endsAtKeyless && (isBroken || keyPath.debugDescription.contains("?"))
  }
}
