public import CKVORuntime

// Manual changes, by key path and around a body (D6, E3). Pairs are opened and closed by the C core
// (`manual_change.c`). A body is bracketed without a pair (`scoped_change.c`), unless the class overrides the methods
// of pairs.
extension KeyValueObserving where Self: KVOObject {
  /// Opens a change of the key that a key path names. `didChangeValue(for:)` closes and delivers it.
  ///
  /// Pairs match as those of `willChangeValue(forKey:)` do. A key path that is not a key and reads nothing
  /// observable has no observers, so the call has no effect.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    withPairKey(of: keyPath) { willChangeValue(forKey: $0) }
  }

  /// Closes the change of a key path's key that this thread opened last, and notifies the observers.
  ///
  /// A call without an open change is reported as misuse and ignored.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    withPairKey(of: keyPath) { didChangeValue(forKey: $0) }
  }

  /// Calls a body that changes a property, and notifies the property's observers when it ends, even if it
  /// throws.
  ///
  /// Prior observers are called before the body.
  ///
  /// ```swift
  /// sensor.withChange(of: \.reading) { sensor.reading = hardware.read() }
  /// ```
  ///
  /// The change is a manual one: it notifies even if the property's automatic notification is off, and in addition to
  /// what the body itself notifies of. A setter uses `withAutomaticChange(of:_:)` instead.
  ///
  /// - Returns: The result of the body.
  public func withChange<Value, R>(
    of keyPath: KeyPath<Self, Value>, _ body: () throws -> R
  ) rethrows -> R {
    guard let key = changedKey(of: keyPath) else { return try body() }
    let change = openBracket(key.name.interned, 0)
    // Extends the key's lifetime, because its name may be leased.
    defer { withExtendedLifetime(key) { closeBracket(change, key.name.interned) } }
    return try body()
  }

  /// Calls a body that changes a key's value, and notifies the key's observers when it ends, even if it
  /// throws.
  ///
  /// It notifies as `willChangeValue(forKey:)` before the body and `didChangeValue(forKey:)` after it would,
  /// and calls these methods if the class overrides them. Use a `KeyValueKey` to look a key up only once.
  ///
  /// - Returns: The result of the body.
  /// - Complexity: O(1), except for the key's length.
  @inlinable
  public func withChange<R>(forKey key: String, _ body: () throws -> R) rethrows -> R {
    let change = openBracket(key)
    defer { closeBracket(change, key) }
    return try body()
  }

  /// Calls a body that changes the value of a key that was looked up before. The key's observers are notified
  /// when the body ends, even if it throws.
  ///
  /// ```swift
  /// sheet.withChange(forKey: key) { sheet.cells[17] = value }
  /// ```
  ///
  /// It notifies as `withChange(forKey:)` with the key's string does, and costs about as much as a change of
  /// an `@Observed` property.
  ///
  /// - Returns: The result of the body.
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

/// An object and one of its keys, which a change affects.
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
  /// Brackets a body that changes keys of several objects. It has the effect of nested calls of
  /// `withChange(forKey:)`, but does not nest, so that any number of keys can be passed.
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
  /// Opens a change of some elements of the ordered to-many property that a key path names.
  ///
  /// Call `didChange(_:valuesAt:for:)` with equal arguments to close and deliver it. A negative index stops
  /// the program with a message.
  /// - Complexity: O(*n*) in the number of ranges, and in the number of elements if an observer asks for
  ///   them.
  public func willChange<Value>(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, for keyPath: KeyPath<Self, Value>
  ) {
    withPairKey(of: keyPath) { willChange(kind, valuesAt: indexes, forKey: $0) }
  }

  /// Closes the change of elements that this thread opened last for a key path's property, and notifies the
  /// observers.
  ///
  /// A call without an open change is reported as misuse and ignored.
  public func didChange<Value>(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, for keyPath: KeyPath<Self, Value>
  ) {
    withPairKey(of: keyPath) { didChange(kind, valuesAt: indexes, forKey: $0) }
  }

  /// Opens a change of the members of the set that a key path names.
  /// `didChangeValue(for:withSetMutation:using:)` closes and delivers it.
  ///
  /// Observers get the members that were actually added and removed.
  /// - Complexity: O(*n*) in the size of the set, which is copied once to find the differences.
  public func willChangeValue<Element>(
    for keyPath: KeyPath<Self, Set<Element>>, withSetMutation kind: KeyValueSetMutation,
    using set: Set<Element>
  ) {
    withPairKey(of: keyPath) {
      willChangeValue(forKey: $0, withSetMutation: kind, using: Set<AnyHashable>(set))
    }
  }

  /// Closes the change of members that this thread opened last for a key path's set, and notifies the
  /// observers.
  ///
  /// A call without an open change is reported as misuse and ignored.
  public func didChangeValue<Element>(
    for keyPath: KeyPath<Self, Set<Element>>, withSetMutation kind: KeyValueSetMutation,
    using set: Set<Element>
  ) {
    withPairKey(of: keyPath) {
      didChangeValue(forKey: $0, withSetMutation: kind, using: Set<AnyHashable>(set))
    }
  }

  /// Calls a body that inserts, removes or replaces elements at some indexes, and notifies the key's
  /// observers when it ends, even if it throws.
  ///
  /// ```swift
  /// shelf.withChange(.insertion, at: RangeSet(0..<1), forKey: "books") {
  ///   shelf.books.insert(book, at: 0)
  /// }
  /// ```
  ///
  /// A negative index stops the program with a message.
  ///
  /// - Returns: The result of the body.
  /// - Complexity: O(*n*) in the number of ranges, and in the number of elements if an observer asks for
  ///   them.
  public func withChange<R>(
    _ kind: KeyValueChange, at indexes: RangeSet<Int>, forKey key: String, _ body: () throws -> R
  ) rethrows -> R {
    willChange(kind, valuesAt: indexes, forKey: key)
    defer { didChange(kind, valuesAt: indexes, forKey: key) }
    return try body()
  }

  /// Calls a body that changes a set, and notifies the key's observers when it ends, even if it throws.
  ///
  /// The objects are those to be added, removed, kept or put in place of the others, by the kind. Observers
  /// get the members that were actually added and removed.
  ///
  /// - Returns: The result of the body.
  /// - Complexity: O(*n*) in the size of the set, which is copied once to find the differences.
  public func withChange<R>(
    _ kind: KeyValueSetMutation, using objects: Set<AnyHashable>, forKey key: String,
    _ body: () throws -> R
  ) rethrows -> R {
    willChangeValue(forKey: key, withSetMutation: kind, using: objects)
    defer { didChangeValue(forKey: key, withSetMutation: kind, using: objects) }
    return try body()
  }
}

