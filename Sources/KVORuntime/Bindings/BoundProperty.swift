internal import CKVORuntime

/// The property at one end of a binding.
struct BoundProperty {
  enum Key {
    /// A property of a Swift object, and its key, which is found once: the same property may have several key paths,
    /// and key paths with arguments only lease their keys. Nil if the property can't be observed.
    case keyPath(AnyKeyPath, ObservedKey?)
    /// A key of a C object. The memory of Swift objects is kept by their `BindingPlace`.
    case name(String, WeakForeignObject)
  }

  /// The object's header. A binding retains neither end.
  let header: UnsafeMutablePointer<kvo_object>
  let key: Key

  /// A property to observe. Stops the program if it can't be observed.
  init(source: KVOObject, _ keyPath: AnyKeyPath, _ caller: Caller?) {
    header = source.boundHeader
    key = .keyPath(keyPath, source.observedKey(of: keyPath, caller))
  }

  /// A property to set. Evaluates the key path on its first use with the class, as for the key of any key path.
  init(target: KVOObject, _ keyPath: AnyKeyPath) {
    header = target.boundHeader
    key = .keyPath(keyPath, target.knownKey(of: keyPath))
  }

  init(_ object: WeakForeignObject, at header: UnsafeMutablePointer<kvo_object>, _ name: String) {
    self.header = header
    key = .name(name, object)
  }

  /// The address of the object.
  var address: UnsafeRawPointer { UnsafeRawPointer(header) }

  /// The object as a Swift one; nil if it is a C object.
  var swiftObject: UnsafeMutableRawPointer? {
    if case .keyPath = key { ObjectHeader.object(of: header) } else { nil }
  }

  /// Whether both are the same property. If the addresses are equal, an object lives there. Calls no code of the
  /// program.
  func isSame(as other: BoundProperty) -> Bool {
    guard header == other.header else { return false }
    switch (key, other.key) {
    case (.keyPath(let mine, let key), .keyPath(let theirs, let otherKey)):
      if let key, let otherKey { return key.name === otherKey.name }
      // A key path without arguments may have got its key only since the other end was bound.
      return !mine.mayHaveArguments && !theirs.mayHaveArguments && mine == theirs
    case (.name(let mine, let object), .name(let theirs, let other)):
      // Another object may be at the address of a C object that has died.
      return mine == theirs && object.isAlive && other.isAlive
    default: return false
    }
  }
}

extension BoundProperty {
  /// The property in messages.
  var phrase: String {
    switch key {
    case .keyPath(let keyPath, _): "\(keyPath.text) of \(ObjectHeader.object(of: header))"
    case .name(let name, _): "\(quoted(name)) of \(address)"
    }
  }
}
