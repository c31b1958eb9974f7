// Declarations of to-many keys: Apple's collection accessors by method name, as closures.
extension KeyDeclarations {
  /// An ordered to-many key by accessors: how many elements there are and which, and, if it can be
  /// changed, how elements are inserted and removed.
  ///
  /// ```swift
  /// declareKeys {
  ///   $0.orderedToMany("primes", count: { $0.limit }, element: { $0.prime(at: $1) })
  /// }
  /// ```
  ///
  /// Where the class has no other accessor or `@Observed` property for the key, `value(forKey:)`
  /// gives an `ArrayProxy`, which calls these when it is read. `mutableArrayValue(forKey:)` calls
  /// `insert` and `remove`, if both are there, and tells observers once for each mutation; else it
  /// sets the property behind the key.
  ///
  /// - Parameters:
  ///   - key: the key's name.
  ///   - count: how many elements there are.
  ///   - element: the one at an index.
  ///   - elements: several at once, where that is cheaper than one by one.
  ///   - insert: given as many elements as indexes, which are those that the elements have
  ///     afterwards.
  ///   - remove: takes the elements at these indexes away.
  ///   - replace: given as many elements as indexes; without it elements are removed and inserted,
  ///     and those that there were put back if `insert` throws.
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

  /// An unordered to-many key by accessors, as `orderedToMany`. It reads as a `SetProxy`, and is
  /// changed by `mutableSetValue(forKey:)`.
  ///
  /// - Parameters:
  ///   - key: the key's name.
  ///   - count: how many members there are.
  ///   - contains: whether an element is one of them.
  ///   - elements: all of them, in any order.
  ///   - add: puts elements in; those that are members already may be among them.
  ///   - remove: takes elements away; those that are no members may be among them.
  ///   - intersect: takes all members away but those that are given; without it `remove` does.
  ///   - set: puts other members in place of all; without it `remove` and `add` do, and what was
  ///     removed is put back if `add` throws.
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

  /// An ordered to-many key that has each element once, as `orderedToMany`. It is changed by
  /// `mutableOrderedSetValue(forKey:)`.
  ///
  /// - Parameters:
  ///   - key: the key's name.
  ///   - count: how many elements there are.
  ///   - element: the one at an index.
  ///   - index: where an element is, nil if it is not there.
  ///   - elements: several at once, where that is cheaper than one by one.
  ///   - insert: given as many elements as indexes, which are those that the elements have afterwards.
  ///   - remove: takes the elements at these indexes away.
  ///   - replace: given as many elements as indexes; without it elements are removed and inserted.
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
      },
      elements: elements, insert: insert, remove: remove, replace: replace)
  }
}
