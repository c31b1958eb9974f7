#if !canImport(ObjectiveC)
  // The spellings of Foundation, for code that comes from where it has them.

  /// `KeyValueObservation`, as Foundation spells it.
  public typealias NSKeyValueObservation = KeyValueObservation
  /// `KeyValueObservingOptions`, as Foundation spells it.
  public typealias NSKeyValueObservingOptions = KeyValueObservingOptions
  /// `KeyValueObservedChange`, as Foundation spells it.
  public typealias NSKeyValueObservedChange = KeyValueObservedChange
  /// `KeyValueChange`, as Foundation spells it.
  public typealias NSKeyValueChange = KeyValueChange
  /// `KeyValueChangeKey`, as Foundation spells it.
  public typealias NSKeyValueChangeKey = KeyValueChangeKey
  /// `KeyValueSetMutation`, as Foundation spells it.
  public typealias NSKeyValueSetMutationKind = KeyValueSetMutation
  /// `KeyValueObservingCustomization`, as Foundation spells it.
  public typealias NSKeyValueObservingCustomization = KeyValueObservingCustomization
#endif
