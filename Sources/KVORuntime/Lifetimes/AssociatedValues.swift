internal import CKVORuntime

// Values that a program keeps with an object: the C core hangs them at it (`associations.c`).

/// A key for values that are kept with objects, each as long as its object.
///
/// ```swift
/// extension Document {
///   private static let undoTitle = KVOAssociation<String>()
///   var undoTitle: String? {
///     get { self[Self.undoTitle] }
///     set { self[Self.undoTitle] = newValue }
///   }
/// }
/// ```
///
/// Each is a key of its own. It need not be kept as long as its values.
public final class KVOAssociation<Value>: Sendable {
  /// A key that is no other. Any thread.
  public init() {}
}

extension KVOObject {
  /// The value that is kept with this object under a key, nil if there is none; nil takes it away. It is let go of
  /// when another takes its place, or the object has died and its registrations have ended. Any thread; a value that
  /// several threads share is its author's to protect.
  ///
  /// - Complexity: O(*n*) in the number of values kept with the object.
  public final subscript<Value>(association: KVOAssociation<Value>) -> Value? {
    get { AssociatedValue.read(association, with: boundHeader) }
    set { AssociatedValue.keep(newValue, association, with: boundHeader) }
  }
}

/// A value as it hangs at an object. It holds its key, whose address is no other's as long.
final class AssociatedValue<Value> {
  private let key: KVOAssociation<Value>
  private let value: Value

  private init(_ key: KVOAssociation<Value>, _ value: Value) {
    self.key = key
    self.value = value
  }

  static func read(
    _ key: KVOAssociation<Value>, with header: UnsafeMutablePointer<kvo_object>
  ) -> Value? {
    let address = Unmanaged.passUnretained(key).toOpaque()
    let found = kvo_object_associated(header, address) {
      _ = Unmanaged<AnyObject>.fromOpaque($0).retain()
    }
    return found.map { Unmanaged<AssociatedValue>.fromOpaque($0).takeRetainedValue().value }
  }

  static func keep(
    _ value: Value?, _ key: KVOAssociation<Value>, with header: UnsafeMutablePointer<kvo_object>
  ) {
    let kept = value.map { Unmanaged.passRetained(AssociatedValue(key, $0)).toOpaque() }
    let address = Unmanaged.passUnretained(key).toOpaque()
    let error = failure {
      kvo_object_associate(
        header, address, kept, { Unmanaged<AnyObject>.fromOpaque($0).release() }, $0)
    }
    if let error { KVODiagnostics.stop(error.text) }
  }
}
