internal import CKVORuntime

// The root class: the two header words of the C core (`ObjectHeader`), key-value coding with its overridable
// hooks, observing by string, and manual change notification. `CoreBinding` registers the functions by which
// the core retains, describes and notifies objects.

/// The root class of observable objects: subclass it and mark properties `@Observed`.
///
/// ```swift
/// class Account: KVOObject {
///   @Observed var balance = 0.0
/// }
/// ```
///
/// An object without observers is two words larger than one of a plain class, and its properties cost nothing
/// extra.
///
/// An object may be used on any thread that may use its properties. Registering and removing observers, and
/// destroying objects, are safe while other threads use the object; access to its properties is not
/// synchronised.
open class KVOObject: KeyValueObserving, Hashable, CustomReflectable {
  // First, because ObjectHeader assumes its offset. Only the C runtime reads and writes it.
  final var headerStorage = kvo_object()

  /// Creates an object without observers.
  public init() {}

  // This runs after the last deinit body of the subclasses, where an observer may still remove itself.
  deinit {
    if hasObservations { kvo_object_will_die(header) }
  }

  // MARK: Identity

  /// Returns whether this object equals another. The default is identity; a subclass may override it together
  /// with `hash(into:)`.
  open func isEqual(_ other: KVOObject) -> Bool { self === other }

  /// Hashes the object's identity into a hasher. An override must agree with `isEqual(_:)`.
  open func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Returns whether two objects are equal, by calling `a.isEqual(b)`. Unless a subclass overrides that
  /// method, an object equals only itself.
  public static func == (a: KVOObject, b: KVOObject) -> Bool { a.isEqual(b) }

  /// A mirror of the object's stored properties, with one superclass mirror for each class.
  ///
  /// Labels are keys: an `@Observed` property appears under its own name with its value, without the wrapper.
  /// Storage of `KVOObject` itself is left out. A subclass may override this property instead of conforming
  /// to `CustomReflectable` again.
  open var customMirror: Mirror { ObjectMirror.make(of: self) }

  // MARK: Key-value coding

  /// Returns the value of a key, which names a declared accessor or a stored property.
  ///
  /// The key is looked up among declared accessors, `@Observed` properties, and plain stored properties named
  /// `_<key>`, `_is<Key>`, `<key>` or `is<Key>`, whatever their access control. The key `self` gives the
  /// object. The result is nil for an optional that is nil, and for a lazy property that has not been used
  /// yet.
  ///
  /// - Throws: The error of `value(forUndefinedKey:)` if there is no such key, or the error that a declared
  ///   accessor throws.
  open func value(forKey key: String) throws -> Any? {
    guard let property = KVOClass.of(self).property(key) else {
      return key == "self" ? self : try value(forUndefinedKey: key)
    }
    return try property.value(of: self)
  }

  /// Sets the value of a key, found as `value(forKey:)` finds it, and notifies the key's observers once.
  ///
  /// A number is converted to the property's type: a fraction is truncated, and an integer wraps to the
  /// type's width. A property whose type has raw values may be set by a raw value. A declared key is set by
  /// its accessors, or by the setter of its property (`declareKeys { $0.stored("size", \.size) }`), which
  /// runs `didSet` and a subclass's override. For any other key the storage is written directly, so neither
  /// runs.
  ///
  /// - Throws: `KeyValueError.typeMismatch` if the value can't be converted, with nothing stored;
  ///   `KeyValueError.readOnly` for a `let` or an accessor without setter; the errors of
  ///   `setNilValueForKey(_:)` and `setValue(_:forUndefinedKey:)`.
  open func setValue(_ value: Any?, forKey key: String) throws {
    guard let property = KVOClass.of(self).property(key) else {
      return try setValue(value, forUndefinedKey: key)
    }
    try property.setValue(value, of: self)
  }

