// Finds which of several reads of a property has the newest value (I5).

/// Orders the reads that a property's notifications make by the time when they begin. Each store is before
/// its notification, so the read that begins last gets the last stored value, on whichever thread and
/// whenever it ends.
///
/// The owner's lock protects this value. Don't hold it while the property is read, because a getter may take
/// any lock.
package struct ReadOrder: Sendable {
  private var begun = 0
  private var newest = 0

  package init() {}

  /// Begins a read.
  /// - Returns: The read's number.
  package mutating func begin() -> Int {
    begun += 1
    return begun
  }

  /// Drops the results of all reads in progress, because a newer value is known.
  package mutating func dropOpenReads() { newest = begun }

  /// Ends a read.
  /// - Returns: False if a read that began later has ended already. The value may be outdated then, and must
  ///   be dropped.
  package mutating func end(_ read: Int) -> Bool {
    guard read > newest else { return false }
    newest = read
    return true
  }
}
