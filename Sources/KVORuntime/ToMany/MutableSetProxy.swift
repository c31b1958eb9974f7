/// A live, mutable set for an unordered to-many key: the result of `mutableSetValue(forKey:)`. Each mutation
/// is one change, and notifies observers with the members that were really added or removed.
///
/// A mutation calls the accessors that the class declares. Without these it changes the property in place, or
/// sets the key. A nil set becomes a set at the first insertion. Adding a member that is present, or removing one
/// that is absent, notifies with empty sets. Numbers of different types are the same member if they are equal.
/// If a mutation throws, the members are unchanged, and no observer is notified. The proxy retains the
/// object. Use it only on threads that may use the object.
public final class MutableSetProxy: Sequence {
  package let contents: MemberContents

  init(_ contents: MemberContents) {
    self.contents = contents
  }

  /// Returns an iterator over the current members.
  public func makeIterator() -> Set<AnyHashable>.Iterator {
    contents.reading.members.makeIterator()
  }

  /// The number of members.
  public var count: Int { contents.reading.count }

  /// Returns whether the set contains a member.
  public func contains(_ member: AnyHashable) -> Bool { contents.reading.contains(member) }

  /// Adds a member, as one insertion: of no member, if the set contains it already.
  ///
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. `KeyValueError.typeMismatch` if the
  ///   member can't be converted to the key's element type. An error of a declared accessor.
  public func add(_ member: AnyHashable) throws {
    try contents.mutable().mutate(.union, [member])
  }

  /// Removes a member, as one removal: of no member, if the set does not contain it.
  ///
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. An error of a declared accessor.
  public func remove(_ member: AnyHashable) throws {
    try contents.mutable().mutate(.minus, [member])
  }

  /// Adds members, as one insertion.
  ///
  /// - Throws: the errors of `add(_:)`.
  /// - Complexity: O(*n*) in the number of members.
  public func formUnion(_ other: Set<AnyHashable>) throws {
    try contents.mutable().mutate(.union, other)
  }

  /// Removes members, as one removal.
  ///
  /// - Throws: the errors of `remove(_:)`.
  /// - Complexity: O(*n*) in the number of members.
  public func subtract(_ other: Set<AnyHashable>) throws {
    try contents.mutable().mutate(.minus, other)
  }

  /// Removes all members that `other` does not contain, as one removal.
  ///
  /// - Throws: the errors of `remove(_:)`.
  /// - Complexity: O(*n*) in the number of members.
  public func formIntersection(_ other: Set<AnyHashable>) throws {
    try contents.mutable().mutate(.intersect, other)
  }

  /// Replaces all members, as one replacement.
  ///
  /// - Throws: the errors of `add(_:)`.
  /// - Complexity: O(*n*) in the number of members.
  public func set(_ other: Set<AnyHashable>) throws {
    try contents.mutable().mutate(.set, other)
  }
}

/// The members behind a mutable proxy of an unordered key.
package struct MemberContents {
  package let key: String
  package let className: String
  package let reading: any MemberReading
  /// Nil if the key can't be changed.
  package let mutation: (any MemberMutation)?

  package func mutable() throws -> any MemberMutation {
    guard let mutation else { throw KeyValueError.readOnly(key: key, className: className) }
    return mutation
  }
}

extension MutableSetProxy: CustomStringConvertible {
  /// The members, described like a set's.
  public var description: String { "\(contents.reading.members)" }
}
