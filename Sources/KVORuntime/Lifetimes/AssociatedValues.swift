internal import CKVORuntime

// Values that a program keeps with an object. The C core stores them (`associations.c`).

/// A key for values that are kept with objects, each as long as its object lives.
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
/// Each instance is a separate key. The program need not retain it while values are kept under it: they
/// retain it. May be used on any thread.
public final class KVOAssociation<Value>: Sendable {
  /// Creates a key that differs from all others. May be called on any thread.
  public init() {}
}

extension KVOObject {
  /// The value that is kept with this object under a key; nil if there is none. Setting nil removes it.
  ///
  /// A value is released when it is replaced, or when the object has died and its registrations have ended.
  /// May be used on any thread; a value that several threads share needs its own synchronisation.
  ///
  /// - Complexity: O(*n*) in the number of values kept with the object.
  public final subscript<Value>(association: KVOAssociation<Value>) -> Value? {
    get { AssociatedValue.read(association, with: boundHeader) }
    set { AssociatedValue.keep(newValue, association, with: boundHeader) }
  }
}

/// A value that is kept with an object. It retains its key, so that no other key gets the same address.
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
