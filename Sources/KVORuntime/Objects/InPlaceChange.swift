internal import CKVORuntime
internal import CSwiftRuntime

/// One in-place mutation of an `@Observed` property, from before its access to after.
///
/// The compiler doesn't fold a key path inside a coroutine, and mutating through the key path
/// object costs ten times as much as mutating at the address. So the address is taken out of the
/// key path, and the access, which the compiler would have checked for exclusivity, is begun and
/// ended here by the runtime's own functions. Will comes before the access and did after it:
/// observers may read the property in both.
///
/// Where nobody observes the object before, an observer registered on another thread since is told
/// after it. That takes the object's header, with the value's address; or, if the
/// property's type takes no room, so that its address tells nothing, an object that remembers it.
///
/// Four words, which is what a coroutine's caller has room for without allocating.
@frozen @usableFromInline
struct InPlaceChange {
  // The runtime links the record into the thread's list of accesses. It doesn't move: the
  // mutation's coroutine frame is where this variable lives from its one `begin` to its one `end`.
  @usableFromInline var access: (UInt, UInt, UInt) = (0, 0, 0)
  // The open change, or what nobody was there to open one for, with a bit to tell it by: the object's
  // header, or an `UnobservedProperty`.
  @usableFromInline var change: UInt = 0

  @inlinable @inline(__always)
  init() {}

  /// Calls the prior observers, then begins the access. Returns the value's address.
  @usableFromInline @inline(never)
  mutating func begin(
    _ header: UnsafeMutableRawPointer, _ storage: AnyKeyPath
  ) -> UnsafeMutableRawPointer {
    let address = StorageKeyPath.address(of: storage, header)
    if kvo_binding_is_observed(header) {
      // An overlapping access stops the program before old is read in the middle of it.
      kvo_swift_check_access(address, true)
      change = UInt(bitPattern: kvo_uniform_will(header, address))
    } else {
      change = UInt(bitPattern: header) | Self.isHeader
    }
    withRecord { kvo_swift_begin_modify(address, $0) }
    return address
  }

  /// The same for a property whose type takes no room.
  @usableFromInline @inline(never)
  mutating func begin(
    _ object: KVOObject, _ property: AnyKeyPath, _ storage: AnyKeyPath
  ) -> UnsafeMutableRawPointer {
    if kvo_binding_is_observed(object.header) {
      change = UInt(bitPattern: willChange(object, property))
    } else {
      let unobserved = UnobservedProperty(object: object, property: property)
      change = UInt(bitPattern: Unmanaged.passRetained(unobserved).toOpaque()) | Self.isProperty
    }
    let address = StorageKeyPath.address(of: storage, object.header)
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
      // The record begins with the address, unless the program has turned exclusivity's checks off.
      let header = UnsafeMutableRawPointer(bitPattern: change & ~Self.isHeader)!
      guard kvo_binding_came_to_be_observed(header), let address else { return }
      kvo_uniform_look(header, address)
    } else if let frame = OpaquePointer(bitPattern: change) {
      kvo_uniform_did(frame)
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

/// A property without an address of its own, of an object that nobody observed when a mutation of it
/// began.
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
