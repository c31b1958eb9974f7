public import CKVORuntime

// A change as handlers see it (D4, H1): made of the core's record, whose values it reads as the property's type for
// the time of the call.

/// One change of a property, as one observer may see it: what it asked for and nothing more.
@frozen
public struct KeyValueObservedChange<Value> {
  /// What a change can be.
  public typealias Kind = KeyValueChange

  /// What happened.
  public let kind: Kind
  /// The new value, if it was asked for. Of a to-many change: what came.
  public let newValue: Value?
  /// The old value, if it was asked for. Of a to-many change: what went.
  public let oldValue: Value?
  // `RangeSet` is not frozen: a stored one would make this whole type's layout, and every copy of
  // it, a matter of run-time metadata (150 of 400 instructions of a notification).
  @usableFromInline let ranges: [Range<Int>]?
  /// Whether this is the notification before the change.
  public let isPrior: Bool

  /// A change with just these parts, for code that passes changes on.
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

  /// Where, for changes of ordered to-many properties.
  ///
  /// - Complexity: O(*n*) in the number of ranges.
  @inlinable
  public var indexes: RangeSet<Int>? { ranges.map { RangeSet($0) } }
}

extension KeyValueObservedChange: Sendable where Value: Sendable {}

extension KeyValueObservedChange: CustomStringConvertible {
  /// What is there of the change: `KeyValueObservedChange(kind: insertion, newValue: ["Ada"], indexes: 1..<2)`.
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

/// What came and went in a change of elements. Not generic, so that the quick way past it needs no
/// metadata.
@frozen @usableFromInline
struct BorrowedElements {
  @usableFromInline let kind: KeyValueChange
  @usableFromInline let newValue: UnsafeRawPointer?
  @usableFromInline let oldValue: UnsafeRawPointer?
  @usableFromInline let ranges: [Range<Int>]?

  /// - Parameter type: what the values are, unless such a change was announced by hand for a key that
  ///   holds no collection: then there are none.
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
  /// Calls a body with a change. Inlinable, so that the caller's compiler knows `Value` and copies it
  /// without metadata; and with the body in both branches, so that in the first it knows that there
  /// are no indexes, which nobody then has to let go of.
  ///
  /// `Value` is what the property was registered with; `observe` has checked it.
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

  /// The value of a setting, which belongs to the change.
  @inlinable @inline(__always)
  static func value(_ value: UnsafePointer<kvo_value>?) -> Value? {
    kvo_binding_bytes(value)?.assumingMemoryBound(to: Value.self).pointee
  }

  /// With values that are read already.
  init(_ change: OpaquePointer, newValue: Value?, oldValue: Value?) {
    self.init(
      kind: KeyValueChange(change), newValue: newValue, oldValue: oldValue,
      ranges: kvo_change_get_indexes(change).map { KVORuntime.ranges(of: $0) },
      isPrior: kvo_change_is_prior(change))
  }
}

extension KeyValueObservedChange<Any> {
  /// Calls a body with values of whatever type they are; nil ones are there, as `Optional<Any>.none`. With
  /// the body in both branches, so that in the first, where there are none, the compiler has nothing to let
  /// go of.
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
  /// - Parameter change: a `kvo_change *`.
  init(_ change: OpaquePointer) {
    self.init(kvo_change_get_kind(change))
  }

  init(_ kind: kvo_change_kind) {
    self = KeyValueChange(rawValue: UInt(kind.rawValue)) ?? .setting
  }
}
