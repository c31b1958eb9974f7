/// What a class says of its keys beyond its `@Observed` properties.
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
/// Saying the same again changes nothing; another entry of one kind for a key replaces the earlier,
/// dependencies add up. The class functions of `KVOObject` answer from these entries.
/// Once the class is in use a key keeps its type: another one stops the program with a message.
public struct KeyDeclarations<Root: KVOObject> {
  var accessors: [String: Accessors] = [:]
  var automatic: [String: Bool] = [:]
  var toMany: [String: any ToManyDeclaration] = [:]
  var dependencies: [String: Set<String>] = [:]
  var validators: [String: Validator] = [:]
  /// Key paths that affect a key, whatever a subclass declares.
  var bases: [String: Set<String>] = [:]

  /// A computed property under a key, for key-value coding and for string key paths. What its getter
  /// reads affects it, unless `affectedBy` names what does: then that alone. Setting it by key calls its
  /// setter, and is one change, whatever the setter does. Assigning to it tells its observers what the
  /// setter does to what affects it; a setter that does something else says so itself. A property
  /// without setter is read-only.
  ///
  /// ```swift
  /// var index: Int {
  ///   get { model.index }
  ///   set { withChange(of: \.index) { model.index = newValue } }
  /// }
  /// ```
  ///
  /// ```swift
  /// keys.computed("fullName", \.fullName, affectedBy: ["firstName", "lastName"])
  /// ```
  ///
  /// - Parameters:
  ///   - key: the key's name, usually the property's.
  ///   - keyPath: the property.
  ///   - keyPaths: keys and key paths, also with operators: `"employees.@sum.salary"`.
  public mutating func computed<Value>(
    _ key: String, _ keyPath: KeyPath<Root, Value>, affectedBy keyPaths: Set<String> = []
  ) {
    let writable = keyPath as? ReferenceWritableKeyPath<Root, Value>
    accessors[key] = TypedAccessors<Root, Value>(
      keyPath: keyPath, keyPaths.isEmpty ? .tracked(isPath: false) : .derived,
      get: { $0[keyPath: keyPath] },
      set: writable.map { writable in { $0[keyPath: writable] = $1 } })
    if !keyPaths.isEmpty { dependency(key, on: keyPaths) }
  }

  /// A stored property under its own name and a key path; under another name it is to be `computed`, since
  /// assigning to it tells the property's own key. A plain one notifies by key-value coding and by
  /// hand. An `@Observed` one, which needs no declaration, is read and set by its key through its own
  /// getter and setter then, so that its `didSet` is called, and what a subclass has made of it.
  public mutating func stored<Value>(
    _ key: String, _ keyPath: ReferenceWritableKeyPath<Root, Value>
  ) {
    accessors[key] = TypedAccessors<Root, Value>(
      keyPath: keyPath, get: { $0[keyPath: keyPath] }, set: { $0[keyPath: keyPath] = $1 })
  }

  /// Hand-written accessors under a key, and under a key path if one is given.
  ///
  /// What they throw reaches the caller of `value(forKey:)` or `setValue(_:forKey:)`; without `set`
  /// the key is read-only.
  public mutating func accessors<Value>(
    _ key: String, _ keyPath: KeyPath<Root, Value>? = nil, get: @escaping (Root) throws -> Value,
    set: ((Root, Value) throws -> Void)? = nil
  ) {
    accessors[key] = TypedAccessors(keyPath: keyPath, get: get, set: set)
  }

  /// What affects a key besides what is known already: when one of these changes, the key's observers
  /// are told. Keys and key paths of any depth, also with operators. A path that goes on through a
  /// plain collection is reported when the key is first observed. Any thread; what is observed already
  /// follows.
  public mutating func dependency(_ key: String, on keyPaths: Set<String>) {
    dependencies[key, default: []].formUnion(keyPaths)
  }

  /// As `dependency(_:on:)`, where something else is said to affect the key too, by a subclass that leaves out what its
  /// superclass says. Where nothing is said, what the getter reads affects the key.
  package mutating func base(_ key: String, on keyPaths: Set<String>) {
    bases[key, default: []].formUnion(keyPaths)
  }

  /// What `validateValue(_:forKey:)` asks of a key. The function may put another value in the place
  /// of the one that it is given, which is nil or of the declared type; what it throws means that the
  /// value is not valid, and reaches the caller as it is, with the value as it was.
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

  /// Whether the key's setter and key-value coding tell observers by themselves: what
  /// `automaticallyNotifiesObservers(forKey:)` answers for it. An object whose key is observed
  /// already keeps to the earlier answer until the key's next registration.
  public mutating func automaticallyNotifies(_ key: String, _ automatically: Bool) {
    automatic[key] = automatically
  }
}
