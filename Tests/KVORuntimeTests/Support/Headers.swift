import CKVORuntime
import KVORuntime

/// The object as the C runtime sees it. Its header is the first stored property of the root class, right after the
/// two words that each Swift object begins with. Valid while the caller retains the object.
func header(of object: KVOObject) -> UnsafeMutablePointer<kvo_object> {
  let address = Unmanaged.passUnretained(object).toOpaque()
  return (address + 2 * MemoryLayout<UInt>.size).assumingMemoryBound(to: kvo_object.self)
}

/// The dynamic subclass that the isa names; nil for an unobserved object.
func isa(of object: KVOObject) -> OpaquePointer? {
  withExtendedLifetime(object) { kvo_isa(header(of: object)) }
}

/// The class that the C runtime reports, once it has learned about Swift.
func coreClass(of object: KVOObject) -> OpaquePointer {
  _ = try? object.value(forKey: "no key at all")
  return withExtendedLifetime(object) { kvo_class_of(header(of: object)) }
}

func name(of cls: OpaquePointer) -> String { String(cString: kvo_class_name(cls)) }

/// Whether the object uses more memory than an unobserved one.
func isSwapped(_ object: KVOObject) -> Bool { isa(of: object) != nil }
