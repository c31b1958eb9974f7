internal import KVORuntime

// What failures call what is observed (S1, S2).

extension KVOObject {
  /// Registers, and names what was registered by its key and the object's class: a key path's own description has no
  /// name. What another thread registers meanwhile may be named in its place.
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
