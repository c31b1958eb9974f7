public import CKVORuntime

// Automatic changes of a property around a body, such as that of its setter (D6, E1, E3, E5, F2). The C core opens and
// closes them as it does those of `@Observed` properties and of setting by key (`binding.c`, `Property.swift`): further
// changes of the key by the same thread join them, and so do changes of what the key is derived from.
extension KeyValueObserving where Self: KVOObject {
  /// Calls a body as the setter of a property, and notifies the property's observers when it ends, even if it throws.
  ///
  /// The setter of a computed property, or of an override, uses it to be one change, whatever it sets:
  ///
  /// ```swift
  /// var title: String {
  ///   get { store["title"] ?? "" }
  ///   set {
  ///     withAutomaticChange(of: \.title) {
  ///       store["title"] = newValue
  ///       isDirty = true
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// There is one notification, with the property's value before the body as the old value and the value after it as
  /// the new one; prior observers are called before the body. Changes that this thread makes in the body join it if
  /// they are changes of the property, such as by `super.title = newValue`, or of what its getter reads or what is
  /// declared to affect it. All other changes in the body notify as usual.
  ///
  /// Unlike `withChange(of:_:)`, which makes a manual change, it notifies no observer of the property if the class has
  /// turned automatic notification off for it.
  ///
  /// A key path that is not a key and reads nothing observable has no observers, so only the body is called. May be
  /// called on any thread that may set the property.
  ///
  /// - Returns: The result of the body.
  /// - Throws: What the body throws.
  /// - Complexity: O(1) after the key path's first use. It costs one load if the object is not observed.
  @inlinable
  public func withAutomaticChange<Value, R>(
    of keyPath: @autoclosure () -> KeyPath<Self, Value>, _ body: () throws -> R
  ) rethrows -> R {
    let isObserved = _slowPath(kvo_binding_is_observed(headerAddress(of: self)))
    let change = isObserved ? openAutomaticChange(of: keyPath()) : nil
    defer {
      if let change {
        closeAutomaticChange(change)
      } else if _slowPath(kvo_binding_came_to_be_observed(headerAddress(of: self))) {
        closeAutomaticChange(unopenedChange(of: keyPath()))
      }
    }
    return try body()
  }

  /// Calls a body as the setter of a key, and notifies the key's observers when it ends, even if it throws.
  ///
  /// It does for a key what `withAutomaticChange(of:_:)` does for a property, for example in the method that sets the
  /// key:
  ///
  /// ```swift
  /// func setVolume(_ volume: Int) {
  ///   withAutomaticChange(forKey: "volume") { level = volume }
  /// }
  /// ```
  ///
  /// - Returns: The result of the body.
  /// - Throws: What the body throws.
  /// - Complexity: O(1), except for the key's length. It costs one load if the object is not observed.
  @inlinable
  public func withAutomaticChange<R>(
    forKey key: String, _ body: () throws -> R
  ) rethrows -> R {
    let isObserved = _slowPath(kvo_binding_is_observed(headerAddress(of: self)))
    let change = isObserved ? openAutomaticChange(ofKey: key) : nil
    defer {
      if let change {
        closeAutomaticChange(change)
      } else if _slowPath(kvo_binding_came_to_be_observed(headerAddress(of: self))) {
        closeAutomaticChange(unopenedChange(ofKey: key))
      }
    }
    return try body()
  }

  /// Calls a body as the setter of a key that was looked up before, and notifies the key's observers when it ends, even
  /// if it throws.
  ///
  /// It notifies as `withAutomaticChange(forKey:_:)` with the key's string does.
  ///
  /// - Returns: The result of the body.
  /// - Throws: What the body throws.
  /// - Complexity: O(1). It costs one load if the object is not observed.
  @inlinable
  public func withAutomaticChange<Value, R>(
    forKey key: KeyValueKey<Self, Value>, _ body: () throws -> R
  ) rethrows -> R {
    try withAutomaticChange(forKey: key.name, body)
  }
}

/// An automatic change around a body of an object that may be observed.
@usableFromInline
struct AutomaticChange {
  /// Nil if the change joins another one, or the object was not observed when the body began.
  let frame: OpaquePointer?
  /// Nil if there is no such key. Keeps the key's name, which for a key path with arguments exists only while it is in
  /// use (`SubscriptKeyPool`).
  let key: ObservedKey?
}

extension KVOObject {
  @usableFromInline
  func openAutomaticChange(of keyPath: AnyKeyPath) -> AutomaticChange {
    opened(changedKey(of: keyPath))
  }

  @usableFromInline
  func openAutomaticChange(ofKey key: String) -> AutomaticChange {
    // If a getter announces its own key, its class gets a hint.
    recordChange(of: key)
    hintAtUnknownKey(key)
    return opened(observedKey(named: key))
  }

  /// For observers that another thread has registered in the body.
  @usableFromInline
  func unopenedChange(of keyPath: AnyKeyPath) -> AutomaticChange {
    AutomaticChange(frame: nil, key: changedKey(of: keyPath))
  }

  @usableFromInline
  func unopenedChange(ofKey key: String) -> AutomaticChange {
    AutomaticChange(frame: nil, key: observedKey(named: key))
  }

  @usableFromInline
  func closeAutomaticChange(_ change: AutomaticChange) {
    guard let key = change.key else { return }
    withExtendedLifetime(key) { closeChange(change.frame, of: header, key.name) }
  }

  private func opened(_ key: ObservedKey?) -> AutomaticChange {
    AutomaticChange(frame: key.flatMap { openChange(of: $0.name) }, key: key)
  }

  private func openChange(of name: KeyName) -> OpaquePointer? {
    if let property = KVOClass.of(self).property(name.string) { return property.willChange(self) }
    return kvo_stored_property_will_change_key(header, name.interned)
  }

  // The class may not have the key although it is observed: objects can answer it in `value(forUndefinedKey:)`.
  private func observedKey(named key: String) -> ObservedKey? {
    if let property = KVOClass.of(self).property(key) {
      return ObservedKey(name: property.source ?? property.name)
    }
    return isObserved(forKey: key) ? ObservedKey(name: .of(key)) : nil
  }
}
