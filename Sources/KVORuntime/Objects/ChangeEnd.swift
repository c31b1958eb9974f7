internal import CKVORuntime

/// Closes the change of a key. Where none was opened, because nobody observed the object then, observers
/// registered on another thread meanwhile are told of what has been stored (I3).
func closeChange(
  _ frame: OpaquePointer?, of header: UnsafeMutablePointer<kvo_object>, _ name: KeyName
) {
  if let frame {
    kvo_uniform_did(frame)
  } else if kvo_binding_came_to_be_observed(header) {
    kvo_uniform_look_key(header, name.interned)
  }
}

/// The same for a property that was set without a change, at its address.
@usableFromInline @inline(never)
func lookAgain(
  _ object: KVOObject, _ address: UnsafeRawPointer, _ property: () -> AnyKeyPath
) {
  if kvo_binding_holds(object.header, address) {
    kvo_uniform_look(object.header, address)
  } else if let storage = observedStorage(of: object, property()) {
    kvo_uniform_look(object.header, object.address + storage.offset)
  }
}

/// The same for a property whose type takes no room.
@usableFromInline @inline(never)
func lookAgain(_ object: KVOObject, _ property: AnyKeyPath) {
  kvo_uniform_look_key(object.header, object.keyName(of: property).interned)
}
