internal import CKVORuntime

/// A key that is data, found once: for settings, records, spreadsheets, whose keys are known only when
/// the program runs.
///
/// ```swift
/// let key = try KeyValueKey<Sheet, Double>("k17")
/// let token = sheet.observe(key: key, options: .new) { sheet, change in print(change.newValue!) }
/// sheet.withChange(forKey: key) { sheet.cells[17] = 3 }
/// ```
///
/// What a string would be looked up for at each use, and whether the key is of the type, has been found
/// out when the key is made. One serves all objects of the class and its subclasses; a subclass that
/// declares the key anew is asked, not its superclass. Keys are compared, hashed and copied at the cost of
/// a pointer, live for ever, and may be used on any thread.
///
/// A key that a string would be a key path for, with a dot in it or an `@` at its beginning, is read, set and
/// changed by hand as any other, but observing it stops the program with a message.
@frozen
public struct KeyValueKey<Root: KVOObject, Value>: Hashable, @unchecked Sendable {
  // Interned: equal names have one address, for ever.
  @usableFromInline let interned: UnsafePointer<CChar>
  // What the C core is likely to know the key by, which it finds out by itself where that is not so.
  @usableFromInline let id: UInt
  // Where a `KeyValueRecord` has the value; 0 for other keys.
  @usableFromInline let slot: Int

  /// Finds a key of the class.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the class has no such key, also where its objects answer
  ///   it by `value(forUndefinedKey:)`; `KeyValueError.typeMismatch` if its values are of another type.
  /// - Complexity: O(1) after the first use of the key with the class, but for its length.
  public init(_ key: String) throws {
    let known = KVOClass.of(Root.self)
    guard key.mayBeKey, let property = known.property(key) else {
      throw KeyValueError.undefinedKey(key: key, className: known.name)
    }
    try property.requireType(Value.self, of: known)
    interned = property.name.interned
    id = UInt(kvo_binding_key_id(known.cClass, interned))
    slot = (property.accessors as? StoredValue)?.offset ?? 0
  }

  /// The key as a string.
  public var name: String { KeyName.of(interned: interned).string }

  /// Whether both name the same key.
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { left.interned == right.interned }

  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(interned) }
}

extension KeyValueKey: CustomStringConvertible {
  /// The key as a string.
  public var description: String { name }
}

// MARK: Reading and setting

extension KeyValueObserving where Self: KVOObject {
  /// The key's value, as `value(forKey:)` gives it.
  ///
  /// - Throws: what the key's accessor throws, or the class's own `value(forKey:)`;
  ///   `KeyValueError.typeMismatch` where that answers something of another type.
  public func value<Value>(for key: KeyValueKey<Self, Value>) throws -> Value {
    let value: Any? = try value(forKey: key.name)
    if let typed = (value as Any) as? Value { return typed }
    throw KeyValueError.typeMismatch(
      key: key.name, className: className(of: type(of: self)),
      expected: swiftName(of: Value.self), found: typeName(of: value))
  }

  /// Sets the key's value as `setValue(_:forKey:)` does, and tells its observers once.
  ///
  /// - Throws: `KeyValueError.readOnly` for a key without a setter; what the key's accessor throws, or
  ///   the class's own `setValue(_:forKey:)`.
  public func setValue<Value>(_ value: Value, for key: KeyValueKey<Self, Value>) throws {
    try setValue(flattened(value), forKey: key.name)
  }
}

// MARK: Observing

extension KeyValueObserving where Self: KVOObject {
  /// Calls a handler on each change of a key that was found before.
  ///
  /// - Returns: a token; dropping it ends the registration.
  /// - Complexity: O(1).
  @inlinable
  public func observe<Value>(
    key: KeyValueKey<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    register(key.interned, options, .typed(changeHandler))
  }

