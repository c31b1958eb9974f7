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
  let first = lock.withLock { keys() }
  var bracketed: Set<ChangedKey>?

  // As a rule no other thread has come between. Where threads go on to add keys, only those are looked at anew.
  func missing(of keys: [ChangedKey]) -> [ChangedKey] {
    if bracketed == nil {
      if keys == first { return [] }
      bracketed = Set(first)
    }
    return keys.filter { bracketed!.insert($0).inserted }
  }

  func bracket(_ added: [ChangedKey]) {
    KVOObject.withChanges(of: added) {
      let others = lock.withLock {
        let others = missing(of: keys())
        if others.isEmpty { body() }
        return others
      }
      if !others.isEmpty { bracket(others) }
    }
  }
  bracket(first)
}
