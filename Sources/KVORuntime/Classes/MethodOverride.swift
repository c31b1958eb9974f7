internal import CKVORuntime
internal import CSwiftRuntime

/// Finds out which of the root's open methods a class overrides. They are called only there; the core reads
/// the keys of other classes by itself.
///
/// A class's metadata contains its methods' functions, each in the same word as in its superclass's. A
/// method's word is found by comparison with a class that overrides only that method.
enum MethodOverride {
  /// Whether the class overrides reading by key.
  static func reads(_ type: KVOObject.Type) -> Bool { differs(type, at: readingPlace) }
  /// Whether the class overrides setting by key.
  static func sets(_ type: KVOObject.Type) -> Bool { differs(type, at: settingPlace) }

  /// Whether the class overrides the function that returns the keys that affect a key.
  static func affects(_ type: KVOObject.Type) -> Bool { differs(type, at: affectingPlace) }

  /// The class or superclass whose function returns the keys that affect a key of the class.
  static func overridingAffects(_ type: KVOObject.Type) -> KVOObject.Type {
    guard let affectingPlace else { return type }
    var found = type
    while let superclass = _getSuperclass(found) as? KVOObject.Type,
      kvo_swift_member_word(metadata(superclass), affectingPlace)
        == kvo_swift_member_word(metadata(type), affectingPlace)
    {
      found = superclass
    }
    return found
  }

  /// Whether the class itself overrides the method that declares its keys.
  static func registers(_ type: KVOObject.Type) -> Bool {
    guard let registeringPlace, let superclass = _getSuperclass(type) else { return true }
    return kvo_swift_member_word(metadata(type), registeringPlace)
      != kvo_swift_member_word(
        unsafeBitCast(superclass, to: UnsafeRawPointer.self), registeringPlace)
  }

  /// Whether the class overrides manual change notification.
  static func brackets(_ type: KVOObject.Type) -> Bool {
    differs(type, at: openingPlace) || differs(type, at: closingPlace)
  }

  /// The kinds of automatic changes that overridden methods of the class announce.
  static func announcedKinds(of type: KVOObject.Type) -> kvo_announced_kinds {
    var kinds: kvo_announced_kinds = []
    if brackets(type) { kinds.insert(.KVO_ANNOUNCES_SETTINGS) }
    if partPlaces.contains(where: { differs(type, at: $0) }) { kinds.insert(.KVO_ANNOUNCES_PARTS) }
    return kinds
  }

  /// Whether objects of the class may answer keys that the class does not have.
  static func answers(_ type: KVOObject.Type) -> Bool { differs(type, at: answeringPlace) }

  /// Whether the class overrides the mirror of its objects.
  static func reflects(_ type: KVOObject.Type) -> Bool {
    reflectingPlace != nil && differs(type, at: reflectingPlace)
  }

  private static let reflectingPlace = place(of: Reflecting.self)
  private static let readingPlace = place(of: Reading.self)
  private static let answeringPlace = place(of: Answering.self)
  private static let settingPlace = place(of: Setting.self)
  private static let affectingPlace = place(of: Affecting.self)
  private static let registeringPlace = place(of: Registering.self)
  private static let openingPlace = place(of: Opening.self)
  private static let closingPlace = place(of: Closing.self)
  private static let partPlaces = [
    place(of: OpeningElements.self), place(of: ClosingElements.self),
    place(of: OpeningMembers.self), place(of: ClosingMembers.self),
  ]

  // This part of a class's layout is undocumented. If there is not exactly one candidate, every subclass
  // counts as overriding: that is slower, but correct.
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

private class Registering: KVOObject {
  override class func registerKeys() { super.registerKeys() }
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
