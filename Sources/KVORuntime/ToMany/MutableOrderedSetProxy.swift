/// A live, mutable ordered set for an ordered to-many key: the result of `mutableOrderedSetValue(forKey:)`.
/// Each mutation is one change, and notifies observers with its indexes and members.
///
/// It works as a `MutableArrayProxy`, but has each member once. Inserting a member that it contains is not a
/// change. A replacement that would repeat a member throws. If a mutation throws, the members are unchanged,
/// and no observer is notified. The proxy retains the object. Use it only on threads that may use the object.
public final class MutableOrderedSetProxy: RandomAccessCollection {
  package let contents: OrderedContents

  init(_ contents: OrderedContents) {
    self.contents = contents
  }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of members.
  public var endIndex: Int { contents.reading.count }
  /// The number of members.
  public var count: Int { contents.reading.count }

  /// The member at an index. Reading stops the program if the index is out of range, or the element there is
  /// not `Hashable`.
  ///
  /// Setting a member is a replacement; at the index after the last, it is an insertion. An error stops the
  /// program with a message. `replace(at:with:)` and `add(_:)` throw instead.
  public subscript(position: Int) -> AnyHashable {
    get { hashable(contents.reading.checkedElement(at: position)) }
    set {
      contents.perform {
        try position == count ? add(newValue) : replace(at: position, with: newValue)
      }
    }
  }

  /// Returns whether the ordered set contains a member.
  /// - Complexity: O(*n*), or that of a declared accessor.
  public func contains(_ member: AnyHashable) -> Bool { firstIndex(of: member) != nil }

  /// Returns the index of a member; nil if the ordered set does not contain it.
  /// - Complexity: O(*n*), or that of a declared accessor.
  public func firstIndex(of member: AnyHashable) -> Int? {
    contents.reading.firstIndex(of: member.base)
  }

  /// Inserts a member before the one at `index`, or at the end. If the ordered set contains it already,
  /// nothing changes.
  ///
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. `KeyValueError.indexOutOfBounds`.
  ///   `KeyValueError.typeMismatch` if the member can't be converted. An error of a declared accessor.
  public func insert(_ member: AnyHashable, at index: Int) throws {
    try contents.check(index)
    try insert([member], at: RangeSet(index..<index + 1))
  }

  /// Inserts a member at the end, unless the ordered set contains it already.
  ///
  /// - Throws: the errors of `insert(_:at:)`.
  public func add(_ member: AnyHashable) throws { try append([member]) }

  /// Inserts members at several indexes, as one change. Members that the ordered set contains already are
  /// left out, and the indexes of those after them decrease accordingly.
  ///
  /// - Parameters:
  ///   - members: converted to the key's element type.
  ///   - indexes: the indexes that the members have afterwards, one for each member.
  /// - Throws: `KeyValueError.validationFailed` if there are more or fewer members than indexes. The errors
  ///   of `insert(_:at:)` for one member.
  public func insert(_ members: [AnyHashable], at indexes: RangeSet<Int>) throws {
    try contents.apply { try insertion(members, at: indexes) }
  }

  /// Inserts those members that are not yet contained at the end.
  package func append(_ members: [AnyHashable]) throws {
    try contents.apply {
      let end = count
      return try insertion(members, at: RangeSet(end..<end + members.count))
    }
  }

  private func insertion(
    _ members: [AnyHashable], at indexes: RangeSet<Int>
  ) throws -> OrderedEdit<Any>? {
    guard try contents.match(members, indexes) else { return nil }
    let mutation = try contents.mutable()
    let isPresent = membership(of: members.count, outside: RangeSet())
    var new: [AnyHashable] = []
    var newPlaces = RangeSet<Int>()
    var known: Set<AnyHashable> = []
    for (offset, index) in indexes.ranges.joined().enumerated() {
      let member = try converted(members[offset], by: mutation)
      guard !isPresent(member), known.insert(form(member)).inserted else { continue }
      let place = index - (offset - new.count)
      newPlaces.insert(contentsOf: place..<place + 1)
      new.append(member)
    }
    return try contents.insertion(new.map(\.base), at: newPlaces)
  }

