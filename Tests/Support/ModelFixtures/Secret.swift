import KVORuntime

/// An orchard with an undeclared property.
package final class Secret: Orchard {
  /// The to-many keys that are read as arrays.
  package static let keys = [
    "observed", "perhaps", "plainSecret", "accessed", "grown", "tended", "anything",
  ]

  private var plainSecret: [Int] = []

  private func isSettable(_ key: String) -> Bool {
    ["observed", "perhaps", "plainSecret", "accessed", "anything", "loose"].contains(key)
  }

  /// An orchard whose key has the elements `0 1 2 3`.
  package static func filled(_ key: String) throws -> Orchard {
    let orchard = Secret()
    orchard.stock = [0, 1, 2, 3]
    if orchard.isSettable(key) { try orchard.setValue([0, 1, 2, 3], forKey: key) }
    return orchard
  }
}
