/// The point at which a string key path leads nowhere, according to the types that the classes on the way
/// declare. It explains an error that has only the path's text, or predicts one behind a link that is nil
/// now.
struct DeadEnd {
  enum Cause {
    /// The path reads a key of an object without keys.
    case keyless(KeylessObject)
    /// The class of the link's values has no such key; one of its subclasses may have it.
    case unknown(in: KVOClass)
  }

  let cause: Cause
  /// The path before the missing key, and that key.
  let link: String
  let key: String
}

extension KVOClass {
  static func deadEnd(of keyPath: String, inClassNamed name: String) -> DeadEnd? {
    used(named: name).lazy.compactMap { $0.deadEnd(of: keyPath) }.first
  }

  /// Returns nil if every key is known, or if the types don't show an error.
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
  /// Gives a hint if an observed key path will lead nowhere as soon as a link that is nil gets an object.
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