extension KVOObject {
  /// Calls a body with the key of a pair. If a key path with arguments has no observers, its key is leased only for
  /// this call, and the pair's other call may get another key: then there is nothing to open or close.
  fileprivate func withPairKey(of keyPath: AnyKeyPath, _ body: (String) -> Void) {
    guard var key = changedKey(of: keyPath), !key.isOnlyUse() else { return }
    let name = key.name.string
    withExtendedLifetime(key) { withName(ofKey: name, body) }
  }
}

// Opening a bracket gives nil in three cases: the key has no observer, an automatic change that is open
// delivers the change, or the class overrides the methods of pairs.
extension KVOObject {
  /// - Parameter id: The id by which the C core probably knows the key.
  @inlinable @inline(__always)
  func openBracket(_ key: UnsafePointer<CChar>, _ id: UInt) -> OpaquePointer? {
    if kvo_is_recording() { recordBracket(key) }
    if let change = kvo_scoped_change_begin(headerAddress(of: self), key, id) { return change }
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
      let change = key.withKey({ kvo_scoped_change_begin_named(header, $0) }) ?? nil
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
      withExtendedLifetime(self) { kvo_scoped_change_end(change) }
    } else {
      closeEmptyBracket(key)
    }
  }

  @inlinable @inline(__always)
  func closeBracket(_ change: OpaquePointer?, _ key: String) {
    if let change {
      withExtendedLifetime(self) { kvo_scoped_change_end(change) }
    } else {
      closeEmptyBracket(key)
    }
  }

  @usableFromInline
  func openEmptyBracket(_ key: UnsafePointer<CChar>) {
    guard MethodOverride.brackets(type(of: self)) else { return }
    withName(ofKey: KeyName.of(interned: key).string) { willChangeValue(forKey: $0) }
  }

  @usableFromInline
  func closeEmptyBracket(_ key: UnsafePointer<CChar>) {
    if MethodOverride.brackets(type(of: self)) {
      withName(ofKey: KeyName.of(interned: key).string) { didChangeValue(forKey: $0) }
    } else if kvo_binding_came_to_be_observed(header) {
      kvo_scoped_change_notify_late_observers(header, key)
    }
  }

  @usableFromInline
  func closeEmptyBracket(_ key: String) {
    if MethodOverride.brackets(type(of: self)) {
      didChangeValue(forKey: key)
    } else if kvo_binding_came_to_be_observed(header) {
      _ = key.withKey { kvo_scoped_change_notify_late_observers(header, $0) }
    }
  }
}

extension KVOObject {
  /// Opens a change of the elements at some indexes.
  func announce(_ kind: KeyValueChange, at indexes: RangeSet<Int>, ofKey key: String) {
    if let first = indexes.ranges.first?.lowerBound, first < 0 {
      KVODiagnostics.stop(
        """
        A change of "\(key)" of \(className(of: type(of: self))) was announced at the index \
        \(first), which no element can have.
        """)
    }
    let key = self.key(named: key)
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

  /// Closes a change of the elements at some indexes.
  func conclude(_ kind: KeyValueChange, at indexes: RangeSet<Int>, ofKey key: String) {
    _ = self.key(named: key).withKey { key in
      withIndexSet(indexes) {
        if let indexes = $0 {
          kvo_did_change_indexes(boundHeader, kind.cKind, indexes, key)
        } else {
          kvo_did_change(boundHeader, key)
        }
      }
    }
  }

  /// Opens a change of a set. The members have the set's own type if the class knows it.
  func announce(_ kind: KeyValueSetMutation, of members: Set<AnyHashable>, ofKey key: String) {
    let key = self.key(named: key)
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
