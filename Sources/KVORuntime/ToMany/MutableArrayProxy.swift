/// A live, mutable array for an ordered to-many key: the result of `mutableArrayValue(forKey:)`. Each
/// mutation is one change, and notifies observers with its indexes and elements.
///
/// ```swift
/// let songs = try playlist.mutableArrayValue(forKey: "songs")
/// try songs.append("Blue")  // insertion at the last index
/// ```
///
/// A mutation calls the accessors that the class declares. Without these it changes the property in place, or
/// sets the key. A nil array becomes an array at the first insertion. A lazy property that has not been used
/// yet can't be changed. If a mutation throws, the elements are unchanged, and no observer is notified. The
/// proxy retains the object. Use it only on threads that may use the object.
public final class MutableArrayProxy: RandomAccessCollection {
  package let contents: OrderedContents

  init(_ contents: OrderedContents) {
    self.contents = contents
  }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { contents.reading.count }
  /// The number of elements.
  public var count: Int { contents.reading.count }

  /// The element at an index; a nil element is `Optional<Any>.none`. Reading stops the program if the index
  /// is out of range.
  ///
  /// Setting an element is a replacement; at the index after the last, it is an insertion. An error stops the
  /// program with a message. `replace(at:with:)` and `append(_:)` throw instead.
  public subscript(position: Int) -> Any {
    get { contents.reading.checkedElement(at: position) }
    set {
      contents.perform {
        try position == count ? append(newValue) : replace(at: position, with: newValue)
      }
    }
  }

  /// Returns an iterator over the elements. If a property holds them, the iterator returns the present ones,
  /// even if the property is changed during the iteration.
  public func makeIterator() -> ProxyIterator { ProxyIterator(contents.reading) }

  /// Returns whether the array contains an element: an equal one, or the same object if the type has no `==`.
  /// - Complexity: O(*n*).
  public func contains(_ element: Any) -> Bool { contents.reading.firstIndex(of: element) != nil }

  /// Inserts an element before the one at `index`, or at the end.
  ///
  /// - Parameters:
  ///   - element: converted to the key's element type.
  ///   - index: the index that the element has afterwards; at most the count.
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. `KeyValueError.indexOutOfBounds`.
  ///   `KeyValueError.typeMismatch` if the element can't be converted. An error of a declared accessor.
  public func insert(_ element: Any, at index: Int) throws {
    try contents.check(index)
    try contents.insert([element], at: RangeSet(index..<index + 1))
  }

  /// Inserts elements at several indexes, as one change.
  ///
  /// - Parameters:
  ///   - elements: converted to the key's element type.
  ///   - indexes: the indexes that the elements have afterwards, one for each element.
  /// - Throws: `KeyValueError.validationFailed` if there are more or fewer elements than indexes. The errors
  ///   of `insert(_:at:)` for one element.
  public func insert(_ elements: [Any], at indexes: RangeSet<Int>) throws {
    try contents.insert(elements, at: indexes)
  }

  /// Inserts an element at the end.
  ///
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. `KeyValueError.typeMismatch` if the
  ///   element can't be converted. An error of a declared accessor.
  public func append(_ element: Any) throws {
    try contents.append([element])
  }

  /// Removes the element at an index.
  ///
  /// - Returns: the removed element.
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. `KeyValueError.indexOutOfBounds`. An
  ///   error of a declared accessor.
  @discardableResult
  public func remove(at index: Int) throws -> Any {
    try contents.check(index)
    return try contents.remove(at: index)
  }

  /// Removes the elements at several indexes, as one change.
  ///
  /// - Throws: the errors of `remove(at:)` for one index.
  public func remove(at indexes: RangeSet<Int>) throws { try contents.remove(at: indexes) }

  /// Replaces the element at an index.
  ///
  /// - Throws: the errors of `insert(_:at:)`.
  public func replace(at index: Int, with element: Any) throws {
    try contents.check(index)
    try contents.replace(at: RangeSet(index..<index + 1), with: [element])
  }

  /// Replaces the elements at several indexes, as one change.
  ///
  /// - Parameters:
  ///   - indexes: the elements to replace.
  ///   - elements: the new elements, one for each index.
  /// - Throws: `KeyValueError.validationFailed` if there are more or fewer elements than indexes. The errors
  ///   of `insert(_:at:)`.
  public func replace(at indexes: RangeSet<Int>, with elements: [Any]) throws {
    try contents.replace(at: indexes, with: elements)
  }

