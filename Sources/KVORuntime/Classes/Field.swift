internal import CKVORuntime
internal import CSwiftRuntime

/// A stored property according to the class's metadata: own or inherited, generic or not, with any access
/// level.
package struct Field {
  /// The property's name without backticks. For an `@Observed` property it is the storage's name, such as
  /// `_balance`.
  let name: String
  /// The offset of the value in an instance.
  let offset: Int
  package let type: ValueType
  package let form: Form
  /// True for `var`, false for `let`.
  let isVariable: Bool

  /// How the value is stored.
  package enum Form {
    case plain, observed
    /// Stored in an optional that is nil before the first use. The code that creates the value at the first
    /// use is unknown to the runtime.
    case lazy
    case weak, unowned, unsafe
  }

  var isObserved: Bool { form == .observed }
  /// The key of the property.
  var key: String { isObserved ? String(name.dropFirst()) : name }
  /// Swift has no lazy, weak or unowned property with a wrapper.
  var takesWrapper: Bool { form == .plain }
}

extension Field {
  /// Returns the fields that a class adds to its superclass's, without those that key-value coding can't use.
  /// These are noncopyable values, and values that generic code expects in another form, above all closures;
  /// `KeyDeclarations.stored` serves for them. The root and the libraries' classes have none.
  static func declared(by type: KVOObject.Type) -> [Field] {
    guard !type.hidesStorage else { return [] }
    let metadata = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    let inherited = inheritedCount(of: type)
    return (inherited..<kvo_swift_field_count(metadata)).compactMap {
      Field(of: metadata, at: $0, own: $0 - inherited)
    }
  }

  /// Whether a stored property has that name, including lazy ones and those that key-value coding can't use.
  static func isStored(_ name: String, in type: KVOObject.Type) -> Bool {
    isNamed(name, in: type) || isNamed(lazyPrefix + name, in: type)
  }

  /// Whether the metadata of a class has a stored property of that name, including those that key-value
  /// coding can't use.
  static func isNamed(_ name: String, in type: KVOObject.Type) -> Bool {
    isNamed(name, in: type, from: 0)
  }

  /// Whether the class itself adds a field of this name.
  static func isOwn(_ name: String, of type: KVOObject.Type) -> Bool {
    isNamed(name, in: type, from: inheritedCount(of: type))
  }

  private static func inheritedCount(of type: KVOObject.Type) -> Int {
    _getSuperclass(type).map { kvo_swift_field_count(unsafeBitCast($0, to: UnsafeRawPointer.self)) }
      ?? 0
  }

  private static func isNamed(_ name: String, in type: KVOObject.Type, from first: Int) -> Bool {
    let metadata = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    return (first..<kvo_swift_field_count(metadata)).contains { index in
      var field = kvo_swift_field()
      guard kvo_swift_field_type(metadata, index, &field) != nil else { return false }
      defer { field.free_name?(field.name) }
      return field.name.map { RawIdentifier.bare(String(cString: $0)) } == name
    }
  }

  /// Whether a class has its own storage without metadata that describes it.
  static func areMissing(from type: KVOObject.Type) -> Bool {
    guard let superclass = _getSuperclass(type) else { return false }
    let own = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    let inherited = unsafeBitCast(superclass, to: UnsafeRawPointer.self)
    return kvo_swift_instance_size(own) > kvo_swift_instance_size(inherited)
      && kvo_swift_field_count(own) == kvo_swift_field_count(inherited)
  }

  private init?(of metadata: UnsafeRawPointer, at index: Int, own: Int) {
    var field = kvo_swift_field()
    guard let fieldType = kvo_swift_field_type(metadata, index, &field) else { return nil }
    defer { field.free_name?(field.name) }
    // A metatype is a metadata pointer.
    let type = unsafeBitCast(fieldType, to: Any.Type.self)
    guard let name = field.name.map({ RawIdentifier.bare(String(cString: $0)) }), type != Void.self,
      let form = Form(name, type, field.is_strong ? 0 : kvo_swift_field_ownership(metadata, own)),
      form == .observed || !kvo_swift_has_own_form(fieldType)
    else { return nil }
    self.init(
      name: form.nameOfProperty(name),
      offset: kvo_swift_field_offset(metadata, index),
      type: (type as? any ObservedStorage.Type)?.valueType ?? ValueType.of(any: type),
      form: form, isVariable: field.is_variable)
  }

