internal import CKVORuntime

// The root class: its two words for the C core (`ObjectHeader`), key-value coding with the hooks that classes
// override, observing by string, changes by hand. `CoreBinding` tells the core how such objects live.

/// The root of observable classes: subclass it and mark properties `@Observed`.
///
/// ```swift
/// class Account: KVOObject {
///   @Observed var balance = 0.0
/// }
/// ```
///
/// An object that nobody observes costs two words more than one of a plain class, and its
/// properties nothing. It may be used on any thread that may use its properties; only registration,
/// removal and the deaths of objects are safe while other threads use it.
open class KVOObject: KeyValueObserving, Hashable, CustomReflectable {
  // First, at the offset that ObjectHeader knows; the C runtime's alone.
  final var headerStorage = kvo_object()

  /// An object that nobody observes: no more than its properties.
  public init() {}

  // After the last deinit body: an observer may still remove itself in its own.
  deinit {
    if hasObservations { kvo_object_will_die(header) }
  }

  // MARK: Identity

  /// Whether this object counts as the same as another. Identity, unless a subclass says otherwise.
  open func isEqual(_ other: KVOObject) -> Bool { self === other }

  /// Feeds a hasher with what tells the object from others. An override must agree with `isEqual(_:)`.
  open func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Whether two objects are equal: what `a.isEqual(b)` answers, which a subclass may override. Unless one
  /// does, an object is equal to itself alone.
  public static func == (a: KVOObject, b: KVOObject) -> Bool { a.isEqual(b) }

  /// The object's stored properties, those of each class in a mirror of its own, `@Observed` ones under
  /// their names and without the wrapper: a mirror's labels are keys. Nothing of `KVOObject` itself. A
  /// subclass may override it, instead of conforming to `CustomReflectable` once more.
  open var customMirror: Mirror { ObjectMirror.make(of: self) }

  // MARK: Key-value coding

  /// The value of a key: of a declared accessor, of an `@Observed` property, of a plain stored one
  /// (`_<key>`, `_is<Key>`, `<key>`, `is<Key>`), whatever its access control; nil for a nil
  /// optional, and for a lazy property that has not been used yet. `self` is the object.
  ///
  /// - Throws: what `value(forUndefinedKey:)` does if there is no such key, and what a declared
  ///   accessor throws.
  open func value(forKey key: String) throws -> Any? {
    guard let property = KVOClass.of(self).property(key) else {
      return key == "self" ? self : try value(forUndefinedKey: key)
    }
    return try property.value(of: self)
  }

  /// Sets the value of a key, found as `value(forKey:)` finds it, and tells its observers once.
  ///
  /// Numbers become numbers of the property's type (a fraction is cut, an integer wraps to the
  /// width); a type with raw values may be set by one. A declared key is set by its accessors, or by the
  /// setter of its property (`declareKeys { $0.stored("size", \.size) }`), which runs `didSet` and a
  /// subclass's override. Any other key's storage is set, past both.
  ///
  /// - Throws: `KeyValueError.typeMismatch` for anything else, with nothing stored;
  ///   `KeyValueError.readOnly` for a `let` or an accessor without setter; what `setNilValueForKey`
  ///   and `setValue(_:forUndefinedKey:)` throw.
  open func setValue(_ value: Any?, forKey key: String) throws {
    guard let property = KVOClass.of(self).property(key) else {
      return try setValue(value, forUndefinedKey: key)
    }
    try property.setValue(value, of: self)
  }

  /// The value that a key path leads to: keys with dots between them, each read from what the one
  /// before it gave, by its own class; nil where there is nil on the way.
  ///
  /// ```swift
  /// try company.value(forKeyPath: "boss.name")
  /// try company.value(forKeyPath: "employees.@sum.salary")
  /// ```
  ///
  /// A key of an array or a set is its elements': an array gives an array (nil as
  /// `Optional<Any>.none`), a set a set. A dictionary's keys are keys. `self` is the value itself.
  /// Operators work on collections, with what follows them read from each element: `@count`, `@sum`
  /// (an `Int` of integers, else a `Double`), `@avg`, `@min` and `@max` (of anything comparable of
  /// one type), `@unionOfObjects`, `@distinctUnionOfObjects`, `@unionOfArrays`,
  /// `@distinctUnionOfArrays`, `@unionOfSets`, `@distinctUnionOfSets`. Nil counts as 0 in `@sum` and
  /// `@avg`, is left out by `@min` and `@max`, and is an error in the unions. Key paths are kept for
  /// ever once they have been read.
  ///
  /// - Throws: what reading a key on the way throws; `KeyValueError.invalidKeyPath` for an empty
  ///   component or one that is read from what has no keys; `KeyValueError.invalidOperator` for an
  ///   unknown operator, or one that comes to no collection; `KeyValueError.typeMismatch` and
  ///   `KeyValueError.nilValue` where an operator can't work on an element.
  open func value(forKeyPath keyPath: String) throws -> Any? {
    guard KeyPathCoding.isPath(keyPath) else { return try value(forKey: keyPath) }
    return try KeyPathCoding.value(keyPath, of: self)
  }

