/// Customises dependencies and automatic notification of keys by their key paths. It is Apple's typed
/// counterpart of the class functions `keyPathsForValuesAffectingValue(forKey:)` and
/// `automaticallyNotifiesObservers(forKey:)`, and adds to their answers.
///
/// ```swift
/// final class Person: KVOObject, KeyValueObservingCustomization {
///   static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
///     key == \Person.fullName ? [\Person.firstName, \Person.lastName] : []
///   }
/// }
/// ```
///
/// The functions are called once for each class and key. The key path has the class that declares the
/// property as its root, so that the test above holds for subclasses, too.
///
/// The runtime learns a key's key path from a typed call or a declaration; until then the key notifies
/// automatically. So declare a key (`keys.stored`) that is observed only as a string, or only read by a
/// computed property.
public protocol KeyValueObservingCustomization: KVOObject {
  /// Returns the key paths that affect a key.
  static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath>
  /// Returns whether setting a key notifies its observers automatically.
  static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool
}

extension KeyValueObservingCustomization {
  /// Returns no key paths: by default no key is affected by others.
  public static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> { [] }
  /// Returns true: by default every key notifies automatically.
  public static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { true }
}
