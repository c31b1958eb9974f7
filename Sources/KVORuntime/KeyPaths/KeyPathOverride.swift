internal import CSwiftRuntime

/// Key paths to properties that a final class overrides.
///
/// A key path knows a property by its getter: by the method that the first class introduced, which
/// is the same for all that inherit or override it, but where nothing can override it any more, by
/// the very function. So a `final class` that overrides `name` has a key path of its own for it,
/// which equals none of the superclass's. That they mean the same property is seen in the class
/// itself: the function is what it does for the superclass's method. A getter that only reads the
/// property is not in the method's place.
extension AnyKeyPath {
  /// Whether this key path names a final override of the property that the other names, which is a
  /// key path of a superclass.
  func overrides(_ other: AnyKeyPath) -> Bool {
    AnyKeyPath.isGetterKnown && names(theOverrideOf: other)
  }

  /// Whether a class has a getter of its own for the property that this key path of a superclass
  /// names. Not known of what nothing can override, or where key paths are not what was assumed.
  func isOverridden(in subclass: KVOObject.Type) -> Bool {
    guard AnyKeyPath.isGetterKnown, let getter,
      let root = Swift.type(of: self).rootType as? AnyClass,
      let original = AnyKeyPath.function(of: getter, introducedBy: root, in: root)
    else { return false }
    return AnyKeyPath.function(of: getter, introducedBy: root, in: subclass) != original
  }

  /// Whether objects of a class have the getter that this key path names: nothing has overridden it, as far as that is
  /// known. That of what nothing can override is known of the very class alone.
  func isSurelyOriginal(in subclass: KVOObject.Type) -> Bool {
    guard AnyKeyPath.isGetterKnown, let getter,
      let root = Swift.type(of: self).rootType as? AnyClass
    else { return false }
    if root == subclass { return true }
    let original = AnyKeyPath.function(of: getter, introducedBy: root, in: root)
    return original != nil
      && AnyKeyPath.function(of: getter, introducedBy: root, in: subclass) == original
  }

  /// Whether this key path begins with the one property that the other names, and goes on. False
  /// where key paths are not what was assumed.
  func isLonger(thanItsFirst property: AnyKeyPath) -> Bool {
    guard AnyKeyPath.isGetterKnown, !isSingle, let firstGetter, let getter = property.firstGetter
    else { return false }
    guard firstGetter != getter, let type = Swift.type(of: self).rootType as? AnyClass,
      let ancestor = Swift.type(of: property).rootType as? AnyClass
    else { return firstGetter == getter }
    return firstGetter == AnyKeyPath.function(of: getter, introducedBy: ancestor, in: type)
  }

  /// Whether it goes on behind a plain stored property of a class.
  var goesThroughPlainProperty: Bool {
    AnyKeyPath.isGetterKnown && !isSingle && firstComponent & 0x7f00_0000 == 0x0300_0000
  }

  static func function(
    of getter: UnsafeRawPointer, introducedBy ancestor: AnyClass, in type: AnyClass
  ) -> UnsafeRawPointer? {
    kvo_swift_class_getter(
      unsafeBitCast(type, to: UnsafeRawPointer.self),
      unsafeBitCast(ancestor, to: UnsafeRawPointer.self), getter)
  }

  // What is read here is documented for classes, but not for key paths, hence the check.
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

  /// By which getter the key path knows its property, if it names a single computed one of a class
  /// that is not generic.
  private var getter: UnsafeRawPointer? {
    isSingle && firstComponent & 0x0008_0000 == 0 ? firstGetter : nil
  }

  // Behind the object's own two words and the key-value coding string: the buffer's header, which has
  // a flag for this.
  private var isSingle: Bool {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return object.load(fromByteOffset: 24, as: UInt32.self) & 0x2000_0000 != 0
  }

  // The first component's header. If it is of a computed property known by a pointer, whether or not
  // it can be set or has arguments, the pointer follows.
  private var firstComponent: UInt32 {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return object.load(fromByteOffset: 32, as: UInt32.self)
  }

  /// By which getter the key path knows the computed property of a class that it begins with.
  var firstGetter: UnsafeRawPointer? {
    guard firstComponent & 0x7f37_ffff == 0x0200_0000 else { return nil }
    let object = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return object.load(fromByteOffset: 40, as: UnsafeRawPointer.self)
  }
}

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
