internal import KVORuntime

// A change to be made by key-value coding.

struct ChangeStep {
  /// The object; nil if it has died, so that the step does nothing.
  private let object: KVOObject?
  private let key: RecordedKey
  let kind: KeyValueChange
  // Not a `RangeSet`, which takes longer to copy.
  private let ranges: [Range<Int>]?
  /// The removed and the added values.
  let oldValue, newValue: Any?

  init(
    _ object: KVOObject?, _ key: RecordedKey, _ kind: KeyValueChange, _ ranges: [Range<Int>]?,
    old: Any?, new: Any?
  ) {
    self.object = object
    self.key = key
    self.kind = kind
    self.ranges = ranges
    oldValue = old
    newValue = new
  }

  /// The indexes of elements; nil for a setting, and for members of a set.
  var indexes: RangeSet<Int>? { ranges.map { RangeSet($0) } }

  /// Creates the step that reverses a change. A collection that was nil becomes nil again.
  init(undoing change: RecordedChange) {
    let place = change.place
    guard !change.isFromNil else {
      self.init(place.object.object, place.key, .setting, nil, old: change.newValue, new: nil)
      return
    }
    self.init(
      place.object.object, place.key, change.kind.inverse, change.ranges, old: change.newValue,
      new: change.oldValue)
  }

  /// Creates the step that repeats a change.
  init(repeating change: RecordedChange) {
    let place = change.place
    self.init(
      place.object.object, place.key, change.kind, change.ranges, old: change.oldValue,
      new: change.newValue)
  }

  /// Whether a change is the one that this step makes.
  func isDone(by change: RecordedChange) -> Bool { isOf(change.place) }

  func isOf(_ place: RecordedPlace) -> Bool {
    guard let object else { return false }
    return place.key === key && place.object.isRecord(of: object)
  }

  /// The recorded place that the step changes; nil if its object has died.
  func place(in log: ChangeLog) -> RecordedPlace.ID? {
    guard let object, let member = object[log.membership]?.member else { return nil }
    return member.recorded.keys.firstIndex { $0 === key }.map {
      RecordedPlace(object: member, index: $0).id
    }
  }

  /// - Throws: The error of key-value coding.
  func perform() throws {
    guard let object else { return }
    if kind == .setting { return try key.set(newValue, of: object) }
    guard let indexes else { return try changeMembers(of: object) }
    try changeElements(of: object, at: indexes)
  }

  /// The error for a step whose elements do not fit the current value.
  var misfit: ChangeLogError {
    .otherElements(
      key: key.key, className: object.map { className(of: type(of: $0)) } ?? "an object that died")
  }

  private func changeElements(of object: KVOObject, at indexes: RangeSet<Int>) throws {
    let elements = try object.mutableArrayValue(forKey: key.key)
    switch kind {
    case .insertion: try elements.insert(newValue.flatMap(anyArray) ?? [], at: indexes)
    case .removal: try elements.remove(at: indexes)
    case .replacement: try elements.replace(at: indexes, with: newValue.flatMap(anyArray) ?? [])
    case .setting: break
    }
  }

  private func changeMembers(of object: KVOObject) throws {
    let members = try object.mutableSetValue(forKey: key.key)
    let (gone, come) = (Self.members(oldValue), Self.members(newValue))
    switch kind {
    case .insertion: try members.formUnion(come)
    case .removal: try members.subtract(gone)
    case .replacement: try members.set(Set(members).subtracting(gone).union(come))
    case .setting: break
    }
  }

  private static func members(_ value: Any?) -> Set<AnyHashable> {
    value.flatMap(anySet) ?? []
  }
}

extension KeyValueChange {
  fileprivate var inverse: KeyValueChange {
    switch self {
    case .insertion: .removal
    case .removal: .insertion
    case .setting, .replacement: self
    }
  }
}
