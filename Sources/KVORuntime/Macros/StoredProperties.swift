public import CKVORuntime
internal import CSwiftRuntime

// Functions that the accessors made by `@KVO` call, for a property that is stored in an `Observed` beside it (Q1). They
// do what the accessors of the wrapper do, without key paths to the storage: the class's own code can name it. So
// in-place mutation is an access that the compiler knows, to the storage itself.
//
// `_Place` and `_Address` are safe for the compiler: only the runtime can use the pointer in them. The pointer is taken
// in an access of its own, which has ended before any code of the program runs.

extension KVOObject {
  /// Where an `@Observed` property is stored. For code that `@KVO` makes.
  @frozen @safe
  public struct _Place<Value> {
    @usableFromInline let pointer: UnsafeMutablePointer<Observed<Value>>

    /// The place of storage in an object.
    @inlinable @inline(__always)
    public init(_ storage: inout Observed<Value>) {
      pointer = withUnsafeMutablePointer(to: &storage) { $0 }
    }
  }

  /// The address of an `@Observed` property's storage. For code that `@KVO` makes.
  @frozen @safe
  public struct _Address {
    @usableFromInline let pointer: UnsafeMutableRawPointer

    /// The address of storage in an object.
    @inlinable @inline(__always)
    public init<Value>(_ storage: inout Observed<Value>) {
      pointer = withUnsafeMutablePointer(to: &storage) { UnsafeMutableRawPointer($0) }
    }
  }

  /// Reports a read of the property to the thread's read recorder, if there is one. For code that `@KVO` makes. May be
  /// called on any thread.
  @inlinable @inline(__always)
  public static func _reads<Root: KVOObject, Value>(
    _ object: Root, _ key: StaticString, _ property: @autoclosure () -> KeyPath<Root, Value>,
    at place: () -> _Place<Value>
  ) {
    guard _slowPath(kvo_is_recording()) else { return }
    // The address of a value without a size may be outside of the object.
    if MemoryLayout<Value>.size == 0 { return object.reportRead(of: key, property) }
    let header = headerAddress(of: object)
    guard recordRead(header, property) || recordRead(header, property, at: place().pointer) else {
      recordingFailed()
    }
  }

  /// Sets the property, and notifies its observers. For code that `@KVO` makes. May be called on any thread.
  ///
  /// - Parameter access: Calls its argument with the address of the storage, in one access.
  @inlinable @inline(__always)
  public static func _sets<Root: KVOObject, Value>(
    _ object: Root, _ key: StaticString, _ property: @autoclosure () -> KeyPath<Root, Value>,
    _ value: Value, at access: ((_Place<Value>) -> Bool) -> Bool
  ) {
    let header = headerAddress(of: object)
    let isa = kvo_binding_marked_isa(header)
    let isObserved = _slowPath(isa != 0)
    // Not optional: the address of a value without a size may be NULL.
    var place = header.assumingMemoryBound(to: Observed<Value>.self)
    // One access: it stores a trivial value, or finds the address of a property that may be observed. The old value of
    // any other type is released after the access, since its deinit may set the property.
    let isUnmarked = access { found in
      let found = found.pointer
      place = found
      let isUnmarked =
        MemoryLayout<Value>.size == 0 ? !isObserved : _fastPath(!isMarked(isa, header, found))
      if _isPOD(Value.self), isUnmarked { found.initialize(to: Observed(wrappedValue: value)) }
      return isUnmarked
    }
    if isUnmarked {
      if !_isPOD(Value.self) { _replace(place, value) }
      let hasComeToBeObserved =
        isObserved
        ? kvo_binding_came_to_be_marked(header, place) : kvo_binding_came_to_be_observed(header)
      if _slowPath(hasComeToBeObserved) { object.lookAgain(at: key, property, place) }
      return
    }
    if _isPOD(Value.self) && MemoryLayout<Value>.size == MemoryLayout<UInt64>.size {
      let word = unsafeBitCast(value, to: UInt64.self)
      if _fastPath(kvo_stored_property_set_word(header, place, word)) { return }
    }
    let change =
      MemoryLayout<Value>.size == 0
      ? object.openChange(of: key, property, inPlace: false)
      : kvo_stored_property_will_change(header, place)
    _replace(place, value)
    if let change {
      kvo_stored_property_did_change(change)
    } else if kvo_binding_came_to_be_observed(header) {
      object.lookAgain(at: key, property, place)
    }
  }

