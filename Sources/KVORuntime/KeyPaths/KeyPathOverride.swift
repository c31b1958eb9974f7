internal import CSwiftRuntime
@_spi(ObservableRerootKeyPath) internal import Swift

/// Recognises key paths to properties that a final class overrides.
///
/// A key path identifies a property by its getter. Normally that is the method that the first class
/// introduced, which all inheriting and overriding classes share. If nothing can override the property any
/// more, it is the function itself. So a `final class` that overrides `name` has its own key path for it,
/// which equals none of the superclass's. The class's method table shows that both mean the same property: it
/// maps the superclass's method to this function. A getter that merely reads the property is not in the
/// method's entry.
extension AnyKeyPath {
  /// Whether this key path names a final override of the property that `other`, a key path of a superclass,
  /// names.
  func overrides(_ other: AnyKeyPath) -> Bool {
    AnyKeyPath.isGetterKnown && names(theOverrideOf: other)
  }

  /// Whether a class overrides the getter of the property that this key path of a superclass names. False for
  /// a property that can't be overridden, and if key paths don't have the expected layout.
  func isOverridden(in subclass: KVOObject.Type) -> Bool {
    guard AnyKeyPath.isGetterKnown, let getter,
      let root = Swift.type(of: self).rootType as? AnyClass,
      let original = AnyKeyPath.function(of: getter, introducedBy: root, in: root)
    else { return false }
    return AnyKeyPath.function(of: getter, introducedBy: root, in: subclass) != original
  }

  /// Whether objects of a class have the getter that this key path names, so that it is certain that nothing
  /// has overridden it. For a property that can't be overridden, that is known only of the root class itself.
  func isSurelyOriginal(in subclass: KVOObject.Type) -> Bool {
    guard AnyKeyPath.isGetterKnown, let getter,
      let root = Swift.type(of: self).rootType as? AnyClass
    else { return false }
    if root == subclass { return true }
    let original = AnyKeyPath.function(of: getter, introducedBy: root, in: root)
    return original != nil
      && AnyKeyPath.function(of: getter, introducedBy: root, in: subclass) == original
  }

  /// Whether this key path begins with the single property that `property` names, and has more components.
  /// False if key paths don't have the expected layout.
  func isLonger(thanItsFirst property: AnyKeyPath) -> Bool {
    guard AnyKeyPath.isGetterKnown, !isSingle, let firstGetter, let getter = property.firstGetter
    else { return false }
    guard firstGetter != getter, let type = Swift.type(of: self).rootType as? AnyClass,
      let ancestor = Swift.type(of: property).rootType as? AnyClass
    else { return firstGetter == getter }
    return firstGetter == AnyKeyPath.function(of: getter, introducedBy: ancestor, in: type)
  }

  /// Whether this key path begins with a plain stored property of a class and has more components.
  var goesThroughPlainProperty: Bool {
    // The mask selects the component's kind.
    AnyKeyPath.isGetterKnown && !isSingle && firstComponent & 0x7f00_0000 == 0x0300_0000
  }

  static func function(
    of getter: UnsafeRawPointer, introducedBy ancestor: AnyClass, in type: AnyClass
  ) -> UnsafeRawPointer? {
    kvo_swift_class_getter(
      unsafeBitCast(type, to: UnsafeRawPointer.self),
      unsafeBitCast(ancestor, to: UnsafeRawPointer.self), getter)
  }

  // Whether key paths have the expected layout. Unlike that of classes, it is not documented.
  private static let isGetterKnown: Bool = {
    let getter = \Overriding.getter as AnyKeyPath
    return getter.names(theOverrideOf: \Overridden.getter)
      && !getter.names(theOverrideOf: \Overridden.other)
      && !(\Overriding.reader as AnyKeyPath).names(theOverrideOf: \Overridden.getter)
  }()

  private func names(theOverrideOf other: AnyKeyPath) -> Bool {
    guard let getter, let method = other.getter, let type = type(of: self).rootType as? AnyClass,
      let ancestor = Swift.type(of: other).rootType as? AnyClass
    else { return false }
    return getter == AnyKeyPath.function(of: method, introducedBy: ancestor, in: type)
  }

  /// The getter by which the key path identifies its property, if it names a single computed one of a class
  /// that is not generic.
  private var getter: UnsafeRawPointer? {
    let hasArguments = firstComponent & 0x0008_0000 != 0
    return isSingle && !hasArguments ? firstGetter : nil
  }

  // The buffer's header, which has a flag for this, follows the object's two words and the key-value coding
  // string.
  private var isSingle: Bool {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return object.load(fromByteOffset: 24, as: UInt32.self) & 0x2000_0000 != 0
  }

  // The first component's header. For a computed property identified by a pointer, the pointer follows,
  // whether or not the property has a setter or arguments.
  private var firstComponent: UInt32 {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return object.load(fromByteOffset: 32, as: UInt32.self)
  }

  /// The getter by which the key path identifies its first component, if that is a computed property of a
  /// class.
  var firstGetter: UnsafeRawPointer? {
    // The mask leaves out whether the property has a setter or arguments.
    guard firstComponent & 0x7f37_ffff == 0x0200_0000 else { return nil }
    let object = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return object.load(fromByteOffset: 40, as: UnsafeRawPointer.self)
  }
}

// MARK: Comparing key paths

extension AnyKeyPath {
  /// Whether both key paths name the same property. The root of `other` may be a superclass of this one's.
  func isSame(as other: AnyKeyPath) -> Bool {
    guard let root = type(of: self).rootType as? KVOObject.Type,
      let otherRoot = type(of: other).rootType as? KVOObject.Type
    else { return self == other }
    if root == otherRoot { return self == other }
    // Key paths with different roots are never equal, so give the superclass's key path this one's root.
    return root.isSubclass(of: otherRoot)
      && (other.canBeRerooted && self == other.rerooted(like: self) || overrides(other))
  }

  /// Whether both key paths name the same property of an object of both roots' classes.
  func isSameInObject(as other: AnyKeyPath) -> Bool { isSame(as: other) || other.isSame(as: self) }

  // Takes the type from the key path and not from a `KVOObject.Type`: optimised code that opens a class's
  // metatype after it was converted to an existential gets the static class.
  private func rerooted(like other: AnyKeyPath) -> AnyKeyPath {
    func reroot<Root>(_ root: Root.Type) -> AnyKeyPath { _rerootKeyPath(self, to: root) }
    return _openExistential(type(of: other).rootType, do: reroot)
  }

  /// This key path with a subclass as its root; `self` if that can't be made.
  func rerooted(to subclass: KVOObject.Type) -> AnyKeyPath {
    guard canBeRerooted else { return self }
    func reroot<Root>(_ root: Root.Type) -> AnyKeyPath { _rerootKeyPath(self, to: root) }
    // Converted through an address, for the reason given at `rerooted(like:)`.
    let metadata = unsafeBitCast(subclass as AnyClass, to: UnsafeRawPointer.self)
    let type = unsafeBitCast(metadata, to: Any.Type.self)
    return Swift.type(of: self).rootType == type ? self : _openExistential(type, do: reroot)
  }
}

extension KVOObject {
  package static func isSubclass(of other: KVOObject.Type) -> Bool {
    sequence(first: self as AnyClass, next: { _getSuperclass($0) }).contains { $0 == other }
  }
}

// MARK: Layout check

private class Overridden {
  var getter = 0
  var other = 0
}

private final class Overriding: Overridden {
  override var getter: Int {
    get { super.getter }
    set { super.getter = newValue }
  }

  var reader: Int {
    get { getter }
    set { getter = newValue }
  }
}
