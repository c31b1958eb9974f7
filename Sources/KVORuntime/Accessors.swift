internal import CKVORuntime

/// A key's declared accessors, without their types.
class Accessors {
  let type: ValueType
  /// Whether they do no more than read and write a stored property.
  let isStored: Bool
  /// The key path under which typed calls name the key.
  let keyPath: AnyKeyPath?

  fileprivate init(type: ValueType, isStored: Bool, keyPath: AnyKeyPath?) {
    self.type = type
    self.isStored = isStored
    self.keyPath = keyPath
  }

  var isWritable: Bool { false }
  func value(of object: KVOObject) throws -> Any { Any?.none as Any }
  /// - Parameter value: of the accessors' type.
  func set(_ value: ConvertedValue, of object: KVOObject) throws {}
  /// Makes the value that the C core hands on; nil where the getter throws.
  func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) {}
}

/// Accessors of the objects and values that a declaration names.
final class TypedAccessors<Root: KVOObject, Value>: Accessors {
  private let getter: (Root) throws -> Value
  private let setter: ((Root, Value) throws -> Void)?

  init(
    keyPath: AnyKeyPath?, isStored: Bool, get: @escaping (Root) throws -> Value,
    set: ((Root, Value) throws -> Void)?
  ) {
    getter = get
    setter = set
    super.init(type: .of(Value.self), isStored: isStored, keyPath: keyPath)
  }

  override var isWritable: Bool { setter != nil }

  override func value(of object: KVOObject) throws -> Any { try getter(root(object)) }

  override func set(_ value: ConvertedValue, of object: KVOObject) throws {
    try setter?(root(object), value.unbox(as: Value.self))
  }

  override func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) {
    guard let read = try? getter(root(object)) else { return }
    _ = withUnsafePointer(to: read) { kvo_value_init(value, type.cType, $0) }
  }

  // A declaration reaches objects of the declaring class and its subclasses only.
  private func root(_ object: KVOObject) -> Root { unsafeDowncast(object, to: Root.self) }
}
