/// A class's declarations of its keys, beyond its `@Observed` properties.
///
/// ```swift
/// class Sensor: KVOObject {
///   var reading = 0.0
///   override class func registerKeys() {
///     declareKeys { keys in
///       keys.stored("reading", \.reading)
///       keys.automaticallyNotifies("reading", false)
///     }
///   }
/// }
/// ```
///
/// Repeating a declaration has no effect. Another declaration of the same kind replaces the earlier one for
/// its key, but dependencies add up. The class functions of `KVOObject` answer from these declarations. Once
/// the class is in use a key keeps its type: declaring another one stops the program with a message.
public struct KeyDeclarations<Root: KVOObject> {
  /// False where a superclass's generated declarations run again for a subclass: the superclass has made the accessors.
  var makesAccessors = true
  var accessors: [String: Accessors] = [:]
  var automatic: [String: Bool] = [:]
  var toMany: [String: any ToManyDeclaration] = [:]
  var dependencies: [String: Set<String>] = [:]
  var validators: [String: Validator] = [:]
  /// Key paths that affect a key even if a subclass declares others for it (`base(_:on:)`).
  var bases: [String: Set<String>] = [:]
  /// For a key whose getter caches its value: the keys from which it makes that. They count as read.
  var cachedSources: [String: Set<String>] = [:]
  /// Keys of which some accessors of elements are overridden methods of the superclass.
  var overriddenElements: Set<String> = []
  /// Keys of properties that override their superclass's.
  var overridden: Set<String> = []

  /// Declares a computed property under a key, for key-value coding and for string key paths.
  ///
  /// All observable properties that the getter reads affect the key, unless `affectedBy` names the only ones
  /// that do. Setting the property by key calls its setter and is one change, whatever the setter does.
  /// Assigning to the property notifies its observers of the changes that the setter makes to the keys that
  /// affect it. A setter whose body is an automatic change of the property is one change as well:
  ///
  /// ```swift
  /// var index: Int {
  ///   get { model.index }
  ///   set { withAutomaticChange(of: \.index) { model.index = newValue } }
  /// }
  /// ```
  ///
  /// A property without a setter is read-only by key. If `affectedBy` is given, only its keys affect the
  /// property:
  ///
  /// ```swift
  /// keys.computed("fullName", \.fullName, affectedBy: ["firstName", "lastName"])
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key's name, usually the property's.
  ///   - keyPath: The property.
  ///   - keyPaths: Keys and key paths, also with operators: `"employees.@sum.salary"`. An empty set means that only the
  ///     setter and manual notifications notify the key's observers.
  public mutating func computed<Value>(
    _ key: String, _ keyPath: KeyPath<Root, Value>, affectedBy keyPaths: Set<String>? = nil
  ) {
    // An empty set is an answer, too: it replaces a superclass's (Q4).
    if let keyPaths { dependency(key, on: keyPaths) }
    guard makesAccessors else { return }
    let writable = keyPath as? ReferenceWritableKeyPath<Root, Value>
    accessors[key] = TypedAccessors<Root, Value>(
      keyPath: keyPath, keyPaths == nil ? .tracked(.computed) : .derived, evaluating: keyPath,
      get: { $0[keyPath: keyPath] },
      set: writable.map { writable in { $0[keyPath: writable] = $1 } })
  }

  /// Declares a stored property under its own name and a key path.
  ///
  /// A plain property then notifies its observers if it is set by key-value coding, or changed inside manual
  /// notifications. An `@Observed` property needs no declaration; with one, key-value coding reads and sets
  /// it through its getter and setter, so that its `didSet` and a subclass's override run.
  ///
  /// Declare a property as `computed` to give it another name, because assigning to it notifies the observers
  /// of its own key.
  public mutating func stored<Value>(
    _ key: String, _ keyPath: ReferenceWritableKeyPath<Root, Value>
  ) {
    guard makesAccessors else { return }
    accessors[key] = TypedAccessors<Root, Value>(
      keyPath: keyPath, get: { $0[keyPath: keyPath] }, set: { $0[keyPath: keyPath] = $1 })
  }