  /// Calls a handler on each change of any of several keys that were found before, with the place of the
  /// one that changed. All of them are one registration in one piece of memory, which ends with the one
  /// token. A key that stands there twice is told twice.
  ///
  /// ```swift
  /// let token = sheet.observe(keys: keys, options: .new) { sheet, index, change in
  ///   print(keys[index], change.newValue!)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - keys: found before, by `KeyValueKey(_:)`.
  ///   - options: the same for all of them.
  ///   - changeHandler: called with the place that the key has in the array.
  /// - Returns: a token; dropping it ends the registration. Of no keys it is not valid.
  /// - Complexity: O(*n*) in the number of keys.
  @inlinable
  public func observe<Value>(
    keys: [KeyValueKey<Self, Value>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, Int, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    register(keys.map(\.interned), Value.self, options) { object, index, change in
      KeyValueObservedChange.lend(change) {
        changeHandler(unsafeDowncast(object, to: Self.self), index, $0)
      }
    }
  }
}

extension KeyValueObserving where Self: KVOObject & Sendable {
  /// Calls a handler on each change of a key that was found before, on the thread of the change.
  @inlinable
  public func observe<Value>(
    key: KeyValueKey<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    register(key.interned, options, .typed(changeHandler))
  }

  /// Calls a handler on each change of any of several keys that were found before, on the thread of the
  /// change.
  @inlinable
  public func observe<Value>(
    keys: [KeyValueKey<Self, Value>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, Int, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    register(keys.map(\.interned), Value.self, options) { object, index, change in
      KeyValueObservedChange.lend(change) {
        changeHandler(unsafeDowncast(object, to: Self.self), index, $0)
      }
    }
  }
}

extension KeyValueObserving where Self: KVOObject {
  @inlinable @inline(__always)
  func register<Value>(
    _ key: UnsafePointer<CChar>, _ options: KeyValueObservingOptions,
    _ handler: Handler<Self, Value>
  ) -> KeyValueObservation {
    withUnsafeTemporaryAllocation(
      of: Handler<Self, Value>.self, capacity: 1
    ) {
      let words = $0.baseAddress!
      words.initialize(to: handler)
      return register(key, Value.self, options, words: UnsafeRawPointer(words))
    }
  }
}

// MARK: Without types of objects

extension KVOObject {
  @usableFromInline
  func register<Value>(
    _ key: UnsafePointer<CChar>, _ type: Value.Type, _ options: KeyValueObservingOptions,
    words handler: UnsafeRawPointer
  ) -> KeyValueObservation {
    prepareToObserve(key, type)
    let token = KeyValueObservation()
    if let error = register(key, options, token, handler) { KVODiagnostics.stop(error.text) }
    return token
  }

  @usableFromInline
  func register<Value>(
    _ keys: [UnsafePointer<CChar>], _ type: Value.Type, _ options: KeyValueObservingOptions,
    _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    for key in keys { prepareToObserve(key, type) }
    return register(keys, options, deliver)
  }

  // The handler takes values for what the key has said to be: in this class it may be something else.
  private func prepareToObserve<Value>(_ key: UnsafePointer<CChar>, _ type: Value.Type) {
    let known = KVOClass.of(self)
    let name = KeyName.of(interned: key).string
    guard !KeyPathCoding.isPath(name) else {
      KVODiagnostics.stop(
        "\(quoted(name)) of \(known.name) can't be observed by a KeyValueKey: as a string it is a key path."
      )
    }
    do {
      guard let property = known.property(name) else {
        throw KeyValueError.undefinedKey(key: name, className: known.name)
      }
      try observable(property, in: known).requireType(type, of: known)
    } catch {
      KVODiagnostics.stop("\(error)")
    }
    if Hint.areWanted { hintAtSilence(of: name) }
  }
}

extension Property {
  fileprivate func requireType<Value>(_ type: Value.Type, of known: KVOClass) throws {
    guard observedType.swiftType != type else { return }
    throw KeyValueError.typeMismatch(
      key: name.string, className: known.name, expected: swiftName(of: observedType.swiftType),
      found: swiftName(of: type))
  }
}
