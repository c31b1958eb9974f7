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
/// Saying the same again changes nothing; another entry of one kind for a key replaces the earlier.
/// Once the class is in use a key keeps its type: another one stops the program with a message.
public struct KeyDeclarations<Root: KVOObject> {
  var accessors: [String: Accessors] = [:]
  var automatic: [String: Bool] = [:]
  var toMany: [String: any ToManyDeclaration] = [:]

  /// A plain stored property under a key and a key path: it notifies by key-value coding and by
  /// hand.
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

  /// Whether the key's setter and key-value coding tell observers by themselves: what
  /// `automaticallyNotifiesObservers(forKey:)` answers for it. An object whose key is observed
  /// already keeps to the earlier answer until the key's next registration.
  public mutating func automaticallyNotifies(_ key: String, _ automatically: Bool) {
    automatic[key] = automatically
  }
}
