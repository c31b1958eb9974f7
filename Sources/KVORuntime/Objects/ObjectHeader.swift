package import CKVORuntime
internal import CSwiftRuntime

/// Finds the C runtime's two words in a `KVOObject`. They are its first stored property, right behind Swift's
/// own object header.
///
/// Inlinable code contains the offset. It is therefore a constant, which `check()` verifies once. The C
/// runtime changes the words atomically on any thread, so no code here reads or writes them through the
/// stored property.
package enum ObjectHeader {
  /// The offset from the object's address to the header's.
  static var offset: Int { Int(KVO_SWIFT_HEADER_OFFSET) }

  /// The object's address. It is not a reference, because the object may be in its deinit.
  package static func object(of header: UnsafeMutablePointer<kvo_object>) -> UnsafeMutableRawPointer
  {
    UnsafeMutableRawPointer(header) - offset
  }

  /// The header of an object, for the package's other libraries. It is no member of `KVOObject`, so that subclasses in
  /// the package may have properties of any name.
  package static func of(_ object: KVOObject) -> UnsafeMutablePointer<kvo_object> {
    object.boundHeader
  }

  /// The class of an object. A dead object has one as well while its memory is held.
  static func type(of header: UnsafePointer<kvo_object>) -> KVOObject.Type {
    // An object's first word is the address of its class's metadata, which is what a metatype contains.
    unsafeBitCast(metadata(of: header), to: KVOObject.Type.self)
  }

  /// The address of the class metadata of an object.
  static func metadata(of header: UnsafePointer<kvo_object>) -> UnsafeRawPointer {
    (UnsafeRawPointer(header) - offset).load(as: UnsafeRawPointer.self)
  }

  /// Whether an address is inside the object with that header.
  static func isInside(_ address: UnsafeRawPointer, _ header: UnsafeMutableRawPointer) -> Bool {
    let object = UnsafeRawPointer(header) - offset
    let metadata = object.load(as: UnsafeRawPointer.self)
    return (object..<object + kvo_swift_instance_size(metadata)).contains(address)
  }

  /// The object as `<Account: 0x…>`, with the address that Swift code sees.
  static func describe(_ header: UnsafePointer<kvo_object>) -> String {
    let address = UInt(bitPattern: UnsafeRawPointer(header) - offset)
    return "<\(className(of: type(of: header))): 0x\(String(address, radix: 16))>"
  }

  /// Stops the program if this compiler lays classes out differently.
  static func check() {
    let object = KVOObject()
    let assumed = UnsafeRawPointer(object.header)
    let actual = withUnsafeMutablePointer(to: &object.headerStorage) { UnsafeRawPointer($0) }
    guard assumed == actual else {
      KVODiagnostics.stop(
        """
        The header of a KVOObject was expected at offset \(offset), but lies at \
        \(actual - UnsafeRawPointer(object.address)): this Swift lays out classes in another way \
        than the one that KVORuntime was made for.
        """)
    }
  }
}

extension KVOObject {
  /// The object's identity in the C runtime.
  var header: UnsafeMutablePointer<kvo_object> {
    (address + ObjectHeader.offset).assumingMemoryBound(to: kvo_object.self)
  }

  /// The header, for calls that may be the core's first use. It makes sure that the binding is installed,
  /// which the core asks for the class of an unobserved object.
  var boundHeader: UnsafeMutablePointer<kvo_object> {
    _ = CoreBinding.root
    return header
  }

  /// The object's address. Valid while the caller holds the object.
  var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The object with a header. The caller, a C function, holds the object.
  static func at(_ header: UnsafeMutablePointer<kvo_object>) -> KVOObject {
    Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: header)).takeUnretainedValue()
  }

  /// Whether the object has registrations, as the observed object or as an observer, that are not removed
  /// yet.
  var hasObservations: Bool {
    kvo_binding_has_observations(header)
  }
}