  /// Sets the last key of a key path, of each element where that is a collection's; in a dictionary,
  /// by setting a changed copy in its place. Nothing happens where there is nil on the way.
  ///
  /// - Throws: as `value(forKeyPath:)` and `setValue(_:forKey:)`; a path with an operator can't be set.
  open func setValue(_ value: Any?, forKeyPath keyPath: String) throws {
    guard KeyPathCoding.isPath(keyPath) else { return try setValue(value, forKey: keyPath) }
    try KeyPathCoding.setValue(value, keyPath, of: self)
  }

  /// Answers for keys that the class doesn't have. By default an error.
  open func value(forUndefinedKey key: String) throws -> Any? {
    KVOClass.of(self).requireDeclaration(of: "\"\(key)\"")
    throw KeyValueError.undefinedKey(key: key, className: className(of: type(of: self)))
  }

  /// Takes values for keys that the class doesn't have. By default an error.
  open func setValue(_ value: Any?, forUndefinedKey key: String) throws {
    KVOClass.of(self).requireDeclaration(of: "\"\(key)\"")
    throw KeyValueError.undefinedKey(key: key, className: className(of: type(of: self)))
  }

  /// Called when nil is set for a property that is not optional. By default an error; an override
  /// may set something instead, and pass other keys to super.
  open func setNilValueForKey(_ key: String) throws {
    throw KeyValueError.nilValue(key: key, className: className(of: type(of: self)))
  }

