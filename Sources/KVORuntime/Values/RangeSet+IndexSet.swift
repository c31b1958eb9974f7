// Indexes are a `RangeSet<Int>`. These are made and read as Foundation's `IndexSet` is, for code that
// comes from where that is used.
extension RangeSet where Bound == Int {
  /// One index.
  public init(integer: Int) { self.init(integer..<integer + 1) }

  /// The indexes of a range.
  public init(integersIn range: Range<Int>) { self.init(range) }

  /// The indexes of a range.
  public init(integersIn range: ClosedRange<Int>) { self.init(Range(range)) }

  /// These indexes, in any order.
  ///
  /// - Complexity: O(*n* log *n*)
  @_disfavoredOverload  // of no elements, the standard library's
  public init(_ integers: some Sequence<Int>) {
    self.init(integers.map { $0..<$0 + 1 } as [Range<Int>])
  }

  /// How many indexes there are.
  ///
  /// - Complexity: O(*n*) in the number of ranges.
  public var count: Int { ranges.reduce(0) { $0 + $1.count } }

  /// The lowest index.
  public var first: Int? { ranges.first?.first }

  /// The highest index.
  public var last: Int? { ranges.last?.last }

  /// Calls a function with each index, lowest first.
  public func forEach(_ body: (Int) throws -> Void) rethrows {
    for range in ranges { try range.forEach(body) }
  }

  /// What a function makes of each index, lowest first.
  public func map<T>(_ transform: (Int) throws -> T) rethrows -> [T] {
    try ranges.flatMap { try $0.map(transform) }
  }

  /// The indexes, highest first: in which order elements can be removed one by one.
  public func reversed() -> [Int] { ranges.reversed().flatMap { $0.reversed() } }
}
