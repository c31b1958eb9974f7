internal import CKVORuntime

/// Closes the change of a key. If none was opened because the object had no observer, notifies observers that
/// another thread registered during the store (I3).
func closeChange(
  _ frame: OpaquePointer?, of header: UnsafeMutablePointer<kvo_object>, _ name: KeyName
) {
  if let frame {
    kvo_stored_property_did_change(frame)
  } else if kvo_binding_came_to_be_observed(header) {
    kvo_stored_property_notify_late_observers_key(header, name.interned)
  }
}

/// Notifies observers that another thread registered while the property at `address` was set without opening
/// a change (I3).
@usableFromInline @inline(never)
func lookAgain(
  _ object: KVOObject, _ address: UnsafeRawPointer, _ property: () -> AnyKeyPath
) {
  if kvo_binding_holds(object.header, address) {
    kvo_stored_property_notify_late_observers(object.header, address)
  } else if let storage = observedStorage(of: object, property()) {
    kvo_stored_property_notify_late_observers(object.header, object.address + storage.offset)
  }
}

/// Notifies observers that another thread registered while a property of a zero-sized type was set. Such a
/// property has no address of its own, so its key identifies it.
@usableFromInline @inline(never)
func lookAgain(_ object: KVOObject, _ property: AnyKeyPath) {
  kvo_stored_property_notify_late_observers_key(
    object.header, object.keyName(of: property).interned)
}
