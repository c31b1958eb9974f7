#if !canImport(ObjectiveC)
  // Foundation's names, for code that is moved from Apple's platforms.

  /// The token of an observation: Foundation's name for `KeyValueObservation`.
  public typealias NSKeyValueObservation = KeyValueObservation
  /// The options of a registration: Foundation's name for `KeyValueObservingOptions`.
  public typealias NSKeyValueObservingOptions = KeyValueObservingOptions
  /// A change with typed values: Foundation's name for `KeyValueObservedChange`.
  public typealias NSKeyValueObservedChange = KeyValueObservedChange
  /// The kind of a change: Foundation's name for `KeyValueChange`.
  public typealias NSKeyValueChange = KeyValueChange
  /// A key of a change dictionary: Foundation's name for `KeyValueChangeKey`.
  public typealias NSKeyValueChangeKey = KeyValueChangeKey
  /// A mutation of a set: Foundation's name for `KeyValueSetMutation`.
  public typealias NSKeyValueSetMutationKind = KeyValueSetMutation
  /// Class methods that customise observing: Foundation's name for `KeyValueObservingCustomization`.
  public typealias NSKeyValueObservingCustomization = KeyValueObservingCustomization
#endif
