internal import KVORuntime

// Changes for which other threads may affect which keys they change (R7, R8).

/// Makes a change under a lock, inside change brackets for the keys that it changes. The brackets are opened
/// and closed without the lock, since they call observers.
///
/// So other threads may affect which keys will change while the brackets are being opened. Therefore the keys
/// are determined again under the lock. The change is made if all of them are bracketed; otherwise brackets
/// for the others are opened inside these.
///
/// - Parameters:
///   - keys: the keys that the change would change now. Called under the lock, until all of them are
///     bracketed.
///   - body: makes the change; called under the lock.
func change(under lock: Lock, _ keys: () -> [ChangedKey], _ body: () -> Void) {
  let first = lock.withLock { keys() }
  var bracketed: Set<ChangedKey>?

  // Usually the keys are the same as before. If other threads keep adding keys, only the new ones need
  // brackets.
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
