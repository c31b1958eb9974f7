// What a registration may ask for, and what a change says of itself. The options' raw values are the C core's,
// and as on Apple's platforms.

/// What a registration asks for.
public struct KeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The change carries the new value.
  public static let new = Self(rawValue: 1)
  /// The change carries the old value.
  public static let old = Self(rawValue: 2)
  /// One notification before registration returns, with the value there is.
  public static let initial = Self(rawValue: 4)
  /// One more notification before each change.
  public static let prior = Self(rawValue: 8)
  /// Drops changes whose new value equals the old (needs an `Equatable` value; others always
  /// differ).
  public static let distinct = Self(rawValue: 16)
}

/// What happened to a property.
public enum KeyValueChange: UInt, Sendable {
  /// The property was set.
  case setting = 1
  /// Elements came into an ordered to-many property.
  case insertion
  /// Elements went from an ordered to-many property.
  case removal
  /// Elements of an ordered to-many property were replaced.
  case replacement
}

/// What happens to an unordered to-many property.
public enum KeyValueSetMutation: UInt, Sendable {
  /// Members are added: told as an insertion.
  case union = 1
  /// Members are taken away: told as a removal.
  case minus
  /// All but some members are taken away: told as a removal.
  case intersect
  /// Other members take the place of all: told as a replacement.
  case set
}

/// The keys of the change dictionaries that `observeValue(forKeyPath:of:change:context:)` is given.
public struct KeyValueChangeKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// A `KeyValueChange`; always there.
  public static let kindKey = Self(rawValue: "kind")
  /// The new value, if it was asked for; nil as `Optional<Any>.none`.
  public static let newKey = Self(rawValue: "new")
  /// The old value, if it was asked for; nil as `Optional<Any>.none`.
  public static let oldKey = Self(rawValue: "old")
  /// A `RangeSet<Int>`, for changes of ordered to-many properties.
  public static let indexesKey = Self(rawValue: "indexes")
  /// `true` in the notification before a change, absent in others.
  public static let notificationIsPriorKey = Self(rawValue: "notificationIsPrior")

  public var description: String { rawValue }

  // The first letter and the length tell the few keys there are apart at a fraction of the cost of
  // hashing the text. Equal texts that are not ASCII may be encoded in several ways.
  public func hash(into hasher: inout Hasher) {
    let isASCII = rawValue.utf8.allSatisfy { $0 < 0x80 }
    hasher.combine(isASCII ? rawValue.utf8.count &* 256 &+ Int(rawValue.utf8.first ?? 0) : 0)
  }
}
