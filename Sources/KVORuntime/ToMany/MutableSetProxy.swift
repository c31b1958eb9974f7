/// An unordered to-many key as `mutableSetValue(forKey:)` returns it: live, and each mutation is one
/// change, of which observers are told what really came and went.
///
/// It is changed by the accessors that the class declares, by the property in place, or by setting
/// the key; a nil set springs into being at the first insertion. Adding one member that is there
/// already, or removing one that is not, is no change; a number is a member if it is equal to one. An error leaves the members as they were,
/// and nobody is told. The object is kept alive.
public final class MutableSetProxy: Sequence {
  let contents: MemberContents

  init(_ contents: MemberContents) {
    self.contents = contents
  }

  /// Iterates over the members that there are now.
  public func makeIterator() -> Set<AnyHashable>.Iterator {
    contents.reading.members.makeIterator()
  }

  /// How many members there are.
  public var count: Int { contents.reading.count }

  /// Whether a member is there.
  public func contains(_ member: AnyHashable) -> Bool { contents.reading.contains(member) }

  /// Adds a member.
  ///
  /// - Throws: as every mutation: `KeyValueError.readOnly` for what can't be mutated,
  ///   `KeyValueError.typeMismatch` for a member of another type, and what a declared accessor
  ///   throws.
  public func add(_ member: AnyHashable) throws {
    let mutation = try contents.mutable()
    if !contains(member) { try mutation.mutate(.union, [member]) }
  }

  /// Takes a member away.
  public func remove(_ member: AnyHashable) throws {
    let mutation = try contents.mutable()
    if contains(member) { try mutation.mutate(.minus, [member]) }
  }

  /// Adds members: one insertion.
  public func formUnion(_ other: Set<AnyHashable>) throws {
    try contents.mutable().mutate(.union, other)
  }

  /// Takes members away: one removal.
  public func subtract(_ other: Set<AnyHashable>) throws {
    try contents.mutable().mutate(.minus, other)
  }

  /// Takes all but some members away: one removal.
  public func formIntersection(_ other: Set<AnyHashable>) throws {
    try contents.mutable().mutate(.intersect, other)
  }

  /// Puts other members in place of all: one replacement.
  public func set(_ other: Set<AnyHashable>) throws {
    try contents.mutable().mutate(.set, other)
  }
}

/// What a mutable proxy of an unordered key stands for.
struct MemberContents {
  let key: String
  let className: String
  let reading: any MemberReading
  /// Nil for what can't be changed.
  let mutation: (any MemberMutation)?

  func mutable() throws -> any MemberMutation {
    guard let mutation else { throw KeyValueError.readOnly(key: key, className: className) }
    return mutation
  }
}

extension MutableSetProxy: CustomStringConvertible {
  public var description: String { "\(contents.reading.members)" }
}
