/// What an observer of distinct changes has to do with: if it is the same at the end of a change as it was
/// at its beginning, and so is the value, he need not be told (D3).
struct Tally: Equatable {
  /// How many changes he has been told, for how many he has been called, which others may have been before,
  /// and from how many he has returned.
  var told = 0, returned = 0, called = 0
  /// How many that concern him have begun, but for those that have passed him over.
  var begun = 0
}
