import CFixtures
import CKVORuntime
import KVORuntime
import TestSupport

/// Owns a C account and its Swift wrapper.
final class CAccount {
  let pointer: UnsafeMutablePointer<account>
  let wrapped: ForeignObject

  init() {
    let object = kvo_object_create(account_class())!
    pointer = UnsafeMutableRawPointer(object).assumingMemoryBound(to: account.self)
    wrapped = ForeignObject(OpaquePointer(object))
    Lifetimes.keep(self)
  }

  deinit { kvo_object_release(pointer.object) }
}

extension UnsafeMutablePointer {
  /// The header that a C instance begins with.
  var object: UnsafeMutablePointer<kvo_object> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: kvo_object.self)
  }
}
