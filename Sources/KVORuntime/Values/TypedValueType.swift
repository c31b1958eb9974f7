internal import CKVORuntime
internal import CSwiftRuntime

/// The description of any type whose abilities follow from its conformances to the standard library's
/// protocols. Objects and existentials have subclasses below; optionals, collections and dictionaries have
/// files of their own.
class TypedValueType<T>: ValueType, @unchecked Sendable {
  // Determined once, since a conformance is looked up by name.
  private let equatable = T.self as? any Equatable.Type
  private let comparable = T.self as? any Comparable.Type
  private let hashable = T.self as? any Hashable.Type

  /// Whether `T` has `==`.
  final var isEquatable: Bool { equatable != nil }

  init(
    isOptional: Bool = false, _ abilities: Abilities = TypedValueType.ownAbilities,
    shape: CollectionShape? = nil
  ) {
    super.init(Self.coreType, T.self, isOptional: isOptional, abilities, shape: shape)
  }

  override func any(at address: UnsafeRawPointer) -> Any? {
    address.assumingMemoryBound(to: T.self).pointee
  }

  override func convert(_ value: Any?) -> Conversion {
    if let value, type(of: value) == T.self, let same = value as? T { return .value(.of(same)) }
    guard let value = value.flatMap(flattened) else { return .unexpectedNil }
    if let made = ValueConversion.convert(value, to: T.self) { return .value(.of(made)) }
    return ValueConversion.isNull(value) ? .unexpectedNil : .mismatch
  }

  override func assign(_ value: ConvertedValue, at address: UnsafeMutableRawPointer) {
    address.assumingMemoryBound(to: T.self).pointee = value.unbox(as: T.self)
  }

  override func initialize(_ address: UnsafeMutableRawPointer, to value: ConvertedValue) {
    address.assumingMemoryBound(to: T.self).initialize(to: value.unbox(as: T.self))
  }

  override func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {
    let source = source.assumingMemoryBound(to: T.self)
    target.assumingMemoryBound(to: T.self).initialize(to: source.pointee)
  }

