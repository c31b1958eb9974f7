internal import CKVORuntime
internal import CSwiftRuntime

/// Which of the root's open methods a class overrides, so that they are called only there: the others'
/// keys the core reads by itself.
///
/// A class's metadata has its methods' functions, each at the place at which the superclass has its.
/// At which place a method is, is seen in a class that overrides nothing else.
enum MethodOverride {
  /// Whether objects of the class read, or are set, by key in their own way.
  static func reads(_ type: KVOObject.Type) -> Bool { differs(type, at: readingPlace) }
  static func sets(_ type: KVOObject.Type) -> Bool { differs(type, at: settingPlace) }

  /// Whether the class says in its own way what affects its keys.
  static func affects(_ type: KVOObject.Type) -> Bool { differs(type, at: affectingPlace) }

  /// Whether objects of the class open or close changes by hand in their own way.
  static func brackets(_ type: KVOObject.Type) -> Bool {
    differs(type, at: openingPlace) || differs(type, at: closingPlace)
  }

  /// Which automatic changes are announced by methods that the class overrides.
  static func announcedKinds(of type: KVOObject.Type) -> kvo_announced_kinds {
    var kinds: kvo_announced_kinds = []
    if brackets(type) { kinds.insert(.KVO_ANNOUNCES_SETTINGS) }
    if partPlaces.contains(where: { differs(type, at: $0) }) { kinds.insert(.KVO_ANNOUNCES_PARTS) }
    return kinds
  }

  /// Whether objects of the class may answer keys that it does not have.
  static func answers(_ type: KVOObject.Type) -> Bool { differs(type, at: answeringPlace) }

  /// Whether objects of the class have mirrors of their own.
  static func reflects(_ type: KVOObject.Type) -> Bool {
    reflectingPlace != nil && differs(type, at: reflectingPlace)
  }

  private static let reflectingPlace = place(of: Reflecting.self)
  private static let readingPlace = place(of: Reading.self)
  private static let answeringPlace = place(of: Answering.self)
  private static let settingPlace = place(of: Setting.self)
  private static let affectingPlace = place(of: Affecting.self)
  private static let openingPlace = place(of: Opening.self)
  private static let closingPlace = place(of: Closing.self)
  private static let partPlaces = [
    place(of: OpeningElements.self), place(of: ClosingElements.self),
    place(of: OpeningMembers.self), place(of: ClosingMembers.self),
  ]

  // What is read here is no documented part of a class's layout. Without one clear answer every class
  // counts as one that overrides: that is slower, but right.
  private static func place(of type: KVOObject.Type) -> Int? {
    let places = (0..<kvo_swift_member_words(metadata(KVOObject.self))).filter {
      differs(type, at: $0) && !differs(Plain.self, at: $0)
    }
    return places.count == 1 ? places[0] : nil
  }

  private static func differs(_ type: KVOObject.Type, at place: Int?) -> Bool {
    guard let place else { return type != KVOObject.self }
    return kvo_swift_member_word(metadata(type), place)
      != kvo_swift_member_word(metadata(KVOObject.self), place)
  }

  private static func metadata(_ type: KVOObject.Type) -> UnsafeRawPointer {
    unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
  }
}

private class Plain: KVOObject {}

private class Reading: KVOObject {
  override func value(forKey key: String) throws -> Any? { try super.value(forKey: key) }
}

private class Answering: KVOObject {
  override func value(forUndefinedKey key: String) throws -> Any? {
    try super.value(forUndefinedKey: key)
  }
}

private class Setting: KVOObject {
  override func setValue(_ value: Any?, forKey key: String) throws {
    try super.setValue(value, forKey: key)
  }
}

private class Reflecting: KVOObject {
  override var customMirror: Mirror { super.customMirror }
}

private class Affecting: KVOObject {
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    super.keyPathsForValuesAffectingValue(forKey: key)
  }
}

private class Opening: KVOObject {
  override func willChangeValue(forKey key: String) { super.willChangeValue(forKey: key) }
}

private class Closing: KVOObject {
  override func didChangeValue(forKey key: String) { super.didChangeValue(forKey: key) }
}

private class OpeningElements: KVOObject {
  override func willChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) { super.willChange(kind, valuesAt: indexes, forKey: key) }
}

private class ClosingElements: KVOObject {
  override func didChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) { super.didChange(kind, valuesAt: indexes, forKey: key) }
}

private class OpeningMembers: KVOObject {
  override func willChangeValue(
    forKey key: String, withSetMutation kind: KeyValueSetMutation, using objects: Set<AnyHashable>
  ) { super.willChangeValue(forKey: key, withSetMutation: kind, using: objects) }
}

private class ClosingMembers: KVOObject {
  override func didChangeValue(
    forKey key: String, withSetMutation kind: KeyValueSetMutation, using objects: Set<AnyHashable>
  ) { super.didChangeValue(forKey: key, withSetMutation: kind, using: objects) }
}
