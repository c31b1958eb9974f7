internal import CKVORuntime

/// What the runtime needs to know of a Swift type so that its values travel through the C core
/// without being converted: a `kvo_type` whose functions come back here. One per type, for ever.
class ValueType: @unchecked Sendable {
  // Immutable after init, and so is what it points to: that is why this class is Sendable.
  let cType: UnsafePointer<kvo_type>
  let swiftType: Any.Type
  /// What takes nil.
  let isOptional: Bool
  let abilities: Abilities
  /// Of an array or a set, optional or not.
  let shape: CollectionShape?

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
    cType.pointee.operations = ValueOperations.table(for: abilities, shape)
    // Not retained: `of` keeps this for ever before the core sees it.
    cType.pointee.binding = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  // Two threads may describe a type at the same time; `of` keeps one description.
  deinit {
    if shape != nil { ValueOperations.freeTable(cType.pointee.operations!) }
    cType.deallocate()
  }

  /// What the core may do with values of a type besides copying them.
  struct Abilities: OptionSet, Hashable {
    let rawValue: Int
    /// A `KVOObject`, of whose class the core needs no help.
    static let reference = Self(rawValue: 1)
    /// Whatever may turn out to be an object of the core.
    static let object = Self(rawValue: 2)
    static let number = Self(rawValue: 4)
    static let order = Self(rawValue: 8)
    static let hash = Self(rawValue: 16)
    /// Wraps something else, or nothing.
    static let wrapper = Self(rawValue: 32)
    static let keyed = Self(rawValue: 64)
    /// Operators take something else of it, `operand`.
    static let operand = Self(rawValue: 128)
    /// A number that the core can't hold, which it has added here.
    static let sum = Self(rawValue: 256)
    /// A dictionary, of whose values operators make one.
    static let mapped = Self(rawValue: 512)
    /// What an optional shares with what it wraps.
    static let ofContent: Self = [.reference, .object, .keyed, .mapped]
  }

  /// Whether a value may be NaN, or contain it, and then is compared by its parts.
  var mayHoldNaN: Bool { swiftType is any FloatingPoint.Type }

  // MARK: In Swift

  /// The value at an address; nil for a nil optional, never an optional inside.
  func any(at address: UnsafeRawPointer) -> Any? { nil }
  /// Whether the value at an address is an optional's outermost nil.
  func isAbsent(at address: UnsafeRawPointer) -> Bool { false }
  /// What key-value coding makes of a value that shall become one of this type.
  func convert(_ value: Any?) -> Conversion { .mismatch }
  /// The same of an optional that shall not be nil: nil is for what it wraps.
  func convertContent(_ value: Any?) -> Conversion { convert(value) }
  /// The words in an error for a value that can't become one of this type: its type, and the part of it that can't.
  func found(_ value: Any?) -> String {
    guard let value = value.flatMap(flattened) else { return "nil" }
    return ValueConversion.unnamed(value, in: swiftType) ?? typeName(of: value)
  }
  /// Overwrites the value at an address with one of this type.
  func assign(_ value: ConvertedValue, at address: UnsafeMutableRawPointer) {}
  /// Makes what is at an address a value of this type.
  func initialize(_ address: UnsafeMutableRawPointer, to value: ConvertedValue) {}

  /// The shape of an optional of this type, if that is a collection.
  var optionalShape: CollectionShape? { nil }

  // MARK: For the core; those of an ability are called where a type has it

  func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {}
  func destroy(_ value: UnsafeMutableRawPointer) {}
  func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool { false }
  func object(at address: UnsafeRawPointer) -> UnsafeMutablePointer<kvo_object>? { nil }
  func number(at address: UnsafeRawPointer) -> kvo_value { kvo_value() }
  /// Makes an uninitialised core value of what operators take; false if that is the value itself.
  func operand(at address: UnsafeRawPointer, into operand: UnsafeMutablePointer<kvo_value>) -> Bool
  {
    false
  }
  /// Makes an uninitialised core value of the sum with another number, or nil, divided by a count.
  func add(
    _ address: UnsafeRawPointer, _ other: Any?, over count: Int,
    into sum: UnsafeMutablePointer<kvo_value>
  ) -> Bool { false }
  /// As strcmp.
  func order(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Int32 { 0 }
  func hash(at address: UnsafeRawPointer) -> Int { 0 }
  func isNil(at address: UnsafeRawPointer) -> Bool { false }
  /// Makes an uninitialised core value of the value, without what merely wraps it.
  func read(_ address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    _ = kvo_value_init(value, cType, address)
  }
  func value(
    forKey key: String, at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>
  ) {
    value.initialize(to: kvo_value())
  }
  /// Makes an uninitialised core value an array of what there is for all keys.
  func values(at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    value.initialize(to: kvo_value())
  }

  /// What came of a conversion.
  enum Conversion {
    /// A value of this very type.
    case value(ConvertedValue)
    /// Nil for a type that has none.
    case unexpectedNil
    /// Something that can't become this type.
    case mismatch
  }
}

/// A value of a type that the holder knows. Not an `Any`, whose casts lose count of optionals.
class ConvertedValue {
  static func of<T>(_ value: T) -> ConvertedValue { Box(value) }

  func unbox<T>(as type: T.Type) -> T { unsafeDowncast(self, to: Box<T>.self).value }
  /// Where the value is, to be read or overwritten.
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

// MARK: Finding

extension ValueType {
  private static let known = ForeverMap<ValueType>()

  /// The one description of a type. O(1) after the first call. Any thread.
  static func of<T>(_ type: T.Type) -> ValueType {
    // A type's metadata has one address, for ever.
    let address = unsafeBitCast(type as Any.Type, to: UnsafeRawPointer.self)
    return known[address] ?? known.insert(make(type), at: address)
  }

  /// The same for a type that is not known where it is asked for.
  static func of(any type: Any.Type) -> ValueType {
    func open<T>(_ type: T.Type) -> ValueType { of(type) }
    return _openExistential(type, do: open)
  }

  private static func make<T>(_ type: T.Type) -> ValueType {
    // A class is not opened as an existential metatype: optimised code would take it for another.
    if type is KVOObject.Type { return ReferenceValueType<T>() }
    if let type = type as? any DescribedValue.Type { return type.makeValueType() }
    if let foundation = ofFoundation(type) { return foundation }
    return isExistential(type) ? ExistentialValueType<T>() : TypedValueType<T>()
  }

  /// The description that a `kvo_type` of this binding carries.
  static func of(_ cType: UnsafePointer<kvo_type>) -> ValueType {
    Unmanaged<ValueType>.fromOpaque(cType.pointee.binding!).takeUnretainedValue()
  }

  /// A core value that is a `T`; nil if it is something else.
  static func value<T>(of value: UnsafePointer<kvo_value>) -> T? {
    guard value.pointee.type == of(T.self).cType else { return nil }
    return kvo_value_bytes(value)?.assumingMemoryBound(to: T.self).pointee
  }
}

/// What has a description of its own sort.
protocol DescribedValue {
  static func makeValueType() -> ValueType
}
