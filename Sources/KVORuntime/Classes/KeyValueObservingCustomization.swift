/// What a class says of its keys by their key paths: Apple's typed counterpart of the class functions
/// `keyPathsForValuesAffectingValue(forKey:)` and `automaticallyNotifiesObservers(forKey:)`, to whose
/// answers it adds.
///
/// ```swift
/// final class Person: KVOObject, KeyValueObservingCustomization {
///   static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
///     key == \Person.fullName ? [\Person.firstName, \Person.lastName] : []
///   }
/// }
/// ```
///
/// It is asked once for each class and key, with the key path of the class that has the property: the
/// test above holds for subclasses, too. A key's key path is known once a typed call has named it, or
/// a declaration has. Until then the key notifies automatically: declare (`keys.stored`) what is
/// observed as a string, or read by a computed property alone.
public protocol KeyValueObservingCustomization: KVOObject {
  /// The key paths that affect a key.
  static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath>
  /// Whether setting the key tells its observers.
  static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool
}

extension KeyValueObservingCustomization {
  /// None.
  public static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> { [] }
  /// True.
  public static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { true }
}
