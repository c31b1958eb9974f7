// Associated values and death handlers of a C object.

extension ForeignObject {
  /// The value that is kept with the C object under a key; nil if there is none. Setting nil removes it.
  ///
  /// All `ForeignObject`s that represent the C object share its values. A value is released when it is
  /// replaced, or when the C object has died and its registrations have ended. May be used on any thread; a
  /// value that several threads share needs its own synchronisation.
  ///
  /// - Complexity: O(*n*) in the number of values kept with the object.
  public subscript<Value>(association: KVOAssociation<Value>) -> Value? {
    get { AssociatedValue.read(association, with: header) }
    set { AssociatedValue.keep(newValue, association, with: header) }
  }

  /// Calls a handler once, when the C object dies: after its registrations have ended and before its
  /// properties are released, on the thread that releases the last reference. This `ForeignObject` retains
  /// the C object.
  ///
  /// - Parameter handler: must not use the object.
  /// - Returns: a token; releasing it removes the handler. It is invalid after the call.
  public func onDeinit(_ handler: @escaping () -> Void) -> KeyValueObservation {
    DeathWatches.of(header).add(handler)
  }
}
