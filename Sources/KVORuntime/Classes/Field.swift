internal import CKVORuntime
internal import CSwiftRuntime

/// A stored property as the class's metadata tells it: own or inherited, private, generic, whatever
/// its access.
struct Field {
  /// The property's name, without backticks; of an `@Observed` one, the storage's: `_balance`.
  let name: String
  /// Where it lies in an instance.
  let offset: Int
  let type: ValueType
  let form: Form
  /// `var`, not `let`.
  let isVariable: Bool

  /// How the value is kept.
  enum Form {
    case plain, observed
    /// In an optional, nil before the property is first used. The first use makes the value by code
    /// of which nothing tells.
    case lazy
    case weak, unowned, unsafe
  }

  var isObserved: Bool { form == .observed }
  /// Under which key the property is known.
  var key: String { isObserved ? String(name.dropFirst()) : name }
  /// Swift has no lazy, weak or unowned property with a wrapper.
  var takesWrapper: Bool { form == .plain }
}

extension Field {
  /// The fields that a class adds to its superclass's, as far as key-value coding can use them:
  /// neither noncopyable values, nor what generic code expects in another form, closures above all
  /// (`KeyDeclarations.stored` serves). Of the root none, nor of a library's classes.
  static func declared(by type: KVOObject.Type) -> [Field] {
    guard !type.hidesStorage else { return [] }
    let metadata = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    let inherited = inheritedCount(of: type)
    return (inherited..<kvo_swift_field_count(metadata)).compactMap {
      Field(of: metadata, at: $0, own: $0 - inherited)
    }
  }

  /// Whether a property of that name is stored, lazily too, in a form that need not be usable.
  static func isStored(_ name: String, in type: KVOObject.Type) -> Bool {
    isNamed(name, in: type) || isNamed(lazyPrefix + name, in: type)
  }

  /// Whether the metadata of a class has a stored property of that name, which need not be usable.
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

  /// Whether a class has storage of its own that its metadata doesn't tell of.
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
    // Metadata pointers and metatypes are the same.
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
  /// Before the name of what the macro `@KVO` stores for a property that takes no wrapper.
  static let storagePrefix = "_kvo_"
}

extension Field.Form {
  /// Of a property that is stored under another name.
  fileprivate func nameOfProperty(_ name: String) -> String {
    let prefix = self == .lazy ? Field.lazyPrefix : Field.storagePrefix
    return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }

  /// - Parameter ownership: the mark in the type's mangled name, 0 for a strong reference.
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

  /// Whether this is a lazy property that has not been used yet: what it will have, nothing tells.
  func isUnused(in object: KVOObject) -> Bool {
    form == .lazy && type.isAbsent(at: access(object, modifies: false))
  }

  /// A lazy property takes what it has once it has a value; one that holds no value by itself takes
  /// objects, and nothing that would be put in a box, which would end at once.
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
  /// Where the storage that a key path names lies in an object.
  static func address(of keyPath: AnyKeyPath, in object: KVOObject) -> UnsafeMutableRawPointer?
}

extension Observed: ObservedStorage {
  static var valueType: ValueType { .of(Value.self) }
  var content: Any { value }

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
