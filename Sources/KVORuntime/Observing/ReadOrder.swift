// Which of several reads of a property has found the newest value (I5).

/// Orders the reads that a property's notifications make by when they begin. Each store comes before its notification, so
/// the read that begins last of all finds the value that was stored last, whichever thread makes it and whenever it ends.
///
/// A lock of its owner's protects it. No lock is held while the property is read: a getter may take any.
package struct ReadOrder: Sendable {
  private var begun = 0
  private var newest = 0

  package init() {}

  /// A read begins.
  /// - Returns: its number.
  package mutating func begin() -> Int {
    begun += 1
    return begun
  }

  /// A newer value is known otherwise: what the reads under way find is dropped.
  package mutating func dropOpenReads() { newest = begun }

  /// A read has ended.
  /// - Returns: whether none that began later has ended before. Otherwise the value may be outdated, and is dropped.
  package mutating func end(_ read: Int) -> Bool {
    guard read > newest else { return false }
    newest = read
    return true
  }
}