  @inlinable @inline(__always)
  final func lookAgain<Value>(
    at key: StaticString, _ property: () -> AnyKeyPath,
    _ place: UnsafeMutablePointer<Observed<Value>>
  ) {
    if MemoryLayout<Value>.size == 0 { return lookAgain(at: key, property) }
    kvo_stored_property_notify_late_observers(headerAddress(of: self), place)
  }

  // Releases the old value last: its deinit may set the property. In generic code an assignment may release it first.
  @inlinable @inline(__always)
  static func _replace<Value>(_ place: UnsafeMutablePointer<Observed<Value>>, _ value: Value) {
    let old = place.move()
    withExtendedLifetime(old) { place.initialize(to: Observed(wrappedValue: value)) }
  }

  /// Begins an in-place mutation of the property: calls its prior observers. For code that `@KVO` makes. May be called
  /// on any thread.
  ///
  /// - Parameter address: Returns the address of the storage. It is called only if the object is observed.
  /// - Returns: The open change, or what is needed to notify an observer that another thread registers during the
  ///   mutation. It is one word: with an access of three words, it fills the room that a coroutine's caller provides
  ///   without allocating. For the same reason `address` captures nothing but the object.
  @inlinable @inline(__always)
  public static func _willModify<Root: KVOObject, Value>(
    _ object: Root, _ key: StaticString, _ property: @autoclosure () -> KeyPath<Root, Value>,
    at address: () -> _Address
  ) -> UInt {
    let header = headerAddress(of: object)
    guard _slowPath(kvo_binding_marked_isa(header) != 0) else { return UInt(bitPattern: header) }
    return MemoryLayout<Value>.size == 0
      ? object.willModify(key, property) : object.willModify(at: address)
  }

  /// Ends an in-place mutation: calls the observers. For code that `@KVO` makes.
  @inlinable @inline(__always)
  public static func _didModify(_ change: UInt, _ key: StaticString) {
    if let header = UnsafeMutableRawPointer(bitPattern: change), change & 1 == 0,
      change &>> UInt(bitPattern: KVO_ISA_MARK_SHIFT) == 0, !kvo_binding_came_to_be_observed(header)
    {
      return
    }
    didModify(change, key)
  }

  // A value without a size shares its address with another property.
  @usableFromInline @inline(never)
  final func willModify(_ key: StaticString, _ property: () -> AnyKeyPath) -> UInt {
    let header = headerAddress(of: self)
    let isObserved = kvo_binding_is_observed(header)
    return Self.open(isObserved ? openChange(of: key, property, inPlace: true) : nil, header)
  }

  @usableFromInline @inline(never)
  final func willModify(at address: () -> _Address) -> UInt {
    let header = headerAddress(of: self)
    let place = address().pointer
    if kvo_isa_marks(kvo_binding_marked_isa(header), header, place) {
      // Stops the program on an overlapping access, before the old value is read in the middle of it.
      kvo_swift_check_access(place, true)
      return Self.open(kvo_stored_property_will_change_in_place(header, place), header)
    }
    let offset = UInt(bitPattern: place - header)
    guard offset < 1 << (UInt.bitWidth - KVO_ISA_MARK_SHIFT) else {
      return UInt(bitPattern: header)
    }
    return UInt(bitPattern: header) | offset << UInt(KVO_ISA_MARK_SHIFT)
  }

  private static func open(_ frame: OpaquePointer?, _ header: UnsafeMutableRawPointer) -> UInt {
    frame.map { UInt(bitPattern: $0) | 1 } ?? UInt(bitPattern: header)
  }

  @usableFromInline @inline(never)
  static func didModify(_ change: UInt, _ key: StaticString) {
    if change & 1 != 0, let frame = OpaquePointer(bitPattern: change & ~1) {
      return kvo_stored_property_did_change(frame)
    }
    let address = change & (1 << UInt(KVO_ISA_MARK_SHIFT) - 1)
    let header = UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
    let offset = Int(change >> UInt(KVO_ISA_MARK_SHIFT))
    if offset != 0 {
      guard kvo_binding_came_to_be_marked(header, header + offset) else { return }
      kvo_stored_property_notify_late_observers(header, header + offset)
    } else if kvo_binding_came_to_be_observed(header) {
      at(header.assumingMemoryBound(to: kvo_object.self)).lookAgain(atAllNamed: "\(key)")
    }
  }

  // The mutation does not say which property of that name has changed, if one hides another (Q2). Observers that have
  // just been added to another one are notified needlessly.
  private final func lookAgain(atAllNamed key: String) {
    for name in KVOClass.of(self).names([key]) {
      kvo_stored_property_notify_late_observers_key(header, KeyName.of(name).interned)
    }
  }
}
