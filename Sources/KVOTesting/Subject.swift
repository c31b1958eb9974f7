internal import KVORuntime

// The name of the observed property in failures (S1, S2).

extension KVOObject {
  /// Registers an observer, and returns the key and class that it observes, for failures: a key path's own
  /// description contains no name. If another thread registers at the same time, its key may be returned
  /// instead.
  func named(_ register: () -> KeyValueObservation) -> (KeyValueObservation, subject: String) {
    var before = observationInfo.registrations.map(\.keyPath)
    let token = register()
    let new = observationInfo.registrations.map(\.keyPath).first { name in
      guard let place = before.firstIndex(of: name) else { return true }
      before.remove(at: place)
      return false
    }
    return (token, "\"\(new ?? "?")\" of \(type(of: self))")
  }
}
