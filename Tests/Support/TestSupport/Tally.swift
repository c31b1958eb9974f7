/// Counts for an observer of distinct changes. If they are the same at the end of a change as at its beginning, and
/// the value is too, the change may be dropped (D3).
struct Tally: Equatable {
  /// Changes delivered to it; changes whose call of it is over; and changes for which its turn has come, perhaps
  /// after other observers.
  var told = 0, returned = 0, called = 0
  /// Changes that concern it and have begun, without those dropped for it.
  var begun = 0
}