  /// Asks the key's declared validator whether it takes a value, which the validator may replace.
  /// Without one every value is valid. Nothing else ever asks it.
  ///
  /// - Throws: what the validator throws, as it is, with the value as it was;
  ///   `KeyValueError.typeMismatch` for a value that can't become what it takes.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    try KVOClass.of(self).validator(key)?.validate(&value, of: self, key)
  }

  /// Asks the last object on a key path about its key. Nil on the way means valid.
  ///
  /// - Throws: as `validateValue(_:forKey:)`, and as `value(forKeyPath:)` on the way.
  open func validateValue(_ value: inout Any?, forKeyPath keyPath: String) throws {
    guard KeyPathCoding.isPath(keyPath) else { return try validateValue(&value, forKey: keyPath) }
    try KeyPathCoding.validate(&value, keyPath, of: self)
  }

  /// The values of some keys; nil ones are there.
  ///
  /// - Throws: as `value(forKey:)` does.
  open func dictionaryWithValues(forKeys keys: [String]) throws -> [String: Any?] {
    var values: [String: Any?] = [:]
    for key in keys { values.updateValue(try value(forKey: key), forKey: key) }
    return values
  }

  /// Sets some keys, in no particular order. All of them are looked at before the first is set.
  ///
  /// - Throws: as `setValue(_:forKey:)` does. Nothing is set then, unless it is the program's own code
  ///   that refuses: an accessor or a hook.
  open func setValuesForKeys(_ keyedValues: [String: Any?]) throws {
    for (key, value) in try inOrderOfRisk(keyedValues) { try setValue(value, forKey: key) }
  }

  /// An ordered to-many key, to be changed element by element.
  ///
  /// - Throws: what `value(forUndefinedKey:)` does if there is no such key. Whether it can be
  ///   changed shows at the first mutation.
  open func mutableArrayValue(forKey key: String) throws -> MutableArrayProxy {
    MutableArrayProxy(try orderedContents(forKey: key))
  }

  /// The same of the object that the key path leads to now, by its last key.
  ///
  /// - Throws: `KeyValueError.invalidKeyPath` where the path leads to no object.
  open func mutableArrayValue(forKeyPath keyPath: String) throws -> MutableArrayProxy {
    try atEnd(of: keyPath) { try $0.mutableArrayValue(forKey: $1) }
  }

  /// An unordered to-many key, to be changed member by member. Throws as
  /// `mutableArrayValue(forKey:)` does.
  open func mutableSetValue(forKey key: String) throws -> MutableSetProxy {
    MutableSetProxy(try memberContents(forKey: key))
  }

  /// The same of the object that the key path leads to now, by its last key.
  open func mutableSetValue(forKeyPath keyPath: String) throws -> MutableSetProxy {
    try atEnd(of: keyPath) { try $0.mutableSetValue(forKey: $1) }
  }

  /// An ordered to-many key with each element once, to be changed element by element. Throws as
  /// `mutableArrayValue(forKey:)` does.
  open func mutableOrderedSetValue(forKey key: String) throws -> MutableOrderedSetProxy {
    MutableOrderedSetProxy(try orderedContents(forKey: key))
  }

  /// The same of the object that the key path leads to now, by its last key.
  open func mutableOrderedSetValue(forKeyPath keyPath: String) throws -> MutableOrderedSetProxy {
    try atEnd(of: keyPath) { try $0.mutableOrderedSetValue(forKey: $1) }
  }

  // MARK: What a class says of its keys

  /// Called once for each class, superclass first, before its keys are first used: the place for
  /// `declareKeys`. It may run again for a subclass that does not override it, or call super: no
  /// harm. Other threads that use the class for the first time wait until it has returned.
  open class func registerKeys() {}

  /// What the macro `@KVO` has generated for a class: the declarations of its properties, and of what its methods say of
  /// keys. Called as `registerKeys` is, before that, whose declarations of the same keys win. It calls
  /// `_declareKeys`, and not super, which has been asked.
  open class func _registerProperties() {}

  /// Whether plain stored properties answer by key. Asked once per class.
  open class var accessInstanceVariablesDirectly: Bool { true }

  /// Whether setting the key tells its observers. Asked once per class and key; pass other keys to
  /// super, which answers from the class's declarations.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    KVOClass.of(self).declaredAutomatic(key) ?? true
  }

  /// The key paths that affect a key: when one of them changes, the key's observers are told. Asked
  /// once per class and key; add to what super answers, which is what the class and its superclasses
  /// have declared.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    KVOClass.of(self).declaredDependencies(key)
  }

  // MARK: Observing by string

  /// Registers an observer, whose `observeValue(forKeyPath:of:change:context:)` is called on each
  /// change. Neither object is kept alive: the death of either ends the registration. The same
  /// registration may be made several times, and then is told several times. Any thread.
  ///
  /// - Parameters:
  ///   - observer: whose class overrides `observeValue(forKeyPath:of:change:context:)`.
  ///   - keyPath: a key, or keys with dots between them.
  ///   - options: what each call is given, and when there is one.
  ///   - context: handed back, never touched; tells a class's own registrations from those
  ///     of its superclass. The address of a static or a `KVOContext`.
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; nothing is registered.
  open func addObserver(
    _ observer: KVOObject, forKeyPath keyPath: String, options: KeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer? = nil
  ) throws {
    try register(observer, keyPath, options, context)
  }

  /// Removes the most recent registration of that observer and key path, whatever its context. Any
  /// thread.
  ///
  /// - Throws: `KeyValueError.observerNotRegistered` if there is none.
  open func removeObserver(_ observer: KVOObject, forKeyPath keyPath: String) throws {
    try unregister(observer, keyPath, matching: .none)
  }

  /// Removes the most recent registration of that observer, key path and context. Any thread.
  ///
  /// - Throws: `KeyValueError.observerNotRegistered` if there is none.
  open func removeObserver(
    _ observer: KVOObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) throws {
    try unregister(observer, keyPath, matching: .some(context))
  }

  /// Called on each change of what this object observes. Override it, and pass on to super what was
  /// not registered by your own class: what reaches the root is a programming error and stops the
  /// program, unless `KVODiagnostics.unhandledNotification` is set.
  open func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    KVODiagnostics.report(unhandled: keyPath ?? "", of: object, by: self)
  }

  // MARK: Manual notification

  /// Opens a change of the key, which `didChangeValue(forKey:)` closes and delivers. Pairs nest,
  /// and those of different keys may cross; they match by thread. Inside an automatic change of the
  /// same key a pair joins it.
  open func willChangeValue(forKey key: String) {
    recordChange(of: key)
    hintAtUnknownKey(key)
    _ = key.withKey { kvo_will_change(boundHeader, $0) }
  }

  /// Closes the change of the key that this thread opened last, and tells the observers. Without
  /// one it is reported as misuse and ignored.
  open func didChangeValue(forKey key: String) {
    _ = key.withKey { kvo_did_change(boundHeader, $0) }
  }

  /// Opens a change of some elements of an ordered to-many key: those that will be inserted, removed
  /// or replaced at the indexes. `didChange(_:valuesAt:forKey:)` with the same closes and delivers
  /// it. A negative index stops the program with a message.
  ///
  /// ```swift
  /// let indexes = RangeSet(0..<1)
  /// willChange(.removal, valuesAt: indexes, forKey: "transactions")
  /// transactions.removeSubranges(indexes)
  /// didChange(.removal, valuesAt: indexes, forKey: "transactions")
  /// ```
  ///
  /// Observers are told the elements at the indexes before (old) and after (new). Pairs match as
  /// those of `willChangeValue(forKey:)` do. The property is a plain one, or has automatic
  /// notification off: an `@Observed` one would tell of a setting besides.
  /// - Complexity: O(*n*) in the number of ranges, and of elements if an observer asks for them.
  open func willChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) {
    announce(kind, at: indexes, ofKey: key)
  }

  /// Closes the change of the key that this thread opened last, and notifies the observers. Without
  /// one it is reported as misuse and ignored. One that was opened with another kind or other indexes is reported, too, and
  /// observers are notified that the whole property was set.
  open func didChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) {
    conclude(kind, at: indexes, ofKey: key)
  }

  /// Opens a change of an unordered to-many key: the objects are those that will be added (`union`),
  /// taken away (`minus`), kept (`intersect`) or put in place (`set`). Observers are told what
  /// really came and went; to find that out, the set is copied once.
  /// `didChangeValue(forKey:withSetMutation:using:)` closes and delivers it.
  open func willChangeValue(
    forKey key: String, withSetMutation kind: KeyValueSetMutation, using objects: Set<AnyHashable>
  ) {
    announce(kind, of: objects, ofKey: key)
  }

  /// Closes the change of the key that this thread opened last, and tells the observers. Without
  /// one it is reported as misuse and ignored.
  open func didChangeValue(
    forKey key: String, withSetMutation kind: KeyValueSetMutation, using objects: Set<AnyHashable>
  ) {
    _ = key.withKey { kvo_did_change_members(boundHeader, kind.cMutation, $0) }
  }

  // MARK: Introspection

  /// Who is registered with this object: without registrations where nobody is. Any thread.
  public var observationInfo: ObservationInfo { ObservationInfo(of: boundHeader) }

  /// Whether a change of the key would notify anybody. Any thread.
  public func isObserved(forKey key: String) -> Bool {
    key.withKey { kvo_is_observed(boundHeader, $0) } ?? false
  }

  /// Ends all registrations with this object, whoever made them. Any thread.
  public func removeAllObservers() { kvo_remove_all_observers(boundHeader) }
}

extension KeyValueObserving where Self: KVOObject {
  /// Adds to what the class says of its keys: in `registerKeys`, or for an extension's keys at any
  /// time, also while objects of the class are observed. Any thread.
  public static func declareKeys(_ body: (inout KeyDeclarations<Self>) -> Void) {
    var declarations = KeyDeclarations<Self>()
    body(&declarations)
    KVOClass.of(Self.self).declare(declarations)
  }

  /// Registers an observer with a context of its own.
  ///
  /// - Throws: as `addObserver(_:forKeyPath:options:context:)` with a pointer does.
  public func addObserver(
    _ observer: KVOObject, forKeyPath keyPath: String, options: KeyValueObservingOptions = [],
    context: KVOContext
  ) throws {
    try addObserver(observer, forKeyPath: keyPath, options: options, context: context.pointer)
  }

  /// Removes the most recent registration of that observer, key path and context.
  ///
  /// - Throws: `KeyValueError.observerNotRegistered` if there is none.
  public func removeObserver(
    _ observer: KVOObject, forKeyPath keyPath: String, context: KVOContext
  ) throws {
    try removeObserver(observer, forKeyPath: keyPath, context: context.pointer)
  }
}
