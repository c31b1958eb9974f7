// Declarations of to-many keys: closures in place of the methods that Apple's runtime finds by their names.
extension KeyDeclarations {
  /// Declares an ordered to-many key by accessors.
  ///
  /// ```swift
  /// declareKeys {
  ///   $0.orderedToMany("primes", count: { $0.limit }, element: { $0.prime(at: $1) })
  /// }
  /// ```
  ///
  /// If the class has no other accessor and no `@Observed` property for the key, `value(forKey:)` returns an
  /// `ArrayProxy`, which calls these functions when it is read. `mutableArrayValue(forKey:)` calls `insert`
  /// and `remove`, if both are given, and notifies observers once for each mutation. Otherwise it sets the
  /// property behind the key.
  ///
  /// - Parameters:
  ///   - key: The key's name.
  ///   - count: Returns the number of elements.
  ///   - element: Returns the element at an index.
  ///   - elements: Returns several elements at once, if that is cheaper than one by one.
  ///   - insert: Inserts elements at as many indexes, which are those that the elements have afterwards.
  ///   - remove: Removes the elements at some indexes.
  ///   - replace: Replaces the elements at some indexes by as many elements. Without it, elements are removed
  ///     and inserted, and the old ones are put back if `insert` throws.
  public mutating func orderedToMany<Element>(
    _ key: String, count: @escaping (Root) -> Int,
    element: @escaping (Root, Int) -> Element,
    elements: ((Root, Range<Int>) -> [Element])? = nil,
    insert: ((Root, [Element], RangeSet<Int>) throws -> Void)? = nil,
    remove: ((Root, RangeSet<Int>) throws -> Void)? = nil,
    replace: ((Root, RangeSet<Int>, [Element]) throws -> Void)? = nil
  ) {
    toMany[key] = OrderedAccessors(
      count: count, element: element, index: nil, elements: elements, insert: insert,
      remove: remove, replace: replace)
  }

  /// Declares an unordered to-many key by accessors.
  ///
  /// If the class has no other accessor and no `@Observed` property for the key, `value(forKey:)` returns a
  /// `SetProxy`. `mutableSetValue(forKey:)` calls `add` and `remove`, if both are given, and notifies
  /// observers once for each mutation.
  ///
  /// - Parameters:
  ///   - key: The key's name.
  ///   - count: Returns the number of members.
  ///   - contains: Returns whether an element is a member.
  ///   - elements: Returns all members, in any order.
  ///   - add: Adds elements, some of which may be members already.
  ///   - remove: Removes elements, some of which may not be members.
  ///   - intersect: Removes all members but the given ones. Without it, `remove` is called.
  ///   - set: Replaces all members by others. Without it, `remove` and `add` are called, and the removed
  ///     members are put back if `add` throws.
  public mutating func unorderedToMany<Element: Hashable>(
    _ key: String, count: @escaping (Root) -> Int,
    contains: @escaping (Root, Element) -> Bool,
    elements: @escaping (Root) -> AnySequence<Element>,
    add: ((Root, Set<Element>) throws -> Void)? = nil,
    remove: ((Root, Set<Element>) throws -> Void)? = nil,
    intersect: ((Root, Set<Element>) throws -> Void)? = nil,
    set: ((Root, Set<Element>) throws -> Void)? = nil
  ) {
    toMany[key] = MemberAccessors(
      count: count, contains: contains, elements: elements, add: add, remove: remove,
      intersect: intersect, set: set)
  }

  /// Declares an ordered to-many key by accessors, whose elements are unique.
  ///
  /// It reads as an `ArrayProxy`, and `mutableOrderedSetValue(forKey:)` changes it. Observers are notified
  /// once for each mutation.
  ///
  /// - Parameters:
  ///   - key: The key's name.
  ///   - count: Returns the number of elements.
  ///   - element: Returns the element at an index.
  ///   - index: Returns the index of an element; nil, or Foundation's `NSNotFound`, if it is not there.
  ///   - elements: Returns several elements at once, if that is cheaper than one by one.
  ///   - insert: Inserts elements at as many indexes, which are those that the elements have afterwards.
  ///   - remove: Removes the elements at some indexes.
  ///   - replace: Replaces the elements at some indexes by as many elements. Without it, elements are removed
  ///     and inserted.
  public mutating func orderedSet<Element: Hashable>(
    _ key: String, count: @escaping (Root) -> Int,
    element: @escaping (Root, Int) -> Element, index: @escaping (Root, Element) -> Int?,
    elements: ((Root, Range<Int>) -> [Element])? = nil,
    insert: ((Root, [Element], RangeSet<Int>) throws -> Void)? = nil,
    remove: ((Root, RangeSet<Int>) throws -> Void)? = nil,
    replace: ((Root, RangeSet<Int>, [Element]) throws -> Void)? = nil
  ) {
    toMany[key] = OrderedAccessors(
      count: count, element: element,
      index: { root, candidate in
        member(candidate, as: Element.self).flatMap { index(root, $0) }
          .flatMap { $0 == notFound ? nil : $0 }
      },
      elements: elements, insert: insert, remove: remove, replace: replace)
  }
}
