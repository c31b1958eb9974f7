/// The value that an observer of distinct changes was last given, or had at registration (D3).
struct LastValue<Value: Equatable> {
  private(set) var value: Value?
  /// When the value that was last compared was read.
  private var time = 0

  /// Whether a value that was read at this time is delivered. `nil` means elements of a collection: these are
  /// delivered, and so is the next value.
  mutating func admits(_ new: Value?, at time: Int) -> Bool {
    guard let new else {
      value = nil
      return true
    }
    guard time > self.time else { return false }
    self.time = time
    defer { value = new }
    return new != value
  }
}