  /// Returns the value at the end of a key path: keys separated by dots, each read from the value of the one
  /// before.
  ///
  /// ```swift
  /// try company.value(forKeyPath: "boss.name")
  /// try company.value(forKeyPath: "employees.@sum.salary")
  /// ```
  ///
  /// Each key is read by the class of the object that has it. A nil on the way gives nil. A key of an array
  /// or a set is read from each element, giving an array (a nil element becomes `Optional<Any>.none`) or a
  /// set. The keys of a dictionary are its own keys. The key `self` gives the value itself.
  ///
  /// An operator applies to a collection, and the rest of the path is read from each element:
  /// - `@count` is the number of elements.
  /// - `@sum` is an `Int` if all values are integers, otherwise a `Double`. It and `@avg` count nil as 0.
  /// - `@min` and `@max` take any comparable values of one type, and ignore nil.
  /// - `@unionOfObjects`, `@distinctUnionOfObjects`, `@unionOfArrays`, `@distinctUnionOfArrays`,
  ///   `@unionOfSets` and `@distinctUnionOfSets` collect values. A nil is an error.
  ///
  /// - Throws: The error of reading a key on the way. `KeyValueError.invalidKeyPath` for an empty component,
  ///   or one that is read from a value without keys. `KeyValueError.invalidOperator` for an unknown
  ///   operator, or one applied to a value that is not a collection. `KeyValueError.typeMismatch` or
  ///   `KeyValueError.nilValue` if an operator can't work on an element.
  /// - Complexity: Linear in the number of components, and of elements where the path goes through a
  ///   collection.
  open func value(forKeyPath keyPath: String) throws -> Any? {
    guard KeyPathCoding.isPath(keyPath) else { return try value(forKey: keyPath) }
    return try KeyPathCoding.value(keyPath, of: self)
  }

  /// Sets the last key of a key path, on each element if the path leads to a collection.
  ///
  /// A dictionary on the way is replaced by a changed copy. If a link on the way is nil, nothing happens.
  ///
  /// - Throws: The errors of `value(forKeyPath:)` for the links and of `setValue(_:forKey:)` for the last
  ///   key; `KeyValueError.invalidOperator` for a path with an operator; `KeyValueError.readOnly` for
  ///   one that ends in `self`.
  open func setValue(_ value: Any?, forKeyPath keyPath: String) throws {
    guard KeyPathCoding.isPath(keyPath) else { return try setValue(value, forKey: keyPath) }
    try KeyPathCoding.setValue(value, keyPath, of: self)
  }

  /// Returns a value for a key that the class doesn't have. Override it to answer such keys.
  ///
  /// - Throws: `KeyValueError.undefinedKey`, unless overridden.
  open func value(forUndefinedKey key: String) throws -> Any? {
    KVOClass.of(self).requireDeclaration(of: "\"\(key)\"")
    throw KeyValueError.undefinedKey(key: key, className: className(of: type(of: self)))
  }

  /// Takes a value for a key that the class doesn't have. Override it to accept such keys.
  ///
  /// - Throws: `KeyValueError.undefinedKey`, unless overridden.
  open func setValue(_ value: Any?, forUndefinedKey key: String) throws {
    KVOClass.of(self).requireDeclaration(of: "\"\(key)\"")
    throw KeyValueError.undefinedKey(key: key, className: className(of: type(of: self)))
  }

  /// Called when nil is set for a property that is not optional. An override may set another value instead;
  /// it passes other keys to super.
  ///
  /// - Throws: `KeyValueError.nilValue`, unless overridden.
  open func setNilValueForKey(_ key: String) throws {
    throw KeyValueError.nilValue(key: key, className: className(of: type(of: self)))
  }

