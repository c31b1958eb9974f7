/// The names of hidden properties in methods that the program overrides (E5, Q2).
///
/// `willChangeValue(forKey:)` and the other methods that announce a change get a hidden property's own name, as the
/// class that declares it knows it. When the method passes the name on to super, it means the hidden property: once for
/// each call of the method, since another call of super with that name is about the subclass's property.
private struct NamedCall {
  let object: ObjectIdentifier
  let thread: BindingThread
  let name: String
  let key: String

  static let open = LockedValue<[NamedCall]>([])
}

extension KVOObject {
  /// Calls a method with the name of a key's property.
  func withName(ofKey key: String, _ method: (String) -> Void) {
    let known = KVOClass.of(self)
    guard !known.hidden.isEmpty, case let name = known.declarers(of: key).key, name != key else {
      return method(key)
    }
    let count = NamedCall.open.withLock { open in
      open.append(
        NamedCall(object: ObjectIdentifier(self), thread: .current, name: name, key: key))
      return open.count(where: isMine)
    }
    method(name)
    NamedCall.open.withLock { open in
      guard open.count(where: isMine) == count else { return }
      open.remove(at: open.lastIndex(where: isMine)!)
    }
  }

  /// The key that a method means by a name that it passes on to super.
  func key(named name: String) -> String {
    guard KVOClass.hidesProperties, !KVOClass.of(self).hidden.isEmpty else { return name }
    return NamedCall.open.withLock { open in
      guard let last = open.lastIndex(where: isMine), open[last].name == name else { return name }
      return open.remove(at: last).key
    }
  }

  private func isMine(_ call: NamedCall) -> Bool {
    call.object == ObjectIdentifier(self) && call.thread == .current
  }
}
