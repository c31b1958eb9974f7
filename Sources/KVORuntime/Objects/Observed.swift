public import CKVORuntime

// The property wrapper. If the compiler can fold the key path to the storage, setting a property of an
// unobserved object is a load of its header and a store. In-place mutation uses an `InPlaceChange` (E4).

/// A property wrapper that makes a stored property of a `KVOObject` subclass observable.
///
/// ```swift
/// class Account: KVOObject {
///   @Observed var balance = 0.0
/// }
/// ```
///
/// Every kind of change notifies: assignment, `+=`, `append`, `inout`, a write through a key path, key-value
/// coding. In-place mutation copies nothing unless something keeps the old value, such as for an observer that
/// asks for it. While the object has no observers, getting and setting cost as much as for any other property.
///
/// A `didSet` on the property makes the compiler replace in-place mutation by setting a changed copy.
@propertyWrapper
@frozen
public struct Observed<Value> {
  // The only stored property, so that an `Observed` and its value have the same address.
  /// The value. Setting it notifies no observers. For code that `@KVO` makes.
  public var _value: Value

  /// Creates the property with its initial value, which notifies no observers.
  @inlinable @inline(__always)
  public init(wrappedValue: Value) {
    _value = wrappedValue
  }

  /// Unavailable: an `@Observed` property works only in a subclass of `KVOObject`.
  @available(*, unavailable, message: "@Observed works in KVOObject subclasses")
  public var wrappedValue: Value {
    get { fatalError("@Observed works in KVOObject subclasses") }
    set { fatalError("@Observed works in KVOObject subclasses") }
  }

  /// Accesses the property's value. The compiler calls this subscript when a program reads or sets the
  /// property.
  @inlinable @inline(__always)
  // If an error without a line leads here, `Root` is a class that is not a subclass of KVOObject.
  //
  // The accessors are transparent: they are compiled into the property's own, where the compiler folds
  // `object[keyPath: storage()]` to the field's address. Key path objects to the storage are created only in
  // generic classes, in unoptimised code, and in `_modify`, a coroutine, in which nothing is folded.
  public static subscript<Root: KVOObject>(
    _enclosingInstance object: Root,
    wrapped wrapped: @autoclosure () -> ReferenceWritableKeyPath<Root, Value>,
    storage storage: @autoclosure () -> ReferenceWritableKeyPath<Root, Observed<Value>>
  ) -> Value {
    @_transparent
    get {
      if _slowPath(kvo_is_recording()) {
        // The results are used, so that the optimiser does not remove the calls as free of effects.
        let header = headerAddress(of: object)
        if !isFolded(Root.self, Value.self) {
          guard recordRead(header, wrapped, storage) else { recordingFailed() }
        } else if !recordRead(header, wrapped) {
          let address = withUnsafeMutablePointer(to: &object[keyPath: storage()]) {
            UnsafeMutableRawPointer($0)
          }
          guard recordRead(header, wrapped, at: address) else { recordingFailed() }
        }
      }
      return object[keyPath: storage()]._value
    }
    @_transparent
    set {
      let header = headerAddress(of: object)
      let isa = kvo_binding_marked_isa(header)
      let isObserved = _slowPath(isa != 0)
      if MemoryLayout<Value>.size == 0 {
        let change = isObserved ? willChange(object, wrapped()) : nil
        object[keyPath: storage()]._value = newValue
        if let change {
          kvo_stored_property_did_change(change)
        } else if _slowPath(kvo_binding_came_to_be_observed(header)) {
          lookAgain(object, wrapped())
        }
        return
      }
      let place: UnsafeMutablePointer<Observed<Value>>
      let isSet: Bool
      if _isPOD(Value.self) {
        // One access: it stores the value, or finds the address of a property that may be observed.
        (place, isSet) = withUnsafeMutablePointer(to: &object[keyPath: storage()]) { place in
          let isSet = _fastPath(!isMarked(isa, header, place))
          if isSet { place.initialize(to: Observed(wrappedValue: newValue)) }
          return (place, isSet)
        }
      } else if isObserved {
        // Stored by an assignment of its own, which releases the old value after its access: a deinit may set the
        // property.
        place = withUnsafeMutablePointer(to: &object[keyPath: storage()]) { $0 }
        isSet = _fastPath(!isMarked(isa, header, place))
        if isSet { object[keyPath: storage()]._value = newValue }
      } else {
        object[keyPath: storage()]._value = newValue
        if _slowPath(kvo_binding_came_to_be_observed(header)) {
          lookAgain(
            object, withUnsafeMutablePointer(to: &object[keyPath: storage()]) { $0 }, wrapped)
        }
        return
      }
      if isSet {
        let hasComeToBeObserved =
          isObserved
          ? kvo_binding_came_to_be_marked(header, place) : kvo_binding_came_to_be_observed(header)
        if _slowPath(hasComeToBeObserved) { lookAgain(object, place, wrapped) }
        return
      }
      if _isPOD(Value.self) && MemoryLayout<Value>.size == MemoryLayout<UInt64>.size {
        let word = unsafeBitCast(newValue, to: UInt64.self)
        if _fastPath(kvo_stored_property_set_word(header, place, word)) { return }
      } else if let change = kvo_stored_property_will_change(header, place) {
        place.pointee._value = newValue
        kvo_stored_property_did_change(change)
        return
      }
      let change = willChange(object, insteadOf: place, wrapped)
      object[keyPath: storage()]._value = newValue
      if let change {
        kvo_stored_property_did_change(change)
      } else if kvo_binding_came_to_be_observed(header) {
        lookAgain(object, place, wrapped)
      }
    }
    _modify {
      var change = InPlaceChange()
      let address =
        MemoryLayout<Value>.size == 0
        ? change.begin(object, wrapped(), storage())
        : change.begin(headerAddress(of: object), storage())
      defer { change.end() }
      yield &address.assumingMemoryBound(to: Value.self).pointee
    }
  }
}

