internal import CKVORuntime

/// A key that is data, looked up once: for settings, records, or spreadsheets, whose keys are known only at
/// run time.
///
/// ```swift
/// let key = try KeyValueKey<Sheet, Double>("k17")
/// let token = sheet.observe(key: key, options: .new) { sheet, change in print(change.newValue!) }
/// sheet.withChange(forKey: key) { sheet.cells[17] = 3 }
/// ```
///
/// Making a key looks it up in the class and checks its type; a string would be looked up at each use. A key
/// serves all objects of the class and its subclasses. If a subclass redeclares the key, its declaration is
/// used. Comparing, hashing and copying a key costs as much as with a pointer. Keys are never freed and may
/// be used on any thread.
///
/// A key that looks like a key path, because it contains a dot or begins with `@`, can be read, set and
/// changed manually like any other. Observing it stops the program with a message.
@frozen
public struct KeyValueKey<Root: KVOObject, Value>: Hashable, @unchecked Sendable {
  // Interned: equal names have the same address, which stays valid forever.
  @usableFromInline let interned: UnsafePointer<CChar>
  // The C core's likely identifier for the key. The core verifies it, and looks the key up if it is wrong.
  @usableFromInline let id: UInt
  // The offset at which a `KeyValueRecord` stores the value; 0 for other keys.
  @usableFromInline let slot: Int

  /// Looks up a key of the class.
  ///
  /// - Parameter key: the key's name.
  /// - Throws: `KeyValueError.undefinedKey` if the class has no such key, even if its objects answer it by
  ///   `value(forUndefinedKey:)`. `KeyValueError.typeMismatch` if the key's values have another type than
  ///   `Value`.
  /// - Complexity: O(*n*) in the length of the key, after the first use of the key with the class.
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

  /// Whether both keys have the same name.
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { left.interned == right.interned }

  /// Hashes the key's name, in constant time.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(interned) }
}

extension KeyValueKey: CustomStringConvertible {
  /// The key as a string.
  public var description: String { name }
}

// MARK: Reading and setting

extension KeyValueObserving where Self: KVOObject {
  /// Returns the key's value, as `value(forKey:)` does.
  ///
  /// - Throws: an error of the key's accessor or of the class's own `value(forKey:)`.
  ///   `KeyValueError.typeMismatch` if that returns a value of another type.
  public func value<Value>(for key: KeyValueKey<Self, Value>) throws -> Value {
    let value: Any? = try value(forKey: key.name)
    if let typed = (value as Any) as? Value { return typed }
    throw KeyValueError.typeMismatch(
      key: key.name, className: className(of: type(of: self)),
      expected: swiftName(of: Value.self), found: typeName(of: value))
  }

  /// Sets the key's value, as `setValue(_:forKey:)` does, and notifies its observers once.
  ///
  /// - Throws: `KeyValueError.readOnly` for a key without a setter; an error of the key's accessor or of the
  ///   class's own `setValue(_:forKey:)`.
  public func setValue<Value>(_ value: Value, for key: KeyValueKey<Self, Value>) throws {
    try setValue(flattened(value), forKey: key.name)
  }
}

// MARK: Observing

extension KeyValueObserving where Self: KVOObject {
  /// Calls a handler on each change of a key.
  ///
  /// - Parameters:
  ///   - key: a key of the class or a superclass. If it looks like a key path, the program stops with a
  ///     message.
  ///   - options: what a change contains, and when the handler is called.
  ///   - changeHandler: called on the thread that made the change.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: a token; releasing it ends the observation.
  /// - Complexity: O(1).
  @inlinable
  public func observe<Value>(
    key: KeyValueKey<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, KeyValueObservedChange<Value>) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    register(key.interned, options, .typed(changeHandler), Caller(file, line))
  }

  /// Calls a handler on each change of any of several keys, with the index of the key that changed. All of
  /// them are one registration in one block of memory, owned by one token. A key that occurs twice is
  /// notified twice.
  ///
  /// ```swift
  /// let token = sheet.observe(keys: keys, options: .new) { sheet, index, change in
  ///   print(keys[index], change.newValue!)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - keys: keys of the class or a superclass. If one looks like a key path, the program stops with a
  ///     message.
  ///   - options: apply to all keys.
  ///   - changeHandler: called with the index that the key has in the array, on the thread that made the
  ///     change.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: a token; releasing it ends the observation. If there are no keys, it is not valid.
  /// - Complexity: O(*n*) in the number of keys.
  @inlinable
  public func observe<Value>(
    keys: [KeyValueKey<Self, Value>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, Int, KeyValueObservedChange<Value>) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    register(keys.map(\.interned), Value.self, options, Caller(file, line)) {
      object, index, change in
      KeyValueObservedChange.lend(change) {
        changeHandler(unsafeDowncast(object, to: Self.self), index, $0)
      }
    }
  }
}

