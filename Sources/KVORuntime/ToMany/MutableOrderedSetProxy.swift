/// An ordered to-many key that has each element once, as `mutableOrderedSetValue(forKey:)` returns
/// it: as a `MutableArrayProxy`, but inserting what is there already is no change, and a replacement
/// that would leave an element twice is an error.
public final class MutableOrderedSetProxy: RandomAccessCollection {
  let contents: OrderedContents

  init(_ contents: OrderedContents) {
    self.contents = contents
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { contents.reading.count }
  public var count: Int { contents.reading.count }

  /// A member. An index beyond the count stops the program.
  ///
  /// Setting one is a replacement; at the index after the last, an insertion there. What can't be done
  /// stops the program with a message: `replace(at:with:)` throws.
  public subscript(position: Int) -> AnyHashable {
    get { hashable(contents.reading.checkedElement(at: position)) }
    set {
      contents.perform {
        try position == count ? add(newValue) : replace(at: position, with: newValue)
      }
    }
  }

  /// Whether a member is there.
  public func contains(_ member: AnyHashable) -> Bool {
    contents.reading.index(of: member) != nil
  }

  /// Where a member is; nil if it is not there.
  public func firstIndex(of member: AnyHashable) -> Int? { contents.reading.index(of: member) }

  /// Inserts a member before another, or at the end, unless it is there already.
  ///
  /// - Throws: as `MutableArrayProxy.insert(_:at:)`.
  public func insert(_ member: AnyHashable, at index: Int) throws {
    try contents.check(index)
    try insert([member], at: RangeSet(index..<index + 1))
  }

  /// Adds a member at the end, unless it is there already.
  public func add(_ member: AnyHashable) throws { try insert(member, at: count) }

  /// Inserts members at as many indexes, which are those that they have afterwards: one insertion.
  /// What is there already is left out, and what stands behind it moves up.
  public func insert(_ members: [AnyHashable], at indexes: RangeSet<Int>) throws {
    let mutation = try contents.mutable()
    guard try contents.match(members, indexes) else { return }
    var new: [AnyHashable] = []
    var newPlaces = RangeSet<Int>()
    var known: Set<AnyHashable> = []
    for (offset, index) in indexes.ranges.joined().enumerated() {
      let member = try converted(members[offset], by: mutation)
      guard !contains(member), known.insert(member).inserted else { continue }
      let place = index - (offset - new.count)
      newPlaces.insert(contentsOf: place..<place + 1)
      new.append(member)
    }
    try contents.insert(new.map(\.base), at: newPlaces)
  }

  /// Removes the member at an index.
  public func remove(at index: Int) throws {
    try contents.check(index)
    _ = try contents.remove(at: index)
  }

  /// Removes a member, if it is there.
  public func remove(_ member: AnyHashable) throws {
    _ = try contents.mutable()
    if let index = firstIndex(of: member) { _ = try contents.remove(at: index) }
  }

  /// Removes the members at some indexes: one removal.
  public func remove(at indexes: RangeSet<Int>) throws { try contents.remove(at: indexes) }

  /// Puts a member in the place of another.
  ///
  /// - Throws: `KeyValueError.validationFailed` if it is at another index already, too.
  public func replace(at index: Int, with member: AnyHashable) throws {
    try contents.check(index)
    let member = try converted(member, by: contents.mutable())
    if let present = firstIndex(of: member), present != index {
      throw twice(member)
    }
    try contents.replace(at: RangeSet(index..<index + 1), with: [member.base])
  }

  /// Puts members in the places of as many others: one replacement.
  ///
  /// - Throws: `KeyValueError.validationFailed` if one of them would be there twice, too.
  public func replace(at indexes: RangeSet<Int>, with members: [AnyHashable]) throws {
    let mutation = try contents.mutable()
    guard try contents.match(members, indexes) else { return }
    try contents.checkBounds(indexes)
    var known = Set(self.indices.lazy.filter { !indexes.contains($0) }.map { self[$0] })
    let new = try members.map { try converted($0, by: mutation) }
    for member in new where !known.insert(member).inserted { throw twice(member) }
    try contents.replace(at: indexes, with: new.map(\.base))
  }

  private func twice(_ member: AnyHashable) -> KeyValueError {
    contents.invalid("it is an ordered set and would have \(member) twice.")
  }

  /// Removes all members: one removal.
  public func removeAll() throws { try contents.removeAll() }

  // What has become of another type may be there already.
  private func converted(
    _ member: AnyHashable, by mutation: any OrderedMutation
  ) throws -> AnyHashable {
    try mutation.converted(member.base) as? AnyHashable ?? member
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
  public var description: String { "\(Array(self))" }
}