/// Whether a key path to the storage is certain to be folded to an address. This is known when the accessor
/// is compiled, so that the other branch is not compiled at all. A single key path object to the storage, in
/// any branch, would make the optimiser check each access to the property for exclusivity.
@usableFromInline @_transparent
func isFolded<Root, Value>(_ root: Root.Type, _ value: Value.Type) -> Bool {
  MemoryLayout<Value>.size != 0 && _isConcrete(root) && !_isDebugAssertConfiguration()
}

/// `kvo_isa_marks` without a call. With a call of C in the access to the property, the optimiser would retain the
/// object and record the access.
@usableFromInline @_transparent
func isMarked(
  _ isa: UInt, _ header: UnsafeMutableRawPointer, _ place: UnsafeMutableRawPointer
) -> Bool {
  let id = UInt(bitPattern: place) &- UInt(bitPattern: header)
  let shift = UInt(bitPattern: KVO_ISA_MARK_SHIFT)
  guard _slowPath(isa != 0) else { return false }
  if isa &>> (shift &+ (id &>> 3) & 15) & 1 != 0 { return true }
  let words = UnsafePointer<UInt>(bitPattern: isa & (1 &<< shift &- 1)).unsafelyUnwrapped
  return id >= words[1]
}

/// Opens the change of a property of a zero-sized type by its key, because it shares its address with another
/// property.
@usableFromInline @inline(never)
func willChange(_ object: KVOObject, _ property: AnyKeyPath) -> OpaquePointer? {
  kvo_stored_property_will_change_key(object.header, object.keyName(of: property).interned)
}

/// Opens the change of a property if the accessed address is that of a copy. That happens in generic classes
/// whose superclass belongs to a library built for library evolution.
@usableFromInline @inline(never)
func willChange(
  _ object: KVOObject, insteadOf address: UnsafeRawPointer, _ property: () -> AnyKeyPath
) -> OpaquePointer? {
  guard !kvo_binding_holds(object.header, address) else { return nil }
  return observedStorage(of: object, property()).flatMap {
    kvo_stored_property_will_change(object.header, object.address + $0.offset)
  }
}

/// The field of a key path's property, for a property that was not accessed at its own address.
func observedStorage(of object: KVOObject, _ property: AnyKeyPath) -> Field? {
  KVOClass.of(object).property(object.keyName(of: property).string)?.observedStorage
}

/// The address of `KVOObject.header`, for inlinable code.
@inlinable @inline(__always)
func headerAddress(of object: KVOObject) -> UnsafeMutableRawPointer {
  Unmanaged.passUnretained(object).toOpaque() + 16
}
