internal import CKVORuntime

/// The description of a Swift type by which its values pass through the C core unconverted: a `kvo_type`
/// whose functions call this object. There is one for each type, and it is never freed.
package class ValueType: @unchecked Sendable {
  // `Sendable` because everything here, and everything that it points to, is immutable after init.
  let cType: UnsafePointer<kvo_type>
  package let swiftType: Any.Type
  /// Whether nil is a value of the type.
  let isOptional: Bool
  let abilities: Abilities
  /// The operations of an array or a set, optional or not; nil for other types.
  package let shape: CollectionShape?

  init(
    _ description: consuming kvo_type, _ swiftType: Any.Type, isOptional: Bool,
    _ abilities: Abilities, shape: CollectionShape?
  ) {
    let cType = UnsafeMutablePointer<kvo_type>.allocate(capacity: 1)
    cType.initialize(to: description)
    self.cType = UnsafePointer(cType)
    self.swiftType = swiftType
    self.isOptional = isOptional
    self.abilities = abilities
    self.shape = shape
    isEqualToItself =
      swiftType is any BinaryInteger.Type || swiftType is AnyClass
      || swiftType == String.self || swiftType == Bool.self
    cType.pointee.operations = ValueOperations.table(for: abilities, shape)
    // Not retained: `of` keeps this object forever before the core sees it.
    cType.pointee.binding = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  // Two threads may describe a type at the same time. `of` keeps one of the descriptions; the other is freed.
  deinit {
    if shape != nil { ValueOperations.freeTable(cType.pointee.operations!) }
    cType.deallocate()
  }

  /// The operations, besides copying, that the core may perform on values of a type.
  struct Abilities: OptionSet, Hashable {
    let rawValue: Int
    /// A `KVOObject`: the core finds its class and header without help.
    static let reference = Self(rawValue: 1)
    /// A type whose values may be objects of the core.
    static let object = Self(rawValue: 2)
    static let number = Self(rawValue: 4)
    static let order = Self(rawValue: 8)
    static let hash = Self(rawValue: 16)
    /// Wraps another value, or none.
    static let wrapper = Self(rawValue: 32)
    static let keyed = Self(rawValue: 64)
    /// Operators use another value in place of it: `operand`.
    static let operand = Self(rawValue: 128)
    /// A number that the core can't represent; it is added by `add`.
    static let sum = Self(rawValue: 256)
    /// A dictionary whose values operators treat as a collection.
    static let mapped = Self(rawValue: 512)
    /// Equal to a value of a simpler type: `equivalent`.
    static let equivalent = Self(rawValue: 1024)
    /// Others may change a value in place.
    static let mutable = Self(rawValue: 2048)
    /// Those of values that have keys.
    static let keys: Self = [.reference, .object, .keyed, .mapped]
    /// The abilities that an optional has if the wrapped type has them.
    static let ofContent = keys.union(.mutable)
  }

  /// Whether a value may be NaN or contain NaN, so that it is not equal to itself.
  var mayHoldNaN: Bool { !isEqualToItself }
  private let isEqualToItself: Bool

  // MARK: For Swift

  /// The value at an address, unwrapped; nil for a nil optional.
  func any(at address: UnsafeRawPointer) -> Any? { nil }
  /// Whether the value at an address is an optional that is nil at its outermost level.
  func isAbsent(at address: UnsafeRawPointer) -> Bool { false }
  /// Converts a value to this type, as key-value coding does.
  package func convert(_ value: Any?) -> Conversion { .mismatch }
  /// For an optional that must not become nil: converts nil as the wrapped type does.
  func convertContent(_ value: Any?) -> Conversion { convert(value) }
  /// The words for an error about a value that can't be converted to this type: its type, and the part at
  /// fault.
  func found(_ value: Any?) -> String {
    guard let value = value.flatMap(flattened) else { return "nil" }
    return ValueConversion.unnamed(value, in: swiftType) ?? typeName(of: value)
  }
  /// Overwrites the value at an address.
  func assign(_ value: ConvertedValue, at address: UnsafeMutableRawPointer) {}
  /// Initialises the memory at an address with a value.
  func initialize(_ address: UnsafeMutableRawPointer, to value: ConvertedValue) {}

  /// The collection shape of an optional of this type; nil if this type is not a collection.
  var optionalShape: CollectionShape? { nil }

  // MARK: For the core; functions that belong to an ability are called only for types that have it

  func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {}
  func destroy(_ value: UnsafeMutableRawPointer) {}
  func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool { false }
  func object(at address: UnsafeRawPointer) -> UnsafeMutablePointer<kvo_object>? { nil }
  func number(at address: UnsafeRawPointer) -> kvo_value { kvo_value() }
  /// Initialises a core value with the value that operators use; returns false if that is the value itself.
  func operand(at address: UnsafeRawPointer, into operand: UnsafeMutablePointer<kvo_value>) -> Bool
  {
    false
  }
  /// Initialises a core value with the equal value of a simpler type (B6); returns false if there is none.
  func equivalent(
    at address: UnsafeRawPointer, into equivalent: UnsafeMutablePointer<kvo_value>
  ) -> Bool { false }
  /// Replaces a value that others may change in place by a copy, also inside of collections. Returns whether it did.
  @discardableResult
  func detach(at address: UnsafeMutableRawPointer) -> Bool { false }
  /// Initialises a core value with the sum of this and another number (nothing if nil), divided by `count`.
  func add(
    _ address: UnsafeRawPointer, _ other: Any?, over count: Int,
    into sum: UnsafeMutablePointer<kvo_value>
  ) -> Bool { false }
  /// Compares like strcmp.
  func order(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Int32 { 0 }
  func hash(at address: UnsafeRawPointer) -> Int { 0 }
  func isNil(at address: UnsafeRawPointer) -> Bool { false }
  /// Initialises a core value with the value, without what merely wraps it.
  func read(_ address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    _ = kvo_value_init(value, cType, address)
  }
  func value(
    forKey key: String, at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>
  ) {
    value.initialize(to: kvo_value())
  }
  /// Initialises a core value with an array of the values for all keys.
  func values(at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    value.initialize(to: kvo_value())
  }

  /// The result of a conversion.
  package enum Conversion {
    /// A value of exactly this type.
    case value(ConvertedValue)
    /// Nil, and the type has no nil.
    case unexpectedNil
    /// A value that can't be converted.
    case mismatch
  }
}

/// A value whose type the holder knows. Not an `Any`, because casts of an `Any` lose levels of optionals.
package class ConvertedValue {
  static func of<T>(_ value: T) -> ConvertedValue { Box(value) }

  package func unbox<T>(as type: T.Type) -> T { unsafeDowncast(self, to: Box<T>.self).value }
  /// Calls a body with the value's address, to read or overwrite it.
  func withAddress<R>(_ body: (UnsafeMutableRawPointer) throws -> R) rethrows -> R {
    fatalError("abstract")
  }

  private final class Box<T>: ConvertedValue {
    var value: T
    init(_ value: T) { self.value = value }

    override func withAddress<R>(_ body: (UnsafeMutableRawPointer) throws -> R) rethrows -> R {
      try withUnsafeMutablePointer(to: &value) { try body(UnsafeMutableRawPointer($0)) }
    }
  }
}

// MARK: Lookup

extension ValueType {
  private static let known = AppendOnlyMap<ValueType>()

  /// The description of a type. O(1) after the first call. Any thread.
  static func of<T>(_ type: T.Type) -> ValueType {
    // A type's metadata has the same address forever.
    let address = unsafeBitCast(type as Any.Type, to: UnsafeRawPointer.self)
    return known[address] ?? known.insert(make(type), at: address)
  }

  /// The description of a type that is known at run time only.
  package static func of(any type: Any.Type) -> ValueType {
    func open<T>(_ type: T.Type) -> ValueType { of(type) }
    return _openExistential(type, do: open)
  }

  private static func make<T>(_ type: T.Type) -> ValueType {
    // Not opened as an existential metatype: optimised code would then take it for another class.
    if type is KVOObject.Type { return ReferenceValueType<T>() }
    if let type = type as? any DescribedValue.Type { return type.makeValueType() }
    if let foundation = ofFoundation(type) { return foundation }
    return isExistential(type) ? ExistentialValueType<T>() : TypedValueType<T>()
  }

  /// The description that belongs to a `kvo_type` of this binding.
  static func of(_ cType: UnsafePointer<kvo_type>) -> ValueType {
    Unmanaged<ValueType>.fromOpaque(cType.pointee.binding!).takeUnretainedValue()
  }

  /// The value in a core value if its type is `T`; otherwise nil.
  static func value<T>(of value: UnsafePointer<kvo_value>) -> T? {
    guard value.pointee.type == of(T.self).cType else { return nil }
    return kvo_value_bytes(value)?.assumingMemoryBound(to: T.self).pointee
  }
}

/// A type that makes a description of a special kind.
protocol DescribedValue {
  static func makeValueType() -> ValueType
}
