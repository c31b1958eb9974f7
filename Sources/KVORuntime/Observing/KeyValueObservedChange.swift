public import CKVORuntime

// A change as handlers get it (D4, H1). It is created from the core's record, and reads the record's values
// as the property's type during the call.

/// One change of a property as a handler gets it, with the values that the registration's options ask for.
///
/// `Value` is the property's type. The values are copies, which may be kept after the call.
@frozen
public struct KeyValueObservedChange<Value> {
  /// The kind of a change.
  public typealias Kind = KeyValueChange

  /// Whether the property was set, or elements were inserted, removed or replaced.
  public let kind: Kind
  /// The new value, or nil if the options do not include `.new`. For a change of elements, the elements that
  /// were added. Also nil if a link that the key path forces (`\.link!.name`) is nil.
  public let newValue: Value?
  /// The old value, or nil if the options do not include `.old`. For a change of elements, the elements that
  /// were removed. Also nil if a link that the key path forced was nil.
  public let oldValue: Value?
  // `RangeSet` is not frozen. If one were stored, this type's layout and each copy of it would need metadata
  // at run time: 150 of the 400 instructions of a notification.
  @usableFromInline let ranges: [Range<Int>]?
  /// Whether this is the notification before the change, which `.prior` asks for.
  public let isPrior: Bool

  /// Creates a change from its parts, for code that passes changes on.
  @inlinable
  public init(
    kind: Kind = .setting, newValue: Value? = nil, oldValue: Value? = nil,
    indexes: RangeSet<Int>? = nil, isPrior: Bool = false
  ) {
    self.init(
      kind: kind, newValue: newValue, oldValue: oldValue,
      ranges: indexes.map { Array($0.ranges) }, isPrior: isPrior)
  }

  @inlinable
  init(
    kind: Kind, newValue: Value?, oldValue: Value?, ranges: [Range<Int>]?, isPrior: Bool
  ) {
    self.kind = kind
    self.newValue = newValue
    self.oldValue = oldValue
    self.ranges = ranges
    self.isPrior = isPrior
  }

  /// The indexes of the elements that were inserted, removed or replaced in an ordered to-many property; nil
  /// for other changes.
  ///
  /// - Complexity: O(*n*) in the number of ranges.
  @inlinable
  public var indexes: RangeSet<Int>? { ranges.map { RangeSet($0) } }
}

extension KeyValueObservedChange: Sendable where Value: Sendable {}

extension KeyValueObservedChange: CustomStringConvertible {
  /// The parts that the change has, as text: `KeyValueObservedChange(kind: insertion, newValue: ["Ada"],
  /// indexes: 1..<2)`.
  public var description: String {
    var parts = ["kind: \(kind)"]
    if let oldValue { parts.append("oldValue: \(String(reflecting: oldValue))") }
    if let newValue { parts.append("newValue: \(String(reflecting: newValue))") }
    if let ranges {
      parts.append("indexes: " + ranges.map { "\($0)" }.joined(separator: ", "))
    }
    if isPrior { parts.append("isPrior: true") }
    return "KeyValueObservedChange(\(parts.joined(separator: ", ")))"
  }
}

/// The values and indexes of a change of elements. The type is not generic, so that the fast path, which does
/// not use it, needs no metadata.
@frozen @usableFromInline
struct BorrowedElements {
  @usableFromInline let kind: KeyValueChange
  @usableFromInline let newValue: UnsafeRawPointer?
  @usableFromInline let oldValue: UnsafeRawPointer?
  @usableFromInline let ranges: [Range<Int>]?

  /// - Parameter type: The type of the property's values. If elements were announced manually for a key that
  ///   is not a collection, the values have another type and are left out.
  @usableFromInline @inline(never)
  init<Value>(_ change: OpaquePointer, as type: Value.Type) {
    func bytes(_ value: UnsafePointer<kvo_value>) -> UnsafeRawPointer? {
      value.pointee.type == ValueType.of(type).cType ? kvo_value_bytes(value) : nil
    }
    kind = KeyValueChange(change)
    newValue = kvo_change_get_new(change).flatMap(bytes)
    oldValue = kvo_change_get_old(change).flatMap(bytes)
    ranges = kvo_change_get_indexes(change).map { KVORuntime.ranges(of: $0) }
  }
}

extension KeyValueObservedChange {
  /// Calls a body with a change. It is inlinable, so that the caller's compiler knows `Value` and copies
  /// values without metadata. Both branches call the body, so that the compiler knows in the first that there
  /// are no indexes to release.
  ///
  /// `Value` is the type that the property was registered with, which `observe` has checked.
  @inlinable @inline(__always)
  static func lend(_ change: OpaquePointer, to body: (Self) -> Void) {
    let parts = kvo_binding_change_parts(change)
    if _fastPath(kvo_binding_is_setting(change)) {
      body(
        Self(
          kind: .setting, newValue: value(parts.pointee.new_value),
          oldValue: value(parts.pointee.old_value), ranges: nil,
          isPrior: parts.pointee.is_prior))
    } else {
      let elements = BorrowedElements(change, as: Value.self)
      body(
        Self(
          kind: elements.kind,
          newValue: elements.newValue?.assumingMemoryBound(to: Value.self).pointee,
          oldValue: elements.oldValue?.assumingMemoryBound(to: Value.self).pointee,
          ranges: elements.ranges, isPrior: parts.pointee.is_prior))
    }
  }

  /// The value of a setting. The memory belongs to the core's change.
  @inlinable @inline(__always)
  static func value(_ value: UnsafePointer<kvo_value>?) -> Value? {
    kvo_binding_bytes(value)?.assumingMemoryBound(to: Value.self).pointee
  }

  /// Creates a change with values that were read already.
  init(_ change: OpaquePointer, newValue: Value?, oldValue: Value?) {
    self.init(
      kind: KeyValueChange(change), newValue: newValue, oldValue: oldValue,
      ranges: kvo_change_get_indexes(change).map { KVORuntime.ranges(of: $0) },
      isPrior: kvo_change_is_prior(change))
  }
}

extension KeyValueObservedChange<Any> {
  /// Calls a body with values of any type; a nil value is `Optional<Any>.none`. Both branches call the body,
  /// so that the compiler knows in the first that there are no values to release.
  @inline(__always)
  static func lend(boxing change: OpaquePointer, to body: (Self) -> Void) {
    let parts = kvo_binding_change_parts(change).pointee
    let isBare = parts.old_value == nil && parts.new_value == nil
    if _fastPath(isBare && kvo_binding_is_setting(change)) {
      body(
        Self(kind: .setting, newValue: nil, oldValue: nil, ranges: nil, isPrior: parts.is_prior))
    } else {
      body(
        Self(
          change, newValue: parts.new_value.map { present(ValueType.any(of: $0)) },
          oldValue: parts.old_value.map { present(ValueType.any(of: $0)) }))
    }
  }
}

extension KeyValueChange {
  /// - Parameter change: A `kvo_change *`.
  package init(_ change: OpaquePointer) {
    self.init(kvo_change_get_kind(change))
  }

  init(_ kind: kvo_change_kind) {
    self = KeyValueChange(rawValue: UInt(kind.rawValue)) ?? .setting
  }
}
