#if !canImport(ObjectiveC)
  // The spellings of Foundation, for code that comes from where it has them.

  public typealias NSKeyValueObservation = KeyValueObservation
  public typealias NSKeyValueObservingOptions = KeyValueObservingOptions
  public typealias NSKeyValueObservedChange = KeyValueObservedChange
  public typealias NSKeyValueChange = KeyValueChange
  public typealias NSKeyValueChangeKey = KeyValueChangeKey
#endif
