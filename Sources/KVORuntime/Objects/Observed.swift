public import CKVORuntime

// The property wrapper. Where the compiler can fold the key path to the storage, setting an unobserved object's
// property is a look at its header and a store; in-place mutation is an `InPlaceChange` (E4).

/// An observable stored property of a `KVOObject` subclass: `@Observed var balance = 0.0`.
///
/// Every change notifies: assignment, `+=`, `append`, `inout`, a write through a key path,
/// key-value coding. In-place mutation copies nothing unless an observer asks for the old value.
/// While nobody observes the object, getting and setting cost what they cost for any other
/// property.
///
/// The accessors are transparent: they are compiled into the property's own, where
/// `object[keyPath: storage()]` folds to the field's address. Key path objects to the storage are
/// made only in generic classes, in unoptimised code, and in `_modify`, which is a coroutine and is
/// not folded.
///
/// A `didSet` on the property makes the compiler replace in-place mutation by a copy that is set.
@propertyWrapper
@frozen
public struct Observed<Value> {
  // The only stored property: an `Observed` and its value have one address.
  @usableFromInline var value: Value

  /// The property with its first value, which notifies nobody.
  @inlinable @inline(__always)
  public init(wrappedValue: Value) {
    value = wrappedValue
  }

  @available(*, unavailable, message: "@Observed works in KVOObject subclasses")
  public var wrappedValue: Value {
    get { fatalError("@Observed works in KVOObject subclasses") }
    set { fatalError("@Observed works in KVOObject subclasses") }
  }

  /// The property's value, as the compiler reads and sets it: the object and two key paths, which
  /// mostly are folded, say where it lies.
  @inlinable @inline(__always)
  // Where an error without a line leads here, `Root` is a class that is no subclass of KVOObject.
  public static subscript<Root: KVOObject>(
    _enclosingInstance object: Root,
    wrapped wrapped: @autoclosure () -> ReferenceWritableKeyPath<Root, Value>,
    storage storage: @autoclosure () -> ReferenceWritableKeyPath<Root, Observed<Value>>
  ) -> Value {
    @_transparent
    get {
      if _slowPath(kvo_is_recording()) {
        // The results are used, so that calls without effects are not taken for needless ones.
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
      return object[keyPath: storage()].value
    }
    @_transparent
    set {
      var change: OpaquePointer? = nil
      let header = headerAddress(of: object)
      if _slowPath(kvo_binding_is_observed(header)) {
        if MemoryLayout<Value>.size == 0 {
          change = willChange(object, wrapped())
        } else {
          let address = withUnsafeMutablePointer(to: &object[keyPath: storage()]) {
            UnsafeRawPointer($0)
          }
          change =
            kvo_uniform_will(header, address) ?? willChange(object, insteadOf: address, wrapped)
        }
      }
      object[keyPath: storage()].value = newValue
      if let change {
        kvo_uniform_did(change)
      } else if _slowPath(kvo_binding_came_to_be_observed(header)) {
        if MemoryLayout<Value>.size == 0 {
          lookAgain(object, wrapped())
        } else {
          let address = withUnsafeMutablePointer(to: &object[keyPath: storage()]) {
            UnsafeRawPointer($0)
          }
          lookAgain(object, address, wrapped)
        }
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

/// Whether a key path to the storage is sure to be folded to an address; known when the accessor is
/// compiled. What is not folded then is not compiled either: one key path object to the storage, in
/// whatever branch, and the optimiser must check each access to the property for exclusivity.
@usableFromInline @_transparent
func isFolded<Root, Value>(_ root: Root.Type, _ value: Value.Type) -> Bool {
  MemoryLayout<Value>.size != 0 && _isConcrete(root) && !_isDebugAssertConfiguration()
}

/// Opens the change of a property whose type takes no room: its address is another's as well, so it is
/// announced by key.
@usableFromInline @inline(never)
func willChange(_ object: KVOObject, _ property: AnyKeyPath) -> OpaquePointer? {
  kvo_uniform_will_key(object.header, object.keyName(of: property).interned)
}

/// Opens the change of a property if what was accessed is not the property but a copy: in generic
/// classes whose superclass is of a library built for library evolution.
@usableFromInline @inline(never)
func willChange(
  _ object: KVOObject, insteadOf address: UnsafeRawPointer, _ property: () -> AnyKeyPath
) -> OpaquePointer? {
  guard !kvo_binding_holds(object.header, address) else { return nil }
  return observedStorage(of: object, property()).flatMap {
    kvo_uniform_will(object.header, object.address + $0.offset)
  }
}

/// Where the property of a key path lies, if it is not at its address.
func observedStorage(of object: KVOObject, _ property: AnyKeyPath) -> Field? {
  KVOClass.of(object).property(object.keyName(of: property).string)?.observedStorage
}

/// `KVOObject.header` for inlinable code.
@inlinable @inline(__always)
func headerAddress(of object: KVOObject) -> UnsafeMutableRawPointer {
  Unmanaged.passUnretained(object).toOpaque() + 16
}