  /// Declares a stored property that can only be read, such as a constant, under its own name and a key path.
  ///
  /// It notifies its observers if it is changed inside manual notifications. Setting it by key-value coding is a read-only
  /// error.
  public mutating func stored<Value>(_ key: String, _ keyPath: KeyPath<Root, Value>) {
    guard makesAccessors else { return }
    accessors[key] = TypedAccessors<Root, Value>(
      keyPath: keyPath, get: { $0[keyPath: keyPath] }, set: nil)
  }

  /// Declares an `@Observed` property under its own name and a key path, whose getter returns the stored value. For
  /// code that `@KVO` makes.
  public mutating func _observed<Value>(
    _ key: String, _ keyPath: ReferenceWritableKeyPath<Root, Value>
  ) {
    guard makesAccessors else { return }
    accessors[key] = TypedAccessors<Root, Value>(
      keyPath: keyPath, isStored: true, get: { $0[keyPath: keyPath] },
      set: { $0[keyPath: keyPath] = $1 })
  }

  /// Declares that the getter of a computed property caches its value. While it does, it reads none of the keys from which
  /// it has made the value, so they are named: they count as read, also by a subclass's override of the getter. For code
  /// that `@KVO` makes.
  public mutating func _keeping(_ key: String, reads keys: [String]) {
    cachedSources[key, default: []].formUnion(keys)
  }

  /// Declares that some methods for the elements of a key override the superclass's, which may have others. For code
  /// that `@KVO` makes.
  public mutating func _overridesElements(_ key: String) { overriddenElements.insert(key) }

  /// Declares that the property of a key overrides the superclass's. For code that `@KVO` makes.
  public mutating func _overrides(_ key: String) { overridden.insert(key) }

  /// Declares hand-written accessors under a key, and under a key path if one is given.
  ///
  /// Errors that they throw reach the caller of `value(forKey:)` or `setValue(_:forKey:)`. Without `set` the
  /// key is read-only. The keys that `get` reads do not affect it; use `dependency(_:on:)` for that.
  public mutating func accessors<Value>(
    _ key: String, _ keyPath: KeyPath<Root, Value>? = nil, get: @escaping (Root) throws -> Value,
    set: ((Root, Value) throws -> Void)? = nil
  ) {
    accessors[key] = TypedAccessors(keyPath: keyPath, get: get, set: set)
  }

  /// Adds keys and key paths that affect a key: when one of them changes, the key's observers are notified.
  /// May be called on any thread.
  ///
  /// Key paths may have any depth and contain operators. A path that continues through a plain collection is
  /// reported when the key is first observed. Keys that are observed already follow the new dependency.
  public mutating func dependency(_ key: String, on keyPaths: Set<String>) {
    dependencies[key, default: []].formUnion(keyPaths)
  }

  /// Adds a dependency that stays in effect if a subclass overrides the dependencies that its superclass
  /// declares. It applies only if the class declares another dependency of the key. Otherwise the properties
  /// that the getter reads affect the key.
  package mutating func base(_ key: String, on keyPaths: Set<String>) {
    bases[key, default: []].formUnion(keyPaths)
  }

  /// Declares the validator of a key, which `validateValue(_:forKey:)` calls.
  ///
  /// The function may replace the value, which is nil or of the declared type. If it throws, the value is not
  /// valid: the error reaches the caller, and the value is unchanged.
  ///
  /// ```swift
  /// keys.validator("age") { (person, age: inout Int?) in
  ///   guard let years = age, years >= 0 else { throw PersonError.noAge }
  ///   age = min(years, 150)
  /// }
  /// ```
  public mutating func validator<Value>(
    _ key: String, _ validate: @escaping (Root, inout Value?) throws -> Void
  ) {
    validators[key] = TypedValidator(validate)
  }

  /// Declares whether the key's setter and key-value coding notify observers automatically.
  /// `automaticallyNotifiesObservers(forKey:)` returns this value.
  ///
  /// An object whose key is observed already keeps the earlier setting until the key's next registration.
  public mutating func automaticallyNotifies(_ key: String, _ automatically: Bool) {
    automatic[key] = automatically
  }
}
