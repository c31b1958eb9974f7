// Functions that declarations made by `@KVO` call (Q2, Q4). These declarations are isolated to the class's
// actor.
//
// The compiler allows a key path to an isolated member to be formed on its actor only, but a class's keys are
// declared at its first use, on any thread. Forming a key path touches no state that the actor protects. So
// the declarations run on the thread that needs them. So do the class's methods that answer questions about a
// key.

extension KVOObject {
  /// Calls an actor-isolated function on the current thread, whatever its actor is. For code that `@KVO`
  /// makes. May be called on any thread.
  public static func _callIsolated(_ function: @escaping @isolated(any) () -> Void) {
    // The calling convention is that of other functions. Isolation is checked at compile time only.
    unsafeBitCast(function, to: (() -> Void).self)()
  }
}

extension KVOObject {
  /// An element of one of Foundation's collections, as the methods for the key's elements take it. For code that `@KVO`
  /// makes. Stops the program if there is an element of another type.
  public final func _element<Element>(_ element: Any, of key: String) -> Element {
    let element =
      Element.self == AnyHashable.self
      ? (element as? AnyHashable)?.inSwiftForm ?? element : element
    if case .value(let converted) = ValueType.of(Element.self).convert(element) {
      return converted.unbox(as: Element.self)
    }
    let error = KeyValueError.typeMismatch(
      key: key, className: KVOClass.of(self).name, expected: swiftName(of: Element.self),
      found: swiftName(of: Swift.type(of: element)))
    KVODiagnostics.stop("\(error) The methods for its elements take no others.")
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// Declares the keys of the class that has the macro. For code that `@KVO` makes. May be called on any
  /// thread.
  ///
  /// `Self` is that class. The call runs for its subclasses, too. Then only the results of methods that they override are
  /// declared (`automaticallyNotifiesObserversOf<Key>` …), since the superclass has declared the rest.
  ///
  /// - Parameter body: declares the keys.
  public static func _declareKeys(_ body: (inout KeyDeclarations<Self>) -> Void) {
    var declarations = KeyDeclarations<Self>(makesAccessors: self == Self.self)
    body(&declarations)
    KVOClass.of(Self.self).declare(generated: declarations)
  }

  /// Declares the keys of a member that is isolated to an actor of its own. For code that `@KVO` makes. May
  /// be called on any thread.
  ///
  /// - Parameter body: declares the keys.
  public static func _declareIsolatedKeys(
    _ body: @escaping @isolated(any) (inout KeyDeclarations<Self>) -> Void
  ) {
    _declareKeys(unsafeBitCast(body, to: ((inout KeyDeclarations<Self>) -> Void).self))
  }
}

extension KeyDeclarations {
  /// Declares the validator of a key whose value is not optional, so that nil is `KeyValueError.nilValue`. For code that
  /// `@KVO` makes.
  public mutating func _validator<Value>(
    _ key: String, _ validate: @escaping (Root, inout Value) throws -> Void
  ) {
    validators[key] = ValueValidator(validate)
  }
}
