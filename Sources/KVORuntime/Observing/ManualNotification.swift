public import CKVORuntime

// Changes by hand, by key path and around a body (D6, E3). Pairs are the C core's (`manual.c`); a body is bracketed,
// without a pair, where the class leaves that to the runtime (`bracket.c`).
extension KeyValueObserving where Self: KVOObject {
  /// As `willChangeValue(forKey:)` for the key that the key path names. Of one that reads nothing that
  /// can be observed, nobody is told.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    if let key = changedKey(of: keyPath) { willChangeValue(forKey: key.name.string) }
  }

  /// As `didChangeValue(forKey:)` for the key that the key path names.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    if let key = changedKey(of: keyPath) { didChangeValue(forKey: key.name.string) }
  }

  /// Brackets a body that changes the property: will, body, did, also when the body throws.
  ///
  /// ```swift
  /// sensor.withChange(of: \.reading) { sensor.reading = hardware.read() }
  /// ```
  ///
  /// So a computed property's setter tells of what its getter does not read by `@Observed` properties:
  ///
  /// ```swift
  /// set { withChange(of: \.index) { model.index = newValue } }
  /// ```
  public func withChange<Value, R>(
    of keyPath: KeyPath<Self, Value>, _ body: () throws -> R
  ) rethrows -> R {
    guard let key = changedKey(of: keyPath) else { return try body() }
    let change = openBracket(key.name.interned, 0)
    // The key may be a leased one.
    defer { withExtendedLifetime(key) { closeBracket(change, key.name.interned) } }
    return try body()
  }

  /// Brackets a body that changes the key's value: will, body, did, also when the body throws.
  ///
  /// It tells what `willChangeValue(forKey:)` and `didChangeValue(forKey:)` around the body tell, and
  /// calls these where the class overrides them. For a key that is found once, see `KeyValueKey`.
  ///
  /// - Complexity: O(1), but for the key's length.
  @inlinable
  public func withChange<R>(forKey key: String, _ body: () throws -> R) rethrows -> R {
    let change = openBracket(key)
    defer { closeBracket(change, key) }
    return try body()
  }

  /// Brackets a body that changes the value of a key that was found before: will, body, did, also when
  /// the body throws.
  ///
  /// ```swift
  /// sheet.withChange(forKey: key) { sheet.cells[17] = value }
  /// ```
  ///
  /// It tells what `withChange(forKey:)` with the key's string tells, and costs about what telling of an
  /// `@Observed` property costs.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func withChange<Value, R>(
    forKey key: KeyValueKey<Self, Value>, _ body: () throws -> R
  ) rethrows -> R {
    let change = openBracket(key.interned, key.id)
    defer { closeBracket(change, key.interned) }
    return try body()
  }
}

/// A key of an object that a change is about.
package struct ChangedKey: Hashable {
  package let object: KVOObject
  package let key: String

  package init(_ object: KVOObject, _ key: String) {
    self.object = object
    self.key = key
  }

  package static func == (a: ChangedKey, b: ChangedKey) -> Bool {
    a.object === b.object && a.key == b.key
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(object))
    hasher.combine(key)
  }
}

extension KVOObject {
  /// Brackets a body that changes keys of several objects, as `withChange(forKey:)` of each within the one before does,
  /// but however many they are: no call is nested in another.
  package static func withChanges<R>(of keys: [ChangedKey], _ body: () throws -> R) rethrows -> R {
    let changes = keys.map { $0.object.openBracket($0.key) }
    defer {
      for (key, change) in zip(keys, changes).reversed() {
        key.object.closeBracket(change, key.key)
      }
    }
    return try body()
  }
}

// MARK: To-many

extension KeyValueObserving where Self: KVOObject {
  /// As `willChange(_:valuesAt:forKey:)` for the key that the key path names.
  public func willChange<Value>(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, for keyPath: KeyPath<Self, Value>
  ) {
    guard let key = changedKey(of: keyPath) else { return }
    willChange(kind, valuesAt: indexes, forKey: key.name.string)
  }

  /// As `didChange(_:valuesAt:forKey:)` for the key that the key path names.
  public func didChange<Value>(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, for keyPath: KeyPath<Self, Value>
  ) {
    guard let key = changedKey(of: keyPath) else { return }
    didChange(kind, valuesAt: indexes, forKey: key.name.string)
  }

  /// As `willChangeValue(forKey:withSetMutation:using:)` for the key that the key path names.
  public func willChangeValue<Element>(
    for keyPath: KeyPath<Self, Set<Element>>, withSetMutation kind: KeyValueSetMutation,
    using set: Set<Element>
  ) {
    guard let key = changedKey(of: keyPath)?.name.string else { return }
    willChangeValue(forKey: key, withSetMutation: kind, using: Set<AnyHashable>(set))
  }

  /// As `didChangeValue(forKey:withSetMutation:using:)` for the key that the key path names.
  public func didChangeValue<Element>(
    for keyPath: KeyPath<Self, Set<Element>>, withSetMutation kind: KeyValueSetMutation,
    using set: Set<Element>
  ) {
    guard let key = changedKey(of: keyPath)?.name.string else { return }
    didChangeValue(forKey: key, withSetMutation: kind, using: Set<AnyHashable>(set))
  }

  /// Brackets a body that inserts, removes or replaces elements at the indexes: will, body, did,
  /// also when the body throws.
  ///
  /// ```swift
  /// shelf.withChange(.insertion, at: RangeSet(0..<1), forKey: "books") {
  ///   shelf.books.insert(book, at: 0)
  /// }
  /// ```
  public func withChange<R>(
    _ kind: KeyValueChange, at indexes: RangeSet<Int>, forKey key: String, _ body: () throws -> R
  ) rethrows -> R {
    willChange(kind, valuesAt: indexes, forKey: key)
    defer { didChange(kind, valuesAt: indexes, forKey: key) }
    return try body()
  }