  override func destroy(_ value: UnsafeMutableRawPointer) {
    value.assumingMemoryBound(to: T.self).deinitialize(count: 1)
  }

  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    func equal<E: Equatable>(_ type: E.Type) -> Bool {
      let first = a.assumingMemoryBound(to: type).pointee
      let second = b.assumingMemoryBound(to: type).pointee
      if first == second { return true }
      // A value that is not equal to itself is or contains NaN.
      return first != first && second != second && areSameNaN(a, b)
    }
    return equatable.map { equal($0) } ?? false
  }

  /// Whether two values that are not equal to themselves are both NaN, or consist of the same bits, as equal
  /// structs that contain a NaN do.
  private func areSameNaN(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    if T.self is any FloatingPoint.Type { return true }
    guard _isPOD(T.self) else { return false }
    let size = MemoryLayout<T>.size
    return UnsafeRawBufferPointer(start: a, count: size)
      .elementsEqual(UnsafeRawBufferPointer(start: b, count: size))
  }

  override func order(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Int32 {
    func order<C: Comparable>(_ type: C.Type) -> Int32 {
      let a = a.assumingMemoryBound(to: type)
      let b = b.assumingMemoryBound(to: type)
      return a.pointee < b.pointee ? -1 : b.pointee < a.pointee ? 1 : 0
    }
    return comparable.map { order($0) } ?? 0
  }

  override func hash(at address: UnsafeRawPointer) -> Int {
    func hash<H: Hashable>(_ type: H.Type) -> Int {
      address.assumingMemoryBound(to: type).pointee.hashValue
    }
    return hashable.map { hash($0) } ?? 0
  }

  override func number(at address: UnsafeRawPointer) -> kvo_value {
    // The two most common number types need no dynamic casts.
    if T.self == Double.self { return kvo_value_double(address.load(as: Double.self)) }
    if T.self == Int.self { return kvo_value_int(Int64(address.load(as: Int.self))) }
    return CoreValue.number(address.assumingMemoryBound(to: T.self).pointee) ?? kvo_value()
  }

  override func operand(
    at address: UnsafeRawPointer, into operand: UnsafeMutablePointer<kvo_value>
  ) -> Bool {
    let value = address.assumingMemoryBound(to: T.self).pointee
    let taken = ValueConversion.rawValue(of: value) ?? ValueConversion.operand(value)
    // An operand of the value's own type would be the value itself.
    guard type(of: taken) != type(of: value as Any) else { return false }
    CoreValue.make(of: taken, into: operand)
    return true
  }

  override func equivalent(
    at address: UnsafeRawPointer, into equivalent: UnsafeMutablePointer<kvo_value>
  ) -> Bool {
    let value = address.assumingMemoryBound(to: T.self).pointee
    guard let simpler = ValueConversion.equivalent(value) else { return false }
    CoreValue.make(of: simpler, into: equivalent)
    return true
  }

  override func detach(at address: UnsafeMutableRawPointer) -> Bool {
    guard let value = any(at: address), let copy = copyIfMutable(value), let same = copy as? T
    else { return false }
    address.assumingMemoryBound(to: T.self).pointee = same
    return true
  }

  /// A copy of a value that others may change in place; nil for any other value.
  func copyIfMutable(_ value: Any) -> Any? {
    guard type(of: value) == T.self else { return detached(value) }
    return T.self is AnyClass ? FoundationLink.linked?.copy(ofMutable: value) : nil
  }

  override func add(
    _ address: UnsafeRawPointer, _ other: Any?, over count: Int,
    into sum: UnsafeMutablePointer<kvo_value>
  ) -> Bool {
    let value = address.assumingMemoryBound(to: T.self).pointee
    guard let made = FoundationLink.linked?.sum(value, other, over: count) else { return false }
    CoreValue.make(of: made, into: sum)
    return true
  }

  /// The abilities that follow from `T`'s conformances.
  static var ownAbilities: Abilities {
    var abilities: Abilities = []
    if T.self is any Comparable.Type { abilities.insert(.order) }
    if T.self is any Hashable.Type { abilities.insert(.hash) }
    let isNumber = T.self is any BinaryInteger.Type || T.self is any BinaryFloatingPoint.Type
    if isNumber || T.self == Bool.self { abilities.insert(.number) }
    if let foundation = FoundationLink.linked {
      if foundation.isDecimal(T.self) { abilities.insert(.sum) }
      if T.self is AnyClass, foundation.mayBeMutable(T.self) { abilities.insert(.mutable) }
      if T.self is AnyClass, foundation.hasContent(T.self) {
        // Foundation's numbers are compared with all numbers, by what they contain.
        abilities.insert(.operand)
        abilities.remove(.order)
      }
      if !abilities.isDisjoint(with: [.sum, .operand]) {
        // Hashed like the values that they are equal to. Foundation's own hash of a decimal number may never return.
        abilities.insert(.equivalent)
        abilities.remove(.hash)
      }
    }
    if !isNumber, ValueConversion.hasRawValue(T.self) { abilities.insert(.operand) }
    return abilities
  }

  /// Whether some values of the type can be equal. A collection or an existential is compared by what it contains.
  private static var isCompared: Bool {
    T.self is any Equatable.Type || T.self is any OptionalType.Type
      || T.self is any CollectionValue.Type || T.self is any MappedValue.Type
      || isExistential(T.self)
  }

  private static var isText: Bool { T.self == String.self }

  // The core itself copies values without references, byte by byte.
  private static var coreType: kvo_type {
    kvo_type(
      encoding: KeyName.of(className(of: T.self)).interned,
      size: MemoryLayout<T>.size,
      alignment: MemoryLayout<T>.alignment,
      kind: .KVO_KIND_BINDING,
      copy: _isPOD(T.self) ? nil : isText ? ValueOperations.copyText : ValueOperations.copy,
      destroy: _isPOD(T.self)
        ? nil : isText ? ValueOperations.destroyText : ValueOperations.destroy,
      equal: isCompared ? ValueOperations.equal : nil,
      describe: ValueOperations.describe,
      binding: nil,
      operations: nil)
  }
}

