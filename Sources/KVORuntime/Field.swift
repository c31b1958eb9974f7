internal import CSwiftRuntime

/// A stored property as the class's metadata tells it: own or inherited, private, generic, whatever
/// its access.
struct Field {
  /// The property's name; of an `@Observed` one, the storage's: `_balance`.
  let name: String
  /// Where it lies in an instance.
  let offset: Int
  let type: ValueType
  let isObserved: Bool
  /// `var`, not `let`.
  let isVariable: Bool

  /// Under which key the property is known.
  var key: String { isObserved ? String(name.dropFirst()) : name }
}

extension Field {
  /// The fields that a class adds to its superclass's, as far as key-value coding can use them:
  /// neither lazy ones (nothing tells whether they have a value) nor weak and unowned references
  /// (no metadata tells the one from the other; `KeyDeclarations.stored` serves) nor noncopyable
  /// values, nor what generic code expects in another form, closures above all (it serves, too).
  static func declared(by type: KVOObject.Type) -> [Field] {
    let metadata = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    let inherited = _getSuperclass(type).map {
      kvo_swift_field_count(unsafeBitCast($0, to: UnsafeRawPointer.self))
    }
    return ((inherited ?? 0)..<kvo_swift_field_count(metadata)).compactMap {
      Field(of: metadata, at: $0)
    }
  }

  /// Whether a class has storage of its own that its metadata doesn't tell of.
  static func areMissing(from type: KVOObject.Type) -> Bool {
    guard let superclass = _getSuperclass(type) else { return false }
    let own = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    let inherited = unsafeBitCast(superclass, to: UnsafeRawPointer.self)
    return kvo_swift_instance_size(own) > kvo_swift_instance_size(inherited)
      && kvo_swift_field_count(own) == kvo_swift_field_count(inherited)
  }

  private init?(of metadata: UnsafeRawPointer, at index: Int) {
    var field = kvo_swift_field()
    guard let fieldType = kvo_swift_field_type(metadata, index, &field) else { return nil }
    defer { field.free_name?(field.name) }
    // Metadata pointers and metatypes are the same.
    let type = unsafeBitCast(fieldType, to: Any.Type.self)
    guard let name = field.name.map({ String(cString: $0) }), !name.hasPrefix("$"),
      field.is_strong, type != Void.self
    else { return nil }
    let observed = name.hasPrefix("_") ? type as? any ObservedStorage.Type : nil
    guard observed != nil || !kvo_swift_has_own_form(fieldType) else { return nil }
    self.init(
      name: name, offset: kvo_swift_field_offset(metadata, index),
      type: observed.map { $0.valueType } ?? ValueType.of(any: type),
      isObserved: observed != nil, isVariable: field.is_variable)
  }
}

extension ValueType {
  fileprivate static func of(any type: Any.Type) -> ValueType {
    func open<T>(_ type: T.Type) -> ValueType { of(type) }
    return _openExistential(type, do: open)
  }
}

/// `Observed<Value>` for any `Value`.
protocol ObservedStorage {
  static var valueType: ValueType { get }
  /// Where the storage that a key path names lies in an object.
  static func address(of keyPath: AnyKeyPath, in object: KVOObject) -> UnsafeMutableRawPointer?
}

extension Observed: ObservedStorage {
  static var valueType: ValueType { .of(Value.self) }

  static func address(of keyPath: AnyKeyPath, in object: KVOObject) -> UnsafeMutableRawPointer? {
    func project<Root>(_ root: Root.Type) -> UnsafeMutableRawPointer? {
      guard let keyPath = keyPath as? ReferenceWritableKeyPath<Root, Self>,
        let object = object as? Root
      else { return nil }
      // Storage of a class is projected to where it lies, which outlasts the closure.
      return withUnsafeMutablePointer(to: &object[keyPath: keyPath]) { UnsafeMutableRawPointer($0) }
    }
    return _openExistential(type(of: keyPath).rootType, do: project)
  }
}
