// Options of a registration and kinds of a change. The options' raw values equal the C core's and those of
// Apple's platforms.

/// The values that an observer's changes contain, and the calls that it gets besides those after a change.
public struct KeyValueObservingOptions: OptionSet, Sendable {
  /// The options as bits, with the values of Apple's platforms; `distinct` is this library's own.
  public let rawValue: UInt

  /// Creates options from their bits.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// Changes contain the new value.
  public static let new = Self(rawValue: 1)
  /// Changes contain the old value.
  public static let old = Self(rawValue: 2)
  /// The observer is called once before registration returns, with the current value.
  public static let initial = Self(rawValue: 4)
  /// The observer is also called before each change.
  public static let prior = Self(rawValue: 8)
  /// A change is not delivered if its new value equals the value last delivered to the observer or, before the
  /// first delivery, the value at registration.
  ///
  /// In a property of any type, a `KVOObject` is compared by `===`, and a `ForeignObject` by the C object that it
  /// represents. Other values are compared by `==` if their type is `Equatable`, and otherwise always differ. Changes
  /// of elements are always delivered, and prior calls are always made.
  ///
  /// The observer should use the change's new value: one that reads the property itself may read a value that is
  /// replaced without a further call. The value last delivered is kept until the next delivery, or until the
  /// observation ends; an object is not kept alive by that.
  public static let distinct = Self(rawValue: 16)
}

/// The kind of a change of a property.
public enum KeyValueChange: UInt, Sendable {
  /// The property was set.
  case setting = 1
  /// Elements were inserted into a to-many property.
  case insertion
  /// Elements were removed from a to-many property.
  case removal
  /// Elements of a to-many property were replaced.
  case replacement
}

/// The kind of a change of an unordered to-many property.
public enum KeyValueSetMutation: UInt, Sendable {
  /// Members are added. Observers get an insertion.
  case union = 1
  /// Members are removed. Observers get a removal.
  case minus
  /// All members but the given ones are removed. Observers get a removal.
  case intersect
  /// The given members replace all others. Observers get a replacement.
  case set
}

/// The keys of the change dictionary that `observeValue(forKeyPath:of:change:context:)` gets.
public struct KeyValueChangeKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The key as a string.
  public let rawValue: String

  /// Creates a key from a string. The runtime uses only the keys declared here.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The kind of the change, a `KeyValueChange`. Always present.
  public static let kindKey = Self(rawValue: "kind")
  /// The new value, if the options include `.new`. A nil value is `Optional<Any>.none`.
  public static let newKey = Self(rawValue: "new")
  /// The old value, if the options include `.old`. A nil value is `Optional<Any>.none`.
  public static let oldKey = Self(rawValue: "old")
  /// The indexes of the changed elements, a `RangeSet<Int>`. Present for changes of ordered to-many
  /// properties.
  public static let indexesKey = Self(rawValue: "indexes")
  /// Marks the notification before a change: `true` there, absent in others.
  public static let notificationIsPriorKey = Self(rawValue: "notificationIsPrior")

  /// The key as a string.
  public var description: String { rawValue }

  /// Hashes the key by its first letter and length.
  // These distinguish the few keys there are, at a fraction of the cost of hashing the text. Equal texts that
  // are not ASCII may be encoded in several ways, so such texts all have one hash.
  public func hash(into hasher: inout Hasher) {
    let isASCII = rawValue.utf8.allSatisfy { $0 < 0x80 }
    hasher.combine(isASCII ? rawValue.utf8.count &* 256 &+ Int(rawValue.utf8.first ?? 0) : 0)
  }
}
