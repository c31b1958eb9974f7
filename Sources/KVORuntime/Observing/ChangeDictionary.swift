internal import CKVORuntime

/// The change dictionaries of the string API. A dictionary without values is shared by all changes of its
/// kind, so that observers that ask for no values cost no allocation.
enum ChangeDictionary {
  static func make(_ change: OpaquePointer) -> [KeyValueChangeKey: Any] {
    let isPrior = kvo_change_is_prior(change)
    let old = kvo_change_get_old(change)
    let new = kvo_change_get_new(change)
    let indexes = kvo_change_get_indexes(change)
    if old == nil, new == nil, indexes == nil { return bare(.init(change), isPrior) }
    var dictionary = [KeyValueChangeKey: Any](minimumCapacity: 4)
    dictionary[.kindKey] = KeyValueChange(change)
    if isPrior { dictionary[.notificationIsPriorKey] = true }
    if let indexes { dictionary[.indexesKey] = RangeSet(ranges(of: indexes)) }
    if let old { dictionary[.oldKey] = present(ValueType.any(of: old)) }
    if let new { dictionary[.newKey] = present(ValueType.any(of: new)) }
    return dictionary
  }

  private static func bare(_ kind: KeyValueChange, _ isPrior: Bool) -> [KeyValueChangeKey: Any] {
    (isPrior ? priors : finals)[Int(kind.rawValue) - 1]
  }

  private static let kinds: [KeyValueChange] = [.setting, .insertion, .removal, .replacement]
  // Safe without isolation: immutable, and the contents are Sendable.
  private nonisolated(unsafe) static let finals = kinds.map {
    [KeyValueChangeKey.kindKey: $0 as Any]
  }
  private nonisolated(unsafe) static let priors = kinds.map {
    [KeyValueChangeKey.kindKey: $0 as Any, .notificationIsPriorKey: true]
  }
}
