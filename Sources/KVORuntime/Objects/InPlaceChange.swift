internal import CKVORuntime
internal import CSwiftRuntime

/// The state of one in-place mutation of an `@Observed` property, from before the access until after it.
///
/// The compiler doesn't fold a key path inside a coroutine, and mutating through the key path object costs
/// ten times as much as mutating at the address. So we take the address out of the key path. The compiler
/// then no longer checks the access for exclusivity, so the runtime's own functions begin and end it here.
/// The change opens before the access and closes after it, so that observers may read the property in both
/// phases.
///
/// If the object has no observer at the start, an observer that another thread registers during the mutation
/// is notified at the end (I3). That takes the object's header and the value's address. A property of a
/// zero-sized type shares its address with others, so an `UnobservedProperty` keeps its key path instead.
///
/// The size is four words, the room that a coroutine's caller provides without allocating.
@frozen @usableFromInline
struct InPlaceChange {
  // The Swift runtime links this record into the thread's list of accesses, so it must not move. It doesn't:
  // it lives in the mutation's coroutine frame from its one `begin` to its one `end`.
  @usableFromInline var access: (UInt, UInt, UInt) = (0, 0, 0)
  // The open change. If the object had no observer: the object's header or a retained `UnobservedProperty`,
  // tagged in the low bits.
  @usableFromInline var change: UInt = 0

  @inlinable @inline(__always)
  init() {}

  /// Calls the prior observers, then begins the access.
  ///
  /// - Returns: The value's address.
  @usableFromInline @inline(never)
  mutating func begin(
    _ header: UnsafeMutableRawPointer, _ storage: AnyKeyPath
  ) -> UnsafeMutableRawPointer {
    let address = StoredPropertyLookup.address(of: storage, header)
    if kvo_isa_marks(kvo_binding_marked_isa(header), header, address) {
      // Stops the program on an overlapping access, before the old value is read in the middle of it.
      kvo_swift_check_access(address, true)
      change = UInt(bitPattern: kvo_stored_property_will_change_in_place(header, address))
    } else {
      change = UInt(bitPattern: header) | Self.isHeader
    }
    withRecord { kvo_swift_begin_modify(address, $0) }
    return address
  }

  /// Calls the prior observers and begins the access of a property of a zero-sized type.
  ///
  /// - Returns: The value's address.
  @usableFromInline @inline(never)
  mutating func begin(
    _ object: KVOObject, _ property: AnyKeyPath, _ storage: AnyKeyPath
  ) -> UnsafeMutableRawPointer {
    if kvo_binding_is_observed(object.header) {
      let key = object.keyName(of: property).interned
      change = UInt(bitPattern: kvo_stored_property_will_change_key_in_place(object.header, key))
    } else {
      let unobserved = UnobservedProperty(object: object, property: property)
      change = UInt(bitPattern: Unmanaged.passRetained(unobserved).toOpaque()) | Self.isProperty
    }
    let address = StoredPropertyLookup.address(of: storage, object.header)
    withRecord { kvo_swift_begin_modify(address, $0) }
    return address
  }

  /// Ends the access, then calls the observers.
  @usableFromInline @inline(never)
  mutating func end() {
    let address = UnsafeRawPointer(bitPattern: access.0)
    withRecord { kvo_swift_end_modify($0) }
    if change & Self.isProperty != 0 {
      let unobserved = UnsafeRawPointer(bitPattern: change & ~Self.isProperty)!
      Unmanaged<UnobservedProperty>.fromOpaque(unobserved).takeRetainedValue().lookAgain()
    } else if change & Self.isHeader != 0 {
      // The record begins with the address, unless the program has disabled exclusivity checks.
      let header = UnsafeMutableRawPointer(bitPattern: change & ~Self.isHeader)!
      guard kvo_binding_came_to_be_observed(header), let address,
        kvo_isa_marks(kvo_binding_marked_isa(header), header, address)
      else { return }
      kvo_stored_property_notify_late_observers(header, address)
    } else if let frame = OpaquePointer(bitPattern: change) {
      kvo_stored_property_did_change(frame)
    }
  }

  private static var isHeader: UInt { 1 }
  private static var isProperty: UInt { 2 }

  private mutating func withRecord(_ body: (UnsafeMutablePointer<kvo_swift_access>) -> Void) {
    withUnsafeMutablePointer(to: &access) {
      body(UnsafeMutableRawPointer($0).assumingMemoryBound(to: kvo_swift_access.self))
    }
  }
}

/// A property of a zero-sized type whose object had no observer when the mutation began.
private final class UnobservedProperty {
  private let object: KVOObject
  private let property: AnyKeyPath

  init(object: KVOObject, property: AnyKeyPath) {
    self.object = object
    self.property = property
  }

  func lookAgain() {
    guard kvo_binding_came_to_be_observed(object.header) else { return }
    KVORuntime.lookAgain(object, property)
  }
}