  /// Calls the key's declared validator, which may accept, replace or reject the value. A key without a
  /// validator accepts every value.
  ///
  /// Only this method calls validators: `setValue(_:forKey:)` does not validate.
  ///
  /// - Throws: The validator's own error, with `value` unchanged; `KeyValueError.typeMismatch` if the value
  ///   can't be converted to the type that the validator takes.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    try KVOClass.of(self).validator(key)?.validate(&value, of: self, key)
  }

  /// Validates a value by the last object on a key path, with that object's validator. If a link on the way
  /// is nil, the value is valid.
  ///
  /// - Throws: The errors of `validateValue(_:forKey:)`, and those of `value(forKeyPath:)` for the links.
  open func validateValue(_ value: inout Any?, forKeyPath keyPath: String) throws {
    guard KeyPathCoding.isPath(keyPath) else { return try validateValue(&value, forKey: keyPath) }
    try KeyPathCoding.validate(&value, keyPath, of: self)
  }

  /// Returns the values of several keys in a dictionary. A nil value is an entry whose value is nil.
  ///
  /// - Throws: The error of `value(forKey:)` for the first key that can't be read.
  /// - Complexity: O(*n*) in the number of keys.
  open func dictionaryWithValues(forKeys keys: [String]) throws -> [String: Any?] {
    var values: [String: Any?] = [:]
    for key in keys { values.updateValue(try value(forKey: key), forKey: key) }
    return values
  }

  /// Sets the values of several keys, in no particular order. All keys and values are checked before the
  /// first is set, unless the class overrides `setValue(_:forKey:)`.
  ///
  /// - Throws: The errors of `setValue(_:forKey:)`. Nothing has been set then, unless the program's own
  ///   accessor or hook threw the error.
  /// - Complexity: O(*n*) in the number of keys.
  open func setValuesForKeys(_ keyedValues: [String: Any?]) throws {
    for (key, value) in try inOrderOfRisk(keyedValues) { try setValue(value, forKey: key) }
  }

  /// Returns a proxy that changes an ordered to-many key element by element.
  ///
  /// - Throws: The error of `value(forUndefinedKey:)` if there is no such key. A key that can't be changed
  ///   causes an error only at the first mutation.
  open func mutableArrayValue(forKey key: String) throws -> MutableArrayProxy {
    MutableArrayProxy(try orderedContents(forKey: key))
  }

  /// Returns a proxy for the ordered to-many key at the end of a key path. It belongs to the object that the
  /// path leads to at the time of this call.
  ///
  /// - Throws: `KeyValueError.invalidKeyPath` if the path leads to no object, and the errors of
  ///   `mutableArrayValue(forKey:)`.
  open func mutableArrayValue(forKeyPath keyPath: String) throws -> MutableArrayProxy {
    try atEnd(of: keyPath) { try $0.mutableArrayValue(forKey: $1) }
  }

  /// Returns a proxy that changes an unordered to-many key member by member.
  ///
  /// - Throws: The error of `value(forUndefinedKey:)` if there is no such key. A key that can't be changed
  ///   causes an error only at the first mutation.
  open func mutableSetValue(forKey key: String) throws -> MutableSetProxy {
    MutableSetProxy(try memberContents(forKey: key))
  }

  /// Returns a proxy for the unordered to-many key at the end of a key path. It belongs to the object that
  /// the path leads to at the time of this call.
  ///
  /// - Throws: `KeyValueError.invalidKeyPath` if the path leads to no object, and the errors of
  ///   `mutableSetValue(forKey:)`.
  open func mutableSetValue(forKeyPath keyPath: String) throws -> MutableSetProxy {
    try atEnd(of: keyPath) { try $0.mutableSetValue(forKey: $1) }
  }

  /// Returns a proxy that changes an ordered to-many key element by element, and keeps each element unique.
  ///
  /// - Throws: The error of `value(forUndefinedKey:)` if there is no such key. A key that can't be changed
  ///   causes an error only at the first mutation.
  open func mutableOrderedSetValue(forKey key: String) throws -> MutableOrderedSetProxy {
    MutableOrderedSetProxy(try orderedContents(forKey: key))
  }

  /// Returns a proxy for the ordered to-many key at the end of a key path, with each element unique. It
  /// belongs to the object that the path leads to at the time of this call.
  ///
  /// - Throws: `KeyValueError.invalidKeyPath` if the path leads to no object, and the errors of
  ///   `mutableOrderedSetValue(forKey:)`.
  open func mutableOrderedSetValue(forKeyPath keyPath: String) throws -> MutableOrderedSetProxy {
    try atEnd(of: keyPath) { try $0.mutableOrderedSetValue(forKey: $1) }
  }

  // MARK: The class's answers about its keys

  /// Declares the class's keys: override it and call `declareKeys` in it.
  ///
  /// It is called before a class's keys are first used, for the superclass first. The inherited method runs
  /// again for a subclass that does not override it or calls super. Then `declareKeys` declares only answers about
  /// dependencies and automatic notification that differ from those for the superclass. Closures can't be compared: use
  /// `Self.declareKeys` for those that depend on the class for which the method runs. It makes all that it declares the
  /// declarations of a subclass that overrides the method and calls super. What a subclass's method declares for a
  /// superclass by its name is inherited by the subclass alone.
  ///
  /// Other threads that use any class for the first time, or declare keys, wait until it has returned. So it must not
  /// wait for them, nor for a lock that such a thread may hold.
  open class func registerKeys() {}

  /// Declares the properties of a `@KVO` class, and its methods' answers about keys. The macro generates the
  /// override.
  ///
  /// It is called as `registerKeys` is, and before it, so that the declarations of `registerKeys` win. It calls super, so
  /// that the methods that a class overrides are asked for it, and `_declareKeys`.
  open class func _registerProperties() {}

  /// Whether key-value coding may access plain stored properties. It is read once for each class.
  open class var accessInstanceVariablesDirectly: Bool { true }

  /// Returns whether setting a key notifies its observers automatically. It is called once for each class and
  /// key, and again after declarations of the key's automatic notification. Threads that use the key for the
  /// first time at once may each call it; then the first answer holds.
  ///
  /// An override passes other keys to super, which answers from the class's declarations.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    KVOClass.of(self).declaredAutomatic(key) ?? true
  }

  /// Returns the key paths that affect a key: when one of them changes, the key's observers are notified. It
  /// is called once for each class and key.
  ///
  /// An override adds to the result of super, which has the declarations of the class and its superclasses.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    KVOClass.of(self).declaredDependencies(key)
  }

  // MARK: Observing by string

  /// Registers an observer, whose `observeValue(forKeyPath:of:change:context:)` is called on each change.
  ///
  /// The registration retains neither object, and ends when either is destroyed. Several equal registrations
  /// may be made; each causes a call for a change. May be called on any thread.
  ///
  /// - Parameters:
  ///   - observer: An object whose class overrides `observeValue(forKeyPath:of:change:context:)`.
  ///   - keyPath: A key, or several keys separated by dots.
  ///   - options: Which values each call gets, and when calls are made.
  ///   - context: A pointer that identifies the registrations of one class in a hierarchy, such as the
  ///     address of a static or a `KVOContext`. It is compared and passed on, never dereferenced.
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; nothing is registered then.
  open func addObserver(
    _ observer: KVOObject, forKeyPath keyPath: String, options: KeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer? = nil
  ) throws {
    try register(observer, keyPath, options, context)
  }

  /// Removes the most recent registration of an observer and key path, whatever its context. May be called on
  /// any thread.
  ///
  /// - Throws: `KeyValueError.observerNotRegistered` if there is none.
  open func removeObserver(_ observer: KVOObject, forKeyPath keyPath: String) throws {
    try unregister(observer, keyPath, matching: .none)
  }

  /// Removes the most recent registration of an observer, key path and context. May be called on any thread.
  ///
  /// - Throws: `KeyValueError.observerNotRegistered` if there is none.
  open func removeObserver(
    _ observer: KVOObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) throws {
    try unregister(observer, keyPath, matching: .some(context))
  }

  /// Called on each change of a key path that this object observes, on the thread of the change.
  ///
  /// Override it, and pass registrations that your class did not make on to super. A notification that
  /// reaches the root is a programming error and stops the program, unless
  /// `KVODiagnostics.unhandledNotification` is set.
  open func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    KVODiagnostics.report(unhandled: keyPath ?? "", of: object, by: self)
  }

  // MARK: Manual notification

  /// Opens a change of a key. `didChangeValue(forKey:)` closes and delivers it.
  ///
  /// Pairs match by thread. Pairs of one key nest, and those of different keys may overlap. A pair inside an
  /// automatic change of its own key joins that change.
  open func willChangeValue(forKey key: String) {
    let key = self.key(named: key)
    recordChange(of: key)
    hintAtUnknownKey(key)
    _ = key.withKey { kvo_will_change(boundHeader, $0) }
  }

  /// Closes the change of a key that this thread opened last, and notifies the observers. A call without an
  /// open change is reported as misuse and ignored.
  open func didChangeValue(forKey key: String) {
    _ = self.key(named: key).withKey { kvo_did_change(boundHeader, $0) }
  }

  /// Opens a change of the elements of an ordered to-many key that will be inserted, removed or replaced at
  /// some indexes.
  ///
  /// Call `didChange(_:valuesAt:forKey:)` with equal arguments to close and deliver it.
  ///
  /// ```swift
  /// let indexes = RangeSet(0..<1)
  /// willChange(.removal, valuesAt: indexes, forKey: "transactions")
  /// transactions.removeSubranges(indexes)
  /// didChange(.removal, valuesAt: indexes, forKey: "transactions")
  /// ```
  ///
  /// Observers get the elements at the indexes before the change as old, and those after it as new. Pairs
  /// match as those of `willChangeValue(forKey:)` do.
  ///
  /// Use it for a plain property, or one with automatic notification off. An `@Observed` property would
  /// notify its observers of a setting in addition. A negative index stops the program with a message.
  ///
  /// - Complexity: O(*n*) in the number of ranges, and in the number of elements if an observer asks for
  ///   them.
  open func willChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) {
    announce(kind, at: indexes, ofKey: key)
  }

  /// Closes the change of elements that this thread opened last for a key, and notifies the observers.
  ///
  /// A call without an open change is reported as misuse and ignored. If the kind or the indexes differ from
  /// those of the opening call, that is reported too, and observers are notified that the whole property was
  /// set.
  open func didChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) {
    conclude(kind, at: indexes, ofKey: key)
  }

  /// Opens a change of the members of an unordered to-many key.
  /// `didChangeValue(forKey:withSetMutation:using:)` closes and delivers it.
  ///
  /// The objects are those to be added (`union`), removed (`minus`), kept (`intersect`) or put in place of
  /// the others (`set`). Observers get the members that were actually added and removed.
  ///
  /// - Complexity: O(*n*) in the size of the set, which is copied once to find the differences.
  open func willChangeValue(
    forKey key: String, withSetMutation kind: KeyValueSetMutation, using objects: Set<AnyHashable>
  ) {
    announce(kind, of: objects, ofKey: key)
  }

  /// Closes the change of members that this thread opened last for a key, and notifies the observers. A call
  /// without an open change is reported as misuse and ignored.
  open func didChangeValue(
    forKey key: String, withSetMutation kind: KeyValueSetMutation, using objects: Set<AnyHashable>
  ) {
    _ = self.key(named: key).withKey {
      kvo_did_change_members(boundHeader, kind.cMutation, $0)
    }
  }

  // MARK: Introspection

  /// The registrations with this object; it is empty if there are none. May be used on any thread.
  public var observationInfo: ObservationInfo { ObservationInfo(of: self) }

  /// Returns whether a change of a key would notify any observer. May be called on any thread.
  public func isObserved(forKey key: String) -> Bool {
    key.withKey { kvo_is_observed(boundHeader, $0) } ?? false
  }

  /// Ends all registrations with this object, including those that other code made. May be called on any
  /// thread.
  public func removeAllObservers() { kvo_remove_all_observers(boundHeader) }
}

