internal import Foundation
internal import KVORuntime

// Sorting and filtering of sequences by keys (R4). Foundation's `#Predicate` works on `KVOObject`s as on any Swift class,
// so that `filter` takes one; what is filtered by a key that is a string is filtered here.

extension Sequence {
  /// The elements, sorted by the first criterion, those that are equal by it by the next one, and so on. What is equal by
  /// all of them stays in its order.
  ///
  /// ```swift
  /// let byAge = try people.sorted(using: [KeyValueSort("age", ascending: false), KeyValueSort("name")])
  /// ```
  ///
  /// - Throws: what reading a key does; `KeyValueError.typeMismatch` for values that have no order.
  /// - Complexity: O(*n* log *n*); each key is read once of each element.
  public func sorted(using sorts: [KeyValueSort<Element>]) throws -> [Element] {
    let rows = try map { element in
      (element, try sorts.map { try $0.read(element).flatMap(flattened) })
    }
    return try rows.sorted { a, b in
      for (place, sort) in sorts.enumerated() {
        let order = try sort.compare(a.1[place], b.1[place])
        if order != .orderedSame { return order == .orderedAscending }
      }
      return false
    }.map(\.0)
  }

  /// The elements, sorted by one criterion.
  ///
  /// - Throws: as `sorted(using:)` with several.
  /// - Complexity: O(*n* log *n*); the key is read once of each element.
  public func sorted(using sort: KeyValueSort<Element>) throws -> [Element] {
    try sorted(using: [sort])
  }

  /// The elements of which a condition on a key's value is true; those whose value is nil, or of another type, are not
  /// among them.
  ///
  /// ```swift
  /// let adults = try people.filter("age", as: Int.self) { $0 >= 18 }
  /// ```
  ///
  /// - Throws: what reading the key does, and what the condition does.
  /// - Complexity: O(*n*).
  public func filter<Value>(
    _ keyPath: String, as type: Value.Type, where condition: (Value) throws -> Bool
  ) throws -> [Element] {
    try filter { element in
      let value = try KeyValueSorting.value(forKeyPath: keyPath, of: element).flatMap(flattened)
      return try (value as? Value).map(condition) ?? false
    }
  }
}

extension Array {
  /// Sorts the elements in place: as `sorted(using:)`, with the array as it was where that throws.
  /// - Complexity: O(*n* log *n*); each key is read once of each element.
  public mutating func sort(using sorts: [KeyValueSort<Element>]) throws {
    self = try sorted(using: sorts)
  }
}
