internal import KVORuntime

// Changes of which it depends on what other threads do meanwhile which keys they change (R7, R8).

/// Makes a change under a lock, and brackets the keys that it changes without it, since brackets call observers.
///
/// So other threads may change in between which keys those are. They are asked for again when the brackets are open: the
/// change is made only if all are bracketed; otherwise the others are, within these brackets.
///
/// - Parameters:
///   - keys: called under the lock, until it returns none that is not bracketed.
///   - body: called under the lock.
func change(under lock: Lock, _ keys: () -> [ChangedKey], _ body: () -> Void) {
  var bracketed: [ChangedKey] = []

  func bracket(_ missing: [ChangedKey]) {
    bracketed += missing
    KVOObject.withChanges(of: missing) {
      let others = lock.withLock {
        let others = keys().missing(in: bracketed)
        if others.isEmpty { body() }
        return others
      }
      if !others.isEmpty { bracket(others) }
    }
  }
  bracket(lock.withLock { keys() })
}

extension [ChangedKey] {
  fileprivate func missing(in bracketed: [ChangedKey]) -> [ChangedKey] {
    // As a rule no other thread has come between.
    if self == bracketed { return [] }
    let known = Set(bracketed)
    return filter { !known.contains($0) }
  }
}
