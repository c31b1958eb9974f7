import CKVORuntime
import KVORuntime

/// What the C runtime sees of a Swift object. Its header is the first stored property of the root
/// class, right behind the two words that each Swift object begins with. Valid while the caller
/// holds the object.
func header(of object: KVOObject) -> UnsafeMutablePointer<kvo_object> {
  let address = Unmanaged.passUnretained(object).toOpaque()
  return (address + 2 * MemoryLayout<UInt>.size).assumingMemoryBound(to: kvo_object.self)
}

/// What the object's isa shows now; nil for an object that nobody observes.
func isa(of object: KVOObject) -> OpaquePointer? {
  withExtendedLifetime(object) { kvo_isa(header(of: object)) }
}

/// The class that the C runtime says the object has, once it has heard of Swift.
func coreClass(of object: KVOObject) -> OpaquePointer {
  _ = try? object.value(forKey: "no key at all")
  return withExtendedLifetime(object) { kvo_class_of(header(of: object)) }
}

func name(of cls: OpaquePointer) -> String { String(cString: kvo_class_name(cls)) }

/// Whether the object costs more than one that nobody observes.
func isSwapped(_ object: KVOObject) -> Bool { isa(of: object) != nil }