  /// Removes the member at an index.
  ///
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. `KeyValueError.indexOutOfBounds`. An
  ///   error of a declared accessor.
  public func remove(at index: Int) throws {
    try contents.check(index)
    _ = try contents.remove(at: index)
  }

  /// Removes a member. If the ordered set does not contain it, nothing changes.
  ///
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. An error of a declared accessor.
  public func remove(_ member: AnyHashable) throws {
    try contents.apply {
      firstIndex(of: member).map { .removal(at: RangeSet($0..<$0 + 1)) }
    }
  }

  /// Removes the members at several indexes, as one change.
  ///
  /// - Throws: the errors of `remove(at:)` for one index.
  public func remove(at indexes: RangeSet<Int>) throws { try contents.remove(at: indexes) }

  /// Replaces the member at an index.
  ///
  /// - Throws: `KeyValueError.validationFailed` if the new member is at another index already. The errors of
  ///   `insert(_:at:)`.
  public func replace(at index: Int, with member: AnyHashable) throws {
    try contents.check(index)
    try contents.apply {
      let member = try converted(member, by: contents.mutable())
      if let present = firstIndex(of: member), present != index { throw twice(member) }
      return try contents.replacement(at: RangeSet(index..<index + 1), with: [member.base])
    }
  }

  /// Replaces the members at several indexes, as one change.
  ///
  /// - Parameters:
  ///   - indexes: the members to replace.
  ///   - members: the new members, one for each index.
  /// - Throws: `KeyValueError.validationFailed` if a member would occur twice, or there are more or fewer
  ///   members than indexes. The errors of `insert(_:at:)`.
  public func replace(at indexes: RangeSet<Int>, with members: [AnyHashable]) throws {
    try contents.apply {
      guard try contents.match(members, indexes) else { return nil }
      try contents.checkBounds(indexes)
      let mutation = try contents.mutable()
      let new = try members.map { try converted($0, by: mutation) }
      let isPresent = membership(of: members.count, outside: indexes)
      var known: Set<AnyHashable> = []
      for member in new where isPresent(member) || !known.insert(form(member)).inserted {
        throw twice(member)
      }
      return .replacement(at: indexes, with: new.map(\.base))
    }
  }

  private func twice(_ member: AnyHashable) -> KeyValueError {
    contents.invalid("it is an ordered set and would have \(member) twice.")
  }

  /// Removes all members, as one change. Without members it does nothing.
  ///
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. An error of a declared accessor.
  public func removeAll() throws { try contents.removeAll() }

  // Converted first, since the set may already contain the converted member.
  private func converted(
    _ member: AnyHashable, by mutation: any OrderedMutation
  ) throws -> AnyHashable {
    try mutation.converted(member.base) as? AnyHashable ?? member
  }

  private func form(_ member: AnyHashable) -> AnyHashable { contents.reading.form(of: member) }

  // A function that tests whether a member is at another index than those given. It calls the key's accessor if it has
  // one. Otherwise one search per member would take too long for many, so the elements are read once.
  private func membership(of count: Int, outside indexes: RangeSet<Int>) -> (AnyHashable) -> Bool {
    guard count > 1, !contents.reading.findsMembers else {
      return { self.firstIndex(of: $0).map { !indexes.contains($0) } ?? false }
    }
    let others = contents.reading.elements(in: indices).enumerated().lazy
      .filter { !indexes.contains($0.offset) }
    let present = SoughtElements(others.map(\.element), by: contents.reading.form)
    return { present.contains($0.base) }
  }

  private func hashable(_ element: Any) -> AnyHashable {
    guard let member = element as? AnyHashable else {
      KVODiagnostics.stop(
        """
        "\(contents.key)" of \(contents.className) is read as an ordered set, and has an element \
        of type \(className(of: type(of: element))), which is not Hashable.
        """)
    }
    return member
  }
}

extension MutableOrderedSetProxy: CustomStringConvertible {
  /// The members, described like an array's elements.
  public var description: String { "\(Array(self))" }
}