  /// Brackets a body that changes a set: will, body, did, also when the body throws.
  public func withChange<R>(
    _ kind: KeyValueSetMutation, using objects: Set<AnyHashable>, forKey key: String,
    _ body: () throws -> R
  ) rethrows -> R {
    willChangeValue(forKey: key, withSetMutation: kind, using: objects)
    defer { didChangeValue(forKey: key, withSetMutation: kind, using: objects) }
    return try body()
  }
}

// What a bracket opens is nil where there is nobody to tell, where an automatic change tells it, and where
// the class has its own way.
extension KVOObject {
  /// - Parameter id: what the C core is likely to know the key by.
  @inlinable @inline(__always)
  func openBracket(_ key: UnsafePointer<CChar>, _ id: UInt) -> OpaquePointer? {
    if kvo_is_recording() { recordBracket(key) }
    if let change = kvo_bracket_will(headerAddress(of: self), key, id) { return change }
    openEmptyBracket(key)
    return nil
  }

  @usableFromInline
  func recordBracket(_ key: UnsafePointer<CChar>) {
    recordChange(of: KeyName.of(interned: key).string)
  }

  @usableFromInline
  func openBracket(_ key: String) -> OpaquePointer? {
    recordChange(of: key)
    if kvo_binding_is_observed(header),
      let change = key.withKey({ kvo_bracket_will_named(header, $0) }) ?? nil
    {
      return change
    }
    hintAtUnknownKey(key)
    if MethodOverride.brackets(type(of: self)) { willChangeValue(forKey: key) }
    return nil
  }

  @inlinable @inline(__always)
  func closeBracket(_ change: OpaquePointer?, _ key: UnsafePointer<CChar>) {
    if let change {
      withExtendedLifetime(self) { kvo_bracket_did(change) }
    } else {
      closeEmptyBracket(key)
    }
  }

  @inlinable @inline(__always)
  func closeBracket(_ change: OpaquePointer?, _ key: String) {
    if let change {
      withExtendedLifetime(self) { kvo_bracket_did(change) }
    } else {
      closeEmptyBracket(key)
    }
  }

  @usableFromInline
  func openEmptyBracket(_ key: UnsafePointer<CChar>) {
    guard MethodOverride.brackets(type(of: self)) else { return }
    willChangeValue(forKey: KeyName.of(interned: key).string)
  }

  @usableFromInline
  func closeEmptyBracket(_ key: UnsafePointer<CChar>) {
    if MethodOverride.brackets(type(of: self)) {
      didChangeValue(forKey: KeyName.of(interned: key).string)
    } else if kvo_binding_came_to_be_observed(header) {
      kvo_bracket_look(header, key)
    }
  }

  @usableFromInline
  func closeEmptyBracket(_ key: String) {
    if MethodOverride.brackets(type(of: self)) {
      didChangeValue(forKey: key)
    } else if kvo_binding_came_to_be_observed(header) {
      _ = key.withKey { kvo_bracket_look(header, $0) }
    }
  }
}

extension KVOObject {
  /// Opens a change of elements at indexes.
  func announce(_ kind: KeyValueChange, at indexes: RangeSet<Int>, ofKey key: String) {
    if let first = indexes.ranges.first?.lowerBound, first < 0 {
      KVODiagnostics.stop(
        """
        A change of "\(key)" of \(className(of: type(of: self))) was announced at the index \
        \(first), which no element can have.
        """)
    }
    recordChange(of: key)
    hintAtUnknownKey(key)
    _ = key.withKey { key in
      withIndexSet(indexes) {
        if let indexes = $0 {
          kvo_will_change_indexes(boundHeader, kind.cKind, indexes, key)
        } else {
          kvo_will_change(boundHeader, key)
        }
      }
    }
  }

  /// Closes a change of elements at indexes.
  func conclude(_ kind: KeyValueChange, at indexes: RangeSet<Int>, ofKey key: String) {
    _ = key.withKey { key in
      withIndexSet(indexes) {
        if let indexes = $0 {
          kvo_did_change_indexes(boundHeader, kind.cKind, indexes, key)
        } else {
          kvo_did_change(boundHeader, key)
        }
      }
    }
  }

  /// Opens a change of a set, in terms of the set's own type where the class knows it.
  func announce(_ kind: KeyValueSetMutation, of members: Set<AnyHashable>, ofKey key: String) {
    recordChange(of: key)
    hintAtUnknownKey(key)
    let shape = KVOClass.of(self).property(key)?.observedType.shape
    var value = shape?.membersValue(members) ?? .of(members)
    defer { kvo_value_destroy(&value) }
    _ = key.withKey { kvo_will_change_members(boundHeader, kind.cMutation, &value, $0) }
  }
}

extension KeyValueChange {
  var cKind: kvo_change_kind {
    switch self {
    case .setting: .KVO_SETTING
    case .insertion: .KVO_INSERTION
    case .removal: .KVO_REMOVAL
    case .replacement: .KVO_REPLACEMENT
    }
  }
}

extension KeyValueSetMutation {
  var cMutation: kvo_set_mutation {
    switch self {
    case .union: .KVO_UNION
    case .minus: .KVO_MINUS
    case .intersect: .KVO_INTERSECT
    case .set: .KVO_SET_SET
    }
  }
}
