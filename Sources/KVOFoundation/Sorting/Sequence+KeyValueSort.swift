internal import Foundation
internal import KVORuntime

// Sorting and filtering of sequences by keys (R4). Foundation's `#Predicate` works with `KVOObject`s as with
// any Swift class, so the standard `filter` can use one. This file adds filtering by string keys.

/// Sorting and filtering by keys.
extension Sequence {
  /// Returns the elements, sorted by the first criterion, then by the next one, and so on. Elements that are
  /// equal by all criteria keep their order.
  ///
  /// ```swift
  /// let byAge = try people.sorted(using: [KeyValueSort("age", ascending: false), KeyValueSort("name")])
  /// ```
  ///
  /// - Throws: an error of reading a key; `KeyValueError.typeMismatch` for values that can't be compared.
  /// - Complexity: O(*n* log *n*). Each key of each element is read once.
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

  /// Returns the elements, sorted by one criterion.
  ///
  /// - Throws: an error of reading the key; `KeyValueError.typeMismatch` for values that can't be compared.
  /// - Complexity: O(*n* log *n*). The key of each element is read once.
  public func sorted(using sort: KeyValueSort<Element>) throws -> [Element] {
    try sorted(using: [sort])
  }

  /// Returns the elements whose value for a key path satisfies a condition. Numbers are converted. Elements whose
  /// value is nil or of another type are left out.
  ///
  /// ```swift
  /// let adults = try people.filter("age", as: Int.self) { $0 >= 18 }
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: a key path for `value(forKeyPath:)`; `"self"` is the element itself.
  ///   - type: the type of the values.
  ///   - condition: called with each value of that type.
  /// - Throws: an error of reading the key, or of the condition.
  /// - Complexity: O(*n*).
  public func filter<Value>(
    _ keyPath: String, as type: Value.Type, where condition: (Value) throws -> Bool
  ) throws -> [Element] {
    try filter { element in
      let value = try KeyValueSorting.value(forKeyPath: keyPath, of: element).flatMap(flattened)
      return try value.flatMap { ValueConversion.read($0, as: type) }.map(condition) ?? false
    }
  }
}

/// Sorting by keys in place.
extension Array {
  /// Sorts the elements in place, as `sorted(using:)` does. If that throws, the array is unchanged.
  /// - Complexity: O(*n* log *n*). Each key of each element is read once.
  public mutating func sort(using sorts: [KeyValueSort<Element>]) throws {
    self = try sorted(using: sorts)
  }
}
