internal import CKVORuntime

// Announces a change of a to-many key to the C core, for handles and proxies (H5).

/// A change of a to-many key, or of some of its elements.
enum ToManyChange {
  /// Some elements of an ordered key. Exact if the inserted elements will be at the indexes: accessors of the
  /// program could place them elsewhere.
  case elements(KeyValueChange, RangeSet<Int>, isExact: Bool)
  /// The removed and added members, in values of the key's own type; nil if there are none.
  case members(KeyValueChange, goes: kvo_value?, comes: kvo_value?)
  /// The operand of a set mutation, of the key's own type. Removed and added members are found by comparing.
  case mutation(KeyValueSetMutation, kvo_value)
  case whole

  /// Opens the change, and destroys the values. Returns the change's frame; nil if the key has no observers.
  func announce(_ header: UnsafeMutablePointer<kvo_object>, _ name: KeyName) -> OpaquePointer? {
    var part = kvo_part()
    switch self {
    case .elements(let kind, let indexes, let isExact):
      part.is_exact = isExact
      return withIndexSet(indexes) {
        part.kind = KVORuntime.kind(kind, at: $0)
        part.indexes = $0
        return kvo_stored_property_will_change_part(header, name.interned, &part)
      }
    case .members(let kind, let goes, let comes):
      part.kind = kind.cKind
      return withValue(goes) { goes in
        withValue(comes) { comes in
          (part.goes, part.comes) = (goes, comes)
          return kvo_stored_property_will_change_part(header, name.interned, &part)
        }
      }
    case .mutation(let mutation, let members):
      part.kind = mutation.kind.cKind
      part.set_mutation = mutation.cMutation
      return withValue(members) {
        part.members = $0
        return kvo_stored_property_will_change_part(header, name.interned, &part)
      }
    case .whole:
      part.kind = .KVO_SETTING
      return kvo_stored_property_will_change_part(header, name.interned, &part)
    }
  }

  private func withValue<R>(
    _ value: kvo_value?, _ body: (UnsafePointer<kvo_value>?) -> R
  ) -> R {
    guard var value else { return body(nil) }
    defer { kvo_value_destroy(&value) }
    return withUnsafePointer(to: &value) { body($0) }
  }
}
