// What goes with the life of a C object.

extension ForeignObject {
  /// The value that is kept with the C object under a key, whichever `ForeignObject` stands for it: as the subscript of
  /// `KVOObject`.
  public subscript<Value>(association: KVOAssociation<Value>) -> Value? {
    get { AssociatedValue.read(association, with: header) }
    set { AssociatedValue.keep(newValue, association, with: header) }
  }

  /// Calls a handler once, when the C object dies, which this one keeps alive: as `onDeinit(_:)` of `KVOObject`, but
  /// before the object's properties are released.
  public func onDeinit(_ handler: @escaping () -> Void) -> KeyValueObservation {
    DeathWatches.of(header).add(handler)
  }
}
