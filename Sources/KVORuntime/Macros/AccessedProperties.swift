public import CKVORuntime

// Functions that the accessors made by `@KVO` call, for properties that can't have a wrapper (Q3, Q6).

/// A change of a property without a wrapper, between `_beginChange` and `_endChange`. For code that `@KVO`
/// makes.
@frozen
public struct _OpenChange {
  // Nil if the change has no observers.
  @usableFromInline let frame: OpaquePointer?

  @inlinable
  init(_ frame: OpaquePointer?) { self.frame = frame }
}

extension KVOObject {
  /// Reports a read of the key to the thread's read recorder, if there is one. For code that `@KVO` makes.
  /// May be called on any thread.
  @inlinable @inline(__always)
  public final func _readsKey(_ key: StaticString) {
    if _slowPath(kvo_is_recording()) { reportRead(of: key) }
  }

  /// Reports a read of a property to the thread's read recorder, if there is one. For code that `@KVO` makes. May be
  /// called on any thread.
  ///
  /// - Parameter property: The property, which tells it from a subclass's own property of the same name.
  @inlinable @inline(__always)
  public static func _readsKey<Root: KVOObject, Value>(
    _ object: Root, _ key: StaticString, _ property: @autoclosure () -> KeyPath<Root, Value>
  ) {
    if _slowPath(kvo_is_recording()) { object.reportRead(of: key, property) }
  }

  /// Opens an automatic change of a property. For code that `@KVO` makes. May be called on any thread.
  ///
  /// - Parameter property: The property, which tells it from a subclass's own property of the same name.
  /// - Returns: the change, to be passed to `_endChange` on the same thread.
  @inlinable @inline(__always)
  public static func _beginChange<Root: KVOObject, Value>(
    _ object: Root, _ key: StaticString, _ property: @autoclosure () -> KeyPath<Root, Value>
  ) -> _OpenChange {
    let isObserved = _slowPath(kvo_binding_is_observed(headerAddress(of: object)))
    return _OpenChange(isObserved ? object.openChange(of: key, property, inPlace: false) : nil)
  }

  /// Opens the automatic change of an in-place mutation, as `_beginChange` does. For code that `@KVO` makes.
  @inlinable @inline(__always)
  public static func _beginChangeInPlace<Root: KVOObject, Value>(
    _ object: Root, _ key: StaticString, _ property: @autoclosure () -> KeyPath<Root, Value>
  ) -> _OpenChange {
    let isObserved = _slowPath(kvo_binding_is_observed(headerAddress(of: object)))
    return _OpenChange(isObserved ? object.openChange(of: key, property, inPlace: true) : nil)
  }

  /// Closes a change that `_beginChange` or `_beginChangeInPlace` opened, with the same property. For code that `@KVO`
  /// makes.
  @inlinable @inline(__always)
  public static func _endChange<Root: KVOObject, Value>(
    _ object: Root, _ change: _OpenChange, _ key: StaticString,
    _ property: @autoclosure () -> KeyPath<Root, Value>
  ) {
    if let frame = change.frame {
      kvo_stored_property_did_change(frame)
    } else if _slowPath(kvo_binding_came_to_be_observed(headerAddress(of: object))) {
      object.lookAgain(at: key, property)
    }
  }

  /// Opens an automatic change of a property that a superclass stores, with or without a wrapper. For code that `@KVO`
  /// makes. May be called on any thread.
  ///
  /// - Parameter property: The overriding property, which tells it from a subclass's own property of the same name.
  /// - Returns: the change, to be passed to `_endChange` on the same thread.
  @inlinable @inline(__always)
  public static func _beginOverride<Root: KVOObject, Value>(
    _ object: Root, _ key: StaticString, _ property: @autoclosure () -> KeyPath<Root, Value>
  ) -> _OpenChange {
    let isObserved = _slowPath(kvo_binding_is_observed(headerAddress(of: object)))
    return _OpenChange(isObserved ? object.openOverride(of: key, property) : nil)
  }

  @usableFromInline @inline(never)
  final func reportRead(of key: StaticString) { reportRead(of: { key.interned }) }

  // Opens the change by the key: the class finds the runtime's identifier for it, which is the address of the storage
  // if the superclass has an `@Observed` property.
  @usableFromInline @inline(never)
  final func openOverride(
    of key: StaticString, _ property: () -> AnyKeyPath
  ) -> OpaquePointer? {
    var setting = kvo_part()
    setting.kind = .KVO_SETTING
    return kvo_stored_property_will_change_part(header, interned(key, property), &setting)
  }

  @usableFromInline @inline(never)
  final func reportRead(of key: StaticString, _ property: () -> AnyKeyPath) {
    reportRead(of: { interned(key, property) })
  }

  @usableFromInline @inline(never)
  final func openChange(
    of key: StaticString, _ property: () -> AnyKeyPath, inPlace: Bool
  ) -> OpaquePointer? {
    let key = interned(key, property)
    return inPlace
      ? kvo_stored_property_will_change_key_in_place(header, key)
      : kvo_stored_property_will_change_key(header, key)
  }

  @usableFromInline @inline(never)
  final func lookAgain(at key: StaticString, _ property: () -> AnyKeyPath) {
    kvo_stored_property_notify_late_observers_key(header, interned(key, property))
  }

  private final func interned(
    _ key: StaticString, _ property: () -> AnyKeyPath
  ) -> UnsafePointer<CChar> {
    KVOClass.hiddenKey(key, property, in: self)?.interned ?? key.interned
  }

}

extension StaticString {
  // A literal ends with a NUL, so its memory can be used as a C string. Text beyond ASCII can have several
  // spellings.
  fileprivate var interned: UnsafePointer<CChar> {
    guard isASCII, hasPointerRepresentation else { return KeyName.of("\(self)").interned }
    let text = UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    guard let interned = kvo_key_intern(text) else {
      KVODiagnostics.stop("No memory for the key \"\(self)\".")
    }
    return interned
  }
}