  /// Removes all elements, as one change. Without elements it does nothing.
  ///
  /// - Throws: `KeyValueError.readOnly` if the key can't be changed. An error of a declared accessor.
  public func removeAll() throws { try contents.removeAll() }
}

/// The elements behind a mutable proxy of an ordered key. Arguments are checked here, before anything
/// changes.
package struct OrderedContents {
  package let key: String
  package let className: String
  package let reading: any OrderedReading
  /// Nil if the key can't be changed.
  package let mutation: (any OrderedMutation)?

  /// Throws for an index that no element can have.
  package func check(_ index: Int) throws {
    if index < 0 || index == .max { throw outOfBounds(index) }
  }

  /// Makes an edit as one change.
  /// - Parameter edit: works the edit out from the present elements, with valid indexes; nil if there is nothing to do.
  ///   Called again if prior observers have changed the elements.
  package func apply(_ edit: () throws -> OrderedEdit<Any>?) throws { try mutable().apply(edit) }

  package func insert(_ elements: [Any], at indexes: RangeSet<Int>) throws {
    try apply { try insertion(elements, at: indexes) }
  }

  /// Inserts elements at the end.
  package func append(_ elements: [Any]) throws {
    try apply {
      guard !elements.isEmpty else { return nil }
      let end = reading.count
      return .insertion(elements, at: RangeSet(end..<end + elements.count))
    }
  }

  package func remove(at index: Int) throws -> Any {
    var removed: Any?
    try apply {
      let edit = try removal(at: RangeSet(index..<index + 1))
      removed = reading.element(at: index)
      return edit
    }
    return removed as Any
  }

  package func remove(at indexes: RangeSet<Int>) throws { try apply { try removal(at: indexes) } }

  package func replace(at indexes: RangeSet<Int>, with elements: [Any]) throws {
    try apply { try replacement(at: indexes, with: elements) }
  }

  func removeAll() throws {
    try apply {
      let count = reading.count
      return count > 0 ? .removal(at: RangeSet(0..<count)) : nil
    }
  }

  /// An edit whose arguments are checked against the present elements. Throws if they are wrong; nil if there is nothing
  /// to insert.
  package func insertion(
    _ elements: [Any], at indexes: RangeSet<Int>
  ) throws -> OrderedEdit<Any>? {
    guard try match(elements, indexes) else { return nil }
    return try checked(.insertion(elements, at: indexes))
  }

  /// An edit whose arguments are checked as those of `insertion` are.
  package func removal(at indexes: RangeSet<Int>) throws -> OrderedEdit<Any>? {
    indexes.isEmpty ? nil : try checked(.removal(at: indexes))
  }

  /// An edit whose arguments are checked as those of `insertion` are.
  package func replacement(
    at indexes: RangeSet<Int>, with elements: [Any]
  ) throws -> OrderedEdit<Any>? {
    guard try match(elements, indexes) else { return nil }
    return try checked(.replacement(at: indexes, with: elements))
  }

  private func checked(_ edit: OrderedEdit<Any>) throws -> OrderedEdit<Any> {
    let count = reading.count
    if let index = edit.firstBeyond(count) { throw outOfBounds(index, of: count) }
    return edit
  }

  package func mutable() throws -> any OrderedMutation {
    guard let mutation else { throw KeyValueError.readOnly(key: key, className: className) }
    return mutation
  }

  func invalid(_ reason: String) -> KeyValueError {
    .validationFailed(key: key, className: className, reason: reason)
  }

  /// Checks that there are as many elements as indexes and that no index is negative; throws if not. Returns
  /// false if both are empty, so that there is nothing to do.
  package func match(_ elements: [some Any], _ indexes: RangeSet<Int>) throws -> Bool {
    if let first = indexes.first, first < 0 { throw outOfBounds(first) }
    let places = indexes.count
    guard elements.count == places else {
      throw invalid("\(elements.count) elements were given for \(places) indexes.")
    }
    return places > 0
  }

  /// Runs a body in a context that can't throw: an error stops the program.
  package func perform(_ body: () throws -> Void) {
    do { try body() } catch { KVODiagnostics.stop("\(error)") }
  }

  package func checkBounds(_ indexes: RangeSet<Int>) throws {
    let count = reading.count
    if let index = indexes.firstBeyond(count) { throw outOfBounds(index, of: count) }
  }

  package func outOfBounds(_ index: Int, of count: Int? = nil) -> KeyValueError {
    .indexOutOfBounds(
      key: key, className: className, index: index, count: count ?? reading.count)
  }
}

extension MutableArrayProxy: CustomStringConvertible {
  /// The elements, described like an array's.
  public var description: String { "\(Array(self))" }
}
