/// What an observer of distinct changes has to do with: if it is the same at the end of a change as it was
/// at its beginning, and so is the value, the observer need not be told (D3).
struct Tally: Equatable {
  /// How many changes it has been told, for how many it has been called, which others may have been before,
  /// and from how many it has returned.
  var told = 0, returned = 0, called = 0
  /// How many that concern it have begun, but for those that have passed it over.
  var begun = 0
}