extension KeyValueObserving where Self: KVOObject & Sendable {
  /// Calls a handler on each change of a key, on the thread of the change. For `Sendable` objects, which any
  /// thread may change.
  ///
  /// - Parameters:
  ///   - key: a key of the class or a superclass. If it looks like a key path, the program stops with a
  ///     message.
  ///   - options: what a change contains, and when the handler is called.
  ///   - changeHandler: called on the thread that made the change.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: a token; releasing it ends the observation.
  /// - Complexity: O(1).
  @inlinable
  public func observe<Value>(
    key: KeyValueKey<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Value>) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    register(key.interned, options, .typed(changeHandler), Caller(file, line))
  }

  /// Calls a handler on each change of any of several keys, with the index of the key that changed, on the
  /// thread of the change. For `Sendable` objects, which any thread may change.
  ///
  /// - Parameters:
  ///   - keys: keys of the class or a superclass. If one looks like a key path, the program stops with a
  ///     message.
  ///   - options: apply to all keys.
  ///   - changeHandler: called with the index that the key has in the array, on the thread that made the
  ///     change.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: a token; releasing it ends the observation. If there are no keys, it is not valid.
  /// - Complexity: O(*n*) in the number of keys.
  @inlinable
  public func observe<Value>(
    keys: [KeyValueKey<Self, Value>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, Int, KeyValueObservedChange<Value>) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    register(keys.map(\.interned), Value.self, options, Caller(file, line)) {
      object, index, change in
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
    _ handler: Handler<Self, Value>, _ caller: Caller
  ) -> KeyValueObservation {
    withUnsafeTemporaryAllocation(
      of: Handler<Self, Value>.self, capacity: 1
    ) {
      let words = $0.baseAddress!
      words.initialize(to: handler)
      guard let token = register(key, Value.self, options, words: UnsafeRawPointer(words)) else {
        stopObserving(key, Value.self, caller)
      }
      return token
    }
  }
}

// MARK: Independent of the object's type

extension KVOObject {
  /// Nil for what can't be observed.
  @usableFromInline
  func register<Value>(
    _ key: UnsafePointer<CChar>, _ type: Value.Type, _ options: KeyValueObservingOptions,
    words handler: UnsafeRawPointer
  ) -> KeyValueObservation? {
    guard prepareToObserve(key, type) == nil else { return nil }
    let token = KeyValueObservation()
    return register(key, options, token, handler) == nil ? token : nil
  }

  @usableFromInline
  func register<Value>(
    _ keys: [UnsafePointer<CChar>], _ type: Value.Type, _ options: KeyValueObservingOptions,
    _ caller: Caller, _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    for key in keys {
      if let fault = prepareToObserve(key, type) { KVODiagnostics.stop(fault, for: caller) }
    }
    return register(keys, options, caller, deliver)
  }

  /// Stops the program after a registration failed.
  @inline(never) @usableFromInline
  func stopObserving<Value>(
    _ key: UnsafePointer<CChar>, _ type: Value.Type, _ caller: Caller
  ) -> Never {
    let name = quoted(KeyName.of(interned: key).string)
    let noMemory = "No memory to observe \(name) of \(KVOClass.of(self).name)."
    KVODiagnostics.stop(prepareToObserve(key, type) ?? noMemory, for: caller)
  }

  // The handler expects values of the key's type, but this object's class may declare the key with another
  // one. Returns why it can't be observed, or nil.
  private func prepareToObserve<Value>(
    _ key: UnsafePointer<CChar>, _ type: Value.Type
  ) -> String? {
    let known = KVOClass.of(self)
    let name = KeyName.of(interned: key).string
    do {
      guard let property = known.property(name) else {
        throw KeyValueError.undefinedKey(key: name, className: known.name)
      }
      try observable(property, in: known).requireType(type, of: known)
    } catch {
      return "\(error)"
    }
    if Hint.areWanted { hintAtSilence(of: name) }
    return nil
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