extension KeyValueObserving where Self: KVOObject {
  /// Adds declarations of keys to the class. May be called on any thread.
  ///
  /// Call it in `registerKeys`; for the keys of an extension, call it at any time, also while objects of the
  /// class are observed.
  ///
  /// ```swift
  /// class Document: KVOObject {
  ///   var size = 0.0 { didSet { print("size is", size) } }
  ///   override class func registerKeys() { declareKeys { $0.stored("size", \.size) } }
  /// }
  /// ```
  public static func declareKeys(_ body: (inout KeyDeclarations<Self>) -> Void) {
    var declarations = KeyDeclarations<Self>()
    body(&declarations)
    KVOClass.of(Self.self).declare(declarations)
  }

  /// Registers an observer with a `KVOContext`, which identifies the registrations of one class in a
  /// hierarchy.
  ///
  /// Otherwise it does the work of `addObserver(_:forKeyPath:options:context:)` with a pointer. The address
  /// of a `KVOContext` is never reused, so the context may be released before the registration ends.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; nothing is registered then.
  public func addObserver(
    _ observer: KVOObject, forKeyPath keyPath: String, options: KeyValueObservingOptions = [],
    context: KVOContext
  ) throws {
    try addObserver(observer, forKeyPath: keyPath, options: options, context: context.pointer)
  }

  /// Removes the most recent registration of an observer, key path and `KVOContext`. May be called on any
  /// thread.
  ///
  /// - Throws: `KeyValueError.observerNotRegistered` if there is none.
  public func removeObserver(
    _ observer: KVOObject, forKeyPath keyPath: String, context: KVOContext
  ) throws {
    try removeObserver(observer, forKeyPath: keyPath, context: context.pointer)
  }
}