/// A subclass of `KVOObject`.
final class ReferenceValueType<T>: TypedValueType<T>, @unchecked Sendable {
  init() { super.init(Self.ownAbilities.union(.reference)) }

  override func object(at address: UnsafeRawPointer) -> UnsafeMutablePointer<kvo_object>? {
    address.assumingMemoryBound(to: KVOObject.self).pointee.header
  }
}

/// A class that represents objects of the C core: `ForeignObject`.
final class CoreObjectValueType<T: CoreObject>: TypedValueType<T>, @unchecked Sendable {
  init() { super.init(Self.ownAbilities.union(.object)) }

  override func object(at address: UnsafeRawPointer) -> UnsafeMutablePointer<kvo_object>? {
    address.assumingMemoryBound(to: T.self).pointee.coreHeader
  }
}

/// A type that wraps another value. Key-value coding sees the wrapped value.
class WrapperValueType<T>: TypedValueType<T>, @unchecked Sendable {
  override func object(at address: UnsafeRawPointer) -> UnsafeMutablePointer<kvo_object>? {
    objectCast(any(at: address), to: (any CoreObject).self)?.coreHeader
  }

  override func isNil(at address: UnsafeRawPointer) -> Bool { any(at: address) == nil }

  override func read(_ address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    CoreValue.make(of: any(at: address), into: value)
  }

  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    guard let first = any(at: a), let second = any(at: b) else {
      return any(at: a) == nil && any(at: b) == nil
    }
    // For a value of type `T`, `areEqualInside` would call this method again, without end.
    return areEqualInEitherDirection(first, second)
      || (type(of: first) != T.self && areEqualInside(first, second))
  }

  override func copyIfMutable(_ value: Any) -> Any? { detached(value) }
}

/// `Any`, `AnyObject`, or any other existential. The dynamic type is determined when a value is read.
final class ExistentialValueType<T>: WrapperValueType<T>, @unchecked Sendable {
  init() { super.init([.object, .wrapper, .mutable]) }

  override func any(at address: UnsafeRawPointer) -> Any? {
    // For `Any` itself, the generic code below would wrap the value in a second `Any`.
    if T.self == Any.self { return flattened(address.assumingMemoryBound(to: Any.self).pointee) }
    return flattened(opened(address.assumingMemoryBound(to: T.self).pointee))
  }

  private func opened(_ value: Any) -> Any {
    func open<Content>(_ type: Content.Type) -> Any { value as! Content }
    return _openExistential(type(of: value) as Any.Type, do: open)
  }
}

/// The elements of a `Set<AnyHashable>`.
private final class AnyHashableValueType: WrapperValueType<AnyHashable>, @unchecked Sendable {
  init() { super.init(Self.ownAbilities.union([.object, .wrapper, .mutable])) }

  override func any(at address: UnsafeRawPointer) -> Any? {
    flattened(address.assumingMemoryBound(to: AnyHashable.self).pointee.base)
  }
}

extension AnyHashable: DescribedValue {
  static func makeValueType() -> ValueType { AnyHashableValueType() }
}

extension ValueType {
  /// Whether a value may be of any type, including collections.
  var holdsAnything: Bool {
    let content = unwrapped(swiftType)
    return content == AnyHashable.self || ValueType.isExistential(content)
  }

  /// Whether members of a set have no type by which the core could compare them.
  var hidesMembers: Bool { holdsAnything || shape?.isKeyed == true }

  package static func isExistential(_ type: Any.Type) -> Bool {
    kvo_swift_is_existential(unsafeBitCast(type, to: UnsafeRawPointer.self))
  }
}
