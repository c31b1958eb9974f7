// Indexes are a `RangeSet<Int>`. These extensions give it the interface of Foundation's `IndexSet`, for code
// that is moved from there.

/// The members of Foundation's `IndexSet`, for code that is moved from there.
extension RangeSet where Bound == Int {
  /// Creates a set of one index.
  public init(integer: Int) { self.init(integer..<integer + 1) }

  /// Creates a set of the indexes in a range.
  public init(integersIn range: Range<Int>) { self.init(range) }

  /// Creates a set of the indexes in a closed range.
  public init(integersIn range: ClosedRange<Int>) { self.init(Range(range)) }

  /// Creates a set of indexes, which may be in any order.
  ///
  /// - Complexity: O(*n* log *n*)
  @_disfavoredOverload  // `RangeSet([])` is to call the standard library's initialiser
  public init(_ integers: some Sequence<Int>) {
    self.init(integers.map { $0..<$0 + 1 } as [Range<Int>])
  }

  /// The number of indexes.
  ///
  /// - Complexity: O(*n*) in the number of ranges.
  public var count: Int { ranges.reduce(0) { $0 + $1.count } }

  /// The lowest index; nil if the set is empty.
  public var first: Int? { ranges.first?.first }

  /// The highest index; nil if the set is empty.
  public var last: Int? { ranges.last?.last }

  /// Calls a function with each index, in ascending order.
  public func forEach(_ body: (Int) throws -> Void) rethrows {
    for range in ranges { try range.forEach(body) }
  }

  /// Returns the results of calling a function with each index, in ascending order.
  public func map<T>(_ transform: (Int) throws -> T) rethrows -> [T] {
    try ranges.flatMap { try $0.map(transform) }
  }

  /// Returns the indexes in descending order, in which elements can be removed one by one.
  /// - Complexity: O(*n*) in the number of indexes.
  public func reversed() -> [Int] { ranges.reversed().flatMap { $0.reversed() } }
}