  fileprivate static let lazyPrefix = "$__lazy_storage_$_"
  /// The prefix of the storage that the macro `@KVO` generates for a property that takes no wrapper.
  static let storagePrefix = "_kvo_"
  /// The prefix of the empty member of a `@KVO` class that is not `Codable` by its own declaration (Q7).
  static let uncodedPrefix = "_kvo_declareCodableInClass_"
}

extension Field.Form {
  /// The name of a property that is stored under another name.
  fileprivate func nameOfProperty(_ name: String) -> String {
    let prefix = self == .lazy ? Field.lazyPrefix : Field.storagePrefix
    return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }

  /// - Parameter ownership: The ownership mark in the type's mangled name; 0 for a strong reference.
  fileprivate init?(_ name: String, _ type: Any.Type, _ ownership: CChar) {
    let isReference = ReferenceForm.isReference(type)
    switch UInt8(bitPattern: ownership) {
    case UInt8(ascii: "w") where isReference: self = .weak
    case UInt8(ascii: "o") where isReference: self = .unowned
    case UInt8(ascii: "u") where isReference: self = .unsafe
    case 0 where name.hasPrefix(Field.lazyPrefix): self = .lazy
    case 0 where !name.hasPrefix("$"):
      let isObserved = name.hasPrefix("_") && type is any ObservedStorage.Type
      self = isObserved ? .observed : .plain
    default: return nil
    }
  }
}

// MARK: Values

extension Field {
  func value(in object: KVOObject) -> Any? {
    let address = access(object, modifies: false)
    guard let reference = ReferenceForm(form) else { return type.any(at: address) }
    return reference.withValue(address, of: type) { type.any(at: $0) }
  }

  func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) {
    let address = access(object, modifies: false)
    guard let reference = ReferenceForm(form) else {
      _ = kvo_value_init(value, type.cType, address)
      return
    }
    reference.withValue(address, of: type) { _ = kvo_value_init(value, type.cType, $0) }
  }

  /// Whether this is a lazy property that has not been used yet, so that its value is unknown.
  func isUnused(in object: KVOObject) -> Bool {
    form == .lazy && type.isAbsent(at: access(object, modifies: false))
  }

  /// Converts a value for this property. A lazy property takes the type of its value, not of the optional
  /// around it. A weak or unowned property takes only objects, because a box around a value would be released
  /// at once.
  func convert(_ value: Any?) -> ValueType.Conversion {
    if ReferenceForm(form) != nil, let value = value.flatMap(flattened),
      !(Swift.type(of: value) is AnyClass)
    {
      return .mismatch
    }
    return form == .lazy ? type.convertContent(value) : type.convert(value)
  }

  func write(_ value: ConvertedValue, to object: KVOObject) {
    let address = access(object, modifies: true)
    guard let reference = ReferenceForm(form) else { return type.assign(value, at: address) }
    reference.assign(value, at: address, of: type)
  }

  // An overlapping access stops the program.
  private func access(_ object: KVOObject, modifies: Bool) -> UnsafeMutableRawPointer {
    let address = object.address + offset
    kvo_swift_check_access(address, modifies)
    return address
  }
}

/// `Observed<Value>` for any `Value`.
protocol ObservedStorage {
  static var valueType: ValueType { get }
  /// The property's value.
  var content: Any { get }
  /// The address of the storage that a key path names in an object.
  static func address(of keyPath: AnyKeyPath, in object: KVOObject) -> UnsafeMutableRawPointer?
}

extension Observed: ObservedStorage {
  static var valueType: ValueType { .of(Value.self) }
  var content: Any { _value }

  static func address(of keyPath: AnyKeyPath, in object: KVOObject) -> UnsafeMutableRawPointer? {
    func project<Root>(_ root: Root.Type) -> UnsafeMutableRawPointer? {
      guard let keyPath = keyPath as? ReferenceWritableKeyPath<Root, Self>,
        let object = object as? Root
      else { return nil }
      // A class's stored property has a fixed address, which outlasts the closure.
      return withUnsafeMutablePointer(to: &object[keyPath: keyPath]) { UnsafeMutableRawPointer($0) }
    }
    return _openExistential(type(of: keyPath).rootType, do: project)
  }
}
