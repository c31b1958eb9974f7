/// An ordered to-many key as `mutableArrayValue(forKey:)` returns it: live, and each mutation is one
/// change, which observers are told with indexes and elements.
///
/// It is changed by the accessors that the class declares, by the property in place, or by setting
/// the key; a nil array springs into being at the first insertion, but a lazy property that has not been
/// used yet can't be changed. An error leaves the elements as
/// they were, and nobody is told. The object is kept alive.
public final class MutableArrayProxy: RandomAccessCollection {
  let contents: OrderedContents

  init(_ contents: OrderedContents) {
    self.contents = contents
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { contents.reading.count }
  public var count: Int { contents.reading.count }

  /// An element, nil as `Optional<Any>.none`. An index beyond the count stops the program.
  ///
  /// Setting one is a replacement; at the index after the last, an insertion there. What can't be done
  /// stops the program with a message: `replace(at:with:)` throws.
  public subscript(position: Int) -> Any {
    get { contents.reading.checkedElement(at: position) }
    set {
      contents.perform {
        try position == count ? append(newValue) : replace(at: position, with: newValue)
      }
    }
  }

  /// Goes through the elements: of a property through those that there are now, also if it is changed
  /// meanwhile.
  public func makeIterator() -> ProxyIterator { ProxyIterator(contents.reading) }

  /// Inserts an element before another, or at the end.
  ///
  /// - Throws: as every mutation: `KeyValueError.readOnly` for what can't be mutated,
  ///   `KeyValueError.indexOutOfBounds`, `KeyValueError.typeMismatch` for an element of another
  ///   type, and what a declared accessor throws.
  public func insert(_ element: Any, at index: Int) throws {
    try contents.check(index)
    try contents.insert([element], at: RangeSet(index..<index + 1))
  }

  /// Inserts elements at as many indexes, which are those that they have afterwards: one insertion.
  ///
  /// - Throws: `KeyValueError.validationFailed` if there are not as many, too.
  public func insert(_ elements: [Any], at indexes: RangeSet<Int>) throws {
    try contents.insert(elements, at: indexes)
  }

  /// Adds an element at the end.
  public func append(_ element: Any) throws {
    let count = contents.reading.count
    try contents.insert([element], at: RangeSet(count..<count + 1))
  }

  /// Removes an element and returns it.
  @discardableResult
  public func remove(at index: Int) throws -> Any {
    try contents.check(index)
    return try contents.remove(at: index)
  }

  /// Removes the elements at some indexes: one removal.
  public func remove(at indexes: RangeSet<Int>) throws { try contents.remove(at: indexes) }

  /// Puts an element in the place of another.
  public func replace(at index: Int, with element: Any) throws {
    try contents.check(index)
    try contents.replace(at: RangeSet(index..<index + 1), with: [element])
  }

  /// Puts elements in the places of as many others: one replacement.
  public func replace(at indexes: RangeSet<Int>, with elements: [Any]) throws {
    try contents.replace(at: indexes, with: elements)
  }

  /// Removes all elements: one removal.
  public func removeAll() throws { try contents.removeAll() }
}

/// What a mutable proxy of an ordered key stands for. Everything is checked here before it is done.
struct OrderedContents {
  let key: String
  let className: String
  let reading: any OrderedReading
  /// Nil for what can't be changed.
  let mutation: (any OrderedMutation)?

  /// Refuses an index that no element can have.
  func check(_ index: Int) throws {
    if index < 0 || index == .max { throw outOfBounds(index) }
  }

  func insert(_ elements: [Any], at indexes: RangeSet<Int>) throws {
    let mutation = try mutable()
    guard try match(elements, indexes) else { return }
    let count = reading.count
    if let index = indexes.firstBeyond(insertingInto: count) { throw outOfBounds(index, of: count) }
    try mutation.insert(elements, at: indexes)
  }

  func remove(at index: Int) throws -> Any {
    let mutation = try mutable()
    try checkBounds(RangeSet(index..<index + 1))
    let element = reading.element(at: index)
    try mutation.remove(at: RangeSet(index..<index + 1))
    return element
  }

  func remove(at indexes: RangeSet<Int>) throws {
    let mutation = try mutable()
    guard !indexes.isEmpty else { return }
    try checkBounds(indexes)
    try mutation.remove(at: indexes)
  }

  func replace(at indexes: RangeSet<Int>, with elements: [Any]) throws {
    let mutation = try mutable()
    guard try match(elements, indexes) else { return }
    try checkBounds(indexes)
    try mutation.replace(at: indexes, with: elements)
  }

  func removeAll() throws {
    let mutation = try mutable()
    let count = reading.count
    if count > 0 { try mutation.remove(at: RangeSet(0..<count)) }
  }

  func mutable() throws -> any OrderedMutation {
    guard let mutation else { throw KeyValueError.readOnly(key: key, className: className) }
    return mutation
  }

  func invalid(_ reason: String) -> KeyValueError {
    .validationFailed(key: key, className: className, reason: reason)
  }

  /// Whether there are as many elements as indexes, of which none is negative: an error if not, false
  /// if there is nothing to do.
  func match(_ elements: [some Any], _ indexes: RangeSet<Int>) throws -> Bool {
    if let first = indexes.first, first < 0 { throw outOfBounds(first) }
    let places = indexes.count
    guard elements.count == places else {
      throw invalid("\(elements.count) elements were given for \(places) indexes.")
    }
    return places > 0
  }

  /// For what can't throw.
  func perform(_ body: () throws -> Void) {
    do { try body() } catch { KVODiagnostics.stop("\(error)") }
  }

  func checkBounds(_ indexes: RangeSet<Int>) throws {
    let count = reading.count
    if let index = indexes.firstBeyond(count) { throw outOfBounds(index, of: count) }
  }

  func outOfBounds(_ index: Int, of count: Int? = nil) -> KeyValueError {
    .indexOutOfBounds(
      key: key, className: className, index: index, count: count ?? reading.count)
  }
}

extension MutableArrayProxy: CustomStringConvertible {
  public var description: String { "\(Array(self))" }
}
