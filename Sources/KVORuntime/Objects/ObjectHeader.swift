internal import CKVORuntime
internal import CSwiftRuntime

/// Where the C runtime's two words lie in every `KVOObject`: its first stored property, right
/// behind the words of Swift's own header.
///
/// The offset is written into inlinable code, so it is a constant, compared with the truth once.
/// The words belong to the C runtime, which changes them atomically on any thread: nothing here
/// reads or writes them through the stored property.
enum ObjectHeader {
  /// From the object's address to the header's.
  static var offset: Int { Int(KVO_SWIFT_HEADER_OFFSET) }

  /// The object's address. Not a reference: the object may be at its end.
  static func object(of header: UnsafeMutablePointer<kvo_object>) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(header) - offset
  }

  /// The class of an object, of a dead one, too, whose memory is still held.
  static func type(of header: UnsafePointer<kvo_object>) -> KVOObject.Type {
    // An object's first word is its class's metadata, which is what a metatype is.
    unsafeBitCast(metadata(of: header), to: KVOObject.Type.self)
  }

  /// The address of that class's metadata.
  static func metadata(of header: UnsafePointer<kvo_object>) -> UnsafeRawPointer {
    (UnsafeRawPointer(header) - offset).load(as: UnsafeRawPointer.self)
  }

  /// Whether an address lies in the object with that header.
  static func isInside(_ address: UnsafeRawPointer, _ header: UnsafeMutableRawPointer) -> Bool {
    let object = UnsafeRawPointer(header) - offset
    let metadata = object.load(as: UnsafeRawPointer.self)
    return (object..<object + kvo_swift_instance_size(metadata)).contains(address)
  }

  /// `<Account: 0x…>`, with the address by which Swift knows the object.
  static func describe(_ header: UnsafePointer<kvo_object>) -> String {
    let address = UInt(bitPattern: UnsafeRawPointer(header) - offset)
    return "<\(className(of: type(of: header))): 0x\(String(address, radix: 16))>"
  }

  /// Stops the program if this compiler lays classes out in another way.
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
  /// What the C runtime knows the object by.
  var header: UnsafeMutablePointer<kvo_object> {
    (address + ObjectHeader.offset).assumingMemoryBound(to: kvo_object.self)
  }

  /// The header, for calls of the core that may come first: it asks the binding for the class of an
  /// object that nobody observes.
  var boundHeader: UnsafeMutablePointer<kvo_object> {
    _ = CoreBinding.root
    return header
  }

  /// Where the object lies. Valid while the caller holds the object.
  var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The object of a header, which the caller of a C function holds.
  static func at(_ header: UnsafeMutablePointer<kvo_object>) -> KVOObject {
    Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: header)).takeUnretainedValue()
  }

  /// Whether anything was ever registered with the object, or by it, and is not gone yet.
  var hasObservations: Bool {
    kvo_binding_has_observations(header)
  }
}
