// What the declarations call that the macro `@KVO` makes of a class (Q2, Q4), which are on the class's actor.
//
// The compiler lets a key path to what is on an actor be formed on that actor only. A class's keys are declared when it is first
// used, on whatever thread that is. To form a key path touches nothing that the actor guards, so the declarations are run where they
// are asked for; so are the class's methods that say something of a key.

extension KVOObject {
  /// Calls a function, whatever actor it is on, where it is asked for. Any thread.
  public static func _callIsolated(_ function: @escaping @isolated(any) () -> Void) {
    // A function of an actor is called as any other. Where it may be called is checked when it is compiled.
    unsafeBitCast(function, to: (() -> Void).self)()
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// Declares the properties of the class that has the macro, `Self`, in which this is called by its name alone. Called on
  /// a subclass without the macro, which inherits the call, it declares what methods by conventions answer there, if that
  /// is something else: the rest its superclass has declared. Any thread.
  public static func _declareKeys(_ body: (inout KeyDeclarations<Self>) -> Void) {
    var declarations = KeyDeclarations<Self>()
    body(&declarations)
    KVOClass.of(self).declare(generated: declarations, by: KVOClass.of(Self.self))
  }

  /// The same of a member that is on an actor of its own.
  public static func _declareIsolatedKeys(
    _ body: @escaping @isolated(any) (inout KeyDeclarations<Self>) -> Void
  ) {
    _declareKeys(unsafeBitCast(body, to: ((inout KeyDeclarations<Self>) -> Void).self))
  }
}
