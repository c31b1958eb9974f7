internal import CKVORuntime

// Automatic changes of a class that overrides `willChangeValue(forKey:)`, `didChangeValue(forKey:)`, or the
// methods for elements and members (E5). The C core calls these methods for each change of an observed key.
// Their calls of super lead back to the core (`announced.c`), which opens and closes the change.

/// The phase of a change, before or after the store, which decides which method is called.
enum ChangePhase { case will, did }

extension KVOObject {
  /// Calls the method that the class overrides.
  /// - Parameter part: The elements that change, or nil if the whole value does.
  func announce(_ key: String, _ part: UnsafePointer<kvo_part>?, _ phase: ChangePhase) {
    guard let part else {
      return withName(ofKey: key) {
        phase == .will ? willChangeValue(forKey: $0) : didChangeValue(forKey: $0)
      }
    }
    if let indexes = part.pointee.indexes {
      let elements = RangeSet(ranges(of: indexes))
      let kind = KeyValueChange(part.pointee.kind)
      return withName(ofKey: key) {
        phase == .will
          ? willChange(kind, valuesAt: elements, forKey: $0)
          : didChange(kind, valuesAt: elements, forKey: $0)
      }
    }
    let (mutation, members) = setMutation(of: key, part.pointee)
    withName(ofKey: key) {
      phase == .will
        ? willChangeValue(forKey: $0, withSetMutation: mutation, using: members)
        : didChangeValue(forKey: $0, withSetMutation: mutation, using: members)
    }
  }

  // A collection handle passes the removed and the added members. Before and after the change, they lead to
  // the same whole set.
  private func setMutation(
    of key: String, _ part: kvo_part
  ) -> (KeyValueSetMutation, Set<AnyHashable>) {
    if let mutation = KeyValueSetMutation(part.set_mutation) {
      return (mutation, members(part.members))
    }
    let (gone, come) = (members(part.goes), members(part.comes))
    switch part.kind {
    case .KVO_INSERTION: return (.union, come)
    case .KVO_REMOVAL: return (.minus, gone)
    default:
      let known = (try? value(forKey: key)).flatMap { $0.flatMap(anySet) } ?? []
      return (.set, known.subtracting(gone).union(come))
    }
  }

  private func members(_ value: UnsafePointer<kvo_value>?) -> Set<AnyHashable> {
    value.flatMap { ValueType.any(of: $0) }.flatMap(anySet) ?? []
  }
}

extension KeyValueSetMutation {
  /// Fails for an unknown mutation.
  init?(_ mutation: kvo_set_mutation) {
    switch mutation {
    case .KVO_UNION: self = .union
    case .KVO_MINUS: self = .minus
    case .KVO_INTERSECT: self = .intersect
    case .KVO_SET_SET: self = .set
    default: return nil
    }
  }
}
