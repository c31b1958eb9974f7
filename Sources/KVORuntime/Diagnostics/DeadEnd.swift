/// Where a key path of strings leads nowhere, by the types that the classes on the way declare: what an error knows
/// only by its text, and what is no error yet, behind a link that is nil.
struct DeadEnd {
  enum Cause {
    /// The key is one of an object that has none.
    case keyless(KeylessObject)
    /// The class of what the link takes has no such key; one of its subclasses may.
    case unknown(in: KVOClass)
  }

  let cause: Cause
  /// The keys that lead there, and the one that is missing there.
  let link: String
  let key: String
}

extension KVOClass {
  static func deadEnd(of keyPath: String, inClassNamed name: String) -> DeadEnd? {
    used(named: name).lazy.compactMap { $0.deadEnd(of: keyPath) }.first
  }

  /// Nil where every key is known, and where nothing tells.
  func deadEnd(of keyPath: String) -> DeadEnd? {
    var (known, link) = (self, [(key: String, mark: String)]())
    var keys = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    while let key = keys.popFirst() {
      func end(_ cause: DeadEnd.Cause, _ key: String) -> DeadEnd {
        DeadEnd(cause: cause, link: link.map(\.key).joined(separator: "."), key: key)
      }
      guard !key.isEmpty, key != "self", !key.hasPrefix("@") else { return nil }
      guard let type = known.property(key)?.observedType.swiftType else {
        return link.isEmpty || known.mayAnswerMore ? nil : end(.unknown(in: known), key)
      }
      guard let next = keys.first else { return nil }
      let held = (type as? any OptionalType.Type)?.wrappedType
      link.append((key, held == nil ? "" : "?"))
      if let object = (held ?? type) as? KVOObject.Type {
        known = .of(object)
      } else if (held ?? type) is AnyClass, !((held ?? type) is any KeyedObject.Type),
        FoundationLink.linked?.collection(held ?? type) == nil
      {
        let keys = link.map { $0.key + $0.mark }
        return end(.keyless(KeylessObject(held ?? type, behind: keys, wanted: next)), next)
      } else {
        return nil
      }
    }
    return nil
  }

  private var mayAnswerMore: Bool { lacksFields || MethodOverride.answers(type) }
}

extension KVOObject {
  /// Tells of a key path that is observed, and leads nowhere, as far as is known, once its link is no longer nil.
  func hintAtDeadEnd(of keyPath: String) {
    let known = KVOClass.of(self)
    guard keyPath.utf8.contains(UInt8(ascii: ".")), let end = known.deadEnd(of: keyPath),
      (try? value(forKeyPath: end.link)) == nil
    else { return }
    let subject = "The key path \(quoted(keyPath)) of \(known.name) is observed, and "
    switch end.cause {
    case .keyless(let object):
      Hint.tell(
        """
        \(subject)leads nowhere at \(quoted(end.key)) once \(quoted(end.link)) is no longer nil: it goes \
        through \(object.phrase). \(object.remedy(for: known.name))
        """)
    case .unknown(let other):
      Hint.tell(
        """
        \(subject)\(quoted(end.link)), which is nil now, takes objects of \(other.name): \
        \(other.lack(of: end.key))
        """)
    }
  }
}
